/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wanted tables: what a host wants on each rank, in any order, overlapping, with gaps and padding.
 * Halos, shifts and gathers are such tables. A route to one may give a row to several ranks; its
 * adjoint adds them.
 */
#ifndef CPL_PLAN_WANTED_H
#define CPL_PLAN_WANTED_H

#include "plan/table.h"

struct cpl_wanted {
    const struct cpl_fragment *fragments; /* rank after rank, in local order */
    const size_t *counts;                 /* [ranks] fragments of each rank */
};

/*
 * A wanted table over the stream and the ranks of a partition. What is given is copied.
 * Errors: ARGUMENT (a fragment outside of the stream or without rows, named by rank and index),
 * MEMORY.
 */
enum cpl_status cpl_wanted_build(struct cpl_table *table, const struct cpl_table *partition,
                                 const struct cpl_wanted *wanted, struct cpl_arena *arena,
                                 struct cpl_error *error);

/*
 * The host's own partition of a shape: a table that holds every row once. What is given is copied.
 * Errors: ARGUMENT (as above, or a row that is left out or held twice), MEMORY.
 */
enum cpl_status cpl_wanted_partition(struct cpl_table *table, const struct cpl_shape *shape,
                                     const struct cpl_wanted *wanted, struct cpl_arena *arena,
                                     struct cpl_error *error);

#endif
