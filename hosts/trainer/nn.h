/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row-local pieces of the network, forward and backward. Matrices are row-major without gaps.
 * Backward functions add to the gradients they return (the names in d...). Stateless: safe from any
 * thread as long as the outputs differ. None of them can fail.
 */
#ifndef TRAINER_NN_H
#define TRAINER_NN_H

#include "real.h"

/* A matrix product y[rows, out] = x[rows, in] w[in, out]. */
struct linear {
    int64_t rows, in, out;
};

void linear_forward(struct linear shape, const real *x, const real *w, real *y);

struct linear_gradient {
    real *dx, *dw;
};

void linear_backward(struct linear shape, const real *x, const real *w, const real *dy,
                     struct linear_gradient gradient);

/* RMSNorm over rows of `width`; `inverse` [rows] keeps 1 / rms for the backward. */
struct norm {
    int64_t rows, width;
};

void norm_forward(struct norm shape, const real *x, const real *weight, real *inverse, real *y);

struct norm_saved {
    const real *x, *weight, *inverse;
};

void norm_backward(struct norm shape, struct norm_saved saved, const real *dy, real *dweight,
                   real *dx);

/* out = silu(gate) * value, element by element; `sigmoid` [count] is kept for the backward. */
struct gate {
    const real *gate, *value;
    real *sigmoid;
};

void gate_forward(int64_t count, struct gate g, real *out);
void gate_backward(int64_t count, struct gate g, const real *dout, real *dgate, real *dvalue);

/* Rows of the table [vocab, width] by token; the backward adds rows of dy to the table's. */
void embedding_forward(struct norm shape, const real *table, const int32_t *tokens, real *y);
void embedding_backward(struct norm shape, const int32_t *tokens, const real *dy, real *dtable);

/* The sum of -log softmax(logits)[label] over the rows with label >= 0. Forward and backward in
 * one: the logits [rows, width] become their gradient times `scale` (zero in masked rows). */
double cross_entropy(struct norm shape, const int32_t *labels, real scale, real *logits);

#endif
