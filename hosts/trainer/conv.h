/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Causal depthwise convolution over the sequence, then SiLU. The rows that precede a part may lie
 * on other ranks: this halo is fetched, and its gradient goes back. One rank, one thread.
 */
#ifndef TRAINER_CONV_H
#define TRAINER_CONV_H

#include "layer.h"

/* weight [taps, channels], the last tap on the row itself; bias [channels]. */
struct conv {
    int64_t taps, channels;
    const real *weight, *bias;
};

/* What the forward leaves for the backward, in the run's arena. */
struct conv_saved {
    const real *x;     /* [rows, channels] */
    real *halo;        /* [own parts][taps - 1, channels] the rows before each own part */
    real *sigmoid, *y; /* [rows, channels] */
};

/* y = silu(bias + sum_j weight[j] x[t - taps + 1 + j]); y is saved->y. 0 or -1. */
int conv_forward(const struct layer_run *run, const struct conv *conv, const real *x,
                 struct conv_saved *saved);

struct conv_gradient {
    real *dx, *dweight, *dbias;
};

/* Adds to the gradients. Overwrites dy, by the gradient before the SiLU. */
int conv_backward(const struct layer_run *run, const struct conv *conv,
                  const struct conv_saved *saved, real *dy, struct conv_gradient gradient);

#endif
