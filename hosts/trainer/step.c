/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One step through a model: embedding, the layers with the conversions around them, head and loss,
 * and back. The arena keeps every activation until the step is over, or with recomputation only what
 * enters each layer. One rank, one thread.
 */
#include "model_parts.h"
#include "nn.h"

#include <string.h>

/* One step in progress. */
struct step {
    struct model *model;
    const struct step_input *input;
    const struct converter *converter;
    struct comm *comm;
    int32_t rank;
    int64_t count; /* reals in a residual stream of the largest layout */
    real *stream;  /* the residual stream, backward its gradient */
    real *spare;   /* backward: what the next conversion writes */
};

static int step_fail(const struct step *step, const char *message)
{
    comm_abort(step->comm, step->rank, message);
    return -1;
}

static bool token_known(const struct model *model, int32_t token)
{
    return token < model->config.vocab;
}

static int tokens_check(const struct step *step)
{
    const struct step_input *input = step->input;

    for (int64_t t = 0; t < input->boundary->rows; t++) {
        if (input->tokens[t] < 0 || !token_known(step->model, input->tokens[t]) ||
            !token_known(step->model, input->labels[t])) {
            return step_fail(step, "a token or label is outside the vocabulary");
        }
    }
    return 0;
}

/* Looks at the layouts, and finds the room that a stream needs. */
static int shards_check(struct step *step)
{
    const struct shard *boundary = step->input->boundary;
    int64_t rows = boundary->rows;

    if (!shard_valid(boundary) || boundary->ranks != comm_ranks(step->comm)) {
        return step_fail(step, "the boundary layout is wrong");
    }
    for (int i = 0; i < step->model->layers_count; i++) {
        const struct shard *shard = step->input->layers[i];
        if (!shard_valid(shard) || shard->rank != boundary->rank ||
            shard->ranks != boundary->ranks || shard->sequence != boundary->sequence) {
            return step_fail(step, "a layer's layout is wrong");
        }
        rows = shard->rows > rows ? shard->rows : rows;
    }
    step->count = rows * step->model->config.hidden;
    return 0;
}

static struct norm boundary_shape(const struct step *step)
{
    return (struct norm){step->input->boundary->rows, step->model->config.hidden};
}

static struct layer_run layer_run(const struct step *step, int i)
{
    struct model *model = step->model;
    const int64_t own = model->layers[i].norm + 1;

    return (struct layer_run){
        .config = &model->config,
        .shard = step->input->layers[i],
        .comm = step->comm,
        .arena = &model->arena,
        .weights = model->params.value_at + own,
        .gradients = model->params.gradient_at + own,
    };
}

static int step_memory(const struct step *step)
{
    return step->model->arena.failed ? step_fail(step, "no memory for activations") : 0;
}

static int mixer_forward(const struct layer_run *run, struct layer *layer, real *y)
{
    switch (layer->kind) {
    case 'M':
        return linear_attention_forward(run, layer->normed, y, &layer->saved.linear);
    case '*':
        return attention_forward(run, layer->normed, y, &layer->saved.attention);
    default:
        return mlp_forward(run, layer->normed, y, &layer->saved.mlp);
    }
}

static int mixer_backward(const struct layer_run *run, const struct layer *layer, const real *dy,
                          real *dx)
{
    switch (layer->kind) {
    case 'M':
        return linear_attention_backward(run, &layer->saved.linear, dy, dx);
    case '*':
        return attention_backward(run, &layer->saved.attention, dy, dx);
    default:
        return mlp_backward(run, &layer->saved.mlp, dy, dx);
    }
}

/* stream := x + layer(norm(x)), x the stream before. Does not write x, which the backward needs. */
static int layer_forward(struct step *step, int i)
{
    const struct layer_run run = layer_run(step, i);
    const struct norm shape = {run.shard->rows, run.config->hidden};
    struct layer *layer = &step->model->layers[i];
    real *y = arena_reals(run.arena, step->count);

    layer->x = step->stream;
    layer->normed = arena_reals(run.arena, step->count);
    layer->inverse = arena_reals(run.arena, shape.rows);
    if (layer_memory(&run)) {
        return -1;
    }
    norm_forward(shape, layer->x, step->model->params.value_at[layer->norm], layer->inverse,
                 layer->normed);
    if (mixer_forward(&run, layer, y)) {
        return -1;
    }
    for (int64_t n = 0; n < shape.rows * shape.width; n++) {
        y[n] += layer->x[n];
    }
    step->stream = y;
    return 0;
}

/* stream, the gradient of the layer's output, gains what passed through the layer. */
static int layer_backward(struct step *step, int i)
{
    const struct layer_run run = layer_run(step, i);
    const struct norm shape = {run.shard->rows, run.config->hidden};
    const struct params *params = &step->model->params;
    const struct layer *layer = &step->model->layers[i];
    const struct norm_saved saved = {layer->x, params->value_at[layer->norm], layer->inverse};
    const struct arena_mark mark = arena_mark(run.arena);
    real *dnormed = arena_zeros(run.arena, shape.rows * shape.width);

    if (layer_memory(&run) || mixer_backward(&run, layer, step->stream, dnormed)) {
        return -1;
    }
    norm_backward(shape, saved, dnormed, params->gradient_at[layer->norm], step->stream);
    arena_release(run.arena, mark);
    return 0;
}

/* Calls the converter on the stream, forward or backward, before or after layer i. If it fails, it
 * knows why, and the caller of the step tells the group. */
static int convert(struct step *step, int i, int backward, bool after, real *out)
{
    const struct converter *c = step->converter;
    real *in = step->stream;

    return after ? c->finalize(c->self, i, backward, in, out, &step->stream)
                 : c->prepare(c->self, i, backward, in, out, &step->stream);
}

