/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/fields.h"

#include <inttypes.h>
#include <string.h>

enum { TYPE_INT = 0, TYPE_UINT = 1 }; /* DLPack's codes */

static const struct cpl_field_spec specs[CPL_FIELD_COUNT] = {
    [CPL_FIELD_TOKENS] = {.name = "tokens", .ndim = 2, .row_axis = 1},
    [CPL_FIELD_LABELS] = {.name = "labels", .ndim = 2, .row_axis = 1},
    [CPL_FIELD_POSITION_IDS] = {.name = "position_ids", .ndim = 2, .row_axis = 1},
};

const struct cpl_field_spec *cpl_field_spec(enum cpl_field_id id)
{
    return &specs[id];
}

enum cpl_status cpl_field_find(const char *name, enum cpl_field_id *id, struct cpl_error *error)
{
    for (enum cpl_field_id i = 0; i < CPL_FIELD_COUNT; i++) {
        if (strcmp(specs[i].name, name) == 0) {
            *id = i;
            return CPL_OK;
        }
    }
    return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                          "unknown field '%.64s'; known fields: tokens, labels, position_ids",
                          name);
}

static enum cpl_status check_dimensions(const struct cpl_field_spec *spec,
                                        const struct cpl_tensor *tensor, struct cpl_error *error)
{
    if (tensor->ndim != spec->ndim) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, spec->name,
                              "field %s must be [B, S], it has %d dimensions", spec->name,
                              tensor->ndim);
    }
    return CPL_OK;
}

static enum cpl_status check_field(const struct cpl_field_spec *spec,
                                   const struct cpl_tensor *tensor, int64_t tokens,
                                   struct cpl_error *error)
{
    if (tensor->shape[spec->row_axis] != tokens) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, spec->name,
                              "field %s has %" PRId64
                              " entries along axis %d, the sequence has %" PRId64 " tokens",
                              spec->name, tensor->shape[spec->row_axis], spec->row_axis, tokens);
    }
    if (tensor->type_code != TYPE_INT && tensor->type_code != TYPE_UINT) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, spec->name,
                              "field %s must hold integers, its type code is %u", spec->name,
                              (unsigned)tensor->type_code);
    }
    return CPL_OK;
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

enum cpl_status cpl_field_set(struct cpl_field *field, enum cpl_field_id id,
                              const struct cpl_tensor *tensor, int64_t tokens,
                              struct cpl_error *error)
{
    const struct cpl_field_spec *const spec = &specs[id];
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
        status = check_field(spec, tensor, tokens, error);
    }
    if (status == CPL_OK) {
        adopt(field, tensor);
    }
    return status;
}
