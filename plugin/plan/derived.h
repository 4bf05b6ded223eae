/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wanted tables that follow from a partition: halos and shifts.
 */
#ifndef CPL_PLAN_DERIVED_H
#define CPL_PLAN_DERIVED_H

#include "plan/counts.h"

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

/* Rows `by` tokens later in the document, for the rows of a part. */
struct cpl_shifted {
    int64_t begin; /* rows of the part before this one have none, */
    int64_t end;   /* nor have those from this one on */
    int64_t start; /* row of the stream that belongs to row `begin` */
};

struct cpl_shifted cpl_shift_part(const struct cpl_stream *stream, const struct cpl_part *part,
                                  int64_t by);

/* Errors: ARGUMENT (a distance beyond any sequence). */
enum cpl_status cpl_shift_check(int64_t by, struct cpl_error *error);

#endif
