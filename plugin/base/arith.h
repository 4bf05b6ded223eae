/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole-number arithmetic of layouts.
 */
#ifndef CPL_BASE_ARITH_H
#define CPL_BASE_ARITH_H

#include <stdint.h>

/* Greatest common divisor of two positive numbers. */
static inline int64_t cpl_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

#endif
