/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flat parameter and gradient arrays, their named slices, and the random start. Used by one
 * thread.
 */
#include "params.h"

#include <stdlib.h>

int params_add(struct params *params, struct slice slice)
{
    if (slice.count < 0 || __builtin_add_overflow(params->count, slice.count, &(int64_t){0})) {
        return -1;
    }
    if (params->slices_count == params->slices_capacity) {
        const int64_t capacity = 2 * params->slices_capacity + 16;
        struct slice *grown = realloc(params->slices, (size_t)capacity * sizeof *grown);
        if (!grown) {
            return -1;
        }
        params->slices = grown;
        params->slices_capacity = capacity;
    }
    slice.offset = params->count;
    params->slices[params->slices_count++] = slice;
    params->count += slice.count;
    return 0;
}

/* splitmix64 (Steele, Lea & Flood 2014). */
static uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* Uniform in (0, 1). */
static double random_uniform(uint64_t *state)
{
    return ((double)(random_bits(state) >> 11) + 0.5) / 9007199254740992.0;
}

/* Box & Muller 1958. */
static double random_normal(uint64_t *state)
{
    const double radius = sqrt(-2 * log(random_uniform(state)));

    return radius * cos(6.283185307179586 * random_uniform(state));
}

static double random_start(const struct slice *slice, uint64_t *state)
{
    switch (slice->start) {
    case START_ONE:
        return 1;
    case START_NORMAL:
        return (double)slice->deviation * random_normal(state);
    case START_DECAY:
        return log(1 + 15 * random_uniform(state));
    case START_STEP:
        return log(expm1(0.001 * pow(100, random_uniform(state))));
    case START_ZERO:
        break;
    }
    return 0;
}

static real *reals_create(int64_t count)
{
    return calloc((size_t)count + 1, sizeof(real));
}

int params_start(struct params *params, uint64_t seed)
{
    const size_t slices = (size_t)params->slices_count + 1;

    params->values = reals_create(params->count);
    params->gradients = reals_create(params->count);
    params->value_at = calloc(slices, sizeof *params->value_at);
    params->gradient_at = calloc(slices, sizeof *params->gradient_at);
    if (!params->values || !params->gradients || !params->value_at || !params->gradient_at) {
        return -1; /* what there is goes in params_destroy */
    }
    for (int64_t s = 0; s < params->slices_count; s++) {
        const struct slice *slice = &params->slices[s];
        params->value_at[s] = params->values + slice->offset;
        params->gradient_at[s] = params->gradients + slice->offset;
        for (int64_t i = 0; i < slice->count; i++) {
            params->value_at[s][i] = (real)random_start(slice, &seed);
        }
    }
    return 0;
}

void params_destroy(struct params *params)
{
    free(params->values);
    free(params->gradients);
    free(params->slices);
    free(params->value_at);
    free(params->gradient_at);
    *params = (struct params){0};
}
