/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MLP layer: SwiGLU (Shazeer 2020), y = (silu(x Wg) * (x Wu)) Wd. Row-local, so the layout does
 * not matter. One rank, one thread.
 */
#ifndef TRAINER_MLP_H
#define TRAINER_MLP_H

#include "layer.h"

/* What the forward leaves for the backward, in the run's arena; [rows, mlp] but for x. */
struct mlp_saved {
    const real *x; /* [rows, hidden] the caller's */
    real *gate, *up, *sigmoid, *inner;
};

int mlp_slices(const struct model_config *config, int layer, struct params *params);

/* x and y [rows, hidden]; x must stay until the backward, which adds to dx. 0 or -1. */
int mlp_forward(const struct layer_run *run, const real *x, real *y, struct mlp_saved *saved);
int mlp_backward(const struct layer_run *run, const struct mlp_saved *saved, const real *dy,
                 real *dx);

#endif
