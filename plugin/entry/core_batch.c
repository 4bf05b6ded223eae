/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots of the core table: batches and layer hooks.
 */
#include "batch/batch.h"
#include "batch/hooks.h"
#include "entry/core.h"

/* ---- Batch ------------------------------------------------------------------------------------ */

static enum cpl_status fields_in(const struct cplayout_batch_args *args,
                                 struct cpl_given_field *fields, struct cpl_error *error)
{
    if (args->field_count > CPL_FIELD_COUNT) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT, "%llu fields are given, %d are known",
                        (unsigned long long)args->field_count, CPL_FIELD_COUNT);
    }
    if (args->field_count > 0 && args->fields == NULL) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT, "fields must not be NULL");
    }
    for (uint64_t i = 0; i < args->field_count; i++) {
        const struct cplayout_field *const field = &args->fields[i];
        enum cpl_status status = cpl_require(field->name, "field.name", error);

        if (status == CPL_OK) {
            status = cpl_field_find(field->name, &fields[i].id, error);
        }
        if (status == CPL_OK) {
            status = cpl_tensor_in(field->tensor, field->name, &fields[i].tensor, error);
        }
        if (status != CPL_OK) {
            return status;
        }
    }
    return CPL_OK;
}

/* Everything that `args` may be wrong in. */
static enum cpl_status batch_in(const struct cplayout_batch_args *args, struct cplayout_batch **out,
                                struct cpl_given_field *fields, struct cpl_batch_args *inner,
                                struct cpl_error *error)
{
    struct cplayout_batch_args copy;
    const struct cpl_incoming incoming = {"args", &copy, sizeof(copy)};
    enum cpl_status status = cpl_require(out, "batch", error);

    if (status == CPL_OK) {
        status = cpl_copy_in(&incoming, args, error);
    }
    if (status == CPL_OK) {
        status = fields_in(&copy, fields, error);
    }
    if (status == CPL_OK) {
        inner->tokens = copy.sequence_length;
        inner->fields = fields;
        inner->field_count = (size_t)copy.field_count;
    }
    return status;
}

/* Wrong arguments are handed on as a problem: the peers must learn of them. */
static enum cpl_status create_batch(struct cpl_context *context,
                                    const struct cplayout_batch_args *args,
                                    struct cplayout_batch **batch, struct cpl_error *error)
{
    struct cpl_given_field fields[CPL_FIELD_COUNT];
    struct cpl_batch_args inner = {0};
    struct cpl_batch *created = NULL;
    struct cpl_error problem;
    enum cpl_status status;

    if (batch_in(args, batch, fields, &inner, &problem) != CPL_OK) {
        inner.problem = &problem;
    }
    status = cpl_batch_create(context, &inner, &created, error);
    if (status == CPL_OK) {
        *batch = (struct cplayout_batch *)created;
    }
    return status;
}

int32_t cpl_core_batch_create(struct cplayout_context *context,
                              const struct cplayout_batch_args *args, struct cplayout_batch **batch,
                              struct cplayout_error *error)
{
    struct cpl_error problem;
    enum cpl_status status = cpl_require(context, "context", &problem);

    if (status == CPL_OK) {
        status = create_batch(context_of(context), args, batch, &problem);
    }
    return cpl_leave(status, &problem, log_of(context), error);
}

void cpl_core_batch_destroy(struct cplayout_batch *batch)
{
    cpl_batch_destroy((struct cpl_batch *)batch);
}

/* ---- Hooks ------------------------------------------------------------------------------------ */

/* Which call it is; the tensors are not looked at. */
static enum cpl_status call_in(const struct cplayout_call *call, struct cplayout_call *copy,
                               struct cpl_hook_call *inner, struct cpl_error *error)
{
    const struct cpl_incoming incoming = {"call", copy, sizeof(*copy)};
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
    if (status != CPL_OK) {
        return status;
    }
    if (copy->direction != CPLAYOUT_FORWARD && copy->direction != CPLAYOUT_BACKWARD) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "direction",
                              "call.direction is %d; forward is %d, backward %d", copy->direction,
                              CPLAYOUT_FORWARD, CPLAYOUT_BACKWARD);
    }
    inner->batch = (const struct cpl_batch *)copy->batch;
    inner->chunk = chunk_of(copy->schedule);
    inner->step.layer = copy->layer;
    inner->step.backward = copy->direction == CPLAYOUT_BACKWARD;
    inner->row_axis = copy->row_axis;
    inner->identity = copy->identity;
    return CPL_OK;
}

