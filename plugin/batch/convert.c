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
    struct cpl_convert_info found = {.layouts = layouts};
    enum cpl_status status = check_call(context, call, error);

    if (status == CPL_OK) {
        status = cpl_batch_table(call->batch, layouts.from, &found.source, error);
    }
    if (status == CPL_OK) {
        status = cpl_batch_table(call->batch, layouts.to, &found.target, error);
    }
    if (status == CPL_OK) {
        status = check_identity(call, found.source->identity, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    found.due = found.source->identity != found.target->identity;
    if (found.due) {
        found.route = &call->batch->routes[layouts.from][layouts.to];
    }
    *info = found;
    return CPL_OK;
}

/* Both tensors as rows, checked against each other and the route. */
static enum cpl_status check_tensors(const struct cpl_convert_call *call,
                                     const struct cpl_exchange *exchange, struct cpl_rows *input,
                                     struct cpl_rows *output, struct cpl_error *error)
{
    enum cpl_status status =
        cpl_rows_from_tensor(&call->input, call->row_axis, "input", input, error);

    if (status == CPL_OK) {
        status = cpl_rows_from_tensor(&call->output, call->row_axis, "out", output, error);
    }
    if (status == CPL_OK) {
        status = cpl_tensor_match(&call->output, &call->input, call->row_axis, "out", error);
    }
    return status == CPL_OK ? cpl_exchange_check(exchange, error) : status;
}

static enum cpl_status convert(struct cpl_context *context, const struct cpl_convert_call *call,
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
    enum cpl_status status = check_tensors(call, &exchange, &input, &output, error);

    if (status != CPL_OK) {
        return status;
    }
    status = cpl_exchange_run(&exchange, context->transport, error);
    if (status != CPL_OK) {
        cpl_context_fail(context, error);
    }
    return status;
}

enum cpl_status cpl_convert_run(struct cpl_context *context, const struct cpl_convert_call *call,
                                bool *due, struct cpl_error *error)
{
    struct cpl_convert_info info;
    const enum cpl_status status = cpl_convert_describe(context, call, &info, error);

    if (status != CPL_OK) {
        return status;
    }
    *due = info.due;
    return info.due ? convert(context, call, info.route, error) : CPL_OK;
}
