/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface plan/1: its table, and what its functions share.
 */
#include "entry/plan.h"

#include <inttypes.h>

enum cpl_status cpl_check_rank(int32_t rank, int32_t ranks, struct cpl_error *error)
{
    if (rank < 0 || rank >= ranks) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "rank", "rank %d is not one of %d", rank,
                              ranks);
    }
    return CPL_OK;
}

enum cpl_status cpl_check_place(const struct cplayout_partition *partition, int32_t rank,
                                struct cpl_error *error)
{
    const enum cpl_status status = cpl_require(partition, "partition", error);

    return status == CPL_OK ? cpl_check_rank(rank, table_of(partition)->ranks, error) : status;
}

enum cpl_status cpl_require_partition(const struct cplayout_partition *partition,
                                      struct cpl_error *error)
{
    const enum cpl_status status = cpl_require(partition, "partition", error);

    if (status == CPL_OK && !table_of(partition)->partition) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "partition",
                              "this asks for a partition, which holds every row once; a table does "
                              "not");
    }
    return status;
}

enum cpl_status cpl_open_list(const struct cpl_list *list, struct cpl_error *error)
{
    if (list->count != NULL) {
        *list->count = list->exist;
    }
    if (list->capacity > 0 && list->array == NULL) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT,
                        "the array must not be NULL with a capacity of %" PRIu64, list->capacity);
    }
    if (list->capacity > 0 && list->exist > list->capacity) {
        return cpl_fail_field(error, CPL_ERROR_CAPACITY, "capacity",
                              "%" PRIu64 " entries do not fit a capacity of %" PRIu64, list->exist,
                              list->capacity);
    }
    return CPL_OK;
}

const struct cplayout_plan_interface cpl_plan_v1 = {.size = sizeof(struct cplayout_plan_interface),
                                                    CPLAYOUT_PLAN_SLOTS(CPL_FILL_SLOT)};
