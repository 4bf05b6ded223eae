/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields a batch may carry. One table entry per known name.
 */
#ifndef CPL_BATCH_FIELDS_H
#define CPL_BATCH_FIELDS_H

#include <stdbool.h>

#include "base/tensor.h"

enum cpl_field_id {
    CPL_FIELD_TOKENS,
    CPL_FIELD_LABELS,
    CPL_FIELD_POSITION_IDS,
    CPL_FIELD_COUNT,
};

struct cpl_field_spec {
    const char *name;
    int32_t ndim;
    int32_t row_axis;
};

/* A field of a batch: the input tensor, with arrays of its own. */
struct cpl_field {
    bool given;
    struct cpl_tensor tensor; /* shape and strides point below; strides are never NULL */
    int64_t shape[CPL_MAX_DIMS];
    int64_t strides[CPL_MAX_DIMS];
    struct cpl_rows rows;
};

/* A tensor given for a field. */
struct cpl_given_field {
    enum cpl_field_id id;
    struct cpl_tensor tensor;
};

const struct cpl_field_spec *cpl_field_spec(enum cpl_field_id id);

/* Errors: ARGUMENT (unknown name, with the known ones). */
enum cpl_status cpl_field_find(const char *name, enum cpl_field_id *id, struct cpl_error *error);

/* Takes over a tensor of a sequence of `tokens`. Errors: ARGUMENT, UNSUPPORTED. */
enum cpl_status cpl_field_set(struct cpl_field *field, enum cpl_field_id id,
                              const struct cpl_tensor *tensor, int64_t tokens,
                              struct cpl_error *error);

#endif
