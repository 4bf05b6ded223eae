/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How large a configuration may be.
 */
#ifndef CPL_BASE_LIMITS_H
#define CPL_BASE_LIMITS_H

#include <stdint.h>

/* Ranks of a group, P * T. */
enum { CPL_RANKS_MOST = 65536 };

/* Tokens of a sequence: counts of causal pairs, S * (S + 1) / 2 at most, then fit 63 bits. */
static const int64_t cpl_tokens_most = INT64_C(0xffffffff);

#endif
