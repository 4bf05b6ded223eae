/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "base/limits.h"
#include "plan/dealer.h"
#include "plan/stream.h"

/* Rank r holds the r-th slice. */
static void deal_contiguous(int64_t rows, int32_t cp, struct cpl_dealer *dealer)
{
    for (int32_t rank = 0; rank < cp; rank++) {
        cpl_deal(dealer, rank, rows / cp);
    }
}

/*
 * Slices 0, 1, ... lie on the even ranks in ascending order, the rest on the odd ranks in descending
 * order: rank k holds slice k/2 (k even) or P-1-(k-1)/2 (k odd). So a rank and its partner k XOR 1
 * hold the four chunks of their two zigzag roles between them.
 */
static void deal_mirror(int64_t rows, int32_t cp, struct cpl_dealer *dealer)
{
    const int32_t evens = (cp + 1) / 2;

    for (int32_t slice = 0; slice < cp; slice++) {
        const int32_t rank = slice < evens ? 2 * slice : 2 * (cp - 1 - slice) + 1;

        cpl_deal(dealer, rank, rows / cp);
    }
}

/* Of 2P chunks rank r holds r and 2P-1-r, an early and a late one: causal attention is balanced. */
static void deal_zigzag(int64_t rows, int32_t cp, struct cpl_dealer *dealer)
{
    const int32_t chunks = 2 * cp;

    for (int32_t chunk = 0; chunk < chunks; chunk++) {
        cpl_deal(dealer, chunk < cp ? chunk : chunks - 1 - chunk, rows / chunks);
    }
}

static const struct cpl_layout known[] = {
    {
        .name = "contiguous",
        .chunks = 1,
        .follows_rank = true,
        .deal = deal_contiguous,
    },
    {
        .name = "mirror",
        .chunks = 1,
        .deal = deal_mirror,
    },
    {
        .name = "zigzag",
        .chunks = 2,
        .per_document = true,
        .follows_rank = true,
        .two_chunk_kernels = true,
        .deal = deal_zigzag,
    },
};

const struct cpl_layout *cpl_layout_at(size_t index)
{
    return index < sizeof(known) / sizeof(known[0]) ? &known[index] : NULL;
}

const struct cpl_layout *cpl_layout_find(const char *name)
{
    const struct cpl_layout *layout;

    for (size_t i = 0; (layout = cpl_layout_at(i)) != NULL; i++) {
        if (strcmp(layout->name, name) == 0) {
            return layout;
        }
    }
    return NULL;
}

bool cpl_layout_deals_documents(const struct cpl_layout *layout, int32_t cp)
{
    return layout->per_document && cp > 1;
}

void cpl_layout_names(char *text, size_t bytes)
{
    const struct cpl_layout *layout;
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; (layout = cpl_layout_at(i)) != NULL && used < bytes; i++) {
        used +=
            (size_t)snprintf(text + used, bytes - used, "%s%s", i > 0 ? ", " : "", layout->name);
    }
}

int64_t cpl_layout_unit(const struct cpl_layout *layout, int32_t cp, int32_t tp)
{
    const int64_t windows = (int64_t)cp * tp;
    const int64_t chunks = cp > 1 ? (int64_t)cp * layout->chunks : 1;

    return cpl_lcm(windows, chunks);
}

int64_t cpl_layouts_unit(const struct cpl_layout *const *layouts, int32_t count, int32_t cp,
                         int32_t tp)
{
    int64_t unit = 1;

    for (int32_t i = 0; i < count; i++) {
        unit = cpl_lcm(unit, cpl_layout_unit(layouts[i], cp, tp));
    }
    return unit;
}

enum cpl_status cpl_tokens_check(uint64_t tokens, const char *field, struct cpl_error *error)
{
    if (tokens < 1 || tokens > (uint64_t)cpl_tokens_most) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, field,
                              "sequence length must be 1 to %" PRId64 ", not %" PRIu64,
                              cpl_tokens_most, tokens);
    }
    return CPL_OK;
}

void cpl_nearest_lengths(char text[64], int64_t length, int64_t unit)
{
    const int64_t below = length / unit * unit;

    if (below == 0) {
        (void)snprintf(text, 64, "%" PRId64, unit);
    } else {
        (void)snprintf(text, 64, "%" PRId64 " and %" PRId64, below, below + unit);
    }
}

static enum cpl_status check_ranks(const struct cpl_shape *shape, struct cpl_error *error)
{
    if (shape->cp < 1) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "cp",
                              "context-parallel size P must be at least 1, not %d", shape->cp);
    }
    if (shape->tp < 1) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "tp",
                              "tensor-parallel size T must be at least 1, not %d", shape->tp);
    }
    if ((int64_t)shape->cp * shape->tp > CPL_RANKS_MOST) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "cp", "P * T = %d * %d is above %d ranks",
                              shape->cp, shape->tp, CPL_RANKS_MOST);
    }
    return CPL_OK;
}

/* What has to divide: S, or the rows of a stream that the layout cuts as it is. */
static enum cpl_status check_length(const struct cpl_layout *layout, const struct cpl_shape *shape,
                                    int64_t length, struct cpl_error *error)
{
    const int64_t unit = cpl_layout_unit(layout, shape->cp, shape->tp);
    char nearest[64];

    if (length % unit == 0) {
        return CPL_OK;
    }
    cpl_nearest_lengths(nearest, length, unit);
    return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "sequence",
                          "%s %" PRId64 " is not a multiple of %" PRId64
                          ", which layout '%s' needs with P = %d and T = %d; nearest: %s",
                          shape->stream != NULL ? "length of the pack" : "sequence length", length,
                          unit, layout->name, shape->cp, shape->tp, nearest);
}

enum cpl_status cpl_shape_check(const struct cpl_layout *layout, const struct cpl_shape *shape,
                                struct cpl_error *error)
{
    const enum cpl_status status = check_ranks(shape, error);

    if (status != CPL_OK) {
        return status;
    }
    if (shape->stream != NULL) {
        return cpl_layout_deals_documents(layout, shape->cp)
                   ? CPL_OK
                   : check_length(layout, shape, shape->stream->rows, error);
    }
    if (shape->tokens < 1 || shape->tokens > cpl_tokens_most) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "sequence",
                              "sequence length must be 1 to %" PRId64 ", not %" PRId64,
                              cpl_tokens_most, shape->tokens);
    }
    return check_length(layout, shape, shape->tokens, error);
}
