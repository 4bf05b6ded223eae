/* SPDX-License-Identifier: Apache-2.0 */
#include "base/deadline.h"

struct timespec cpl_deadline_after(double seconds)
{
    struct timespec now;
    const time_t whole = (time_t)seconds;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    now.tv_sec += whole;
    now.tv_nsec += (long)((seconds - (double)whole) * 1e9);
    if (now.tv_nsec >= 1000000000L) {
        now.tv_nsec -= 1000000000L;
        now.tv_sec++;
    }
    return now;
}

double cpl_deadline_left(const struct timespec *deadline)
{
    struct timespec now;
    double seconds;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    seconds =
        (double)(deadline->tv_sec - now.tv_sec) + 1e-9 * (double)(deadline->tv_nsec - now.tv_nsec);
    return seconds > 0 ? seconds : 0;
}
