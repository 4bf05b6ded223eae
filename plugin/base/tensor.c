/* SPDX-License-Identifier: Apache-2.0 */
#include "base/tensor.h"

#include <inttypes.h>
#include <stdbool.h>

/* Dimensions on one side of the row axis, folded into one. Strides count elements. */
struct folded {
    uint64_t count;
    uint64_t stride;
};

uint64_t cpl_element_bytes(const struct cpl_tensor *tensor)
{
    return (uint64_t)tensor->type_bits * tensor->type_lanes / 8;
}

static enum cpl_status check_head(const struct cpl_tensor *tensor, int32_t row_axis,
                                  const char *name, struct cpl_error *error)
{
    const unsigned bits = (unsigned)tensor->type_bits * tensor->type_lanes;

    if (tensor->ndim < 1 || tensor->ndim > CPL_MAX_DIMS || tensor->shape == NULL) {
        return cpl_fail_field(
            error, CPL_ERROR_ARGUMENT, name,
            "%s: a tensor has 1 to %d dimensions and a shape, this one has ndim %d", name,
            CPL_MAX_DIMS, tensor->ndim);
    }
    if (row_axis < 0 || row_axis >= tensor->ndim) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                              "%s: row axis %d is not one of %d dimensions", name, row_axis,
                              tensor->ndim);
    }
    if (bits == 0 || bits % 8 != 0) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                              "%s: elements of %u bits are not made of whole bytes", name, bits);
    }
    if (tensor->device_type != CPL_DEVICE_CPU) {
        return cpl_fail_field(
            error, CPL_ERROR_UNSUPPORTED, name,
            "%s: device type %d is not supported by this version, only host memory (%d)", name,
            tensor->device_type, CPL_DEVICE_CPU);
    }
    return CPL_OK;
}

/* Stride of a dimension; compact ones are computed from the dimensions behind it. */
static bool stride_of(const struct cpl_tensor *tensor, int32_t axis, uint64_t *stride)
{
    uint64_t compact = 1;

    if (tensor->strides != NULL) {
        *stride = (uint64_t)tensor->strides[axis];
        return tensor->strides[axis] >= 0;
    }
    for (int32_t i = axis + 1; i < tensor->ndim; i++) {
        if (__builtin_mul_overflow(compact, (uint64_t)tensor->shape[i], &compact)) {
            return false;
        }
    }
    *stride = compact;
    return true;
}

/*
 * Folds dimensions begin ... end-1 into one. Dimensions of one entry do not matter; others must
 * follow each other without gaps, the last with a stride of `inner` (0: any).
 */
static bool fold(const struct cpl_tensor *tensor, int32_t begin, int32_t end, uint64_t inner,
                 struct folded *folded)
{
    uint64_t expected = inner;

    *folded = (struct folded){.count = 1, .stride = inner};
    for (int32_t axis = end - 1; axis >= begin; axis--) {
        const uint64_t extent = (uint64_t)tensor->shape[axis];
        uint64_t stride;

        if (extent == 1) {
            continue;
        }
        if (!stride_of(tensor, axis, &stride) || (expected != 0 && stride != expected)) {
            return false;
        }
        folded->stride = folded->count == 1 ? stride : folded->stride;
        if (__builtin_mul_overflow(folded->count, extent, &folded->count) ||
            __builtin_mul_overflow(stride, extent, &expected)) {
            return false;
        }
    }
    return true;
}

static enum cpl_status check_shape(const struct cpl_tensor *tensor, const char *name,
                                   struct cpl_error *error)
{
    uint64_t total = cpl_element_bytes(tensor);
    bool empty = false;

    for (int32_t axis = 0; axis < tensor->ndim; axis++) {
        const int64_t extent = tensor->shape[axis];

        if (extent < 0) {
            return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name, "%s: dimension %d is %" PRId64,
                                  name, axis, extent);
        }
        empty = empty || extent == 0;
        if (!empty &&
            (__builtin_mul_overflow(total, (uint64_t)extent, &total) || total > INT64_MAX)) {
            return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                                  "%s: its size in bytes overflows", name);
        }
    }
    if (!empty && tensor->data == NULL) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                              "%s: data is NULL but the tensor is not empty", name);
    }
    return CPL_OK;
}

/* Distances in bytes that a move may add up must fit, whatever the strides claim. */
static bool spans_fit(const struct cpl_rows *rows)
{
    uint64_t row_span;
    uint64_t outer_span;
    uint64_t sum;

    return !__builtin_mul_overflow(rows->row_stride, (uint64_t)rows->rows, &row_span) &&
           !__builtin_mul_overflow(rows->outer_stride, rows->outer, &outer_span) &&
           !__builtin_add_overflow(row_span, outer_span, &sum) && sum <= INT64_MAX;
}

/* Bytes from the first to behind the last; 0 for an empty tensor. */
static uint64_t span_of(const struct cpl_rows *rows)
{
    if (rows->rows == 0 || rows->outer == 0 || rows->row_bytes == 0) {
        return 0;
    }
    return ((uint64_t)rows->rows - 1) * rows->row_stride + (rows->outer - 1) * rows->outer_stride +
           rows->row_bytes;
}

