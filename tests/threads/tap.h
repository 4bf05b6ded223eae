/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests as plain programs that print TAP, for code that runs in several threads at once: checks may
 * come from any thread, and a test that hangs fails within 60 s instead of hanging.
 *
 *     tap_test("name of the test");
 *     CHECK(value == 3, "value is %d", value);
 *     ...
 *     return tap_end();
 */
#ifndef TESTS_THREADS_TAP_H
#define TESTS_THREADS_TAP_H

#include <stdbool.h>
#include <stdint.h>

enum { TAP_RANKS_MOST = 48 };

/* Begins a test and ends the one before. */
void tap_test(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Fails the running test unless `good`. The first failure's text is printed. Returns `good`. */
bool tap_check(bool good, const char *function, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#define CHECK(good, ...) tap_check((good), __func__, __LINE__, __VA_ARGS__)

/* Whether the running test has failed. */
bool tap_failed(void);

/* Ends the program when the test cannot go on: memory, threads, the plugin's file. */
void tap_require(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Runs `body` on as many threads, each with its rank, and waits for all of them. */
void tap_ranks(int32_t ranks, void (*body)(void *self, int32_t rank), void *self);

/* Ends the last test, prints the plan and returns the program's exit status. */
int tap_end(void);

#endif
