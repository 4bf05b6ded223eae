/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks move every row where the layouts say and touch nothing else: forward and backward over
 * whole patterns, for every combination of layouts, P in 1 ... 8 and 16, and tensors of many forms,
 * each byte against a token-by-token oracle.
 */
#include "threads/chunk.h"

/* All layouts for all three roles. A few forms each time: their circle runs through all of them. */
static void test_combinations(int32_t cp, const char *pattern, int32_t form_count)
{
    enum { COMBINATIONS = DEAL_LAYOUTS * DEAL_LAYOUTS * DEAL_LAYOUTS };

    tap_test("%s over %d ranks, all combinations of layouts", pattern, cp);
    for (int32_t i = 0; i < COMBINATIONS && !tap_failed(); i++) {
        struct deal deal;
        const struct chunk chunk = {
            .linear = i % 3,
            .attention = i / 3 % 3,
            .boundary = i / 9,
            .pattern = pattern,
            .deal = &deal,
            .first_form = i * form_count + cp,
            .form_count = form_count,
        };

        deal_dense(&deal, (struct packed_ranks){cp, 1}, 1 + i % 3);
        chunk_test(&chunk, LOCAL);
        deal_fini(&deal);
    }
}

static void test_patterns(int32_t cp)
{
    test_combinations(cp, "M-M*-M-M*-", 2);
    test_combinations(cp, "*M*", FORM_COUNT);
    test_combinations(cp, "M", 3);
    test_combinations(cp, "*-*", 2);
}

int main(void)
{
    for (int32_t cp = 1; cp <= 8; cp++) {
        test_patterns(cp);
    }
    test_patterns(16);
    return tap_end();
}
