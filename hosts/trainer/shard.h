/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who owns which row of the sequence, as plain facts. The numerics know layouts only through this
 * structure; they are correct for any assignment of rows to ranks, in any local order. The caller
 * owns all arrays; they are read-only here and may be shared by threads.
 */
#ifndef TRAINER_SHARD_H
#define TRAINER_SHARD_H

#include <stdbool.h>
#include <stdint.h>

/* Consecutive rows of the sequence that lie consecutively on one rank. */
struct part {
    int32_t rank;
    int64_t start;  /* global position of the first row */
    int64_t length; /* rows */
    int64_t local;  /* row offset of the first row on `rank` */
};

struct shard {
    int32_t rank, ranks;
    int64_t rows;             /* rows on this rank */
    int64_t sequence;         /* rows on all ranks together */
    const int64_t *positions; /* [rows] global position of every local row */
    int64_t parts;
    const struct part *chain; /* [parts] the parts of all ranks in order of `start`, no gaps */
};

/* Whether the fields fit together: parts without gaps, positions and counts as the chain says, sizes
 * within what matrix products and tags can count. */
bool shard_valid(const struct shard *shard);

/* How many parts of the chain lie on this rank. */
static inline int64_t shard_own_parts(const struct shard *shard)
{
    int64_t own = 0;

    for (int64_t i = 0; i < shard->parts; i++) {
        own += shard->chain[i].rank == shard->rank;
    }
    return own;
}

#endif