/* The stream before stays as it is: the backward may need it. */
static int convert_forward(struct step *step, int i, bool after)
{
    real *out = arena_reals(&step->model->arena, step->count);

    return step_memory(step) ? -1 : convert(step, i, 0, after, out);
}

/* Gradients go to and fro between two buffers. */
static int convert_backward(struct step *step, int i, bool after)
{
    real *in = step->stream;

    if (convert(step, i, 1, after, step->spare)) {
        return -1;
    }
    step->spare = step->stream == in ? step->spare : in;
    return 0;
}

static int block_forward(struct step *step, int i)
{
    return convert_forward(step, i, false) || layer_forward(step, i) ||
           convert_forward(step, i, true);
}

/* Forgets all of a layer but what entered it and what leaves it. */
static int block_forward_lean(struct step *step, int i)
{
    struct arena *arena = &step->model->arena;
    real *leaving = arena_reals(arena, step->count);
    const struct arena_mark mark = arena_mark(arena);

    step->model->layers[i].entry = step->stream;
    if (step_memory(step) || block_forward(step, i)) {
        return -1;
    }
    memcpy(leaving, step->stream, real_bytes(step->count));
    step->stream = leaving;
    arena_release(arena, mark);
    return 0;
}

/* The layer's forward again, from what entered it; the stream, a gradient, stays. */
static int layer_again(struct step *step, int i)
{
    real *gradient = step->stream;

    step->stream = step->model->layers[i].entry;
    if (convert_forward(step, i, false) || layer_forward(step, i)) {
        return -1;
    }
    step->stream = gradient;
    return 0;
}

static int block_backward(struct step *step, int i)
{
    const struct arena_mark mark = arena_mark(&step->model->arena);

    if (convert_backward(step, i, true) || (step->input->recompute && layer_again(step, i)) ||
        layer_backward(step, i)) {
        return -1;
    }
    arena_release(&step->model->arena, mark);
    return convert_backward(step, i, false);
}

static int layers_forward(struct step *step)
{
    for (int i = 0; i < step->model->layers_count; i++) {
        if (step->input->recompute ? block_forward_lean(step, i) : block_forward(step, i)) {
            return -1;
        }
    }
    return 0;
}

static int layers_backward(struct step *step)
{
    for (int i = step->model->layers_count - 1; i >= 0; i--) {
        if (block_backward(step, i)) {
            return -1;
        }
    }
    return 0;
}

/* One over the number of counted tokens of all ranks; 0 when there is none. */
static int loss_scale(const struct step *step, real *scale)
{
    real counted = 0;

    for (int64_t t = 0; t < step->input->boundary->rows; t++) {
        counted += step->input->labels[t] >= 0;
    }
    if (comm_allreduce(step->comm, step->rank, COMM_OTHER, &counted, 1)) {
        return -1;
    }
    *scale = counted > 0 ? 1 / counted : 0;
    return 0;
}

/* Final norm, output head and loss; the stream becomes its own gradient. */
static int head(struct step *step, real *loss)
{
    const struct norm shape = boundary_shape(step);
    const struct params *params = &step->model->params;
    const struct linear map = {shape.rows, shape.width, step->model->config.vocab};
    struct arena *arena = &step->model->arena;
    real *normed = arena_reals(arena, step->count);
    real *inverse = arena_reals(arena, shape.rows);
    real *logits = arena_reals(arena, shape.rows * map.out);
    real *dnormed = arena_zeros(arena, step->count);
    real *dstream = arena_zeros(arena, step->count);
    real scale;

    step->spare = arena_reals(arena, step->count);
    if (step_memory(step) || loss_scale(step, &scale)) {
        return -1;
    }
    const struct norm_saved saved = {step->stream, params->value_at[step->model->norm], inverse};
    const real *weight = params->value_at[step->model->head];
    norm_forward(shape, saved.x, saved.weight, inverse, normed);
    linear_forward(map, normed, weight, logits);
    *loss =
        (real)(cross_entropy((struct norm){map.rows, map.out}, step->input->labels, scale, logits) *
               (double)scale);
    linear_backward(map, normed, weight, logits,
                    (struct linear_gradient){dnormed, params->gradient_at[step->model->head]});
    norm_backward(shape, saved, dnormed, params->gradient_at[step->model->norm], dstream);
    step->stream = dstream;
    return comm_allreduce(step->comm, step->rank, COMM_OTHER, loss, 1);
}

int model_forward_backward(struct model *model, const struct step_input *input, struct comm *comm,
                           const struct converter *converter, real *loss)
{
    struct step step = {model, input, converter, comm, input->boundary->rank, 0, NULL, NULL};
    const struct params *params = &model->params;

    arena_reset(&model->arena);
    memset(params->gradients, 0, real_bytes(params->count));
    if (shards_check(&step) || tokens_check(&step)) {
        return -1;
    }
    step.stream = arena_reals(&model->arena, step.count);
    if (step_memory(&step)) {
        return -1;
    }
    const struct norm shape = boundary_shape(&step);
    embedding_forward(shape, params->value_at[model->embedding], input->tokens, step.stream);
    if (layers_forward(&step) || head(&step, loss) || layers_backward(&step)) {
        return -1;
    }
    embedding_backward(shape, input->tokens, step.stream, params->gradient_at[model->embedding]);
    return 0;
}

int model_reduce_gradients(struct model *model, struct comm *comm, int32_t rank)
{
    return comm_allreduce(comm, rank, COMM_GRADIENT, model->params.gradients, model->params.count);
}
