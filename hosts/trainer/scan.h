/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recurrence of linear attention in Mamba-2's form (SSD, Dao & Gu 2024), computed by chunks:
 *
 *     S_t = exp(g_t) S_{t-1} + dt_t k_t v_t^T        y_t = q_t^T S_t / sqrt(head_dim) + D v_t
 *
 * per head, S_t [head_dim, head_dim], S before the first position zero, g_t <= 0. The sequence may
 * be spread over ranks in any way. One rank, one thread.
 */
#ifndef TRAINER_SCAN_H
#define TRAINER_SCAN_H

#include "chain.h"

struct scan {
    int64_t heads, head_dim;
    int64_t stride;         /* distance between two rows of q, k and v */
    const real *q, *k, *v;  /* [rows][heads, head_dim] */
    const real *dt, *decay; /* [rows, heads] dt and g */
    const real *skip;       /* [heads] D */
};

/* What the forward leaves for the backward, in the run's arena. */
struct scan_saved {
    struct own_parts own;
    real *states;  /* [chunks, heads, head_dim, head_dim] at the beginning of every chunk */
    real *factors; /* [chunks, heads] exp of the chunk's summed g */
};

/* y [rows][heads, head_dim] without gaps. 0 or -1. */
int scan_forward(const struct layer_run *run, const struct scan *scan, real *y,
                 struct scan_saved *saved);

/* Gradients of the fields of struct scan; q, k and v with its stride. */
struct scan_gradient {
    real *dq, *dk, *dv; /* overwritten */
    real *ddt, *ddecay; /* overwritten; ddt without what reaches dt through g */
    real *dskip;        /* added to */
};

int scan_backward(const struct layer_run *run, const struct scan *scan,
                  const struct scan_saved *saved, const real *dy,
                  const struct scan_gradient *gradient);

#endif
