/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views: a field of a batch cut for this rank in one layout. With sequence parallelism most fields are
 * all rows of the context-parallel rank, those that are scattered this rank's window.
 */
#ifndef CPL_BATCH_VIEW_H
#define CPL_BATCH_VIEW_H

#include "batch/batch.h"

struct cpl_view {
    struct cpl_tensor tensor; /* data NULL: has to be filled; shape and strides point below */
    int64_t shape[CPL_MAX_DIMS];
    int64_t strides[CPL_MAX_DIMS];
    int32_t row_axis;  /* -1: of metadata, which is never cut */
    uint64_t identity; /* of the partition that orders the rows; 0 of metadata */
};

/* A field in one layout of a batch. */
struct cpl_view_subject {
    const struct cpl_batch *batch;
    const struct cpl_share *share;
    const struct cpl_field_spec *spec;
    const struct cpl_field *field;
    size_t id;
    bool made; /* by the plugin: the host gave none */
};

/*
 * Looks a field up, and whether it exists in the layout. Errors: ARGUMENT (no such handle or field, a
 * field that the batch was created without or that the layout does not have).
 */
enum cpl_status cpl_view_find(const struct cpl_batch *batch, int32_t layout, const char *field,
                              struct cpl_view_subject *subject, struct cpl_error *error);

/* One run of rows without padding is described as a slice of the input, metadata as the input. */
void cpl_view_describe(const struct cpl_view_subject *subject, struct cpl_view *view);

/*
 * The rows of an output tensor that has the shape and type of the view and does not meet the input.
 * Errors: ARGUMENT, UNSUPPORTED.
 */
enum cpl_status cpl_view_out(const struct cpl_view_subject *subject, const struct cpl_tensor *out,
                             struct cpl_rows *rows, struct cpl_error *error);

/* Writes every row of the view. Errors: ARGUMENT, UNSUPPORTED. */
enum cpl_status cpl_view_fill(const struct cpl_batch *batch, int32_t layout, const char *field,
                              const struct cpl_tensor *out, struct cpl_error *error);

#endif
