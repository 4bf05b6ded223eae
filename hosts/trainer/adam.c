/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AdamW: the moments of every parameter and the update. Used by one thread; no randomness, no order
 * that depends on anything but the parameters.
 */
#include "adam.h"

#include <stdlib.h>

struct adam {
    struct adam_config config;
    real *mean, *square; /* [count] running moments of the gradient */
    int64_t steps;
};

struct adam_config adam_defaults(void)
{
    return (struct adam_config){(real)0.9, (real)0.95, (real)1e-8, (real)0.1, 1};
}

struct adam *adam_create(const struct adam_config *config, const struct params *params)
{
    struct adam *adam = calloc(1, sizeof *adam);

    if (!adam) {
        return NULL;
    }
    adam->config = *config;
    adam->mean = calloc((size_t)params->count + 1, sizeof(real));
    adam->square = calloc((size_t)params->count + 1, sizeof(real));
    if (!adam->mean || !adam->square) {
        adam_destroy(adam);
        return NULL;
    }
    return adam;
}

void adam_destroy(struct adam *adam)
{
    if (!adam) {
        return;
    }
    free(adam->mean);
    free(adam->square);
    free(adam);
}

static double norm_of(const real *values, int64_t count)
{
    double squares = 0;

    for (int64_t i = 0; i < count; i++) {
        squares += (double)values[i] * (double)values[i];
    }
    return sqrt(squares);
}

/* The factors of one update, the same for every parameter of a slice. */
struct update {
    real scale; /* of the gradient: clipping */
    real rate;  /* learning rate, corrected for the first moment's bias */
    real root;  /* square root of the second moment's correction */
    real keep;  /* what weight decay leaves of the parameter */
};

static void update_slice(struct adam *adam, struct params *params, const struct slice *slice,
                         struct update u)
{
    const struct adam_config *c = &adam->config;

    for (int64_t i = slice->offset; i < slice->offset + slice->count; i++) {
        const real g = params->gradients[i] * u.scale;
        adam->mean[i] = c->beta1 * adam->mean[i] + (1 - c->beta1) * g;
        adam->square[i] = c->beta2 * adam->square[i] + (1 - c->beta2) * g * g;
        params->values[i] =
            u.keep * params->values[i] -
            u.rate * adam->mean[i] / (real_sqrt(adam->square[i]) / u.root + c->epsilon);
    }
}

double adam_step(struct adam *adam, struct params *params, real rate)
{
    const struct adam_config *c = &adam->config;
    const double norm = norm_of(params->gradients, params->count);
    const double steps = (double)++adam->steps;
    struct update u = {.scale = 1};

    if (c->clip > 0 && norm > (double)c->clip) {
        u.scale = (real)((double)c->clip / norm);
    }
    u.rate = (real)((double)rate / (1 - pow((double)c->beta1, steps)));
    u.root = (real)sqrt(1 - pow((double)c->beta2, steps));
    for (int64_t s = 0; s < params->slices_count; s++) {
        const struct slice *slice = &params->slices[s];
        u.keep = slice->decays ? 1 - rate * c->weight_decay : 1;
        update_slice(adam, params, slice, u);
    }
    return norm;
}
