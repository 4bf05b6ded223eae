/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layer hooks: one call converts hidden states, or their gradient, between the layouts that the
 * schedule names. Results depend on the arguments alone.
 */
#ifndef CPL_BATCH_HOOKS_H
#define CPL_BATCH_HOOKS_H

#include "batch/batch.h"

struct cpl_hook_call {
    const struct cpl_batch *batch;
    const struct cpl_chunk *chunk;
    struct cpl_step step;
    int32_t row_axis;
    uint64_t identity; /* of the input's partition; 0: not checked */
    struct cpl_tensor input;
    struct cpl_tensor output; /* read only where a conversion is due */
};

/* What a call does. */
struct cpl_hook_info {
    bool due;
    int32_t from; /* layout handles */
    int32_t to;
    const struct cpl_table *source;
    const struct cpl_table *target;
    const struct cpl_route *route; /* NULL where nothing is due */
};

/* Looks at batch, schedule, step and identity of the call alone. Errors: ARGUMENT. */
enum cpl_status cpl_hook_describe(struct cpl_context *context, const struct cpl_hook_call *call,
                                  struct cpl_hook_info *info, struct cpl_error *error);

/*
 * Converts if the step asks for it; `due` says whether it did. Collective where due.
 * Errors: ARGUMENT, UNSUPPORTED, MISMATCH, TIMEOUT, PEER.
 */
enum cpl_status cpl_hook_run(struct cpl_context *context, const struct cpl_hook_call *call,
                             bool *due, struct cpl_error *error);

#endif
