/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of row-major matrices, by OpenBLAS. Safe from any thread. A build of OpenBLAS without
 * threads is not: two calls at once can share a work buffer and give wrong products. With such a
 * build (openblas_get_parallel() is 0) the calls take a lock, so ranks wait for each other; with
 * any other they run side by side.
 */
#ifndef TRAINER_GEMM_H
#define TRAINER_GEMM_H

#include "real.h"

/* The sizes of C = alpha op(A) op(B) + beta C: C is [m, n] and the inner extent is k. */
struct gemm {
    int64_t m, n, k;
    real alpha, beta;
};

/* One factor of a product: its first element and the distance between two stored rows. */
struct operand {
    const real *data;
    int64_t stride;
};

static inline struct operand operand(const real *data, int64_t stride)
{
    return (struct operand){data, stride};
}

/* C = alpha A B + beta C. `c_stride` is the distance between two rows of C. */
void gemm_nn(struct gemm g, struct operand a, struct operand b, real *c, int64_t c_stride);

/* C = alpha A B^T + beta C; B is stored as [n, k]. */
void gemm_nt(struct gemm g, struct operand a, struct operand b, real *c, int64_t c_stride);

/* C = alpha A^T B + beta C; A is stored as [k, m]. */
void gemm_tn(struct gemm g, struct operand a, struct operand b, real *c, int64_t c_stride);

#endif
