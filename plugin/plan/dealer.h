/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dealer turns a layout's owner rule into pieces. It walks the stream in global order, gives each
 * run to a context-parallel rank, cuts that rank's rows into its T windows and joins neighbours.
 */
#ifndef CPL_PLAN_DEALER_H
#define CPL_PLAN_DEALER_H

#include <stddef.h>
#include <stdint.h>

/* Consecutive tokens that are consecutive rows of one logical rank. */
struct cpl_piece {
    int64_t start;  /* global position */
    int64_t length; /* > 0 */
    int64_t local;  /* first row on the rank */
    int32_t rank;   /* cp_rank * T + tp_rank */
};

struct cpl_dealer {
    struct cpl_piece *pieces; /* room for every piece; in global order */
    size_t count;
    int64_t position; /* next token */
    int64_t window;   /* rows of one logical rank */
    int32_t tp;
    int64_t *held; /* [cp] rows given to each context-parallel rank so far */
};

/* Gives the next `rows` tokens to a context-parallel rank. */
void cpl_deal(struct cpl_dealer *dealer, int32_t cp_rank, int64_t rows);

#endif
