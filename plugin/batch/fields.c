/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TYPE_INT = 0, TYPE_UINT = 1 }; /* DLPack's codes */

static const struct cpl_field_spec specs[CPL_FIELD_COUNT] = {
    [CPL_FIELD_TOKENS] = {"tokens", "[B, S]", 2, 1, true},
    [CPL_FIELD_LABELS] = {"labels", "[B, S]", 2, 1, true},
    [CPL_FIELD_POSITION_IDS] = {"position_ids", "[B, S]", 2, 1, true},
    [CPL_FIELD_LOSS_MASK] = {"loss_mask", "[B, S]", 2, 1, false},
    [CPL_FIELD_EMBEDDINGS] = {"embeddings", "[S, B, H]", 3, 0, false},
};

const struct cpl_field_spec *cpl_field_spec(enum cpl_field_id id)
{
    return &specs[id];
}

static enum cpl_status fail_unknown(const char *name, struct cpl_error *error)
{
    char names[128];
    size_t used = 0;

    for (enum cpl_field_id i = 0; i < CPL_FIELD_COUNT; i++) {
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "",
                                 specs[i].name);
    }
    return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                          "unknown field '%.64s'; known fields: %s", name, names);
}

enum cpl_status cpl_field_find(const char *name, enum cpl_field_id *id, struct cpl_error *error)
{
    for (enum cpl_field_id i = 0; i < CPL_FIELD_COUNT; i++) {
        if (strcmp(specs[i].name, name) == 0) {
            *id = i;
            return CPL_OK;
        }
    }
    return fail_unknown(name, error);
}

static enum cpl_status check_dimensions(const struct cpl_field_spec *spec,
                                        const struct cpl_tensor *tensor, struct cpl_error *error)
{
    if (tensor->ndim != spec->ndim) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, spec->name,
                              "field %s must be %s, it has %d dimension%s", spec->name, spec->dims,
                              tensor->ndim, tensor->ndim == 1 ? "" : "s");
    }
    return CPL_OK;
}

static enum cpl_status check_field(const struct cpl_field_spec *spec,
                                   const struct cpl_tensor *tensor, int64_t rows,
                                   struct cpl_error *error)
{
    if (tensor->shape[spec->row_axis] != rows) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, spec->name,
                              "field %s has %" PRId64
                              " entries along axis %d, the sequence has %" PRId64,
                              spec->name, tensor->shape[spec->row_axis], spec->row_axis, rows);
    }
    if (spec->integers && tensor->type_code != TYPE_INT && tensor->type_code != TYPE_UINT) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, spec->name,
                              "field %s must hold integers, its type code is %u", spec->name,
                              (unsigned)tensor->type_code);
    }
    return CPL_OK;
}

/* Whether an integer type can hold a value. Only whole machine words are filled with one. */
static bool holds(const struct cpl_tensor *tensor, int64_t value)
{
    const unsigned bits = tensor->type_bits;
    const bool is_signed = tensor->type_code == TYPE_INT;
    const bool is_word = bits == 8 || bits == 16 || bits == 32 || bits == 64;

    if (value == 0) {
        return true;
    }
    if (!is_word || tensor->type_lanes != 1 || (value < 0 && !is_signed)) {
        return false;
    }
    if (bits == 64) {
        return true;
    }
    return value < INT64_C(1) << (bits - is_signed) &&
           value >= (is_signed ? -(INT64_C(1) << (bits - 1)) : 0);
}

static enum cpl_status check_fill(const struct cpl_field_spec *spec,
                                  const struct cpl_tensor *tensor, int64_t fill,
                                  struct cpl_error *error)
{
    return holds(tensor, fill)
               ? CPL_OK
               : cpl_fail_field(error, CPL_ERROR_ARGUMENT, spec->name,
                                "field %s: padding holds %" PRId64
                                ", which does not fit its %s integers of %u bits x %u",
                                spec->name, fill,
                                tensor->type_code == TYPE_INT ? "signed" : "unsigned",
                                (unsigned)tensor->type_bits, (unsigned)tensor->type_lanes);
}

static int64_t fill_of(enum cpl_field_id id, const struct cpl_field_rule *rule)
{
    if (id == CPL_FIELD_TOKENS) {
        return rule->pad_token;
    }
    return id == CPL_FIELD_LABELS ? rule->pad_label : 0;
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
    field->given = true;
}

enum cpl_status cpl_field_set(struct cpl_field *field, const struct cpl_given_field *given,
                              const struct cpl_field_rule *rule, struct cpl_error *error)
{
    const struct cpl_field_spec *const spec = &specs[given->id];
    const struct cpl_tensor *const tensor = &given->tensor;
    enum cpl_status status;

    if (field->given) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, spec->name, "field %s is given twice",
                              spec->name);
    }
    status = check_dimensions(spec, tensor, error);
    if (status == CPL_OK) {
        status = cpl_rows_from_tensor(tensor, spec->row_axis, spec->name, &field->rows, error);
    }
    if (status == CPL_OK) {
        status = check_field(spec, tensor, rule->rows, error);
    }
    field->fill = fill_of(given->id, rule);
    if (status == CPL_OK && rule->padded) {
        status = check_fill(spec, tensor, field->fill, error);
    }
    if (status == CPL_OK) {
        adopt(field, tensor);
    }
    return status;
}
