/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wanted tables that follow from a partition: halos and shifts.
 */
#ifndef CPL_PLAN_DERIVED_H
#define CPL_PLAN_DERIVED_H

#include "plan/table.h"

/*
 * For every part of a rank that does not begin its document, in local order, the `width` rows before
 * it, fewer where the document begins nearer. Errors: ARGUMENT, MEMORY.
 */
enum cpl_status cpl_halo_build(struct cpl_table *table, const struct cpl_table *partition,
                               int64_t width, struct cpl_arena *arena, struct cpl_error *error);

/*
 * In place of every local row the one `by` rows later in its document, padding where either is no real
 * token. Errors: ARGUMENT, MEMORY.
 */
enum cpl_status cpl_shift_build(struct cpl_table *table, const struct cpl_table *partition,
                                int64_t by, struct cpl_arena *arena, struct cpl_error *error);

#endif
