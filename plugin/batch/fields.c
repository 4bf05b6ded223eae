/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

/* ---- The table ------------------------------------------------------------------------------- */

#define SEQUENCE              \
    {                         \
        {                     \
            "[B, S]", 2, 1, 0 \
        }                     \
    }
#define METADATA                      \
    {                                 \
        {                             \
            "of any shape", 0, -1, -1 \
        }                             \
    }

static const struct cpl_field_spec specs[CPL_FIELD_KNOWN] = {
    [CPL_FIELD_TOKENS] = {"tokens", SEQUENCE, CPL_FIELD_EVERYWHERE, CPL_FILL_TOKEN,
                          .integers = true},
    [CPL_FIELD_LABELS] = {"labels", SEQUENCE, CPL_FIELD_EVERYWHERE, CPL_FILL_LABEL,
                          .integers = true},
    [CPL_FIELD_MTP_TOKENS] = {"mtp_tokens", SEQUENCE, CPL_FIELD_IN_ATTENTION, CPL_FILL_TOKEN,
                              .integers = true},
    [CPL_FIELD_MTP_LABELS] = {"mtp_labels", SEQUENCE, CPL_FIELD_IN_ATTENTION, CPL_FILL_LABEL,
                              .integers = true},
    [CPL_FIELD_LOSS_MASK] = {"loss_mask", SEQUENCE, CPL_FIELD_EVERYWHERE, CPL_FILL_VALUE},
    [CPL_FIELD_MTP_MASK] = {"mtp_mask", SEQUENCE, CPL_FIELD_IN_ATTENTION, CPL_FILL_VALUE},
    [CPL_FIELD_POSITION_IDS] = {"position_ids",
                                {{"[B, S]", 2, 1, 0}, {"[axes, B, S]", 3, 2, 1}},
                                CPL_FIELD_EVERYWHERE,
                                CPL_FILL_VALUE,
                                .integers = true,
                                .made = true},
    [CPL_FIELD_PADDING_MASK] = {"padding_mask", SEQUENCE, CPL_FIELD_EVERYWHERE, CPL_FILL_VALUE,
                                .value = 1, .made = true},
    [CPL_FIELD_DOCUMENT_IDS] = {"document_ids", SEQUENCE, CPL_FIELD_EVERYWHERE, CPL_FILL_VALUE,
                                .value = -1, .integers = true, .made = true},
    [CPL_FIELD_EMBEDDINGS] = {"embeddings",
                              {{"[S, B, H]", 3, 0, 1}},
                              CPL_FIELD_IN_BOUNDARY,
                              CPL_FILL_VALUE,
                              .scatter = true},
    [CPL_FIELD_ATTENTION_MASK] = {"attention_mask",
                                  {{"[B, 1, S, S]", 4, 2, 0}},
                                  CPL_FIELD_IN_ATTENTION,
                                  CPL_FILL_NONE},
    [CPL_FIELD_CU_SEQLENS] = {"cu_seqlens", METADATA, CPL_FIELD_EVERYWHERE, CPL_FILL_NONE},
    [CPL_FIELD_CU_SEQLENS_PADDED] = {"cu_seqlens_padded", METADATA, CPL_FIELD_EVERYWHERE,
                                     CPL_FILL_NONE},
    [CPL_FIELD_CU_SEQLENS_ARGMIN] = {"cu_seqlens_argmin", METADATA, CPL_FIELD_EVERYWHERE,
                                     CPL_FILL_NONE},
    [CPL_FIELD_MAX_SEQLEN] = {"max_seqlen", METADATA, CPL_FIELD_EVERYWHERE, CPL_FILL_NONE},
    [CPL_FIELD_LOCAL_CP_SIZE] = {"local_cp_size", METADATA, CPL_FIELD_EVERYWHERE, CPL_FILL_NONE},
    [CPL_FIELD_DATASET_ID] = {"dataset_id", METADATA, CPL_FIELD_EVERYWHERE, CPL_FILL_NONE},
};

