/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who owns which row of the sequence, as plain facts. The numerics know layouts only through this
 * structure; they are correct for any assignment of rows to ranks, in any local order, for one
 * document or several back to back. A rank may hold rows besides those of the sequence: padding, which
 * belongs to no part, and whose content never reaches a part. The caller owns all arrays; they are
 * read-only here and may be shared by threads.
 */
#ifndef TRAINER_SHARD_H
#define TRAINER_SHARD_H

#include <stdbool.h>
#include <stdint.h>

/* Consecutive rows of one document that lie consecutively on one rank. */
struct part {
    int32_t rank;
    int64_t start;    /* first row in the sequence */
    int64_t length;   /* rows */
    int64_t local;    /* row offset of the first row on `rank` */
    int64_t position; /* of the first row in its document; 0: the document begins here */
};

struct shard {
    int32_t rank, ranks;
    int64_t rows;             /* rows on this rank, padding included */
    int64_t sequence;         /* rows of all documents, which is those of all parts */
    const int64_t *positions; /* [rows] position of every local row in its document; padding: any */
    int64_t parts;
    const struct part *chain; /* [parts] the parts of all ranks in order of `start`, no gaps */
    const int64_t *rows_of;   /* [ranks] rows of every rank; NULL: no rank has padding */
};

/* Whether the fields fit together: parts without gaps, positions and counts as the chain says, sizes
 * within what matrix products and tags can count. */
bool shard_valid(const struct shard *shard);

/* Whether part p goes on where the one before it ends: both are of one document. */
static inline bool shard_continues(const struct shard *shard, int64_t p)
{
    return p > 0 && p < shard->parts && shard->chain[p].position > 0;
}

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
