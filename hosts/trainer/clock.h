/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seconds of a clock that only goes forward. Any thread.
 */
#ifndef TRAINER_CLOCK_H
#define TRAINER_CLOCK_H

#include <time.h>

static inline double clock_seconds(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

#endif