size_t cpl_fields_count(const struct cpl_field_table *table)
{
    return CPL_FIELD_KNOWN + table->count;
}

const struct cpl_field_spec *cpl_field_spec(const struct cpl_field_table *table, size_t id)
{
    return id < CPL_FIELD_KNOWN ? &specs[id] : &table->declared[id - CPL_FIELD_KNOWN];
}

/* ---- Names ----------------------------------------------------------------------------------- */

static const char *nearest_of(const struct cpl_field_table *table, const char *name)
{
    size_t best = strlen(name) / 3 + 1;
    const char *nearest = NULL;

    for (size_t i = 0; i < cpl_fields_count(table); i++) {
        const char *const known = cpl_field_spec(table, i)->name;
        const size_t distance = cpl_edit_distance(name, known);

        if (distance <= best) {
            best = distance;
            nearest = known;
        }
    }
    return nearest;
}

static enum cpl_status fail_unknown(const struct cpl_field_table *table, const char *name,
                                    struct cpl_error *error)
{
    const char *const nearest = nearest_of(table, name);

    if (nearest != NULL) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                              "unknown field '%.64s'; did you mean '%.64s'? Others have to be "
                              "declared when the context is created",
                              name, nearest);
    }
    return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                          "unknown field '%.64s': it is none of the known ones (tokens, labels, "
                          "loss_mask, ...) and was not declared when the context was created",
                          name);
}

enum cpl_status cpl_field_find(const struct cpl_field_table *table, const char *name, size_t *id,
                               struct cpl_error *error)
{
    for (size_t i = 0; i < cpl_fields_count(table); i++) {
        if (strcmp(cpl_field_spec(table, i)->name, name) == 0) {
            *id = i;
            return CPL_OK;
        }
    }
    return fail_unknown(table, name, error);
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

/* A field on its way in. */
struct entrant {
    const struct cpl_field_spec *spec;
    const struct cpl_field_form *form;
    struct cpl_field *field;
};

/* The form that the number of dimensions fits. */
static const struct cpl_field_form *form_of(const struct cpl_field_spec *spec,
                                            const struct cpl_tensor *tensor)
{
    for (size_t i = 0; i < 2 && spec->forms[i].dims != NULL; i++) {
        const struct cpl_field_form *const form = &spec->forms[i];

        if (form->ndim == tensor->ndim || (form->ndim == 0 && form->row_axis < tensor->ndim)) {
            return form;
        }
    }
    return NULL;
}

static enum cpl_status fail_form(const struct cpl_field_spec *spec, const struct cpl_tensor *tensor,
                                 struct cpl_error *error)
{
    const bool two = spec->forms[1].dims != NULL;

    return cpl_fail_field(error, CPL_ERROR_ARGUMENT, spec->name,
                          "field %s must be %s%s%s, it has %d dimension%s", spec->name,
                          spec->forms[0].dims, two ? " or " : "", two ? spec->forms[1].dims : "",
                          tensor->ndim, tensor->ndim == 1 ? "" : "s");
}

/* Copies shape and strides, and writes compact strides out. The sizes have been checked. */
static void adopt(struct cpl_field *field, const struct cpl_tensor *tensor)
{
    int64_t compact = 1;

    for (int32_t axis = tensor->ndim - 1; axis >= 0; axis--) {
        field->shape[axis] = tensor->shape[axis];
        field->strides[axis] = tensor->strides != NULL ? tensor->strides[axis] : compact;
        compact *= tensor->shape[axis];
    }
    field->tensor = *tensor;
    field->tensor.shape = field->shape;
    field->tensor.strides = field->strides;
}

static enum cpl_status check_rows(const struct entrant *entrant, const struct cpl_field_rule *rule,
                                  struct cpl_error *error)
{
    const char *const name = entrant->spec->name;
    const int32_t axis = entrant->form->row_axis;
    const int64_t rows = entrant->field->shape[axis];

