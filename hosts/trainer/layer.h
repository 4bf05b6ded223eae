/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every kind of layer gets: the model's sizes, and for one call the rank's communication,
 * memory, rows and weights. All of it belongs to the model that calls; one rank, one thread.
 */
#ifndef TRAINER_LAYER_H
#define TRAINER_LAYER_H

#include "arena.h"
#include "comm.h"
#include "params.h"
#include "shard.h"

/* Each layer's kind is a character of the pattern: M linear attention, * attention, - MLP. */
struct model_config {
    const char *pattern;
    int hidden;          /* width of the residual stream */
    int heads, head_dim; /* of both kinds of attention; head_dim is even */
    int mlp;             /* inner width of the MLP */
    int vocab;
    int conv_width; /* taps of the causal convolution: 4 */
    real rope_base; /* 10000 */
};

struct layer_run {
    const struct model_config *config;
    const struct shard *shard; /* the layer's layout: x, y, dy and dx have shard->rows rows */
    struct comm *comm;
    struct arena *arena;    /* what a forward takes here lives until the step's backward is done */
    real *const *weights;   /* the layer's slices, in the order in which it added them */
    real *const *gradients; /* the same; backward functions add */
};

/* Width of the attention's inner matrices: all heads side by side. */
static inline int64_t config_inner(const struct model_config *config)
{
    return (int64_t)config->heads * config->head_dim;
}

/* Adds a layer's slices to the parameters; their names get the prefix "layers.<layer>.". 0 or -1. */
int layer_slices(struct params *params, int layer, struct slice *slices, int count);

/* Standard deviations of a projection's start: plain, or into the residual stream. */
real layer_deviation(int64_t in);
real layer_deviation_out(const struct model_config *config, int64_t in);

/* Fails the group when the arena could not give what was taken; 0 or -1. */
static inline int layer_memory(const struct layer_run *run)
{
    if (!run->arena->failed) {
        return 0;
    }
    comm_abort(run->comm, run->shard->rank, "no memory for activations");
    return -1;
}

#endif
