/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One chunk of the scan, forward and backward; the formulas are in chunk.h (the quadratic form of
 * SSD inside a chunk, the linear one across, Dao & Gu 2024). No state; safe from any thread.
 */
#include "chunk.h"

#include "gemm.h"

#include <string.h>

void chunk_load(const struct scan *scan, const struct own_part *part, int64_t c, int64_t head,
                struct chunk *chunk)
{
    const int64_t left = part->length - c * CHUNK;
    real sum = 0;

    chunk->row = part->row + c * CHUNK;
    chunk->length = left < CHUNK ? left : CHUNK;
    chunk->head = head;
    chunk->state = (part->first_chunk + c) * scan->heads + head;
    chunk->scale = 1 / real_sqrt((real)scan->head_dim);
    const int64_t offset = chunk->row * scan->stride + head * scan->head_dim;
    chunk->q = scan->q + offset;
    chunk->k = scan->k + offset;
    chunk->v = scan->v + offset;
    for (int64_t i = 0; i < chunk->length; i++) {
        const int64_t at = (chunk->row + i) * scan->heads + head;
        sum += scan->decay[at];
        chunk->sum[i] = sum;
        chunk->dt[i] = scan->dt[at];
    }
}

/* exp(G_end - G_i): what is left of row i at the end of the chunk. */
static real left_at_end(const struct chunk *c, int64_t i)
{
    return real_exp(c->sum[c->length - 1] - c->sum[i]);
}

static void scale_row(real *restrict to, real factor, const real *restrict from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        to[i] = factor * from[i];
    }
}

