/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A progress bar on stderr over all runs of the program: run, steps, loss, tokens per second, time
 * left. Silent unless stderr is a terminal. One thread at a time.
 */
#ifndef TRAINER_PROGRESS_H
#define TRAINER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool visible;
    bool coloured;
    const char *name;
    int64_t steps;    /* of this run */
    int64_t sequence; /* tokens of a step */
    int64_t before;   /* steps of earlier runs */
    int64_t total;    /* steps of all runs */
    double begin;     /* of this run */
    double begin_all;
};

/* For runs of `total` steps together. */
void progress_init(struct progress *progress, int64_t total, int64_t sequence);

/* A run begins; the one before it has ended. */
void progress_begin(struct progress *progress, const char *name, int64_t steps);

/* `done` steps of this run are done. NULL is allowed. */
void progress_show(const struct progress *progress, int64_t done, double loss);

/* Wipes the line. */
void progress_end(const struct progress *progress);

#endif
