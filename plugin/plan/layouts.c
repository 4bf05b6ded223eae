/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layouts: one deal function and one table entry each.
 */
#include "plan/balanced.h"
#include "plan/dealer.h"
#include "plan/layout.h"

/* Rank r holds the r-th slice. */
static enum cpl_status deal_contiguous(const struct cpl_layout *layout, const struct cpl_deck *deck,
                                       struct cpl_dealer *dealer, struct cpl_error *error)
{
    (void)layout;
    (void)error;
    for (int32_t rank = 0; rank < deck->cp; rank++) {
        cpl_deal(dealer, rank, deck->rows / deck->cp);
    }
    return CPL_OK;
}

/*
 * Slices 0, 1, ... lie on the even ranks in ascending order, the rest on the odd ranks in descending
 * order: rank k holds slice k/2 (k even) or P-1-(k-1)/2 (k odd). So a rank and its partner k XOR 1
 * hold the four chunks of their two zigzag roles between them.
 */
static enum cpl_status deal_mirror(const struct cpl_layout *layout, const struct cpl_deck *deck,
                                   struct cpl_dealer *dealer, struct cpl_error *error)
{
    const int32_t cp = deck->cp;
    const int32_t evens = (cp + 1) / 2;

    (void)layout;
    (void)error;
    for (int32_t slice = 0; slice < cp; slice++) {
        const int32_t rank = slice < evens ? 2 * slice : 2 * (cp - 1 - slice) + 1;

        cpl_deal(dealer, rank, deck->rows / cp);
    }
    return CPL_OK;
}

/* Of 2P chunks rank r holds r and 2P-1-r, an early and a late one: causal attention is balanced. */
static enum cpl_status deal_zigzag(const struct cpl_layout *layout, const struct cpl_deck *deck,
                                   struct cpl_dealer *dealer, struct cpl_error *error)
{
    const int32_t chunks = 2 * deck->cp;

    (void)layout;
    (void)error;
    for (int32_t chunk = 0; chunk < chunks; chunk++) {
        cpl_deal(dealer, chunk < deck->cp ? chunk : chunks - 1 - chunk, deck->rows / chunks);
    }
    return CPL_OK;
}

/* Blocks go round the ranks. */
static enum cpl_status deal_striped(const struct cpl_layout *layout, const struct cpl_deck *deck,
                                    struct cpl_dealer *dealer, struct cpl_error *error)
{
    int32_t rank = 0;

    (void)error;
    for (int64_t done = 0; done < deck->rows; done += layout->block) {
        cpl_deal(dealer, rank, layout->block);
        rank = rank + 1 < deck->cp ? rank + 1 : 0;
    }
    return CPL_OK;
}

static const struct cpl_layout known[] = {
    {
        .name = "contiguous",
        .form = "contiguous",
        .chunks = 1,
        .follows_rank = true,
        .deal = deal_contiguous,
    },
    {
        .name = "mirror",
        .form = "mirror",
        .chunks = 1,
        .deal = deal_mirror,
    },
    {
        .name = "zigzag",
        .form = "zigzag",
        .chunks = 2,
        .per_document = true,
        .follows_rank = true,
        .two_chunk_kernels = true,
        .deal = deal_zigzag,
    },
    {
        .name = "zigzag-stream",
        .form = "zigzag-stream",
        .chunks = 2,
        .deal = deal_zigzag,
    },
    {
        .name = "striped",
        .form = "striped:B",
        .parameters = CPL_PARAMETERS_BLOCK,
        .chunks = 1,
        .blocks = true,
        .deal = deal_striped,
    },
    {
        .name = "balanced",
        .form = "balanced:TOL[:CHUNK]",
        .parameters = CPL_PARAMETERS_TOLERANCE,
        .block = 512,
        .tolerance = 0.05,
        .chunks = 1,
        .deal = cpl_balanced_deal,
    },
};

const struct cpl_layout *cpl_layout_at(size_t index)
{
    return index < sizeof(known) / sizeof(known[0]) ? &known[index] : NULL;
}
