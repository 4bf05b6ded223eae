/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A conversion: tensors of one batch go from one layout to another. Results depend on the arguments
 * alone.
 */
#ifndef CPL_BATCH_CONVERT_H
#define CPL_BATCH_CONVERT_H

#include "batch/batch.h"

struct cpl_convert_call {
    const struct cpl_batch *batch;
    struct cpl_conversion layouts;
    uint64_t identity; /* of the input's partition; 0: not checked */
};

/* What a call does. */
struct cpl_convert_info {
    bool due;
    struct cpl_conversion layouts;
    const struct cpl_table *source;
    const struct cpl_table *target;
    const struct cpl_route *route; /* NULL where nothing is due */
};

/* Looks at batch, layouts and identity of the call alone. Errors: ARGUMENT. */
enum cpl_status cpl_convert_describe(const struct cpl_context *context,
                                     const struct cpl_convert_call *call,
                                     struct cpl_convert_info *info, struct cpl_error *error);

struct cpl_convert_tensors {
    struct cpl_tensor input;
    struct cpl_tensor output;
    int32_t row_axis;
};

/*
 * Carries out a call that is due. Collective.
 * Errors: ARGUMENT, UNSUPPORTED, MEMORY, MISMATCH, TIMEOUT, PEER.
 */
enum cpl_status cpl_convert_run(struct cpl_context *context, const struct cpl_convert_call *call,
                                const struct cpl_convert_info *info,
                                const struct cpl_convert_tensors *tensors, struct cpl_error *error);

#endif
