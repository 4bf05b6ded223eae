/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AdamW (Kingma & Ba 2015; Loshchilov & Hutter 2019). Owns the two moments; used by one thread.
 * On ranks with the same gradients the parameters stay the same to the bit.
 */
#ifndef TRAINER_ADAM_H
#define TRAINER_ADAM_H

#include "params.h"

struct adam_config {
    real beta1, beta2, epsilon;
    real weight_decay; /* decoupled, only on slices that decay */
    real clip;         /* largest norm of the whole gradient; 0: no limit */
};

/* 0.9, 0.95, 1e-8, 0.1, 1.0 */
struct adam_config adam_defaults(void);

struct adam;

/* For parameters of this count; NULL when there is no memory. Destroying NULL is allowed. */
struct adam *adam_create(const struct adam_config *config, const struct params *params);
void adam_destroy(struct adam *adam);

/* One update with the learning rate; returns the gradient's norm before clipping. */
double adam_step(struct adam *adam, struct params *params, real rate);

#endif
