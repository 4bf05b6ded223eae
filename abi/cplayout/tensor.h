/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tensor view that crosses the boundary.
 *
 * It has the memory layout of DLPack's DLTensor (a test compares every offset with
 * <dlpack/dlpack.h>), so a host that has one may pass its address as it is. The plugin owns no
 * tensor: it borrows the struct, its arrays and the memory behind them for the duration that the
 * receiving function states.
 *
 * Rules that hold for every tensor, unless a function says otherwise:
 *  - shape and strides have ndim entries; strides are in elements; strides may be NULL for a compact
 *    row-major tensor;
 *  - one axis, the row axis, counts tokens. The dimensions after it are compact: together they are
 *    one row. The row stride is free; the dimensions before it must fold into one, which has a free
 *    stride of its own;
 *  - no stride is negative, and rows do not overlap;
 *  - the data type is bytes: bits * lanes / 8 per element, whatever the code says.
 */
#ifndef CPLAYOUT_TENSOR_H
#define CPLAYOUT_TENSOR_H

#include <stdint.h>

/* Device types, numbered as in DLPack. */
enum {
    CPLAYOUT_DEVICE_CPU = 1,
};

/* Type codes, numbered as in DLPack. */
enum {
    CPLAYOUT_TYPE_INT = 0,
    CPLAYOUT_TYPE_UINT = 1,
    CPLAYOUT_TYPE_FLOAT = 2,
    CPLAYOUT_TYPE_BFLOAT = 4,
    CPLAYOUT_TYPE_BOOL = 6,
};

#define CPLAYOUT_MAX_DIMS 8

struct cplayout_device {
    int32_t device_type;
    int32_t device_id;
};

struct cplayout_type {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
};

struct cplayout_tensor {
    void *data; /* start of the allocation; may be NULL if a dimension is 0 */
    struct cplayout_device device;
    int32_t ndim; /* 1 ... CPLAYOUT_MAX_DIMS */
    struct cplayout_type dtype;
    int64_t *shape;       /* [ndim] */
    int64_t *strides;     /* [ndim], elements, or NULL */
    uint64_t byte_offset; /* of the first element, from data */
};

#endif
