/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters of a model and their gradients: two flat arrays of the same shape, cut into named
 * slices. Owned by one model, used by one thread.
 */
#ifndef TRAINER_PARAMS_H
#define TRAINER_PARAMS_H

#include "real.h"

#include <stdbool.h>

/* How a slice starts. */
enum start {
    START_ZERO,
    START_ONE,
    START_NORMAL, /* normal with standard deviation `deviation` */
    START_DECAY,  /* log of uniform [1, 16]: Mamba-2's A_log */
    START_STEP    /* inverse softplus of log-uniform [0.001, 0.1]: Mamba-2's dt bias */
};

struct slice {
    char name[48];
    int64_t offset, count; /* reals, into both arrays */
    enum start start;
    real deviation;
    bool decays; /* weight decay applies: matrices, not norms, biases or decay rates */
};

/* All zero is empty. */
struct params {
    real *values, *gradients; /* [count] */
    int64_t count;
    struct slice *slices;
    int64_t slices_count, slices_capacity;
    real **value_at, **gradient_at; /* [slices_count] the slices' beginnings */
};

/* Appends a slice, whose offset is set here; 0, or -1 on overflow or lack of memory. */
int params_add(struct params *params, struct slice slice);

/* Allocates the arrays once all slices are there and fills them from the seed, slice by slice:
 * the same on every rank. */
int params_start(struct params *params, uint64_t seed);

/* Frees everything; the structure is empty again. */
void params_destroy(struct params *params);

#endif
