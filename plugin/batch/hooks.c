/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/hooks.h"

#include <inttypes.h>

#include "base/hash.h"
#include "move/exchange.h"

static enum cpl_status check_call(const struct cpl_context *context,
                                  const struct cpl_hook_call *call, struct cpl_error *error)
{
    const int32_t layers = call->chunk->schedule.layers;

    if (call->batch->context != context) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT, "the batch belongs to another context");
    }
    if (call->chunk->context != context) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT, "the schedule belongs to another context");
    }
    if (call->step.layer < 0 || call->step.layer >= layers) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT, "layer %d is not one of the schedule's %d",
                        call->step.layer, layers);
    }
    return CPL_OK;
}

static enum cpl_status check_identity(const struct cpl_hook_call *call, uint64_t expected,
                                      struct cpl_error *error)
{
    if (call->identity != 0 && call->identity != expected) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT,
                        "layer %d: the input has identity %016" PRIx64
                        ", this call converts from %016" PRIx64
                        "; it is in another layout or of another batch",
                        call->step.layer, call->identity, expected);
    }
    return CPL_OK;
}

static enum cpl_status check_shapes(const struct cpl_hook_call *call, struct cpl_error *error)
{
    const struct cpl_tensor *const in = &call->input;
    const struct cpl_tensor *const out = &call->output;

    if (in->ndim != out->ndim) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT, "input has %d dimensions, output %d", in->ndim,
                        out->ndim);
    }
    if (in->type_code != out->type_code || in->type_bits != out->type_bits ||
        in->type_lanes != out->type_lanes) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT, "input and output have different data types");
    }
    for (int32_t axis = 0; axis < in->ndim; axis++) {
        if (axis != call->row_axis && in->shape[axis] != out->shape[axis]) {
            return cpl_fail(error, CPL_ERROR_ARGUMENT,
                            "input has %" PRId64 " entries along axis %d, output %" PRId64,
                            in->shape[axis], axis, out->shape[axis]);
        }
    }
    return CPL_OK;
}

static enum cpl_status convert(struct cpl_context *context, const struct cpl_hook_call *call,
                               const struct cpl_route *route, struct cpl_error *error)
{
    struct cpl_rows input;
    struct cpl_rows output;
    const struct cpl_exchange exchange = {
        .route = route,
        .input = &input,
        .output = &output,
        .tag = cpl_hash_word(cpl_hash_word(call->batch->serial, route->source), route->target),
    };
    enum cpl_status status =
        cpl_rows_from_tensor(&call->input, call->row_axis, "input", &input, error);

    if (status == CPL_OK) {
        status = cpl_rows_from_tensor(&call->output, call->row_axis, "output", &output, error);
    }
    if (status == CPL_OK) {
        status = check_shapes(call, error);
    }
    if (status == CPL_OK) {
        status =
            cpl_context_note(context, cpl_exchange_run(&exchange, &context->local, error), error);
    }
    return status;
}

enum cpl_status cpl_hook_run(struct cpl_context *context, const struct cpl_hook_call *call,
                             bool *due, struct cpl_error *error)
{
    struct cpl_conversion conversion;
    const struct cpl_table *source;
    const struct cpl_table *target;
    enum cpl_status status = cpl_context_check(context, error);

    if (status == CPL_OK) {
        status = check_call(context, call, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    conversion = cpl_schedule_conversion(&call->chunk->schedule, &call->step);
    source = &call->batch->tables[conversion.from];
    target = &call->batch->tables[conversion.to];
    status = check_identity(call, source->identity, error);
    if (status != CPL_OK) {
        return status;
    }
    *due = source->identity != target->identity;
    return *due
               ? convert(context, call, &call->batch->routes[conversion.from][conversion.to], error)
               : CPL_OK;
}
