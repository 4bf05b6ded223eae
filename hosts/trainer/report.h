/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user gets to see of the runs: a table with a verdict, or JSON.
 */
#ifndef TRAINER_REPORT_H
#define TRAINER_REPORT_H

#include "train.h"

struct report {
    const struct run_result *runs;
    size_t count;
    const struct settings *settings;
    const struct text *text;
};

/* How far runs are from the run `single`; zero where there is none. */
struct agreement {
    bool compared;   /* there is a `single` and another run */
    double loss;     /* largest relative difference of a loss, over all steps and runs */
    double gradient; /* largest difference of a gradient entry of step 1, relative to the
                               largest entry */
    bool holds;      /* both within their limits */
    double loss_limit, gradient_limit;
};

struct agreement report_agreement(const struct report *report);

/* NULL if there is no such run. */
const struct run_result *report_find(const struct report *report, const char *name);

/* Of one step, relative to the reference. */
double report_loss_difference(const struct run_result *run, const struct run_result *reference,
                              int64_t step);

/* A table for people on stdout. 0, or -1 if stdout cannot be written. */
int report_table(const struct report *report);

/* One JSON object on stdout. 0, or -1 if there is no memory or stdout cannot be written. */
int report_json(const struct report *report);

#endif
