/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts and positions over a table: what a rank holds and has to compute. Source padding, rows of a
 * document behind its valid tokens, is never counted as valid, nor is padding that a layout adds.
 */
#ifndef CPL_PLAN_COUNTS_H
#define CPL_PLAN_COUNTS_H

#include "plan/table.h"

/* A part of a piece inside one document. */
struct cpl_part {
    int64_t start;    /* row of the stream */
    int64_t length;   /* > 0 */
    int64_t local;    /* first row on the rank */
    int64_t position; /* of the first row inside its document */
    int64_t valid;    /* how many of the rows are real tokens; they come first */
    size_t document;
    int32_t rank;
};

/* Cuts pieces at the borders of documents. Zeroed but for stream and piece, then call next. */
struct cpl_cutter {
    const struct cpl_stream *stream;
    const struct cpl_piece *piece;
    int64_t done; /* rows of the piece */
    size_t document;
};

/* A cutter for a piece that holds rows. */
struct cpl_cutter cpl_cutter(const struct cpl_stream *stream, const struct cpl_piece *piece);

/* The next part; false when the piece is done. */
bool cpl_cutter_next(struct cpl_cutter *cutter, struct cpl_part *part);

struct cpl_counts {
    int64_t valid_rows;
    /*
     * Causal (query, key) pairs of real tokens inside their document whose query lies here: a token
     * at position p attends to p + 1 keys, so n tokens from position a on have
     * n * (a + 1) + n * (n - 1) / 2.
     */
    int64_t attention_pairs;
};

/* Pairs of n tokens from position `start` of their document on. */
int64_t cpl_pairs(int64_t start, int64_t n);

struct cpl_counts cpl_count_rank(const struct cpl_table *table, int32_t rank);

enum cpl_position_kind {
    CPL_POSITION_GLOBAL,   /* row of the stream */
    CPL_POSITION_DOCUMENT, /* offset from the start of its document */
};

/* Position of each local row, -1 for added padding; room for cpl_table_rows entries. */
void cpl_positions(const struct cpl_table *table, int32_t rank, enum cpl_position_kind kind,
                   int64_t *positions);

#endif
