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
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "batch",
                              "the batch belongs to another context");
    }
    if (call->chunk->context != context) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "schedule",
                              "the schedule belongs to another context");
    }
    if (call->step.layer < 0 || call->step.layer >= layers) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "layer",
                              "layer %d is not one of the schedule's %d", call->step.layer, layers);
    }
    return CPL_OK;
}

static enum cpl_status check_identity(const struct cpl_hook_call *call, uint64_t expected,
                                      struct cpl_error *error)
{
    if (call->identity != 0 && call->identity != expected) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "identity",
                              "layer %d: the input has identity %016" PRIx64
                              ", this call converts from %016" PRIx64
                              "; it is in another layout or of another batch",
                              call->step.layer, call->identity, expected);
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
        status = cpl_rows_from_tensor(&call->output, call->row_axis, "out", &output, error);
    }
    if (status == CPL_OK) {
        status = cpl_tensor_match(&call->output, &call->input, call->row_axis, "out", error);
    }
    if (status == CPL_OK) {
        status =
            cpl_context_note(context, cpl_exchange_run(&exchange, &context->local, error), error);
    }
    return status;
}

enum cpl_status cpl_hook_describe(struct cpl_context *context, const struct cpl_hook_call *call,
                                  struct cpl_hook_info *info, struct cpl_error *error)
{
    enum cpl_status status = cpl_context_check(context, error);
    struct cpl_conversion conversion;

    if (status == CPL_OK) {
        status = check_call(context, call, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    conversion = cpl_schedule_conversion(&call->chunk->schedule, &call->step);
    *info = (struct cpl_hook_info){
        .from = conversion.from,
        .to = conversion.to,
        .source = &call->batch->tables[conversion.from],
        .target = &call->batch->tables[conversion.to],
    };
    info->due = info->source->identity != info->target->identity;
    if (info->due) {
        info->route = &call->batch->routes[conversion.from][conversion.to];
    }
    return check_identity(call, info->source->identity, error);
}

enum cpl_status cpl_hook_run(struct cpl_context *context, const struct cpl_hook_call *call,
                             bool *due, struct cpl_error *error)
{
    struct cpl_hook_info info;
    const enum cpl_status status = cpl_hook_describe(context, call, &info, error);

    if (status != CPL_OK) {
        return status;
    }
    *due = info.due;
    return info.due ? convert(context, call, info.route, error) : CPL_OK;
}
