/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The matrix product on OpenBLAS. Owns the lock that serializes the calls where the library needs
 * it: the one variable in the trainer that is neither constant nor owned by a rank.
 */
#include "gemm.h"

#include <cblas.h>
#include <pthread.h>

static pthread_mutex_t single_thread_lock = PTHREAD_MUTEX_INITIALIZER;

static void call(const struct gemm *g, const CBLAS_TRANSPOSE *transposes,
                 const struct operand *factors, real *c, int64_t c_stride)
{
    const struct operand a = factors[0];
    const struct operand b = factors[1];
    const int m = (int)g->m;
    const int n = (int)g->n;
    const int k = (int)g->k;

#ifdef TRAINER_DOUBLE
    cblas_dgemm(CblasRowMajor, transposes[0], transposes[1], m, n, k, g->alpha, a.data,
                (int)a.stride, b.data, (int)b.stride, g->beta, c, (int)c_stride);
#else
    cblas_sgemm(CblasRowMajor, transposes[0], transposes[1], m, n, k, g->alpha, a.data,
                (int)a.stride, b.data, (int)b.stride, g->beta, c, (int)c_stride);
#endif
}

static void product(const struct gemm *g, const CBLAS_TRANSPOSE *transposes,
                    const struct operand *factors, real *c, int64_t c_stride)
{
    if (g->m == 0 || g->n == 0) {
        return;
    }
    if (openblas_get_parallel()) {
        call(g, transposes, factors, c, c_stride);
        return;
    }
    pthread_mutex_lock(&single_thread_lock);
    call(g, transposes, factors, c, c_stride);
    pthread_mutex_unlock(&single_thread_lock);
}

void gemm_nn(struct gemm g, struct operand a, struct operand b, real *c, int64_t c_stride)
{
    const CBLAS_TRANSPOSE transposes[] = {CblasNoTrans, CblasNoTrans};

    product(&g, transposes, (const struct operand[]){a, b}, c, c_stride);
}

void gemm_nt(struct gemm g, struct operand a, struct operand b, real *c, int64_t c_stride)
{
    const CBLAS_TRANSPOSE transposes[] = {CblasNoTrans, CblasTrans};

    product(&g, transposes, (const struct operand[]){a, b}, c, c_stride);
}

void gemm_tn(struct gemm g, struct operand a, struct operand b, real *c, int64_t c_stride)
{
    const CBLAS_TRANSPOSE transposes[] = {CblasTrans, CblasNoTrans};

    product(&g, transposes, (const struct operand[]){a, b}, c, c_stride);
}
