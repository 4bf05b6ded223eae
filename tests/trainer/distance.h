/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far two runs of the trainer over the same data are apart. NaN counts as far: it is the result.
 */
#ifndef TESTS_TRAINER_DISTANCE_H
#define TESTS_TRAINER_DISTANCE_H

#include "train.h"

/* The largest relative difference of a step's losses; b is the measure. */
double loss_distance(const struct run_result *a, const struct run_result *b);

/* The largest difference of first gradients over b's largest gradient. */
double gradient_distance(const struct run_result *a, const struct run_result *b);

#endif
