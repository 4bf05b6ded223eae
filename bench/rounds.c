/* SPDX-License-Identifier: Apache-2.0 */
#include "rounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double rounds_now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static int by_time(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;

    return (x > y) - (x < y);
}

void rounds_sort(struct rounds *rounds)
{
    qsort(rounds->times, ROUNDS, sizeof(rounds->times[0]), by_time);
}

double rounds_median(const struct rounds *rounds)
{
    return rounds->times[ROUNDS / 2];
}

double rounds_least(const struct rounds *rounds)
{
    return rounds->times[0];
}

double rounds_most(const struct rounds *rounds)
{
    return rounds->times[ROUNDS - 1];
}

bool bench_wants_json(int argc, char **argv)
{
    const bool json = argc == 2 && strcmp(argv[1], "--json") == 0;

    if (argc > 1 && !json) {
        bench_die(argv[1], "the only argument is --json");
    }
    return json;
}

void bench_die(const char *what, const char *why)
{
    (void)fprintf(stderr, "bench: %s: %s\n", what, why);
    exit(1);
}
