/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/convert.h"

#include <inttypes.h>

#include "base/hash.h"
#include "move/exchange.h"

static enum cpl_status check_identity(const struct cpl_convert_call *call, uint64_t expected,
                                      struct cpl_error *error)
{
    if (call->identity != 0 && call->identity != expected) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "identity",
                              "the input has identity %016" PRIx64
                              ", this call converts from %016" PRIx64
                              "; it is in another layout or of another batch",
                              call->identity, expected);
    }
    return CPL_OK;
}

static enum cpl_status check_call(const struct cpl_context *context,
                                  const struct cpl_convert_call *call, struct cpl_error *error)
{
    const enum cpl_status status = cpl_context_check(context, error);

    if (status == CPL_OK && call->batch->context != context) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "batch",
                              "the batch belongs to another context");
    }
    return status;
}

enum cpl_status cpl_convert_describe(const struct cpl_context *context,
                                     const struct cpl_convert_call *call,
                                     struct cpl_convert_info *info, struct cpl_error *error)
{
    const struct cpl_conversion layouts = call->layouts;
    enum cpl_status status = check_call(context, call, error);

    if (status == CPL_OK) {
        status = cpl_batch_table(call->batch, layouts.from, &info->source, error);
    }
    if (status == CPL_OK) {
        status = cpl_batch_table(call->batch, layouts.to, &info->target, error);
    }
    if (status == CPL_OK) {
        status = check_identity(call, info->source->identity, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    info->layouts = layouts;
    info->due = info->source->identity != info->target->identity;
    info->route = info->due ? &call->batch->routes[layouts.from][layouts.to] : NULL;
    return CPL_OK;
}

/* Both tensors as rows, checked against each other and the route. */
static enum cpl_status check_tensors(const struct cpl_convert_tensors *tensors,
                                     const struct cpl_exchange *exchange, struct cpl_rows *input,
                                     struct cpl_rows *output, struct cpl_error *error)
{
    enum cpl_status status =
        cpl_rows_from_tensor(&tensors->input, tensors->row_axis, "input", input, error);

    if (status == CPL_OK) {
        status = cpl_rows_from_tensor(&tensors->output, tensors->row_axis, "out", output, error);
    }
    if (status == CPL_OK) {
        status =
            cpl_tensor_match(&tensors->output, &tensors->input, tensors->row_axis, "out", error);
    }
    return status == CPL_OK ? cpl_exchange_check(exchange, error) : status;
}

enum cpl_status cpl_convert_run(struct cpl_context *context, const struct cpl_convert_call *call,
                                const struct cpl_convert_info *info,
                                const struct cpl_convert_tensors *tensors, struct cpl_error *error)
{
    const struct cpl_route *const route = info->route;
    struct cpl_rows input;
    struct cpl_rows output;
    const struct cpl_exchange exchange = {
        .route = route,
        .input = &input,
        .output = &output,
        .tag = cpl_hash_word(cpl_hash_word(call->batch->serial, route->source), route->target),
    };
    enum cpl_status status = check_tensors(tensors, &exchange, &input, &output, error);

    if (status != CPL_OK) {
        return status;
    }
    status = cpl_exchange_run(&exchange, context->transport, error);
    if (status != CPL_OK) {
        cpl_context_fail(context, error);
    }
    return status;
}
