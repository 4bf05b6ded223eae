/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Causal attention over a partition: which keys queries see, and what a context-parallel rank computes
 * and lacks. Its T windows count together, for kernels run after they are gathered.
 */
#ifndef CPL_PLAN_KEYS_H
#define CPL_PLAN_KEYS_H

#include "plan/locals.h"

/* Real tokens of one document, next to each other on a rank. */
struct cpl_key_extent {
    int64_t local;
    int64_t queries;
    int64_t first_key; /* row of the stream; query k sees up to first_key + position + k */
    int64_t position;
};

/* The next one; false at the end. */
bool cpl_key_extent_next(struct cpl_local_reader *reader, struct cpl_key_extent *extent);

struct cpl_attention {
    int64_t pairs;
    int64_t key_rows; /* needed from other context-parallel ranks, each once */
};

/* Of a partition. */
struct cpl_attention cpl_attention_of(const struct cpl_table *table, int32_t cp_rank);

struct cpl_cost {
    double max_over_mean;
    int64_t padding_rows;
    int64_t key_rows;
};

struct cpl_cost cpl_cost_of(const struct cpl_table *table);

#endif