bool cpl_rows_overlap(const struct cpl_rows *a, const struct cpl_rows *b)
{
    const uint64_t a_span = span_of(a);
    const uint64_t b_span = span_of(b);

    return a_span > 0 && b_span > 0 && (uintptr_t)a->data < (uintptr_t)b->data + b_span &&
           (uintptr_t)b->data < (uintptr_t)a->data + a_span;
}

/* Whether rows of one tensor share bytes. */
static bool rows_collide(const struct cpl_rows *rows)
{
    const bool by_row = rows->rows > 1 && rows->row_stride < rows->row_bytes;
    const uint64_t span = rows->row_stride * (uint64_t)(rows->rows > 0 ? rows->rows - 1 : 0);
    const bool interleaved =
        rows->outer_stride >= rows->row_bytes &&
        rows->row_stride >= rows->outer_stride * (rows->outer - 1) + rows->row_bytes;

    return by_row || (rows->outer > 1 && rows->rows > 0 && !interleaved &&
                      rows->outer_stride < span + rows->row_bytes);
}

static enum cpl_status fold_all(const struct cpl_tensor *tensor, int32_t row_axis, const char *name,
                                struct cpl_rows *rows, struct cpl_error *error)
{
    const uint64_t element = cpl_element_bytes(tensor);
    struct folded inner;
    struct folded outer;
    uint64_t row_stride;

    if (!fold(tensor, row_axis + 1, tensor->ndim, 1, &inner)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                              "%s: the dimensions behind row axis %d must be compact", name,
                              row_axis);
    }
    if (!fold(tensor, 0, row_axis, 0, &outer)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                              "%s: the dimensions before row axis %d do not fold into one", name,
                              row_axis);
    }
    if (!stride_of(tensor, row_axis, &row_stride)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                              "%s: the row stride is negative or overflows", name);
    }
    rows->rows = tensor->shape[row_axis];
    row_stride = rows->rows > 1 ? row_stride : 0; /* never used, may be anything */
    rows->outer = outer.count;
    if (__builtin_mul_overflow(inner.count, element, &rows->row_bytes) ||
        __builtin_mul_overflow(row_stride, element, &rows->row_stride) ||
        __builtin_mul_overflow(outer.stride, element, &rows->outer_stride) || !spans_fit(rows)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name, "%s: its strides overflow", name);
    }
    return CPL_OK;
}

/* Whether the rows behind byte_offset still have addresses. */
static bool place_fits(const struct cpl_tensor *tensor, const struct cpl_rows *rows)
{
    const uint64_t span = span_of(rows);

    return tensor->byte_offset <= INT64_MAX && span <= INT64_MAX &&
           tensor->byte_offset + span <= UINTPTR_MAX - (uintptr_t)tensor->data;
}

enum cpl_status cpl_rows_from_tensor(const struct cpl_tensor *tensor, int32_t row_axis,
                                     const char *name, struct cpl_rows *rows,
                                     struct cpl_error *error)
{
    struct cpl_rows checked = {0};
    enum cpl_status status = check_head(tensor, row_axis, name, error);

    if (status == CPL_OK) {
        status = check_shape(tensor, name, error);
    }
    if (status == CPL_OK) {
        status = fold_all(tensor, row_axis, name, &checked, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    if (rows_collide(&checked)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name, "%s: its strides make rows overlap",
                              name);
    }
    if (tensor->data == NULL) {
        *rows = checked; /* empty: an offset from nothing has no meaning */
        return CPL_OK;
    }
    if (!place_fits(tensor, &checked)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                              "%s: byte_offset %" PRIu64 " leads out of the address space", name,
                              tensor->byte_offset);
    }
    checked.data = (unsigned char *)tensor->data + tensor->byte_offset;
    *rows = checked;
    return CPL_OK;
}

enum cpl_status cpl_tensor_match(const struct cpl_tensor *tensor, const struct cpl_tensor *expected,
                                 int32_t free_axis, const char *name, struct cpl_error *error)
{
    if (tensor->ndim != expected->ndim) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name, "%s has %d dimensions instead of %d",
                              name, tensor->ndim, expected->ndim);
    }
    if (tensor->type_code != expected->type_code || tensor->type_bits != expected->type_bits ||
        tensor->type_lanes != expected->type_lanes) {
        return cpl_fail_field(
            error, CPL_ERROR_ARGUMENT, name,
            "%s has type code %u with %u bits x %u, not code %u with %u bits x %u", name,
            (unsigned)tensor->type_code, (unsigned)tensor->type_bits, (unsigned)tensor->type_lanes,
            (unsigned)expected->type_code, (unsigned)expected->type_bits,
            (unsigned)expected->type_lanes);
    }
    for (int32_t axis = 0; axis < tensor->ndim; axis++) {
        if (axis != free_axis && tensor->shape[axis] != expected->shape[axis]) {
            return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                                  "%s has %" PRId64 " entries along axis %d instead of %" PRId64,
                                  name, tensor->shape[axis], axis, expected->shape[axis]);
        }
    }
    return CPL_OK;
}
