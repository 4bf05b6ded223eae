/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Losses: the sum and number of a rank's valid per-token losses, and the mean over all tokens of all
 * ranks, of which every token counts once.
 */
#ifndef CPL_BATCH_LOSS_H
#define CPL_BATCH_LOSS_H

#include "batch/context.h"

enum { CPL_LOSS_TERMS_MOST = CPL_PAYLOAD_WORDS / 2 };

struct cpl_loss {
    double sum;
    uint64_t count; /* of valid tokens */
};

/*
 * Selects, never multiplies: what a token that does not count holds does not matter. `mask` may be NULL:
 * all tokens count. Errors: ARGUMENT (shapes that differ, a type that is none of losses or masks),
 * UNSUPPORTED (device memory).
 */
enum cpl_status cpl_loss_sum(const struct cpl_tensor *values, const struct cpl_tensor *mask,
                             struct cpl_loss *loss, struct cpl_error *error);

/* Sums over data-parallel ranks, in place; not OK: the error says why. */
struct cpl_reduce {
    int32_t (*sum)(void *self, double *values, uint64_t count); /* NULL: there is one such rank */
    void *self;
};

struct cpl_loss_args {
    const struct cpl_loss *local; /* [terms] */
    size_t terms;
    struct cpl_reduce reduce;
    int64_t averaging_ranks;         /* over which gradients will be averaged later */
    const struct cpl_error *problem; /* not NULL: the caller's arguments are wrong already */
};

struct cpl_loss_mean {
    double mean;   /* 0 if no token counts */
    double factor; /* of the local sum, so that the later average is the mean's gradient */
    double sum;    /* of all ranks */
    uint64_t count;
};

/*
 * Collective. Of T ranks that hold the same tokens the first counts. Errors: ARGUMENT, UNSUPPORTED
 * (no control channel), MISMATCH, TIMEOUT, PEER.
 */
enum cpl_status cpl_loss_mean(struct cpl_context *context, const struct cpl_loss_args *args,
                              struct cpl_loss_mean *means, struct cpl_error *error);

#endif
