/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that print TAP, one line each. The counters are the program's; main thread only, but for
 * require.
 */
#ifndef TESTS_TRAINER_CHECK_H
#define TESTS_TRAINER_CHECK_H

#include <stdbool.h>

/* One test. Returns `good`. */
bool check(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends the program when the tests cannot go on. */
void require(bool good, const char *what);

/* Prints the plan and returns the program's exit status. */
int check_end(void);

#endif
