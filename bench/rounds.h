/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the benchmarks share: a clock, and times of rounds of which the median counts.
 */
#ifndef BENCH_ROUNDS_H
#define BENCH_ROUNDS_H

#include <stdbool.h>

enum { ROUNDS = 15 };

struct rounds {
    double times[ROUNDS];
};

/* Microseconds on a clock that only goes forward. */
double rounds_now(void);

/* Puts the times in ascending order. */
void rounds_sort(struct rounds *rounds);

/* Of times in order. */
double rounds_median(const struct rounds *rounds);
double rounds_least(const struct rounds *rounds);
double rounds_most(const struct rounds *rounds);

/* Whether --json was given; ends the program if anything else was. */
bool bench_wants_json(int argc, char **argv);

/* Ends the program. */
_Noreturn void bench_die(const char *what, const char *why);

#endif
