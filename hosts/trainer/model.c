/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creating a model: its sizes, its layers and their parameters. One rank, one thread.
 */
#include "model_parts.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_SIZE = 1 << 20 };

struct model_config model_defaults(void)
{
    return (struct model_config){
        .pattern = "M-M*-M-M*-",
        .hidden = 128,
        .heads = 4,
        .head_dim = 32,
        .mlp = 256,
        .vocab = 256,
        .conv_width = 4,
        .rope_base = 10000,
    };
}

static bool config_valid(const struct model_config *c)
{
    const int sizes[] = {c->hidden, c->heads, c->head_dim, c->mlp, c->vocab, c->conv_width};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i] < 1 || sizes[i] > LARGEST_SIZE) {
            return false;
        }
    }
    return c->pattern && strspn(c->pattern, "M*-") == strlen(c->pattern) &&
           strlen(c->pattern) <= LARGEST_SIZE && c->head_dim % 2 == 0 &&
           config_inner(c) <= LARGEST_SIZE && c->rope_base > 0;
}

static int add_layer(struct model *model, int i)
{
    const struct model_config *c = &model->config;
    struct slice norm = {"norm", 0, c->hidden, START_ONE, 0, false};
    struct layer *layer = &model->layers[i];

    layer->kind = model->pattern[i];
    layer->norm = model->params.slices_count;
    if (layer_slices(&model->params, i, &norm, 1)) {
        return -1;
    }
    switch (layer->kind) {
    case 'M':
        return linear_attention_slices(c, i, &model->params);
    case '*':
        return attention_slices(c, i, &model->params);
    default:
        return mlp_slices(c, i, &model->params);
    }
}

static int add_slices(struct model *model)
{
    const int64_t table = (int64_t)model->config.vocab * model->config.hidden;
    const real deviation = (real)0.02;
    struct params *params = &model->params;

    model->embedding = params->slices_count;
    if (params_add(params, (struct slice){"embedding", 0, table, START_NORMAL, deviation, true})) {
        return -1;
    }
    for (int i = 0; i < model->layers_count; i++) {
        if (add_layer(model, i)) {
            return -1;
        }
    }
    model->norm = params->slices_count;
    model->head = model->norm + 1;
    if (params_add(params, (struct slice){"norm", 0, model->config.hidden, START_ONE, 0, false})) {
        return -1;
    }
    return params_add(params, (struct slice){"head", 0, table, START_NORMAL, deviation, true});
}

struct model *model_create(const struct model_config *config, uint64_t seed)
{
    struct model *model;

    if (!config_valid(config)) {
        return NULL;
    }
    model = calloc(1, sizeof *model);
    if (!model) {
        return NULL;
    }
    model->config = *config;
    model->layers_count = (int)strlen(config->pattern);
    model->pattern = strdup(config->pattern);
    model->layers = calloc((size_t)model->layers_count + 1, sizeof *model->layers);
    if (!model->pattern || !model->layers) {
        goto fail;
    }
    model->config.pattern = model->pattern;
    if (add_slices(model) || params_start(&model->params, seed)) {
        goto fail;
    }
    return model;

fail:
    model_destroy(model);
    return NULL;
}

void model_destroy(struct model *model)
{
    if (!model) {
        return;
    }
    arena_destroy(&model->arena);
    params_destroy(&model->params);
    free(model->layers);
    free(model->pattern);
    free(model);
}

struct params *model_params(struct model *model)
{
    return &model->params;
}
