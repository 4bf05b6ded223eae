/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dealer turns a layout's owner rule into pieces. It walks the stream in global order, gives each
 * run to a context-parallel rank, cuts that rank's rows into its T windows and joins neighbours.
 * Rows behind the end of a document are padding that the layout adds.
 */
#ifndef CPL_PLAN_DEALER_H
#define CPL_PLAN_DEALER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpl_arena;

/* Consecutive rows of one logical rank: consecutive rows of the stream, or padding. */
struct cpl_piece {
    int64_t start;  /* row of the stream; -1: padding */
    int64_t length; /* > 0 */
    int64_t local;  /* first row on the rank */
    int32_t rank;   /* cp_rank * T + tp_rank */
};

/* Pieces in the order in which they were dealt. */
struct cpl_hand {
    struct cpl_piece *pieces;
    size_t count;
    size_t room; /* grows */
};

/* A row of a logical rank. */
struct cpl_place {
    int64_t local;
    int32_t rank;
};

struct cpl_dealer {
    struct cpl_arena *arena;
    bool failed;            /* there was no memory for more pieces */
    struct cpl_hand rows;   /* of the stream: in global order */
    struct cpl_hand pads;   /* in order of local rows within a rank */
    uint32_t *last_pad;     /* [ranks] 1 + index of a rank's last padding; NULL: there is none */
    int64_t position;       /* next row of the stream */
    int64_t end;            /* row of the stream at which padding begins */
    int64_t window;         /* rows of one logical rank */
    struct cpl_place *next; /* [cp] where each context-parallel rank's next row goes */
};

/* Gives the next `rows` rows to a context-parallel rank. Lack of memory is noted in `failed`. */
void cpl_deal(struct cpl_dealer *dealer, int32_t cp_rank, int64_t rows);

#endif
