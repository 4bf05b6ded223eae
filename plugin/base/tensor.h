/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensor checks. A tensor from outside becomes `cpl_rows`, the only view of it that moves know:
 * outer x rows x row_bytes with free strides for the first two.
 */
#ifndef CPL_BASE_TENSOR_H
#define CPL_BASE_TENSOR_H

#include <stdbool.h>

#include "base/error.h"

enum { CPL_MAX_DIMS = 8, CPL_DEVICE_CPU = 1 };

/* A tensor as it came from outside; nothing of it is trusted. */
struct cpl_tensor {
    void *data;
    uint64_t byte_offset;
    const int64_t *shape;
    const int64_t *strides; /* elements; NULL = compact */
    int32_t ndim;
    int32_t device_type;
    uint8_t type_code;
    uint8_t type_bits;
    uint16_t type_lanes;
};

struct cpl_rows {
    unsigned char *data; /* first byte of row 0 */
    int64_t rows;
    uint64_t row_bytes;
    uint64_t row_stride; /* bytes between rows */
    uint64_t outer;      /* how often the rows repeat, with outer_stride bytes between */
    uint64_t outer_stride;
};

/*
 * Checks a tensor against the rules of <cplayout/tensor.h> and describes it by rows along
 * `row_axis`. `name` is used in messages.
 */
enum cpl_status cpl_rows_from_tensor(const struct cpl_tensor *tensor, int32_t row_axis,
                                     const char *name, struct cpl_rows *rows,
                                     struct cpl_error *error);

/* Whether the memory from first to last byte of one meets that of the other. */
bool cpl_rows_overlap(const struct cpl_rows *a, const struct cpl_rows *b);

/*
 * Checks that `tensor` has the type of `expected` and, along every axis but `free_axis` (-1: none is
 * free), its shape. `name` is used in messages. Both have been checked.
 */
enum cpl_status cpl_tensor_match(const struct cpl_tensor *tensor, const struct cpl_tensor *expected,
                                 int32_t free_axis, const char *name, struct cpl_error *error);

/* Bytes of one element. The tensor has been checked. */
uint64_t cpl_element_bytes(const struct cpl_tensor *tensor);

#endif
