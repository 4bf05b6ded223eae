/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots of plan/1: attention over a partition, and what it costs.
 */
#include "entry/plan.h"
#include "plan/keys.h"

static uint64_t count_extents(const struct cpl_table *table, int32_t rank)
{
    struct cpl_local_reader reader = cpl_local_reader(table, rank);
    struct cpl_key_extent extent;
    uint64_t count = 0;

    while (cpl_key_extent_next(&reader, &extent)) {
        count++;
    }
    return count;
}

int32_t cpl_plan_key_extents(const struct cplayout_partition *partition, int32_t rank,
                             struct cplayout_key_extent *extents, uint64_t capacity,
                             uint64_t *count, struct cplayout_error *error)
{
    const struct cpl_table *const table = table_of(partition);
    struct cpl_local_reader reader;
    struct cpl_key_extent extent;
    struct cpl_error problem;
    enum cpl_status status = cpl_check_place(partition, rank, &problem);

    if (status == CPL_OK) {
        status =
            cpl_open_list(&(struct cpl_list){count_extents(table, rank), extents, capacity, count},
                          &problem);
    }
    if (status != CPL_OK || capacity == 0) {
        return cpl_leave(status, &problem, NULL, error);
    }
    reader = cpl_local_reader(table, rank);
    while (cpl_key_extent_next(&reader, &extent)) {
        *extents++ = (struct cplayout_key_extent){extent.local, extent.queries, extent.first_key,
                                                  extent.position};
    }
    return CPLAYOUT_OK;
}

int32_t cpl_plan_attention(const struct cplayout_partition *partition,
                           struct cplayout_attention *attention, uint64_t capacity, uint64_t *count,
                           struct cplayout_error *error)
{
    const struct cpl_table *const table = table_of(partition);
    struct cpl_error problem;
    enum cpl_status status = cpl_require_partition(partition, &problem);

    if (status == CPL_OK) {
        status = cpl_open_list(&(struct cpl_list){(uint64_t)table->cp, attention, capacity, count},
                               &problem);
    }
    for (int32_t i = 0; status == CPL_OK && capacity > 0 && i < table->cp; i++) {
        const struct cpl_attention of = cpl_attention_of(table, i);

        attention[i] = (struct cplayout_attention){of.pairs, of.key_rows};
    }
    return cpl_leave(status, &problem, NULL, error);
}

int32_t cpl_plan_cost(const struct cplayout_partition *partition, struct cplayout_cost *cost,
                      struct cplayout_error *error)
{
    struct cplayout_cost filled = {0};
    struct cpl_cost of;
    struct cpl_error problem;
    enum cpl_status status = cpl_require_partition(partition, &problem);

    if (status == CPL_OK) {
        status = cpl_check_out(cost, sizeof(*cost), "cost", &problem);
    }
    if (status == CPL_OK) {
        of = cpl_cost_of(table_of(partition));
        filled.max_over_mean = of.max_over_mean;
        filled.padding_rows = (uint64_t)of.padding_rows;
        filled.key_rows = (uint64_t)of.key_rows;
        cpl_copy_out(cost, &filled, sizeof(filled));
    }
    return cpl_leave(status, &problem, NULL, error);
}

/* ---- Break-even ------------------------------------------------------------------------------- */

static enum cpl_status check_break_even(const struct cplayout_break_even_args *args,
                                        struct cpl_error *error)
{
    if (args->cp < 1 || args->linear_layers < 0) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, args->cp < 1 ? "cp" : "linear_layers",
                              "P must be at least 1 and linear_layers at least 0, not %d and %d",
                              args->cp, args->linear_layers);
    }
    if (args->conversions < 1 || args->row_bytes == 0) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT,
                              args->conversions < 1 ? "conversions" : "row_bytes",
                              "conversions and row_bytes must be at least 1, not %d and %llu",
                              args->conversions, (unsigned long long)args->row_bytes);
    }
    if (!(args->share > 0 && args->share <= 1)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "share",
                              "share must be above 0 and at most 1, not %g", args->share);
    }
    return cpl_check_reserved(args->reserved, "args.reserved", error);
}

int32_t cpl_plan_break_even(const struct cplayout_break_even_args *args, double *length,
                            struct cplayout_error *error)
{
    struct cplayout_break_even_args copy;
    const struct cpl_incoming incoming = {"args", &copy, sizeof(copy)};
    struct cpl_error problem;
    enum cpl_status status = cpl_require(length, "length", &problem);

    if (status == CPL_OK) {
        status = cpl_copy_in(&incoming, args, &problem);
    }
    if (status == CPL_OK) {
        status = check_break_even(&copy, &problem);
    }
    if (status == CPL_OK) {
        /* S* = n_linear (P - 1) P M / (n_conversions share row_bytes) */
        *length = (double)copy.linear_layers * (copy.cp - 1.0) * copy.cp *
                  (double)copy.state_bytes /
                  ((double)copy.conversions * copy.share * (double)copy.row_bytes);
    }
    return cpl_leave(status, &problem, NULL, error);
}
