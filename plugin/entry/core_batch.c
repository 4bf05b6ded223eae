/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots of the core table: batches.
 */
#include "batch/batch.h"
#include "entry/core.h"

/* ---- Batch ------------------------------------------------------------------------------------ */

/* Fields that have been given, on their way in. */
struct fields {
    const struct cpl_field_table *table;
    struct cpl_given_field list[CPL_FIELDS_MOST];
};

static enum cpl_status fields_in(const struct cplayout_batch_args *args, struct fields *fields,
                                 struct cpl_error *error)
{
    if (args->field_count > cpl_fields_count(fields->table)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "field_count",
                              "%llu fields are given, %zu are known",
                              (unsigned long long)args->field_count,
                              cpl_fields_count(fields->table));
    }
    if (args->field_count > 0 && args->fields == NULL) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "fields", "fields must not be NULL");
    }
    for (uint64_t i = 0; i < args->field_count; i++) {
        const struct cplayout_field *const field = &args->fields[i];
        enum cpl_status status = cpl_require(field->name, "field.name", error);

        if (status == CPL_OK) {
            status = cpl_field_find(fields->table, field->name, &fields->list[i].id, error);
        }
        if (status == CPL_OK) {
            status = cpl_tensor_in(field->tensor, field->name, &fields->list[i].tensor, error);
        }
        if (status != CPL_OK) {
            return status;
        }
    }
    return CPL_OK;
}

/* Everything that `args` may be wrong in. */
static enum cpl_status batch_in(const struct cplayout_batch_args *args, struct cplayout_batch **out,
                                struct fields *fields, struct cpl_batch_args *inner,
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
        status = cpl_samples_in(copy.samples, copy.sample_count, &inner->samples, error);
    }
    if (status == CPL_OK) {
        inner->sample_count = (size_t)copy.sample_count;
        inner->tokens = copy.sequence_length;
        inner->fields = fields->list;
        inner->field_count = (size_t)copy.field_count;
    }
    return status;
}

/* Wrong arguments are handed on as a problem: the peers must learn of them. */
static enum cpl_status create_batch(struct cpl_context *context,
                                    const struct cplayout_batch_args *args,
                                    struct cplayout_batch **batch, struct cpl_error *error)
{
    struct fields fields = {.table = &context->fields};
    struct cpl_batch_args inner = {0};
    struct cpl_batch *created = NULL;
    struct cpl_error problem;
    enum cpl_status status;

    if (batch_in(args, batch, &fields, &inner, &problem) != CPL_OK) {
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
