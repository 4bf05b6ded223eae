/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks over packed documents, over tensor-parallel windows and over both, on a local group and on a
 * communicator: every combination of layouts in turn, each byte against a row-by-row oracle. Padding
 * that a layout adds is zero and what a layer writes there is dropped; padding of the source is data.
 */
#include "threads/chunk.h"

static const struct packed_ranks sizes[] = {{1, 1}, {1, 3}, {2, 1},  {2, 2},  {2, 3},
                                            {3, 1}, {3, 2}, {4, 1},  {4, 3},  {5, 2},
                                            {7, 1}, {8, 2}, {12, 1}, {16, 1}, {16, 3}};

enum { SIZE_COUNT = sizeof(sizes) / sizeof(sizes[0]), COMBINATIONS = 27 };

static void deal_variant(struct deal *deal, struct packed_ranks ranks, bool packed, int32_t variant)
{
    if (packed) {
        deal_pack(deal, ranks, (enum deal_kind)(variant % DEAL_KINDS), variant);
    } else {
        deal_dense(deal, ranks, 1 + variant % 3);
    }
}

/* Combinations of layouts in steps that meet all of them over the sizes. */
static void test_size(int32_t size, bool packed, enum transport transport)
{
    const struct packed_ranks ranks = sizes[size];
    const int32_t step = ranks.cp * ranks.tp > 12 ? 9 : 2;

    tap_test("%s, P = %d, T = %d, %s", packed ? "packs" : "dense sequences", ranks.cp, ranks.tp,
             transport_names[transport]);
    for (int32_t i = size % step; i < COMBINATIONS && !tap_failed(); i += step) {
        struct deal deal;
        const struct chunk chunk = {
            .linear = i % 3,
            .attention = i / 3 % 3,
            .boundary = i / 9,
            .pattern = i % 2 == 0 ? "M*-M" : "*M",
            .deal = &deal,
            .first_form = 5 * i + size,
            .form_count = 2,
        };

        deal_variant(&deal, ranks, packed, i / step + size);
        chunk_test(&chunk, transport);
        deal_fini(&deal);
    }
}

int main(void)
{
    for (int32_t size = 0; size < SIZE_COUNT; size++) {
        test_size(size, true, LOCAL);
        test_size(size, true, COMMUNICATOR);
        test_size(size, false, COMMUNICATOR);
        if (sizes[size].tp > 1) {
            test_size(size, false, LOCAL);
        }
    }
    return tap_end();
}
