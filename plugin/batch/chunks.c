/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/chunks.h"

#include <inttypes.h>
#include <string.h>

/* Two halves of a share's rows, by their first rows in the stream. */
struct halves {
    int64_t first;
    int64_t second;
    int64_t rows;
};

/* One run is two halves that follow each other: zigzag's chunks on the last rank. */
static bool find_halves(const struct cpl_moves *runs, struct halves *halves)
{
    const struct cpl_move *const list = runs->list;

    if (runs->count == 1 && list[0].rows % 2 == 0) {
        *halves = (struct halves){list[0].src, list[0].src + list[0].rows / 2, list[0].rows / 2};
        return true;
    }
    if (runs->count == 2 && list[0].rows == list[1].rows && list[0].dst == 0) {
        *halves = (struct halves){list[0].src, list[1].src, list[0].rows};
        return true;
    }
    return false;
}

static enum cpl_status check_runs(const struct cpl_view_subject *subject, struct halves *halves,
                                  struct cpl_error *error)
{
    const char *const name = subject->spec->name;
    const struct cpl_moves *const runs = &subject->share->route.kept;

    if (subject->made || subject->field->row_axis < 0) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                              "field %s has no rows of an input to slice: %s", name,
                              subject->made ? "the plugin makes it" : "it is metadata");
    }
    if (cpl_share_padded(subject->share)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                              "field %s has padding on this rank, which a slice cannot show", name);
    }
    if (!find_halves(runs, halves)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                              "field %s: this rank's %" PRId64
                              " rows are %zu run%s, not two of equal length",
                              name, subject->share->route.target_rows, runs->count,
                              runs->count == 1 ? "" : "s");
    }
    if (subject->field->tensor.ndim == CPL_MAX_DIMS) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name, "field %s has %d dimensions already",
                              name, CPL_MAX_DIMS);
    }
    return CPL_OK;
}

/* Dimensions from the row axis on move one up. */
static void split_axis(const struct cpl_field *field, struct cpl_view *view)
{
    const size_t kept = (size_t)field->row_axis;
    const size_t moved = (size_t)field->tensor.ndim - kept;

    memcpy(view->shape, field->shape, kept * sizeof(*view->shape));
    memcpy(view->strides, field->strides, kept * sizeof(*view->strides));
    memcpy(view->shape + kept + 1, field->shape + kept, moved * sizeof(*view->shape));
    memcpy(view->strides + kept + 1, field->strides + kept, moved * sizeof(*view->strides));
}

enum cpl_status cpl_chunks_describe(const struct cpl_view_subject *subject, struct cpl_view *view,
                                    struct cpl_error *error)
{
    const struct cpl_field *const field = subject->field;
    struct halves halves = {.rows = 0};
    const enum cpl_status status = check_runs(subject, &halves, error);

    if (status != CPL_OK) {
        return status;
    }
    *view = (struct cpl_view){
        .tensor = field->tensor,
        .row_axis = field->row_axis,
        .identity = subject->share->table->identity,
    };
    split_axis(field, view);
    view->shape[field->row_axis] = 2;
    view->strides[field->row_axis] =
        (halves.second - halves.first) * field->strides[field->row_axis];
    view->shape[field->row_axis + 1] = halves.rows;
    view->tensor.ndim++;
    view->tensor.byte_offset += (uint64_t)halves.first * field->rows.row_stride;
    view->tensor.shape = view->shape;
    view->tensor.strides = view->strides;
    return CPL_OK;
}
