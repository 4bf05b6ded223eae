/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MLP layer. No state; one rank, one thread.
 */
#include "mlp.h"

#include "nn.h"

enum { GATE, UP, DOWN, SLICES };

int mlp_slices(const struct model_config *config, int layer, struct params *params)
{
    const int64_t count = (int64_t)config->hidden * config->mlp;
    const real in = layer_deviation(config->hidden);
    struct slice slices[SLICES] = {
        [GATE] = {"gate", 0, count, START_NORMAL, in, true},
        [UP] = {"up", 0, count, START_NORMAL, in, true},
        [DOWN] = {"down", 0, count, START_NORMAL, layer_deviation_out(config, config->mlp), true},
    };

    return layer_slices(params, layer, slices, SLICES);
}

static struct linear shape_in(const struct layer_run *run)
{
    return (struct linear){run->shard->rows, run->config->hidden, run->config->mlp};
}

static struct linear shape_out(const struct layer_run *run)
{
    return (struct linear){run->shard->rows, run->config->mlp, run->config->hidden};
}

int mlp_forward(const struct layer_run *run, const real *x, real *y, struct mlp_saved *saved)
{
    const int64_t count = run->shard->rows * run->config->mlp;

    *saved = (struct mlp_saved){
        .x = x,
        .gate = arena_reals(run->arena, count),
        .up = arena_reals(run->arena, count),
        .sigmoid = arena_reals(run->arena, count),
        .inner = arena_reals(run->arena, count),
    };
    if (layer_memory(run)) {
        return -1;
    }
    linear_forward(shape_in(run), x, run->weights[GATE], saved->gate);
    linear_forward(shape_in(run), x, run->weights[UP], saved->up);
    gate_forward(count, (struct gate){saved->gate, saved->up, saved->sigmoid}, saved->inner);
    linear_forward(shape_out(run), saved->inner, run->weights[DOWN], y);
    return 0;
}

int mlp_backward(const struct layer_run *run, const struct mlp_saved *saved, const real *dy,
                 real *dx)
{
    const int64_t count = run->shard->rows * run->config->mlp;
    const struct arena_mark mark = arena_mark(run->arena);
    real *dinner = arena_zeros(run->arena, count);
    real *dgate = arena_zeros(run->arena, count);
    real *dup = arena_zeros(run->arena, count);

    if (layer_memory(run)) {
        return -1;
    }
    linear_backward(shape_out(run), saved->inner, run->weights[DOWN], dy,
                    (struct linear_gradient){dinner, run->gradients[DOWN]});
    gate_backward(count, (struct gate){saved->gate, saved->up, saved->sigmoid}, dinner, dgate, dup);
    linear_backward(shape_in(run), saved->x, run->weights[UP], dup,
                    (struct linear_gradient){dx, run->gradients[UP]});
    linear_backward(shape_in(run), saved->x, run->weights[GATE], dgate,
                    (struct linear_gradient){dx, run->gradients[GATE]});
    arena_release(run->arena, mark);
    return 0;
}