static enum cpl_status tensors_in(const struct cplayout_call *copy,
                                  const struct cplayout_tensor *out, struct cpl_hook_call *inner,
                                  struct cpl_error *error)
{
    enum cpl_status status = cpl_tensor_in(copy->input, "input", &inner->input, error);

    if (status == CPL_OK) {
        status = cpl_tensor_in(out, "out", &inner->output, error);
    }
    if (status == CPL_OK && copy->stream != NULL) {
        status = cpl_fail_field(error, CPL_ERROR_UNSUPPORTED, "stream",
                                "call.stream: streams are not supported by this version");
    }
    return status;
}

static int32_t run_hook(struct cplayout_context *context, enum cpl_hook hook,
                        const struct cplayout_call *call, struct cplayout_tensor *out,
                        struct cplayout_error *error)
{
    struct cpl_hook_call inner = {.step = {.hook = hook}};
    struct cplayout_call copy;
    struct cpl_error problem;
    bool due = false;
    enum cpl_status status = cpl_require(context, "context", &problem);

    if (status == CPL_OK) {
        status = call_in(call, &copy, &inner, &problem);
    }
    if (status == CPL_OK) {
        status = tensors_in(&copy, out, &inner, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_hook_run(context_of(context), &inner, &due, &problem);
    }
    if (status == CPL_OK && !due) {
        out->data = inner.input.data;
        out->byte_offset = inner.input.byte_offset;
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

static void conversion_out(struct cplayout_conversion *to, const struct cpl_hook_info *info,
                           int32_t rank)
{
    const struct cplayout_conversion filled = {
        .due = info->due,
        .from_layout = info->from,
        .to_layout = info->to,
        .input_rows = (uint64_t)cpl_table_rows(info->source, rank),
        .output_rows = (uint64_t)cpl_table_rows(info->target, rank),
        .sent_rows = info->due ? (uint64_t)cpl_moves_rows(&info->route->sent) : 0,
        .received_rows = info->due ? (uint64_t)cpl_moves_rows(&info->route->received) : 0,
        .input_identity = info->source->identity,
        .output_identity = info->target->identity,
    };

    cpl_copy_out(to, &filled, sizeof(filled));
}

static enum cpl_status check_hook(int32_t hook, struct cpl_error *error)
{
    if (hook != CPLAYOUT_HOOK_PREPARE && hook != CPLAYOUT_HOOK_FINALIZE) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "hook",
                              "hook is %d; prepare is %d, finalize %d", hook, CPLAYOUT_HOOK_PREPARE,
                              CPLAYOUT_HOOK_FINALIZE);
    }
    return CPL_OK;
}

int32_t cpl_core_conversion(struct cplayout_context *context, int32_t hook,
                            const struct cplayout_call *call,
                            struct cplayout_conversion *conversion, struct cplayout_error *error)
{
    struct cpl_hook_call inner = {
        .step = {.hook = hook == CPLAYOUT_HOOK_FINALIZE ? CPL_HOOK_FINALIZE : CPL_HOOK_PREPARE}};
    struct cpl_hook_info info;
    struct cplayout_call copy;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(context, "context", &problem);

    if (status == CPL_OK) {
        status = check_hook(hook, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_check_out(conversion, sizeof(*conversion), "conversion", &problem);
    }
    if (status == CPL_OK) {
        status = call_in(call, &copy, &inner, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_hook_describe(context_of(context), &inner, &info, &problem);
    }
    if (status == CPL_OK) {
        conversion_out(conversion, &info, context_of(context)->local.rank);
    }
    return cpl_leave(status, &problem, log_of(context), error);
}