    return rows == rule->rows
               ? CPL_OK
               : cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                                "field %s has %" PRId64
                                " entries along axis %d, the sequence has %" PRId64 " (%s)",
                                name, rows, axis, rule->rows, rule->rows_source);
}

/* All fields have one B; a mask may be the same for all samples. */
static enum cpl_status check_batch(const struct entrant *entrant, struct cpl_field_rule *rule,
                                   struct cpl_error *error)
{
    const char *const name = entrant->spec->name;
    const int32_t axis = entrant->form->batch_axis;
    const int64_t batch = axis >= 0 ? entrant->field->shape[axis] : 0;
    const bool shared = entrant->spec == &specs[CPL_FIELD_ATTENTION_MASK] && batch == 1;

    if (axis < 0 || shared || batch == rule->batch) {
        return CPL_OK;
    }
    if (rule->batch_source != NULL) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                              "field %s has %" PRId64
                              " entries along axis %d, field %s has %" PRId64
                              ": the number of samples B is one for all",
                              name, batch, axis, rule->batch_source, rule->batch);
    }
    rule->batch = batch;
    rule->batch_source = name;
    return CPL_OK;
}

/* Query rows are cut, key columns are whole. */
static enum cpl_status check_mask(const struct entrant *entrant, const struct cpl_field_rule *rule,
                                  struct cpl_error *error)
{
    const int64_t *const shape = entrant->field->shape;
    const char *const name = entrant->spec->name;

    if (entrant->spec != &specs[CPL_FIELD_ATTENTION_MASK]) {
        return CPL_OK;
    }
    if (rule->samples > 0 && rule->sharded) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                              "field %s: a dense mask does not fit packed documents (mask.packed); "
                              "cu_seqlens say what a token may see",
                              name);
    }
    if (shape[1] != 1 || shape[3] != rule->rows) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                              "field %s must be [B, 1, S, S] with S = %" PRId64 ", it is [%" PRId64
                              ", %" PRId64 ", %" PRId64 ", %" PRId64 "]",
                              name, rule->rows, shape[0], shape[1], shape[2], shape[3]);
    }
    return CPL_OK;
}

static enum cpl_status check_type(const struct cpl_field_spec *spec,
                                  const struct cpl_tensor *tensor, struct cpl_error *error)
{
    const bool integers =
        tensor->type_code == CPL_TYPE_CODE_INT || tensor->type_code == CPL_TYPE_CODE_UINT;

    return !spec->integers || integers
               ? CPL_OK
               : cpl_fail_field(error, CPL_ERROR_ARGUMENT, spec->name,
                                "field %s must hold integers, its type code is %u", spec->name,
                                (unsigned)tensor->type_code);
}

/* ---- Samples --------------------------------------------------------------------------------- */

/*
 * Packed samples that lie below each other, [B, S] or [axes, B, S], are one stream of B * S rows in the
 * same memory, if there is no gap between them.
 */
static enum cpl_status join_samples(const struct entrant *entrant,
                                    const struct cpl_field_rule *rule, struct cpl_error *error)
{
    struct cpl_field *const field = entrant->field;
    const int32_t axis = entrant->form->row_axis;
    const int32_t above = entrant->form->batch_axis;
    int64_t rows;

    if (rule->samples < 2 || above != axis - 1 || field->shape[axis] == rule->rows ||
        __builtin_mul_overflow(field->shape[above], field->shape[axis], &rows) ||
        rows != rule->rows || field->shape[above] != rule->samples) {
        return CPL_OK;
    }
    if (field->strides[above] != field->shape[axis] * field->strides[axis]) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, entrant->spec->name,
                              "field %s has gaps between its %" PRId64
                              " samples; packed samples are joined in place, without a copy",
                              entrant->spec->name, rule->samples);
    }
    field->shape[above] = 1;
    field->shape[axis] = rows;
    return CPL_OK;
}

