/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small hybrid language model under context parallelism: embedding, layers by pattern with
 * RMSNorm before and a residual around each, final RMSNorm, output head, mean cross-entropy. Every
 * rank owns one model and calls it from one thread; the ranks meet only in comm and the converter.
 * Errors are reported through comm (comm_error): a rank that fails fails the group.
 */
#ifndef TRAINER_MODEL_H
#define TRAINER_MODEL_H

#include "layer.h"

/* Pattern M-M*-M-M*-, hidden 128, 4 heads of 32, MLP 256, 256 bytes, 4 taps, RoPE base 10000. */
struct model_config model_defaults(void);

struct model;

/* The parameters start from the seed, the same on every rank. The pattern is copied. NULL when
 * there is no memory or the config is wrong: an unknown layer, a size that is not positive or
 * above 2^20, an odd head_dim. model_destroy(NULL) is allowed. */
struct model *model_create(const struct model_config *config, uint64_t seed);
void model_destroy(struct model *model);

/* Values, gradients and the named slices; owned by the model. */
struct params *model_params(struct model *model);

/* Moves the residual stream, or backward its gradient, between layouts. A step calls, forward,
 * prepare(i) before and finalize(i) after each layer i, in order; backward, finalize(i) and then
 * prepare(i), from the last layer to the first, with a forward prepare(i) in between where the layer
 * runs again. Forward, prepare ends in layer i's layout and
 * finalize in any; after the last the stream is in the boundary layout. *result is set to `in`
 * when nothing is due, else to `out`, filled; `in` is only read. Rows are [rows of the layout, hidden]; `out` has room
 * for the largest layout of the step. Nonzero ends the step, and the caller fails the group. */
struct converter {
    void *self;
    int (*prepare)(void *self, int layer, int backward, real *in, real *out, real **result);
    int (*finalize)(void *self, int layer, int backward, real *in, real *out, real **result);
};

/* One sample. All shards have the same ranks and sequence, and this rank. */
struct step_input {
    const struct shard *const *layers; /* [layers] the layout of every layer */
    const struct shard *boundary;      /* of tokens, labels, embedding, head */
    const int32_t *tokens;             /* [boundary rows] below vocab */
    const int32_t *labels;             /* [boundary rows] below vocab; negative: not counted */
    bool recompute; /* keep only what enters each layer, and run its forward again in backward */
};

/* Sets the gradients to this rank's share of the gradient of the mean loss over all counted tokens
 * of all ranks, and *loss to that mean, the same on every rank. Without a counted token all is
 * zero. Allocates only in the first step of a shape. 0 or -1. */
int model_forward_backward(struct model *model, const struct step_input *input, struct comm *comm,
                           const struct converter *converter, real *loss);

/* Sums the gradients over the ranks, in place; all ranks get the same bits. 0 or -1. */
int model_reduce_gradients(struct model *model, struct comm *comm, int32_t rank);

#endif
