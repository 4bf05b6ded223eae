/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One training run: an arrangement of layouts, its ranks as threads, from the first step to the
 * last. Every rank has a model, an optimiser and a session with the plugin of its own.
 */
#ifndef TRAINER_TRAIN_H
#define TRAINER_TRAIN_H

#include "progress.h"
#include "session.h"
#include "settings.h"
#include "text.h"

/* Who holds what in one layout: the parts of all ranks in order of the sequence. */
struct strip {
    struct part *parts; /* [count] */
    int64_t count;
};

/* What a run leaves. Bytes are those of one step, forward and backward, over all ranks. */
struct run_result {
    const struct arrangement *arrangement;
    int32_t ranks;
    int64_t steps;
    double *loss;      /* [steps] */
    double *grad_norm; /* [steps] before clipping */
    int64_t linear_state_bytes;
    int64_t halo_bytes;
    int64_t attention_bytes;
    int64_t conversion_bytes;
    struct strip linear, attention; /* of the first step */
    double *attention_pairs;        /* [ranks] causal (query, key) pairs, mean over the steps */
    double attention_max_over_mean; /* busiest rank of a step, mean over the steps */
    double documents;               /* of a pack, mean over the steps; 0: one sequence */
    double seconds;                 /* all steps, without set-up */
    real *gradient;                 /* [parameters] of the first step, summed over ranks */
    int64_t parameters;
};

struct run_args {
    const struct plugin *plugin;
    const struct settings *settings;
    const struct text *text;
    const struct packs *packs; /* read only if settings ask for packs */
    const struct arrangement *arrangement;
    struct progress *progress; /* NULL: silent */
};

/* 0, or -1 with the message of the rank that failed first. run_result_destroy in both cases. */
int train_run(const struct run_args *args, struct run_result *result, char message[512]);
void run_result_destroy(struct run_result *result);

#endif
