/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communication between ranks that are threads of one process: buffered messages, and collectives
 * built from them. Every function may be called from any thread, but each rank by one thread at a
 * time; all ranks call the collectives in the same order. Functions return 0, or -1 once the group
 * has failed: by a timeout, a wrong length, lack of memory or comm_abort. A failed group stays so.
 */
#ifndef TRAINER_COMM_H
#define TRAINER_COMM_H

#include "real.h"

struct comm;

/* What a transfer is counted as, in payload bytes that go from one rank to another. */
enum comm_category {
    COMM_STATE,
    COMM_HALO,
    COMM_ATTENTION,
    COMM_GRADIENT,
    COMM_OTHER,
    COMM_CATEGORIES
};

/* One end of a stream of messages: they arrive in the order sent, separately for every
 * (source, destination, category, tag). Tags are not negative. */
struct channel {
    int32_t self, peer, tag;
    enum comm_category category;
};

/* NULL when there is no memory or an argument is not positive. No wait lasts longer than
 * `timeout_seconds`. Destroy when no thread uses it any more; NULL is allowed. */
struct comm *comm_create(int32_t ranks, double timeout_seconds);
void comm_destroy(struct comm *comm);
int32_t comm_ranks(const struct comm *comm);

/* Copies the message and returns at once. */
int comm_send(struct comm *comm, const struct channel *to, const void *data, size_t bytes);

/* Waits for the next message, which must have exactly this length. */
int comm_recv(struct comm *comm, const struct channel *from, void *data, size_t bytes);

/* `all` receives the blocks in rank order, back to back; bytes[r] is the length of rank r's. */
int comm_allgather(struct comm *comm, int32_t rank, enum comm_category category, const void *block,
                   const size_t *bytes, void *all);

/* The inverse, adding: `blocks` holds one block for every rank, back to back, block r of counts[r]
 * reals; `sum` receives this rank's block summed over the ranks in ascending order. */
int comm_reduce_scatter(struct comm *comm, int32_t rank, enum comm_category category,
                        const real *blocks, const int64_t *counts, real *sum);

/* Sums a vector in place over the ranks in ascending order; all ranks get the same bits. */
int comm_allreduce(struct comm *comm, int32_t rank, enum comm_category category, real *values,
                   int64_t count);

int comm_barrier(struct comm *comm, int32_t rank);

/* Fails the group: every present and later wait returns -1. The first message given stays. */
void comm_abort(struct comm *comm, int32_t rank, const char *message);

/* Why the group failed, or "" if it has not; valid until comm_destroy. */
const char *comm_error(struct comm *comm);

/* Bytes counted so far, over all ranks. */
int64_t comm_bytes(struct comm *comm, enum comm_category category);

#endif
