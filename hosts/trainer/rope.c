/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rotary positions: the table of angles, and the rotation by it. No state; safe from any thread.
 */
#include "rope.h"

void rope_fill(const struct rope *rope, const int64_t *positions, real base)
{
    const int64_t half = rope->head_dim / 2;

    for (int64_t i = 0; i < half; i++) {
        const double step = pow((double)base, -2.0 * (double)i / (double)rope->head_dim);
        for (int64_t t = 0; t < rope->rows; t++) {
            const double angle = (double)positions[t] * step;
            rope->table[t * rope->head_dim + i] = (real)cos(angle);
            rope->table[t * rope->head_dim + half + i] = (real)sin(angle);
        }
    }
}

/* One head of one row; `turn` is 1, or -1 for the opposite direction. */
static void rotate_head(const real *table, int64_t half, real turn, real *x)
{
    for (int64_t i = 0; i < half; i++) {
        const real cosine = table[i];
        const real sine = turn * table[half + i];
        const real first = x[i];
        const real second = x[half + i];
        x[i] = first * cosine - second * sine;
        x[half + i] = first * sine + second * cosine;
    }
}

static void rotate(const struct rope *rope, int64_t stride, real turn, real *rows)
{
    for (int64_t t = 0; t < rope->rows; t++) {
        for (int64_t h = 0; h < rope->heads; h++) {
            rotate_head(rope->table + t * rope->head_dim, rope->head_dim / 2, turn,
                        rows + t * stride + h * rope->head_dim);
        }
    }
}

void rope_rotate(const struct rope *rope, int64_t stride, real *rows)
{
    rotate(rope, stride, 1, rows);
}

void rope_rotate_back(const struct rope *rope, int64_t stride, real *rows)
{
    rotate(rope, stride, -1, rows);
}
