/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inverse of a partition: where each row of the stream lies when the rows of all ranks are put one
 * after the other, padding included.
 */
#ifndef CPL_PLAN_INVERSE_H
#define CPL_PLAN_INVERSE_H

#include "plan/table.h"

struct cpl_run {
    int64_t start; /* row of the stream */
    int64_t at;    /* row of the ranks' rows */
    int64_t rows;
};

/* Runs in order of the stream. Returns how many there are and writes up to `capacity` of them. */
size_t cpl_inverse(const struct cpl_table *partition, struct cpl_run *runs, size_t capacity);

#endif
