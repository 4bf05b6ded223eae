/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts over a table: what a rank has to compute.
 */
#ifndef CPL_PLAN_COUNTS_H
#define CPL_PLAN_COUNTS_H

#include "plan/table.h"

/*
 * Causal (query, key) pairs whose query lies on the rank: a token at position p attends to p + 1
 * keys, so n tokens from position a on have n * (a + 1) + n * (n - 1) / 2.
 */
int64_t cpl_attention_pairs(const struct cpl_table *table, int32_t rank);

/* Global position of each local row of a rank; `positions` has room for cpl_table_rows entries. */
void cpl_positions(const struct cpl_table *table, int32_t rank, int64_t *positions);

#endif
