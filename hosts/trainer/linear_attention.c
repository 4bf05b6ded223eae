/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The linear attention layer around convolution and scan. No state; one rank, one thread.
 */
#include "linear_attention.h"

#include "nn.h"

enum { QKV, GATE, STEP, CONV, CONV_BIAS, STEP_BIAS, LOG_DECAY, SKIP, OUT, SLICES };

int linear_attention_slices(const struct model_config *config, int layer, struct params *params)
{
    const int64_t hidden = config->hidden;
    const int64_t inner = config_inner(config);
    const int64_t taps = config->conv_width;
    const real in = layer_deviation(hidden);
    const real out = layer_deviation_out(config, inner);
    struct slice slices[SLICES] = {
        [QKV] = {"qkv", 0, hidden * 3 * inner, START_NORMAL, in, true},
        [GATE] = {"z", 0, hidden * inner, START_NORMAL, in, true},
        [STEP] = {"dt", 0, hidden * config->heads, START_NORMAL, in, true},
        [CONV] = {"conv", 0, taps * 3 * inner, START_NORMAL, layer_deviation(taps), false},
        [CONV_BIAS] = {"conv_bias", 0, 3 * inner, START_ZERO, 0, false},
        [STEP_BIAS] = {"dt_bias", 0, config->heads, START_STEP, 0, false},
        [LOG_DECAY] = {"a_log", 0, config->heads, START_DECAY, 0, false},
        [SKIP] = {"d", 0, config->heads, START_ONE, 0, false},
        [OUT] = {"out", 0, inner * hidden, START_NORMAL, out, true},
    };

    return layer_slices(params, layer, slices, SLICES);
}

static struct linear shape_in(const struct layer_run *run, int64_t width)
{
    return (struct linear){run->shard->rows, run->config->hidden, width};
}

static struct linear shape_out(const struct layer_run *run)
{
    return (struct linear){run->shard->rows, config_inner(run->config), run->config->hidden};
}

static struct conv conv_of(const struct layer_run *run)
{
    return (struct conv){run->config->conv_width, 3 * config_inner(run->config), run->weights[CONV],
                         run->weights[CONV_BIAS]};
}

static struct scan scan_of(const struct layer_run *run, const struct linear_attention_saved *saved)
{
    const int64_t inner = config_inner(run->config);

    return (struct scan){
        .heads = run->config->heads,
        .head_dim = run->config->head_dim,
        .stride = 3 * inner,
        .q = saved->conv.y,
        .k = saved->conv.y + inner,
        .v = saved->conv.y + 2 * inner,
        .dt = saved->dt,
        .decay = saved->decay,
        .skip = run->weights[SKIP],
    };
}

/* dt = softplus(raw + bias), g = -exp(A_log) dt */
static void steps_forward(const struct layer_run *run, const struct linear_attention_saved *saved)
{
    const int64_t heads = run->config->heads;

    for (int64_t i = 0; i < run->shard->rows * heads; i++) {
        const int64_t h = i % heads;
        saved->dt[i] = real_softplus(saved->raw[i] + run->weights[STEP_BIAS][h]);
        saved->decay[i] = -real_exp(run->weights[LOG_DECAY][h]) * saved->dt[i];
    }
}

/* ddt becomes the gradient of raw: softplus' is the logistic function, and dg / dA_log = g. */
static void steps_backward(const struct layer_run *run, const struct linear_attention_saved *saved,
                           const real *ddecay, real *ddt)
{
    const int64_t heads = run->config->heads;

    for (int64_t i = 0; i < run->shard->rows * heads; i++) {
        const int64_t h = i % heads;
        ddt[i] -= real_exp(run->weights[LOG_DECAY][h]) * ddecay[i];
        ddt[i] *= real_sigmoid(saved->raw[i] + run->weights[STEP_BIAS][h]);
        run->gradients[LOG_DECAY][h] += ddecay[i] * saved->decay[i];
        run->gradients[STEP_BIAS][h] += ddt[i];
    }
}

static int saved_take(const struct layer_run *run, const real *x,
                      struct linear_attention_saved *saved)
{
    const int64_t wide = run->shard->rows * config_inner(run->config);
    const int64_t narrow = run->shard->rows * run->config->heads;

    *saved = (struct linear_attention_saved){
        .x = x,
        .z = arena_reals(run->arena, wide),
        .raw = arena_reals(run->arena, narrow),
        .dt = arena_reals(run->arena, narrow),
        .decay = arena_reals(run->arena, narrow),
        .y = arena_zeros(run->arena, wide), /* padding is in no part */
        .sigmoid = arena_reals(run->arena, wide),
        .gated = arena_reals(run->arena, wide),
    };
    return layer_memory(run);
}

