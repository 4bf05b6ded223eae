/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots of the core table: layer hooks, conversions without a layer, and what they would do.
 */
#include "batch/convert.h"
#include "batch/hooks.h"
#include "entry/core.h"

/* ---- What both kinds share -------------------------------------------------------------------- */

/* What is given besides the call itself; only where a conversion is due it is looked at closely. */
struct given {
    const struct cplayout_tensor *input;
    int32_t row_axis;
    const void *stream;
    struct cplayout_tensor *out;
};

static enum cpl_status check_given(const struct given *given, struct cpl_error *error)
{
    enum cpl_status status = cpl_require(given->input, "input", error);

    if (status == CPL_OK) {
        status = cpl_require(given->out, "out", error);
    }
    if (status == CPL_OK && given->stream != NULL) {
        status = cpl_fail_field(error, CPL_ERROR_UNSUPPORTED, "stream",
                                "call.stream: streams are not supported by this version");
    }
    return status;
}

static enum cpl_status convert(struct cplayout_context *context,
                               const struct cpl_convert_call *inner,
                               const struct cpl_convert_info *info, const struct given *given,
                               struct cpl_error *error)
{
    struct cpl_convert_tensors tensors = {.row_axis = given->row_axis};
    enum cpl_status status = cpl_tensor_in(given->input, "input", &tensors.input, error);

    if (status == CPL_OK) {
        status = cpl_tensor_in(given->out, "out", &tensors.output, error);
    }
    return status == CPL_OK ? cpl_convert_run(context_of(context), inner, info, &tensors, error)
                            : status;
}

/* Converts, or hands the input on. */
static enum cpl_status run(struct cplayout_context *context, const struct cpl_convert_call *inner,
                           const struct given *given, struct cpl_error *error)
{
    struct cpl_convert_info info;
    enum cpl_status status = check_given(given, error);

    if (status == CPL_OK) {
        status = cpl_convert_describe(context_of(context), inner, &info, error);
    }
    if (status == CPL_OK && info.due) {
        return convert(context, inner, &info, given, error);
    }
    if (status == CPL_OK) {
        given->out->data = given->input->data;
        given->out->byte_offset = given->input->byte_offset;
    }
    return status;
}

static enum cpl_status describe(struct cplayout_context *context,
                                const struct cpl_convert_call *inner,
                                struct cplayout_conversion *conversion, struct cpl_error *error)
{
    struct cpl_convert_info info;
    const int32_t rank = context_of(context)->rank;
    struct cplayout_conversion filled;
    enum cpl_status status = cpl_convert_describe(context_of(context), inner, &info, error);

    if (status != CPL_OK) {
        return status;
    }
    filled = (struct cplayout_conversion){
        .due = info.due,
        .from_layout = info.layouts.from,
        .to_layout = info.layouts.to,
        .input_rows = (uint64_t)cpl_table_rows(info.source, rank),
        .output_rows = (uint64_t)cpl_table_rows(info.target, rank),
        .sent_rows = info.due ? (uint64_t)cpl_moves_rows(&info.route->sent) : 0,
        .received_rows = info.due ? (uint64_t)cpl_moves_rows(&info.route->received) : 0,
        .input_identity = info.source->identity,
        .output_identity = info.target->identity,
    };
    cpl_copy_out(conversion, &filled, sizeof(filled));
    return CPL_OK;
}

/* ---- Hooks ------------------------------------------------------------------------------------ */

static enum cpl_status step_in(const struct cplayout_call *call, enum cpl_hook hook,
                               struct cpl_step *step, struct cpl_error *error)
{
    if (call->direction != CPLAYOUT_FORWARD && call->direction != CPLAYOUT_BACKWARD) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "direction",
                              "call.direction is %d; forward is %d, backward %d", call->direction,
                              CPLAYOUT_FORWARD, CPLAYOUT_BACKWARD);
    }
    *step = (struct cpl_step){
        .hook = hook,
        .layer = call->layer,
        .backward = call->direction == CPLAYOUT_BACKWARD,
    };
    return CPL_OK;
}

/* Which conversion it is; the tensors are not looked at. */
static enum cpl_status call_in(const struct cplayout_context *context, enum cpl_hook hook,
                               const struct cplayout_call *call, struct cplayout_call *copy,
                               struct cpl_convert_call *inner, struct cpl_error *error)
{
    const struct cpl_incoming incoming = {"call", copy, sizeof(*copy)};
    struct cpl_step step;
    enum cpl_status status = cpl_copy_in(&incoming, call, error);

    if (status == CPL_OK) {
        status = cpl_require(copy->batch, "call.batch", error);
    }
    if (status == CPL_OK) {
        status = cpl_require(copy->schedule, "call.schedule", error);
    }
    if (status == CPL_OK) {
        status = cpl_check_reserved(copy->reserved, "call.reserved", error);
    }
    if (status == CPL_OK) {
        status = step_in(copy, hook, &step, error);
    }
    if (status == CPL_OK) {
        status = cpl_hook_layouts((const struct cpl_context *)context, chunk_of(copy->schedule),
                                  &step, &inner->layouts, error);
    }
    if (status == CPL_OK) {
        inner->batch = (const struct cpl_batch *)copy->batch;
        inner->identity = copy->identity;
    }
    return status;
}

