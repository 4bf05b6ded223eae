/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hosts do instead of a plan: an index over tokens. The owner of every token of the pack before
 * (contiguous) and after (zigzag), by division, and the rows of one rank sorted by peer.
 */
#ifndef BENCH_INDEX_H
#define BENCH_INDEX_H

#include "input.h"

/* Rows of one rank by the rank on the other side, stable: what a gather before a message reads. */
struct list {
    int32_t peer[PACK_TOKENS_MOST]; /* of a row, and */
    int32_t row[PACK_TOKENS_MOST];  /* the row, before they are sorted */
    int32_t count;
    int32_t rows[PACK_TOKENS_MOST];
    int32_t first[PACK_RANKS_MOST + 1]; /* where each peer begins in rows */
};

struct index {
    struct list sent;     /* rows of the source, also those that stay */
    struct list received; /* rows of the target */
};

/* For one rank of a pack. */
void index_build(const struct input *input, int32_t rank, struct index *index);

#endif
