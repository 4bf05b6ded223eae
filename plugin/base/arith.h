/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole-number arithmetic of layouts.
 */
#ifndef CPL_BASE_ARITH_H
#define CPL_BASE_ARITH_H

#include <stdint.h>

/* Least common multiple of two positive numbers whose product fits. */
static inline int64_t cpl_lcm(int64_t a, int64_t b)
{
    int64_t x = a;
    int64_t y = b;

    while (y != 0) {
        const int64_t rest = x % y;

        x = y;
        y = rest;
    }
    return a / x * b;
}

#endif
