/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fill values: an integer as an element of any type that can hold it, and rows filled with it.
 */
#ifndef CPL_BATCH_FILL_H
#define CPL_BATCH_FILL_H

#include "base/tensor.h"

/* DLPack's type codes. */
enum {
    CPL_TYPE_CODE_INT = 0,
    CPL_TYPE_CODE_UINT = 1,
    CPL_TYPE_CODE_FLOAT = 2,
    CPL_TYPE_CODE_BFLOAT = 4,
    CPL_TYPE_CODE_BOOL = 6,
};

/* An element as bytes. */
struct cpl_fill {
    unsigned char bytes[8];
    size_t size;
    bool zero; /* all bytes are 0: any type will do, of any size */
};

/*
 * False if the tensor's type cannot hold the value exactly. 0 fits every type; other values fit integers
 * of 8 to 64 bits, bool, fp16, bf16, fp32 and fp64 of one lane.
 */
bool cpl_fill_encode(struct cpl_fill *fill, const struct cpl_tensor *type, int64_t value);

/* Consecutive rows, every element of them. */
void cpl_fill_rows(const struct cpl_fill *fill, const struct cpl_rows *out, int64_t first,
                   int64_t rows);

#endif