/* ---- Fill values ----------------------------------------------------------------------------- */

int64_t cpl_field_fill_value(const struct cpl_field_spec *spec, int64_t pad_token,
                             int64_t pad_label)
{
    switch (spec->fill) {
    case CPL_FILL_TOKEN:
        return pad_token;
    case CPL_FILL_LABEL:
        return pad_label;
    case CPL_FILL_VALUE:
        return spec->value;
    case CPL_FILL_NONE:
        break;
    }
    return 0;
}

/* Only packed batches have padding. */
static enum cpl_status set_fill(const struct entrant *entrant, const struct cpl_field_rule *rule,
                                struct cpl_error *error)
{
    const struct cpl_tensor *const tensor = &entrant->field->tensor;
    const char *const name = entrant->spec->name;
    const int64_t fill = cpl_field_fill_value(entrant->spec, rule->pad_token, rule->pad_label);

    if (cpl_fill_encode(&entrant->field->fill, tensor, fill) || rule->samples == 0) {
        return CPL_OK;
    }
    return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                          "field %s: padding holds %" PRId64
                          ", which does not fit its type of code %u with %u bits x %u",
                          name, fill, (unsigned)tensor->type_code, (unsigned)tensor->type_bits,
                          (unsigned)tensor->type_lanes);
}

/* ---- Taking over ----------------------------------------------------------------------------- */

static enum cpl_status check_cut(const struct entrant *entrant, struct cpl_field_rule *rule,
                                 struct cpl_error *error)
{
    enum cpl_status status = CPL_OK;

    if (entrant->form->row_axis < 0) {
        return CPL_OK;
    }
    status = join_samples(entrant, rule, error);
    if (status == CPL_OK) {
        status = check_rows(entrant, rule, error);
    }
    if (status == CPL_OK) {
        status = check_batch(entrant, rule, error);
    }
    return status == CPL_OK ? check_mask(entrant, rule, error) : status;
}

enum cpl_status cpl_field_set(struct cpl_field *field, const struct cpl_given_field *given,
                              struct cpl_field_rule *rule, struct cpl_error *error)
{
    const struct cpl_field_spec *const spec = cpl_field_spec(rule->table, given->id);
    const struct entrant entrant = {spec, form_of(spec, &given->tensor), field};
    enum cpl_status status;

    if (field->given) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, spec->name, "field %s is given twice",
                              spec->name);
    }
    if (entrant.form == NULL) {
        return fail_form(spec, &given->tensor, error);
    }
    field->row_axis = entrant.form->row_axis;
    status = cpl_rows_from_tensor(&given->tensor, field->row_axis < 0 ? 0 : field->row_axis,
                                  spec->name, &field->rows, error);
    if (status != CPL_OK) {
        return status;
    }
    adopt(field, &given->tensor);
    status = check_cut(&entrant, rule, error);
    if (status == CPL_OK) {
        status = check_type(spec, &field->tensor, error);
    }
    if (status == CPL_OK) {
        status = set_fill(&entrant, rule, error);
    }
    if (status == CPL_OK && field->row_axis >= 0) {
        status =
            cpl_rows_from_tensor(&field->tensor, field->row_axis, spec->name, &field->rows, error);
    }
    field->given = status == CPL_OK;
    return status;
}

void cpl_fields_length(const struct cpl_field_table *table, const struct cpl_given_field *fields,
                       size_t count, int64_t *tokens, size_t *source)
{
    for (size_t i = 0; i < count; i++) {
        const struct cpl_tensor *const tensor = &fields[i].tensor;
        const struct cpl_field_form *const form =
            form_of(cpl_field_spec(table, fields[i].id), tensor);

        if (form != NULL && form->row_axis >= 0 && tensor->shape != NULL) {
            *tokens = tensor->shape[form->row_axis];
            *source = fields[i].id;
            return;
        }
    }
}
