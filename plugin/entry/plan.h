/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of plan/1, declared from the list of its slots, and what they share. A partition
 * handle is a table; one that plan/1 made sits at the start of an object that owns its memory.
 */
#ifndef CPL_ENTRY_PLAN_H
#define CPL_ENTRY_PLAN_H

#include "entry/entry.h"
#include "plan/wanted.h"

#define CPL_DECLARE_SLOT(table, slot) \
    extern __typeof__(*(cplayout_##slot##_fn)0) cpl_##table##_##slot;
CPLAYOUT_PLAN_SLOTS(CPL_DECLARE_SLOT)
#undef CPL_DECLARE_SLOT

static inline const struct cpl_table *table_of(const struct cplayout_partition *partition)
{
    return (const struct cpl_table *)partition;
}

/* A partition or table with the memory that is its own. */
struct cpl_owned_partition {
    struct cpl_table table; /* first: the handle points here */
    struct cpl_arena arena;
};

/* An object without a table yet. Errors: MEMORY. */
enum cpl_status cpl_owned_alloc(const struct cpl_caller *host,
                                struct cpl_owned_partition **partition, struct cpl_error *error);
void cpl_owned_free(struct cpl_owned_partition *partition);

/* A table on its way in; its arrays are borrowed. Errors: ARGUMENT. */
enum cpl_status cpl_table_in(const struct cplayout_table_args *args,
                             struct cplayout_table_args *copy, struct cpl_wanted *wanted,
                             struct cpl_error *error);

/* ARGUMENT if the partition is NULL or a table. */
enum cpl_status cpl_require_partition(const struct cplayout_partition *partition,
                                      struct cpl_error *error);

/* ARGUMENT if a rank is not 0 ... ranks - 1. */
enum cpl_status cpl_check_rank(int32_t rank, int32_t ranks, struct cpl_error *error);

/* ARGUMENT if the partition or table is NULL or does not have the rank. */
enum cpl_status cpl_check_place(const struct cplayout_partition *partition, int32_t rank,
                                struct cpl_error *error);

/* A list on its way out. */
struct cpl_list {
    uint64_t exist; /* entries there are */
    const void *array;
    uint64_t capacity;
    uint64_t *count; /* NULL: not wanted */
};

/* Tells how many entries exist, and whether they will be written. Errors: ARGUMENT, CAPACITY. */
enum cpl_status cpl_open_list(const struct cpl_list *list, struct cpl_error *error);

#endif
