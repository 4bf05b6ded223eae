/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracle: which rank holds which token, found by looking at every token on its own.
 *
 * It is written from the design's owner rules alone and shares no line with the plugin. It is slow
 * and uses memory per token; it is meant to be right at a glance. Ranks are logical ranks,
 * cp_rank * T + tp_rank.
 */
#ifndef TESTS_ORACLE_H
#define TESTS_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

/* A layout applied to S tokens on P context-parallel ranks of T windows each. */
struct oracle {
    char text[96]; /* "zigzag S=12 P=3 T=2", for messages */
    int64_t tokens;
    int32_t cp;
    int32_t tp;
    int32_t ranks;  /* P * T */
    int64_t rows;   /* of each rank */
    int32_t *owner; /* [tokens] rank that holds the token */
    int64_t *row;   /* [tokens] its row there */
    int64_t *token; /* [ranks * rows] the token at a row of a rank */
};

/* Consecutive tokens that are consecutive rows of one rank. */
struct oracle_part {
    int64_t start;
    int64_t length;
    int64_t local;
    int32_t rank;
};

/* One token on its way: its row on the rank it leaves and on the rank it reaches. */
struct oracle_row {
    int64_t token;
    int64_t src;
    int64_t dst;
};

/*
 * Context-parallel rank of a token of a sequence that divides. One rank holds everything, whatever
 * the layout.
 */
int32_t oracle_owner(const char *layout, int64_t token, int64_t tokens, int32_t cp);

/* Whether the layout can hold a sequence of that length (> 0). */
bool oracle_fits(const char *layout, int64_t tokens, int32_t cp, int32_t tp);

/* The shortest length the layout can hold. */
int64_t oracle_unit(const char *layout, int32_t cp, int32_t tp);

/* The layout must fit. Ends the program if there is no memory. */
void oracle_init(struct oracle *oracle, const char *layout, int64_t tokens, int32_t cp, int32_t tp);
void oracle_fini(struct oracle *oracle);

/* The token at a row of a rank. */
int64_t oracle_token(const struct oracle *oracle, int32_t rank, int64_t row);

/* Causal (query, key) pairs whose query the rank holds, counted one by one. */
int64_t oracle_pairs(const struct oracle *oracle, int32_t rank);

/* The parts of the chain in global order, as long as they can be; `parts` has room for S. */
int64_t oracle_parts(const struct oracle *oracle, struct oracle_part *parts);

/*
 * The tokens that rank `from` holds in `source` and rank `to` in `target`, in global order; with
 * from == to those that stay. `rows` has room for S, or is NULL and they are only counted.
 */
int64_t oracle_transfer(const struct oracle *source, const struct oracle *target, int32_t from,
                        int32_t to, struct oracle_row *rows);

/* Tokens whose owner is not the same in both: the fewest that any conversion can move. */
int64_t oracle_moved(const struct oracle *source, const struct oracle *target);

/* Whether both put every token on the same row of the same rank, among equally many ranks. */
bool oracle_equal(const struct oracle *a, const struct oracle *b);

#endif