static int32_t run_hook(struct cplayout_context *context, enum cpl_hook hook,
                        const struct cplayout_call *call, struct cplayout_tensor *out,
                        struct cplayout_error *error)
{
    struct cpl_convert_call inner;
    struct cplayout_call copy;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(context, "context", &problem);

    if (status == CPL_OK) {
        status = call_in(context, hook, call, &copy, &inner, &problem);
    }
    if (status == CPL_OK) {
        status = run(context, &inner, &(struct given){copy.input, copy.row_axis, copy.stream, out},
                     &problem);
    }
    return cpl_leave(status, &problem, log_of(context), error);
}

int32_t cpl_core_prepare_layer(struct cplayout_context *context, const struct cplayout_call *call,
                               struct cplayout_tensor *out, struct cplayout_error *error)
{
    return run_hook(context, CPL_HOOK_PREPARE, call, out, error);
}

int32_t cpl_core_finalize_layer(struct cplayout_context *context, const struct cplayout_call *call,
                                struct cplayout_tensor *out, struct cplayout_error *error)
{
    return run_hook(context, CPL_HOOK_FINALIZE, call, out, error);
}

static enum cpl_status hook_in(int32_t hook, enum cpl_hook *inner, struct cpl_error *error)
{
    if (hook != CPLAYOUT_HOOK_PREPARE && hook != CPLAYOUT_HOOK_FINALIZE) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "hook",
                              "hook is %d; prepare is %d, finalize %d", hook, CPLAYOUT_HOOK_PREPARE,
                              CPLAYOUT_HOOK_FINALIZE);
    }
    *inner = hook == CPLAYOUT_HOOK_FINALIZE ? CPL_HOOK_FINALIZE : CPL_HOOK_PREPARE;
    return CPL_OK;
}

int32_t cpl_core_conversion(struct cplayout_context *context, int32_t hook,
                            const struct cplayout_call *call,
                            struct cplayout_conversion *conversion, struct cplayout_error *error)
{
    struct cpl_convert_call inner;
    struct cplayout_call copy;
    enum cpl_hook which = CPL_HOOK_PREPARE;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(context, "context", &problem);

    if (status == CPL_OK) {
        status = hook_in(hook, &which, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_check_out(conversion, sizeof(*conversion), "conversion", &problem);
    }
    if (status == CPL_OK) {
        status = call_in(context, which, call, &copy, &inner, &problem);
    }
    if (status == CPL_OK) {
        status = describe(context, &inner, conversion, &problem);
    }
    return cpl_leave(status, &problem, log_of(context), error);
}

/* ---- Conversion without a layer --------------------------------------------------------------- */

static enum cpl_status convert_in(const struct cplayout_convert_call *call,
                                  struct cplayout_convert_call *copy,
                                  struct cpl_convert_call *inner, struct cpl_error *error)
{
    const struct cpl_incoming incoming = {"call", copy, sizeof(*copy)};
    enum cpl_status status = cpl_copy_in(&incoming, call, error);

    if (status == CPL_OK) {
        status = cpl_require(copy->batch, "call.batch", error);
    }
    if (status == CPL_OK) {
        status = cpl_check_reserved(copy->reserved, "call.reserved", error);
    }
    if (status == CPL_OK) {
        inner->batch = (const struct cpl_batch *)copy->batch;
        inner->layouts = (struct cpl_conversion){copy->from_layout, copy->to_layout};
        inner->identity = copy->identity;
    }
    return status;
}

int32_t cpl_core_convert(struct cplayout_context *context, const struct cplayout_convert_call *call,
                         struct cplayout_tensor *out, struct cplayout_error *error)
{
    struct cpl_convert_call inner;
    struct cplayout_convert_call copy;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(context, "context", &problem);

    if (status == CPL_OK) {
        status = convert_in(call, &copy, &inner, &problem);
    }
    if (status == CPL_OK) {
        status = run(context, &inner, &(struct given){copy.input, copy.row_axis, copy.stream, out},
                     &problem);
    }
    return cpl_leave(status, &problem, log_of(context), error);
}

int32_t cpl_core_convert_describe(struct cplayout_context *context,
                                  const struct cplayout_convert_call *call,
                                  struct cplayout_conversion *conversion,
                                  struct cplayout_error *error)
{
    struct cpl_convert_call inner;
    struct cplayout_convert_call copy;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(context, "context", &problem);

    if (status == CPL_OK) {
        status = cpl_check_out(conversion, sizeof(*conversion), "conversion", &problem);
    }
    if (status == CPL_OK) {
        status = convert_in(call, &copy, &inner, &problem);
    }
    if (status == CPL_OK) {
        status = describe(context, &inner, conversion, &problem);
    }
    return cpl_leave(status, &problem, log_of(context), error);
}
