/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views: a field of a batch cut for this rank in one layout.
 */
#ifndef CPL_BATCH_VIEW_H
#define CPL_BATCH_VIEW_H

#include "batch/batch.h"

struct cpl_view {
    struct cpl_tensor tensor; /* data NULL: has to be filled; shape and strides point below */
    int64_t shape[CPL_MAX_DIMS];
    int64_t strides[CPL_MAX_DIMS];
    int32_t row_axis;
    uint64_t identity;
};

/* One run of rows is described as a slice of the input. Errors: ARGUMENT. */
enum cpl_status cpl_view_describe(const struct cpl_batch *batch, int32_t layout, const char *field,
                                  struct cpl_view *view, struct cpl_error *error);

/* Writes every row of the view. Errors: ARGUMENT, UNSUPPORTED. */
enum cpl_status cpl_view_fill(const struct cpl_batch *batch, int32_t layout, const char *field,
                              const struct cpl_tensor *out, struct cpl_error *error);

#endif
