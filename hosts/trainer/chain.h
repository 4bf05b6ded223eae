/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The linear recurrence state' = factor * state + contribution, carried along the chain of parts
 * across ranks, in either direction. It stops at the borders of documents. One rank, one thread.
 */
#ifndef TRAINER_CHAIN_H
#define TRAINER_CHAIN_H

#include "layer.h"

/* One of this rank's parts, and its chunks among all chunks of this rank. */
struct own_part {
    int64_t index; /* in the chain */
    int64_t row;   /* first row on this rank */
    int64_t length;
    int64_t first_chunk, chunks;
};

/* This rank's parts in chain order, cut into chunks of `chunk_rows` rows, the last one shorter. */
struct own_parts {
    struct own_part *parts;
    int64_t count, chunks, chunk_rows;
};

/* The list lies in the run's arena. 0 or -1. */
int chain_own_parts(const struct layer_run *run, int64_t chunk_rows, struct own_parts *own);

/* For every chunk and head, a state of `size` reals and the factor it decays by. */
struct recurrence {
    const struct own_parts *own;
    int64_t heads, size;
    const real *factors; /* [chunks, heads] */
    real *states;        /* [chunks, heads, size] */
    int step;            /* 1: from the first part to the last; -1: from the last to the first */
};

/* On entry `states` holds what every chunk alone contributes; on return, the state in which the
 * recurrence arrives at the chunk (zero at the first). First every part is folded to one
 * contribution and one factor, then states go from part to part, then over the part's chunks. Only
 * one state per head crosses between parts on different ranks. 0 or -1. */
int chain_recur(const struct layer_run *run, const struct recurrence *recurrence);

#endif
