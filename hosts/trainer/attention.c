/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The softmax attention layer. Queries go in blocks of consecutive rows of one part; a block meets
 * only the keys up to its last position. The backward recomputes the probabilities from the saved
 * logarithms (FlashAttention, Dao et al. 2022). No state; one rank, one thread.
 */
#include "attention.h"

#include "gather.h"
#include "gemm.h"
#include "nn.h"

#include <string.h>

enum { Q, KV, OUT, SLICES };
enum { BLOCK = 64 };

int attention_slices(const struct model_config *config, int layer, struct params *params)
{
    const int64_t inner = config_inner(config);
    const int64_t count = config->hidden * inner;
    const real in = layer_deviation(config->hidden);
    struct slice slices[SLICES] = {
        [Q] = {"q", 0, count, START_NORMAL, in, true},
        [KV] = {"kv", 0, 2 * count, START_NORMAL, in, true},
        [OUT] = {"out", 0, count, START_NORMAL, layer_deviation_out(config, inner), true},
    };

    return layer_slices(params, layer, slices, SLICES);
}

/* A block of queries of one head: `length` rows from local row `row`, at position `start` of their
 * document. */
struct block {
    int64_t row, start, length, head;
    int64_t document; /* row of the sequence in which the document begins: its first key */
    int64_t extent;   /* keys that the last row sees */
    int64_t inner, head_dim;
    real scale;
};

static struct block block_make(const struct layer_run *run, const struct part *part, int64_t n)
{
    const int64_t first = n / run->config->heads * BLOCK;
    const int64_t left = part->length - first;
    struct block block = {
        .row = part->local + first,
        .start = part->position + first,
        .document = part->start - part->position,
        .length = left < BLOCK ? left : BLOCK,
        .head = n % run->config->heads,
        .inner = config_inner(run->config),
        .head_dim = run->config->head_dim,
        .scale = 1 / real_sqrt((real)run->config->head_dim),
    };

    block.extent = block.start + block.length;
    return block;
}

/* How many pairs of block and head a part has. */
static int64_t part_pairs(const struct layer_run *run, const struct part *part)
{
    return (part->length + BLOCK - 1) / BLOCK * run->config->heads;
}

/* The block's head in a tensor of this rank's rows, and its document's first key (values: inner
 * further). */
static int64_t own_offset(const struct block *b)
{
    return b->row * b->inner + b->head * b->head_dim;
}

static int64_t key_offset(const struct block *b)
{
    return b->document * 2 * b->inner + b->head * b->head_dim;
}

static struct operand keys(const struct block *b, const real *kv)
{
    return operand(kv + key_offset(b), 2 * b->inner);
}

static struct operand values(const struct block *b, const real *kv)
{
    return operand(kv + b->inner + key_offset(b), 2 * b->inner);
}

static void block_scores(const struct block *b, const struct attention_saved *saved, real *scores)
{
    const struct gemm g = {b->length, b->extent, b->head_dim, b->scale, 0};

    gemm_nt(g, operand(saved->q + own_offset(b), b->inner), keys(b, saved->kv), scores, b->extent);
}

/* row := softmax(row); returns the logarithm of the sum of exponentials. */
static real softmax(real *row, int64_t count)
{
    real maximum = row[0];
    real sum = 0;

    for (int64_t j = 1; j < count; j++) {
        maximum = row[j] > maximum ? row[j] : maximum;
    }
    for (int64_t j = 0; j < count; j++) {
        row[j] = real_exp(row[j] - maximum);
        sum += row[j];
    }
    for (int64_t j = 0; j < count; j++) {
        row[j] /= sum;
    }
    return maximum + (real)log((double)sum);
}

static void block_forward(const struct layer_run *run, const struct block *b,
                          const struct attention_saved *saved, real *scores)
{
    const struct gemm g = {b->length, b->head_dim, b->extent, 1, 0};

    block_scores(b, saved, scores);
    for (int64_t i = 0; i < b->length; i++) {
        const int64_t seen = b->start + i + 1;
        real *row = scores + i * b->extent;
        saved->logarithm[(b->row + i) * run->config->heads + b->head] = softmax(row, seen);
        memset(row + seen, 0, real_bytes(b->extent - seen));
    }
    gemm_nn(g, operand(scores, b->extent), values(b, saved->kv), saved->y + own_offset(b),
            b->inner);
}

