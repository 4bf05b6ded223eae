/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The softmax attention layer: causal, multi-head, rotary positions by global position. Keys and
 * values of all ranks are gathered and put into global order; every rank computes its own queries.
 * The backward sums the gradients of keys and values over the ranks and sends them home. One rank,
 * one thread.
 */
#ifndef TRAINER_ATTENTION_H
#define TRAINER_ATTENTION_H

#include "layer.h"
#include "rope.h"

/* What the forward leaves for the backward, in the run's arena. */
struct attention_saved {
    const real *x; /* [rows, hidden] the caller's */
    struct rope rope;
    real *q;         /* [rows, inner] rotated */
    real *kv;        /* [sequence, 2 inner] rotated keys, then values, in global order */
    real *y;         /* [rows, inner] the attention's output */
    real *logarithm; /* [rows, heads] log of the sum of exp of a row's scores */
};

int attention_slices(const struct model_config *config, int layer, struct params *params);

/* x and y [rows, hidden]; x must stay until the backward, which adds to dx. 0 or -1. */
int attention_forward(const struct layer_run *run, const real *x, real *y,
                      struct attention_saved *saved);
int attention_backward(const struct layer_run *run, const struct attention_saved *saved,
                       const real *dy, real *dx);

#endif
