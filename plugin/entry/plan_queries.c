/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots of plan/1: what a partition or table holds.
 */
#include <stddef.h>
#include <string.h>

#include "entry/plan.h"
#include "plan/chain.h"
#include "plan/counts.h"

int32_t cpl_plan_padded_offsets(const struct cplayout_partition *partition, int64_t *offsets,
                                uint64_t capacity, uint64_t *count, struct cplayout_error *error)
{
    const struct cpl_table *const table = table_of(partition);
    struct cpl_error problem;
    enum cpl_status status = cpl_require(partition, "partition", &problem);

    if (status == CPL_OK) {
        status =
            cpl_open_list(&(struct cpl_list){table->stream.count + 1, offsets, capacity, count},
                          &problem);
    }
    if (status == CPL_OK && capacity > 0) {
        memcpy(offsets, table->padded, (table->stream.count + 1) * sizeof(*offsets));
    }
    return cpl_leave(status, &problem, NULL, error);
}

int32_t cpl_plan_rank_describe(const struct cplayout_partition *partition, int32_t rank,
                               struct cplayout_rank_info *info, struct cplayout_error *error)
{
    struct cplayout_rank_info filled = {0};
    struct cpl_counts counts;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(partition, "partition", &problem);

    if (status == CPL_OK) {
        status = cpl_check_out(info, sizeof(*info), "info", &problem);
    }
    if (status == CPL_OK) {
        status = cpl_check_rank(rank, table_of(partition)->ranks, &problem);
    }
    if (status == CPL_OK) {
        counts = cpl_count_rank(table_of(partition), rank);
        filled.rows = (uint64_t)cpl_table_rows(table_of(partition), rank);
        filled.valid_rows = (uint64_t)counts.valid_rows;
        filled.attention_pairs = (uint64_t)counts.attention_pairs;
        cpl_copy_out(info, &filled, sizeof(filled));
    }
    return cpl_leave(status, &problem, NULL, error);
}

/* A fragment is one struct on both sides of the boundary. */
_Static_assert(sizeof(struct cpl_fragment) == sizeof(struct cplayout_fragment), "fragment");
_Static_assert(offsetof(struct cpl_fragment, length) == offsetof(struct cplayout_fragment, length),
               "fragment");

int32_t cpl_plan_fragments(const struct cplayout_partition *partition, int32_t rank,
                           struct cplayout_fragment *fragments, uint64_t capacity, uint64_t *count,
                           struct cplayout_error *error)
{
    const struct cpl_table *const table = table_of(partition);
    struct cpl_error problem;
    enum cpl_status status = cpl_check_place(partition, rank, &problem);

    if (status == CPL_OK) {
        status = cpl_open_list(&(struct cpl_list){cpl_table_fragments(table, rank, NULL, 0),
                                                  fragments, capacity, count},
                               &problem);
    }
    if (status == CPL_OK && capacity > 0) {
        (void)cpl_table_fragments(table, rank, (struct cpl_fragment *)fragments, capacity);
    }
    return cpl_leave(status, &problem, NULL, error);
}

static enum cpl_status positions_in(const struct cpl_table *table,
                                    const struct cplayout_positions_args *args,
                                    struct cplayout_positions_args *copy, struct cpl_error *error)
{
    const struct cpl_incoming incoming = {"args", copy, sizeof(*copy)};
    enum cpl_status status = cpl_copy_in(&incoming, args, error);

    if (status == CPL_OK) {
        status = cpl_check_rank(copy->rank, table->ranks, error);
    }
    if (status == CPL_OK && copy->kind != CPLAYOUT_POSITIONS_GLOBAL &&
        copy->kind != CPLAYOUT_POSITIONS_DOCUMENT) {
        status = cpl_fail_field(error, CPL_ERROR_ARGUMENT, "kind", "%d is no kind of positions",
                                copy->kind);
    }
    return status;
}

int32_t cpl_plan_positions(const struct cplayout_partition *partition,
                           const struct cplayout_positions_args *args, int64_t *positions,
                           uint64_t capacity, uint64_t *count, struct cplayout_error *error)
{
    const struct cpl_table *const table = table_of(partition);
    struct cplayout_positions_args copy = {.size = 0};
    struct cpl_error problem;
    enum cpl_status status = cpl_require(partition, "partition", &problem);

    if (status == CPL_OK) {
        status = positions_in(table, args, &copy, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_open_list(&(struct cpl_list){(uint64_t)cpl_table_rows(table, copy.rank),
                                                  positions, capacity, count},
                               &problem);
    }
    if (status == CPL_OK && capacity > 0) {
        cpl_positions(table, copy.rank,
                      copy.kind == CPLAYOUT_POSITIONS_GLOBAL ? CPL_POSITION_GLOBAL
                                                             : CPL_POSITION_DOCUMENT,
                      positions);
    }
    return cpl_leave(status, &problem, NULL, error);
}

/* Parts cross one by one: the boundary's struct has an order of its own. */
static void chain_out(const struct cpl_table *table, struct cplayout_chain_part *parts)
{
    struct cpl_chain_reader reader = cpl_chain_reader(table);
    struct cpl_part part;

    while (cpl_chain_next(&reader, &part)) {
        *parts++ = (struct cplayout_chain_part){
            .start = part.start,
            .length = part.length,
            .local = part.local,
            .position = part.position,
            .valid = part.valid,
            .document = (int64_t)part.document,
            .rank = part.rank,
        };
    }
}

int32_t cpl_plan_chain(const struct cplayout_partition *partition,
                       struct cplayout_chain_part *parts, uint64_t capacity, uint64_t *count,
                       struct cplayout_error *error)
{
    const struct cpl_table *const table = table_of(partition);
    struct cpl_error problem;
    enum cpl_status status = cpl_require_partition(partition, &problem);

    if (status == CPL_OK) {
        status = cpl_open_list(&(struct cpl_list){cpl_chain_parts(table), parts, capacity, count},
                               &problem);
    }
    if (status == CPL_OK && capacity > 0) {
        chain_out(table, parts);
    }
    return cpl_leave(status, &problem, NULL, error);
}