/* What the blocks of a backward share. */
struct attention_gradient {
    const real *dy;         /* [rows, inner] */
    real *dq;               /* [rows, inner] overwritten */
    real *dkv;              /* [sequence, 2 inner] added to */
    real *scores, *dscores; /* [BLOCK, sequence] */
};

static real dot(const real *a, const real *b, int64_t count)
{
    real sum = 0;

    for (int64_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* Scores become probabilities p, and their gradients dp those of the scores: p (dp - y dy). */
static void softmax_backward(const struct layer_run *run, const struct block *b,
                             const struct attention_saved *saved,
                             const struct attention_gradient *g)
{
    for (int64_t i = 0; i < b->length; i++) {
        const int64_t seen = b->start + i + 1;
        const int64_t own = own_offset(b) + i * b->inner;
        const real logarithm = saved->logarithm[(b->row + i) * run->config->heads + b->head];
        const real mean = dot(saved->y + own, g->dy + own, b->head_dim);
        real *p = g->scores + i * b->extent;
        real *dp = g->dscores + i * b->extent;
        for (int64_t j = 0; j < seen; j++) {
            p[j] = real_exp(p[j] - logarithm);
            dp[j] = p[j] * (dp[j] - mean) * b->scale;
        }
        memset(p + seen, 0, real_bytes(b->extent - seen));
        memset(dp + seen, 0, real_bytes(b->extent - seen));
    }
}

static void block_backward(const struct layer_run *run, const struct block *b,
                           const struct attention_saved *saved, const struct attention_gradient *g)
{
    const int64_t width = 2 * b->inner;
    const struct gemm scores = {b->length, b->extent, b->head_dim, 1, 0};
    const struct gemm queries = {b->length, b->head_dim, b->extent, 1, 0};
    const struct gemm rows = {b->extent, b->head_dim, b->length, 1, 1};
    const struct operand q = operand(saved->q + own_offset(b), b->inner);
    const struct operand dy = operand(g->dy + own_offset(b), b->inner);
    real *dk = g->dkv + key_offset(b);

    block_scores(b, saved, g->scores);
    gemm_nt(scores, dy, values(b, saved->kv), g->dscores, b->extent);
    softmax_backward(run, b, saved, g);
    gemm_nn(queries, operand(g->dscores, b->extent), keys(b, saved->kv), g->dq + own_offset(b),
            b->inner);
    gemm_tn(rows, operand(g->dscores, b->extent), q, dk, width);
    gemm_tn(rows, operand(g->scores, b->extent), dy, dk + b->inner, width);
}

static struct linear shape(const struct layer_run *run, int64_t in, int64_t out)
{
    return (struct linear){run->shard->rows, in, out};
}

static int saved_take(const struct layer_run *run, const real *x, struct attention_saved *saved)
{
    const struct model_config *c = run->config;
    const int64_t rows = run->shard->rows;
    const int64_t inner = config_inner(c);

    *saved = (struct attention_saved){
        .x = x,
        .rope = {rows, c->heads, c->head_dim, arena_reals(run->arena, rows * c->head_dim)},
        .q = arena_reals(run->arena, rows * inner),
        .kv = arena_reals(run->arena, run->shard->sequence * 2 * inner),
        .y = arena_zeros(run->arena, rows * inner), /* padding is in no part */
        .logarithm = arena_reals(run->arena, rows * c->heads),
    };
    return layer_memory(run);
}

/* Projects x to rotated queries, keys and values and gathers the latter two. */
static int project(const struct layer_run *run, const struct attention_saved *saved, real *kv)
{
    const struct model_config *c = run->config;
    const int64_t inner = config_inner(c);

    linear_forward(shape(run, c->hidden, inner), saved->x, run->weights[Q], saved->q);
    linear_forward(shape(run, c->hidden, 2 * inner), saved->x, run->weights[KV], kv);
    rope_fill(&saved->rope, run->shard->positions, c->rope_base);
    rope_rotate(&saved->rope, inner, saved->q);
    rope_rotate(&saved->rope, 2 * inner, kv);
    return gather_rows(run, 2 * inner, kv, saved->kv);
}

/* The backward of project: dq and dkv lose their rotation, dx gains. */
static int project_backward(const struct layer_run *run, const struct attention_saved *saved,
                            const struct attention_gradient *g, real *dkv, real *dx)
{
    const struct model_config *c = run->config;
    const int64_t inner = config_inner(c);

    if (gather_rows_backward(run, 2 * inner, g->dkv, dkv)) {
        return -1;
    }
    rope_rotate_back(&saved->rope, inner, g->dq);
    rope_rotate_back(&saved->rope, 2 * inner, dkv);
    linear_backward(shape(run, c->hidden, inner), saved->x, run->weights[Q], g->dq,
                    (struct linear_gradient){dx, run->gradients[Q]});
    linear_backward(shape(run, c->hidden, 2 * inner), saved->x, run->weights[KV], dkv,
                    (struct linear_gradient){dx, run->gradients[KV]});
    return 0;
}

int attention_forward(const struct layer_run *run, const real *x, real *y,
                      struct attention_saved *saved)
{
    const struct shard *shard = run->shard;
    const int64_t inner = config_inner(run->config);

    if (saved_take(run, x, saved)) {
        return -1;
    }
    const struct arena_mark mark = arena_mark(run->arena);
    real *kv = arena_reals(run->arena, shard->rows * 2 * inner);
    real *scores = arena_reals(run->arena, shard->sequence * BLOCK);
    if (layer_memory(run) || project(run, saved, kv)) {
        return -1;
    }
    for (int64_t p = 0; p < shard->parts; p++) {
        const struct part *part = &shard->chain[p];
        const int64_t pairs = part->rank == shard->rank ? part_pairs(run, part) : 0;
        for (int64_t n = 0; n < pairs; n++) {
            const struct block block = block_make(run, part, n);
            block_forward(run, &block, saved, scores);
        }
    }
    linear_forward(shape(run, inner, run->config->hidden), saved->y, run->weights[OUT], y);
    arena_release(run->arena, mark);
    return 0;
}

static int gradient_take(const struct layer_run *run, struct attention_gradient *g, real *dy)
{
    const struct shard *shard = run->shard;
    const int64_t inner = config_inner(run->config);

    *g = (struct attention_gradient){
        .dy = dy,
        .dq = arena_zeros(run->arena, shard->rows * inner),
        .dkv = arena_zeros(run->arena, shard->sequence * 2 * inner),
        .scores = arena_reals(run->arena, shard->sequence * BLOCK),
        .dscores = arena_reals(run->arena, shard->sequence * BLOCK),
    };
    return layer_memory(run);
}

int attention_backward(const struct layer_run *run, const struct attention_saved *saved,
                       const real *dy, real *dx)
{
    const struct shard *shard = run->shard;
    const int64_t inner = config_inner(run->config);
    const struct arena_mark mark = arena_mark(run->arena);
    real *dinner = arena_zeros(run->arena, shard->rows * inner);
    real *dkv = arena_reals(run->arena, shard->rows * 2 * inner);
    struct attention_gradient gradient;

    if (gradient_take(run, &gradient, dinner)) {
        return -1;
    }
    linear_backward(shape(run, inner, run->config->hidden), saved->y, run->weights[OUT], dy,
                    (struct linear_gradient){dinner, run->gradients[OUT]});
    for (int64_t p = 0; p < shard->parts; p++) {
        const struct part *part = &shard->chain[p];
        const int64_t pairs = part->rank == shard->rank ? part_pairs(run, part) : 0;
        for (int64_t n = 0; n < pairs; n++) {
            const struct block block = block_make(run, part, n);
            block_backward(run, &block, saved, &gradient);
        }
    }
    if (project_backward(run, saved, &gradient, dkv, dx)) {
        return -1;
    }
    arena_release(run->arena, mark);
    return 0;
}
