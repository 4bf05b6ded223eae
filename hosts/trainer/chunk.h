/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One chunk of the scan, for scan.c only. Within a chunk, with G_i the sum of g up to row i and S
 * the state before it:
 *
 *     y_i   = s sum_{j<=i} exp(G_i - G_j) dt_j (q_i k_j) v_j + s exp(G_i) q_i^T S + D v_i
 *     S_end = exp(G_end) S + sum_j exp(G_end - G_j) dt_j k_j v_j^T
 *
 * with s = 1 / sqrt(head_dim). All exponents are <= 0, so nothing overflows. Stateless; safe from
 * any thread as long as the outputs differ.
 */
#ifndef TRAINER_CHUNK_H
#define TRAINER_CHUNK_H

#include "scan.h"

enum { CHUNK = 64 }; /* rows of a full chunk */

/* One head of one chunk: where its rows are, and their step sizes and summed decays. */
struct chunk {
    const real *q, *k, *v;
    int64_t row, length, head;
    int64_t state; /* index into [chunks, heads] */
    real scale;
    real dt[CHUNK], sum[CHUNK]; /* dt_i and G_i */
};

/* Temporary matrices for one chunk and head. */
struct scratch {
    real *scores, *dscores; /* [CHUNK, CHUNK] */
    real *rows;             /* [CHUNK, head_dim] */
};

/* Head `head` of chunk c of an own part. */
void chunk_load(const struct scan *scan, const struct own_part *part, int64_t c, int64_t head,
                struct chunk *chunk);

/* Sets the chunk's entry of saved->states to what it adds to the state, and that of saved->factors
 * to the factor by which the state decays over it. */
void chunk_contribution(const struct scan *scan, const struct chunk *c, struct scratch scratch,
                        const struct scan_saved *saved);

/* Sets the chunk's entry of dstates to what its y contribute to the gradient of the state before
 * it: sum_i s exp(G_i) q_i dy_i^T. */
void chunk_contribution_backward(const struct scan *scan, const struct chunk *c,
                                 struct scratch scratch, const real *dy, real *dstates);

/* The chunk's rows of y, once saved->states holds the states before the chunks. */
void chunk_output(const struct scan *scan, const struct chunk *c, struct scratch scratch,
                  const struct scan_saved *saved, real *y);

/* What goes into the backward of a chunk: the gradient of y, the state before every chunk, and the
 * gradient of the state after it. */
struct scan_flow {
    const real *dy, *states, *dstates;
};

/* The chunk's rows of all gradients. */
void chunk_backward(const struct scan *scan, const struct chunk *c, struct scratch scratch,
                    const struct scan_flow *flow, const struct scan_gradient *gradient);

#endif