int linear_attention_forward(const struct layer_run *run, const real *x, real *y,
                             struct linear_attention_saved *saved)
{
    const int64_t inner = config_inner(run->config);
    const struct conv conv = conv_of(run);
    real *qkv = arena_reals(run->arena, run->shard->rows * 3 * inner);

    if (saved_take(run, x, saved)) {
        return -1;
    }
    linear_forward(shape_in(run, 3 * inner), x, run->weights[QKV], qkv);
    linear_forward(shape_in(run, inner), x, run->weights[GATE], saved->z);
    linear_forward(shape_in(run, run->config->heads), x, run->weights[STEP], saved->raw);
    steps_forward(run, saved);
    if (conv_forward(run, &conv, qkv, &saved->conv)) {
        return -1;
    }
    const struct scan scan = scan_of(run, saved);
    if (scan_forward(run, &scan, saved->y, &saved->scan)) {
        return -1;
    }
    gate_forward(run->shard->rows * inner, (struct gate){saved->z, saved->y, saved->sigmoid},
                 saved->gated);
    linear_forward(shape_out(run), saved->gated, run->weights[OUT], y);
    return 0;
}

/* The gradients of the tensors between the projections. */
struct between {
    real *dgated, *dz, *dy; /* [rows, inner] */
    real *dconv, *dqkv;     /* [rows, 3 inner] after and before the convolution */
    real *ddt, *ddecay;     /* [rows, heads] */
};

static int between_take(const struct layer_run *run, struct between *b)
{
    const int64_t wide = run->shard->rows * config_inner(run->config);
    const int64_t narrow = run->shard->rows * run->config->heads;

    *b = (struct between){
        .dgated = arena_zeros(run->arena, wide),
        .dz = arena_zeros(run->arena, wide),
        .dy = arena_zeros(run->arena, wide),
        .dconv = arena_zeros(run->arena, 3 * wide),
        .dqkv = arena_zeros(run->arena, 3 * wide),
        .ddt = arena_zeros(run->arena, narrow),
        .ddecay = arena_zeros(run->arena, narrow),
    };
    return layer_memory(run);
}

/* From dy, behind the scan, to the gradients of qkv and raw. */
static int core_backward(const struct layer_run *run, const struct linear_attention_saved *saved,
                         const struct between *b)
{
    const int64_t inner = config_inner(run->config);
    const struct conv conv = conv_of(run);
    const struct scan scan = scan_of(run, saved);
    const struct scan_gradient gradient = {
        .dq = b->dconv,
        .dk = b->dconv + inner,
        .dv = b->dconv + 2 * inner,
        .ddt = b->ddt,
        .ddecay = b->ddecay,
        .dskip = run->gradients[SKIP],
    };

    if (scan_backward(run, &scan, &saved->scan, b->dy, &gradient)) {
        return -1;
    }
    steps_backward(run, saved, b->ddecay, b->ddt);
    return conv_backward(run, &conv, &saved->conv, b->dconv,
                         (struct conv_gradient){b->dqkv, run->gradients[CONV],
                                                run->gradients[CONV_BIAS]});
}

int linear_attention_backward(const struct layer_run *run,
                              const struct linear_attention_saved *saved, const real *dy, real *dx)
{
    const int64_t inner = config_inner(run->config);
    const int64_t heads = run->config->heads;
    const struct arena_mark mark = arena_mark(run->arena);
    struct between b;

    if (between_take(run, &b)) {
        return -1;
    }
    linear_backward(shape_out(run), saved->gated, run->weights[OUT], dy,
                    (struct linear_gradient){b.dgated, run->gradients[OUT]});
    gate_backward(run->shard->rows * inner, (struct gate){saved->z, saved->y, saved->sigmoid},
                  b.dgated, b.dz, b.dy);
    if (core_backward(run, saved, &b)) {
        return -1;
    }
    linear_backward(shape_in(run, heads), saved->x, run->weights[STEP], b.ddt,
                    (struct linear_gradient){dx, run->gradients[STEP]});
    linear_backward(shape_in(run, inner), saved->x, run->weights[GATE], b.dz,
                    (struct linear_gradient){dx, run->gradients[GATE]});
    linear_backward(shape_in(run, 3 * inner), saved->x, run->weights[QKV], b.dqkv,
                    (struct linear_gradient){dx, run->gradients[QKV]});
    arena_release(run->arena, mark);
    return 0;
}
