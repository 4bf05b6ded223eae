/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a model, shared by its creation (model.c) and its step (step.c) only.
 */
#ifndef TRAINER_MODEL_PARTS_H
#define TRAINER_MODEL_PARTS_H

#include "attention.h"
#include "linear_attention.h"
#include "mlp.h"
#include "model.h"

/* One layer and what its forward leaves for its backward. */
struct layer {
    char kind;
    int64_t norm;  /* slice of the norm's weight; the layer's own slices follow */
    real *entry;   /* the residual stream before the layer's conversion; kept to recompute */
    const real *x; /* [rows, hidden] and before the layer itself */
    real *normed, *inverse;
    union {
        struct linear_attention_saved linear;
        struct attention_saved attention;
        struct mlp_saved mlp;
    } saved;
};

struct model {
    struct model_config config;
    char *pattern;
    int layers_count;
    struct layer *layers;
    int64_t embedding, norm, head; /* slices */
    struct params params;
    struct arena arena;
};

#endif
