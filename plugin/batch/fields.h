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
    CPL_FIELD_LOSS_MASK,
    CPL_FIELD_EMBEDDINGS,
    CPL_FIELD_COUNT,
};

struct cpl_field_spec {
    const char *name;
    const char *dims; /* "[B, S]" */
    int32_t ndim;
    int32_t row_axis;
    bool integers; /* it holds nothing else */
};

/* A field of a batch: the input tensor, with arrays of its own. */
struct cpl_field {
    bool given;
    struct cpl_tensor tensor; /* shape and strides point below; strides are never NULL */
    int64_t shape[CPL_MAX_DIMS];
    int64_t strides[CPL_MAX_DIMS];
    struct cpl_rows rows;
    int64_t fill; /* what padding holds */
};

/* A tensor given for a field. */
struct cpl_given_field {
    enum cpl_field_id id;
    struct cpl_tensor tensor;
};

const struct cpl_field_spec *cpl_field_spec(enum cpl_field_id id);

/* Errors: ARGUMENT (unknown name, with the known ones). */
enum cpl_status cpl_field_find(const char *name, enum cpl_field_id *id, struct cpl_error *error);

/* What the fields of one batch must be like. */
struct cpl_field_rule {
    int64_t rows;      /* of the stream */
    bool padded;       /* views may have padding, so that fill values must fit the type */
    int64_t pad_token; /* fill values of tokens and labels; all others have 0 */
    int64_t pad_label;
};

/* Takes over a tensor. Errors: ARGUMENT, UNSUPPORTED. */
enum cpl_status cpl_field_set(struct cpl_field *field, const struct cpl_given_field *given,
                              const struct cpl_field_rule *rule, struct cpl_error *error);

#endif
