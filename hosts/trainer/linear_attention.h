/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The linear attention layer: Mamba-2's form (Dao & Gu 2024), with as many heads for q and k as for
 * v. Projections to q, k, v, z and dt; causal convolution and SiLU over q, k, v; the scan; its
 * output times silu(z); the projection back. One rank, one thread.
 */
#ifndef TRAINER_LINEAR_ATTENTION_H
#define TRAINER_LINEAR_ATTENTION_H

#include "conv.h"
#include "scan.h"

/* What the forward leaves for the backward, in the run's arena. */
struct linear_attention_saved {
    const real *x; /* [rows, hidden] the caller's */
    real *z;       /* [rows, inner] */
    real *raw;     /* [rows, heads] dt before bias and softplus */
    real *dt, *decay;
    struct conv_saved conv; /* its y [rows, 3 inner] is q, k, v */
    struct scan_saved scan;
    real *y, *sigmoid, *gated; /* [rows, inner] the scan's output; sigmoid(z); y silu(z) */
};

int linear_attention_slices(const struct model_config *config, int layer, struct params *params);

/* x and y [rows, hidden]; x must stay until the backward, which adds to dx. 0 or -1. */
int linear_attention_forward(const struct layer_run *run, const real *x, real *y,
                             struct linear_attention_saved *saved);
int linear_attention_backward(const struct layer_run *run,
                              const struct linear_attention_saved *saved, const real *dy, real *dx);

#endif
