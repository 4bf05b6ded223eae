/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table: which rank holds which tokens, as intervals. Here every table is a partition: a layout
 * applied to one sequence, every token exactly once. Immutable once built; its memory is the arena's.
 *
 * Pieces are kept in global order, so they are also the chain of a linear layer: each part takes the
 * state of the one before it.
 */
#ifndef CPL_PLAN_TABLE_H
#define CPL_PLAN_TABLE_H

#include "base/arena.h"
#include "plan/dealer.h"
#include "plan/layout.h"

struct cpl_table {
    struct cpl_shape shape;
    const struct cpl_piece *pieces; /* [count] by global start */
    size_t count;
    const uint32_t *of_rank; /* [count] indices of pieces: by rank, then in local order */
    const uint32_t *first;   /* [ranks + 1] where each rank begins in of_rank */
    int32_t ranks;           /* P * T */
    uint64_t identity;       /* hash of the content, never 0 */
};

/* Applies a layout. Errors: those of cpl_shape_check, MEMORY. */
enum cpl_status cpl_table_build(struct cpl_table *table, const struct cpl_layout *layout,
                                const struct cpl_shape *shape, struct cpl_arena *arena,
                                struct cpl_error *error);

/* Number of pieces of a rank, and its index-th in local order. */
size_t cpl_table_pieces(const struct cpl_table *table, int32_t rank);
const struct cpl_piece *cpl_table_piece(const struct cpl_table *table, int32_t rank, size_t index);

/* Local rows of a rank. */
int64_t cpl_table_rows(const struct cpl_table *table, int32_t rank);

/* Index of the first piece that ends behind a global position. */
size_t cpl_table_find(const struct cpl_table *table, int64_t position);

#endif
