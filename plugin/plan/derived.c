/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/derived.h"

#include <inttypes.h>

#include "base/limits.h"
#include "plan/locals.h"
#include "plan/wanted.h"

enum { FRAGMENTS_PER_PART = 3 };

/* Fragments of all ranks in the making. */
struct draft {
    const struct cpl_table *partition;
    int64_t amount; /* width or distance */
    struct cpl_fragment *fragments;
    size_t count;
};

static void add(struct draft *draft, int64_t start, int64_t length)
{
    if (length > 0) {
        draft->fragments[draft->count++] = (struct cpl_fragment){start, length};
    }
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The rows before a part. */
static void add_halo(struct draft *draft, const struct cpl_part *part)
{
    const int64_t rows = part->start >= 0 ? smaller(draft->amount, part->position) : 0;

    add(draft, part->start - rows, rows);
}

/* Positions position ... position + valid - 1, moved, meet the document in the middle of them. */
struct cpl_shifted cpl_shift_part(const struct cpl_stream *stream, const struct cpl_part *part,
                                  int64_t by)
{
    struct cpl_shifted shifted = {.begin = 0};
    int64_t tokens;

    if (part->valid > 0) {
        tokens = stream->documents[part->document].valid;
        shifted.begin = smaller(larger(-(part->position + by), 0), part->valid);
        shifted.end = larger(smaller(tokens - part->position - by, part->valid), shifted.begin);
        shifted.start = part->start + by + shifted.begin;
    }
    return shifted;
}

static void add_shifted(struct draft *draft, const struct cpl_part *part)
{
    const struct cpl_shifted shifted =
        cpl_shift_part(&draft->partition->stream, part, draft->amount);

    add(draft, -1, shifted.begin);
    add(draft, shifted.start, shifted.end - shifted.begin);
    add(draft, -1, part->length - shifted.end);
}

static size_t count_parts(const struct cpl_table *partition)
{
    size_t parts = 0;

    for (int32_t rank = 0; rank < partition->ranks; rank++) {
        struct cpl_local_reader reader = cpl_local_reader(partition, rank);
        struct cpl_part part;

        while (cpl_local_next(&reader, &part)) {
            parts++;
        }
    }
    return parts;
}

/* Drafts rank by rank, part by part, and builds the table. */
static enum cpl_status build(struct cpl_table *table, struct draft *draft,
                             void (*add_part)(struct draft *draft, const struct cpl_part *part),
                             struct cpl_arena *arena, struct cpl_error *error)
{
    const struct cpl_table *const partition = draft->partition;
    size_t *const counts = cpl_arena_take(arena, (size_t)partition->ranks, sizeof(*counts));

    draft->fragments = cpl_arena_take_raw(arena, count_parts(partition),
                                          FRAGMENTS_PER_PART * sizeof(*draft->fragments));
    if (counts == NULL || draft->fragments == NULL) {
        return cpl_fail_memory(error);
    }
    for (int32_t rank = 0; rank < partition->ranks; rank++) {
        struct cpl_local_reader reader = cpl_local_reader(partition, rank);
        const size_t before = draft->count;
        struct cpl_part part;

        while (cpl_local_next(&reader, &part)) {
            add_part(draft, &part);
        }
        counts[rank] = draft->count - before;
    }
    return cpl_wanted_build(table, partition, &(struct cpl_wanted){draft->fragments, counts}, arena,
                            error);
}

static enum cpl_status check_source(const struct cpl_table *partition, struct cpl_error *error)
{
    return partition->partition
               ? CPL_OK
               : cpl_fail_field(error, CPL_ERROR_ARGUMENT, "partition",
                                "only a partition has halos and shifts, not a table");
}

enum cpl_status cpl_halo_build(struct cpl_table *table, const struct cpl_table *partition,
                               int64_t width, struct cpl_arena *arena, struct cpl_error *error)
{
    struct draft draft = {.partition = partition, .amount = width};
    const enum cpl_status status = check_source(partition, error);

    if (status != CPL_OK) {
        return status;
    }
    if (width < 1) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "width",
                              "a halo is at least 1 row wide, not %" PRId64, width);
    }
    return build(table, &draft, add_halo, arena, error);
}

enum cpl_status cpl_shift_check(int64_t by, struct cpl_error *error)
{
    if (by > cpl_tokens_most || by < -cpl_tokens_most) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "by",
                              "a shift by %" PRId64 " is beyond any sequence of %" PRId64 " tokens",
                              by, cpl_tokens_most);
    }
    return CPL_OK;
}

enum cpl_status cpl_shift_build(struct cpl_table *table, const struct cpl_table *partition,
                                int64_t by, struct cpl_arena *arena, struct cpl_error *error)
{
    struct draft draft = {.partition = partition, .amount = by};
    const enum cpl_status status = check_source(partition, error);

    if (status != CPL_OK) {
        return status;
    }
    return cpl_shift_check(by, error) == CPL_OK ? build(table, &draft, add_shifted, arena, error)
                                                : error->status;
}
