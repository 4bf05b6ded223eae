/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rotary positions (RoFormer, Su et al. 2021). Stateless; safe from any thread.
 */
#ifndef TRAINER_ROPE_H
#define TRAINER_ROPE_H

#include "real.h"

struct rope {
    int64_t rows, heads, head_dim;
    real *table; /* [rows, head_dim] cosines, then sines, of every row's angles */
};

/* The angles position * base^(-2 i / head_dim), i < head_dim / 2. */
void rope_fill(const struct rope *rope, const int64_t *positions, real base);

/* Rotates the pairs (i, i + head_dim / 2) of every head, in place, in rows `stride` apart. */
void rope_rotate(const struct rope *rope, int64_t stride, real *rows);

/* The backward: gradients turn back by the same angles. */
void rope_rotate_back(const struct rope *rope, int64_t stride, real *rows);

#endif
