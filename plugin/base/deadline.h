/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points of the monotonic clock by which waits end: setting the date must not end one.
 */
#ifndef CPL_BASE_DEADLINE_H
#define CPL_BASE_DEADLINE_H

#include <time.h>

/* `seconds` from now. */
struct timespec cpl_deadline_after(double seconds);

/* Seconds left, 0 if it has passed. */
double cpl_deadline_left(const struct timespec *deadline);

#endif
