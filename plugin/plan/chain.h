/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chain of a linear layer: the rows of all ranks in order of the stream, cut at the borders of
 * documents. A part that begins its document begins with a zero state; every other takes the state
 * that the part before it ends with.
 */
#ifndef CPL_PLAN_CHAIN_H
#define CPL_PLAN_CHAIN_H

#include "plan/counts.h"

/* Returns how many parts there are and writes up to `capacity` of them. `table` is a partition. */
size_t cpl_chain(const struct cpl_table *table, struct cpl_part *parts, size_t capacity);

#endif
