/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of the tiny model on several ranks, which are threads. What they share is written between
 * barriers, or by one rank per row.
 */
#ifndef TESTS_TRAINER_GROUP_H
#define TESTS_TRAINER_GROUP_H

#include "trainer/deal.h"

enum { UPDATES = 3 };

struct group {
    int ranks;
    const struct pack *pack;
    struct layout *linear, *other, *boundary;
    bool eager; /* finalize every layer to the boundary layout */
    bool recompute;
    double garbage; /* what padding holds in the stream, about; 0: zeros */
    bool updates;   /* take UPDATES steps of the optimiser after the first */

    struct comm *comm;
    double stream[LONGEST][HIDDEN];        /* where rows are exchanged */
    double leaving[LONGEST][HIDDEN];       /* the last layer */
    double into_gradient[LONGEST][HIDDEN]; /* of the first layer's input */
    double loss[MOST_RANKS];
    double *gradients[MOST_RANKS]; /* of the first step */
    bool same[MOST_RANKS];         /* a second step gave the same bits */
    double later[UPDATES];         /* losses of the updates */
    double *values[MOST_RANKS];    /* parameters after the updates */
};

/* Takes two equal steps, then the updates. */
void group_run(struct group *group);
void group_clear(struct group *group);

/* Who runs where. */
struct mix {
    enum rule linear, other, boundary;
    bool eager;
};

/* A group of this mix; its layouts are freed by mix_clear, which is group_clear as well. */
struct group *mix_make(const struct mix *mix, int ranks, const struct pack *pack, uint64_t seed);
void mix_clear(struct group *group);
void mix_name(const struct mix *mix, const struct group *group, char name[96]);

/* One rank, no padding: loss and gradients that others are held against. */
struct group *group_alone(const struct pack *pack);

/* The largest difference of a slice relative to its largest gradient; the worst slice's. NaN if
 * there is one. */
double gradient_error(const double *expected, const double *gradients);

/* Loss and gradients are those of one rank; all ranks agree; bytes are as many as the rows say. */
void group_check(const struct group *group, const char *name, double loss, const double *gradients);

#endif