static real dot(const real *a, const real *b, int64_t count)
{
    real sum = 0;

    for (int64_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* rows := exp(G_end - G_j) dt_j k_j, row by row. */
static void weighted_keys(const struct scan *scan, const struct chunk *c, real *rows)
{
    for (int64_t j = 0; j < c->length; j++) {
        scale_row(rows + j * scan->head_dim, left_at_end(c, j) * c->dt[j], c->k + j * scan->stride,
                  scan->head_dim);
    }
}

/* rows := s exp(G_i) q_i, row by row. */
static void weighted_queries(const struct scan *scan, const struct chunk *c, real *rows)
{
    for (int64_t i = 0; i < c->length; i++) {
        scale_row(rows + i * scan->head_dim, c->scale * real_exp(c->sum[i]),
                  c->q + i * scan->stride, scan->head_dim);
    }
}

void chunk_contribution(const struct scan *scan, const struct chunk *c, struct scratch scratch,
                        const struct scan_saved *saved)
{
    const int64_t d = scan->head_dim;
    const struct gemm g = {d, d, c->length, 1, 0};

    weighted_keys(scan, c, scratch.rows);
    gemm_tn(g, operand(scratch.rows, d), operand(c->v, scan->stride),
            saved->states + c->state * d * d, d);
    saved->factors[c->state] = real_exp(c->sum[c->length - 1]);
}

void chunk_contribution_backward(const struct scan *scan, const struct chunk *c,
                                 struct scratch scratch, const real *dy, real *dstates)
{
    const int64_t d = scan->head_dim;
    const int64_t inner = scan->heads * d;
    const struct gemm g = {d, d, c->length, 1, 0};

    weighted_queries(scan, c, scratch.rows);
    gemm_tn(g, operand(scratch.rows, d), operand(dy + c->row * inner + c->head * d, inner),
            dstates + c->state * d * d, d);
}

/* scores := s exp(G_i - G_j) dt_j (q_i k_j) on and below the diagonal, zero above. */
static void chunk_scores(const struct scan *scan, const struct chunk *c, real *scores)
{
    const struct gemm g = {c->length, c->length, scan->head_dim, c->scale, 0};

    gemm_nt(g, operand(c->q, scan->stride), operand(c->k, scan->stride), scores, CHUNK);
    for (int64_t i = 0; i < c->length; i++) {
        real *row = scores + i * CHUNK;
        for (int64_t j = 0; j <= i; j++) {
            row[j] *= real_exp(c->sum[i] - c->sum[j]) * c->dt[j];
        }
        memset(row + i + 1, 0, real_bytes(c->length - i - 1));
    }
}

void chunk_output(const struct scan *scan, const struct chunk *c, struct scratch scratch,
                  const struct scan_saved *saved, real *y)
{
    const int64_t d = scan->head_dim;
    const int64_t inner = scan->heads * d;
    const real skip = scan->skip[c->head];
    const struct gemm inside = {c->length, d, c->length, 1, 1};
    const struct gemm before = {c->length, d, d, 1, 1};

    y += c->row * inner + c->head * d;
    for (int64_t i = 0; i < c->length; i++) {
        scale_row(y + i * inner, skip, c->v + i * scan->stride, d);
    }
    chunk_scores(scan, c, scratch.scores);
    gemm_nn(inside, operand(scratch.scores, CHUNK), operand(c->v, scan->stride), y, inner);
    weighted_queries(scan, c, scratch.rows);
    gemm_nn(before, operand(scratch.rows, d), operand(saved->states + c->state * d * d, d), y,
            inner);
}

/* One chunk and head in the backward: the gradients of its rows, and of its G and dt. */
struct chunk_gradient {
    const real *dy; /* stride heads * head_dim */
    real *dq, *dk, *dv;
    real ddt[CHUNK], dsum[CHUNK];
};

static void gradient_load(const struct scan *scan, const struct chunk *c, const real *dy,
                          const struct scan_gradient *gradient, struct chunk_gradient *g)
{
    const int64_t offset = c->row * scan->stride + c->head * scan->head_dim;

    *g = (struct chunk_gradient){
        .dy = dy + c->row * scan->heads * scan->head_dim + c->head * scan->head_dim,
        .dq = gradient->dq + offset,
        .dk = gradient->dk + offset,
        .dv = gradient->dv + offset,
    };
}

/* The skip connection starts dv: dv_i = D dy_i. Returns the gradient of D. */
static real skip_backward(const struct scan *scan, const struct chunk *c, struct chunk_gradient *g)
{
    const int64_t inner = scan->heads * scan->head_dim;
    real sum = 0;

    for (int64_t i = 0; i < c->length; i++) {
        const real *dy = g->dy + i * inner;
        scale_row(g->dv + i * scan->stride, scan->skip[c->head], dy, scan->head_dim);
        sum += dot(dy, c->v + i * scan->stride, scan->head_dim);
    }
    return sum;
}

/* From M_ij = scores_ij = a_ij w_ij with w_ij = exp(G_i - G_j) dt_j and a = s q k: gradients of dt
 * and G from dM; then dM becomes s times the gradient of a, that of q k, and a becomes M. */
static void scores_backward(const struct chunk *c, real *scores, real *dscores,
                            struct chunk_gradient *g)
{
    for (int64_t i = 0; i < c->length; i++) {
        real *a = scores + i * CHUNK;
        real *d = dscores + i * CHUNK;
        for (int64_t j = 0; j <= i; j++) {
            const real decayed = real_exp(c->sum[i] - c->sum[j]);
            const real moved = d[j] * a[j] * decayed;
            g->ddt[j] += moved;
            g->dsum[i] += moved * c->dt[j];
            g->dsum[j] -= moved * c->dt[j];
            a[j] *= decayed * c->dt[j];
            d[j] *= decayed * c->dt[j] * c->scale;
        }
        memset(a + i + 1, 0, real_bytes(c->length - i - 1));
        memset(d + i + 1, 0, real_bytes(c->length - i - 1));
    }
}

/* The part of y that comes from rows of the same chunk. Starts dq and dk. */
static void inside_backward(const struct scan *scan, const struct chunk *c, struct scratch scratch,
                            struct chunk_gradient *g)
{
    const int64_t d = scan->head_dim;
    const int64_t stride = scan->stride;
    const struct gemm square = {c->length, c->length, d, 1, 0};
    const struct gemm start = {c->length, d, c->length, 1, 0};
    const struct gemm more = {c->length, d, c->length, 1, 1};
    struct gemm scaled = square;

    scaled.alpha = c->scale;
    gemm_nt(scaled, operand(c->q, stride), operand(c->k, stride), scratch.scores, CHUNK);
    gemm_nt(square, operand(g->dy, scan->heads * d), operand(c->v, stride), scratch.dscores, CHUNK);
    scores_backward(c, scratch.scores, scratch.dscores, g);
    gemm_tn(more, operand(scratch.scores, CHUNK), operand(g->dy, scan->heads * d), g->dv, stride);
    gemm_nn(start, operand(scratch.dscores, CHUNK), operand(c->k, stride), g->dq, stride);
    gemm_tn(start, operand(scratch.dscores, CHUNK), operand(c->q, stride), g->dk, stride);
}

/* to_i += factor row_i; returns q_i or k_i times what was added, its share in the gradient of G. */
static real add_row(real *restrict to, real factor, const real *restrict row, const real *with,
                    int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        to[i] += factor * row[i];
    }
    return factor * dot(with, row, count);
}

/* The part of y that comes from the state S before the chunk: s exp(G_i) q_i^T S. */
static void before_backward(const struct scan *scan, const struct chunk *c, real *rows,
                            const real *state, struct chunk_gradient *g)
{
    const int64_t d = scan->head_dim;
    const struct gemm product = {c->length, d, d, 1, 0};

    gemm_nt(product, operand(g->dy, scan->heads * d), operand(state, d), rows, d);
    for (int64_t i = 0; i < c->length; i++) {
        g->dsum[i] += add_row(g->dq + i * scan->stride, c->scale * real_exp(c->sum[i]),
                              rows + i * d, c->q + i * scan->stride, d);
    }
}

/* The state after the chunk, whose gradient is `dstate`, as a function of S, k, v, dt and G. */
static void after_backward(const struct scan *scan, const struct chunk *c, real *rows,
                           const real *dstate, struct chunk_gradient *g)
{
    const int64_t d = scan->head_dim;
    const int64_t last = c->length - 1;
    const struct gemm product = {c->length, d, d, 1, 0};
    const struct gemm more = {c->length, d, d, 1, 1};

    gemm_nt(product, operand(c->v, scan->stride), operand(dstate, d), rows, d);
    for (int64_t j = 0; j < c->length; j++) {
        const real *k = c->k + j * scan->stride;
        const real decayed = left_at_end(c, j);
        const real moved =
            add_row(g->dk + j * scan->stride, decayed * c->dt[j], rows + j * d, k, d);
        g->ddt[j] += decayed * dot(k, rows + j * d, d);
        g->dsum[last] += moved;
        g->dsum[j] -= moved;
    }
    weighted_keys(scan, c, rows);
    gemm_nn(more, operand(rows, d), operand(dstate, d), g->dv, scan->stride);
}

/* The gradient of g_i is the sum of those of G_i and all later ones. */
static void gradient_store(const struct scan *scan, const struct chunk *c,
                           const struct chunk_gradient *g, const struct scan_gradient *gradient)
{
    real sum = 0;

    for (int64_t i = c->length - 1; i >= 0; i--) {
        const int64_t at = (c->row + i) * scan->heads + c->head;
        sum += g->dsum[i];
        gradient->ddecay[at] = sum;
        gradient->ddt[at] = g->ddt[i];
    }
}

void chunk_backward(const struct scan *scan, const struct chunk *c, struct scratch scratch,
                    const struct scan_flow *flow, const struct scan_gradient *gradient)
{
    const int64_t size = scan->head_dim * scan->head_dim;
    const int64_t last = c->length - 1;
    const real *state = flow->states + c->state * size;
    const real *dstate = flow->dstates + c->state * size;
    struct chunk_gradient g;

    gradient_load(scan, c, flow->dy, gradient, &g);
    gradient->dskip[c->head] += skip_backward(scan, c, &g);
    inside_backward(scan, c, scratch, &g);
    before_backward(scan, c, scratch.rows, state, &g);
    after_backward(scan, c, scratch.rows, dstate, &g);
    g.dsum[last] += real_exp(c->sum[last]) * dot(state, dstate, size);
    gradient_store(scan, c, &g, gradient);
}
