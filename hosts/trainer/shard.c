/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checking a shard that comes from outside. No state; safe from any thread.
 */
#include "shard.h"

#include <limits.h>

static bool sizes_valid(const struct shard *shard)
{
    return shard->ranks >= 1 && shard->rank >= 0 && shard->rank < shard->ranks &&
           shard->rows >= 0 && shard->rows <= INT_MAX / 2 && shard->sequence <= INT_MAX / 2 &&
           shard->parts >= 0 && shard->parts <= INT_MAX;
}

/* An own part's rows lie within the rank's and have the positions that the chain gives them. */
static bool own_valid(const struct shard *shard, const struct part *part)
{
    if (part->local < 0 || part->local > shard->rows - part->length) {
        return false;
    }
    for (int64_t i = 0; i < part->length; i++) {
        if (shard->positions[part->local + i] != part->position + i) {
            return false;
        }
    }
    return true;
}

/* Where a document goes on, it does so without a gap. */
static bool position_valid(const struct shard *shard, int64_t p)
{
    const struct part *part = &shard->chain[p];
    const struct part *before = part - 1;

    if (part->position == 0) {
        return true;
    }
    return p > 0 && part->position == before->position + before->length;
}

/* Each rank has room for its parts; without padding no more than that. */
static bool rows_valid(const struct shard *shard, int64_t own)
{
    return shard->rows_of ? shard->rows == shard->rows_of[shard->rank] && own <= shard->rows
                          : own == shard->rows;
}

bool shard_valid(const struct shard *shard)
{
    int64_t next = 0;
    int64_t own = 0;

    if (!sizes_valid(shard)) {
        return false;
    }
    for (int64_t p = 0; p < shard->parts; p++) {
        const struct part *part = &shard->chain[p];
        if (part->start != next || part->length < 0 || part->length > shard->sequence - next ||
            part->rank < 0 || part->rank >= shard->ranks || !position_valid(shard, p)) {
            return false;
        }
        if (part->rank == shard->rank && !own_valid(shard, part)) {
            return false;
        }
        next += part->length;
        own += part->rank == shard->rank ? part->length : 0;
    }
    return next == shard->sequence && rows_valid(shard, own);
}
