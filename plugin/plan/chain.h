/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chain of a linear layer: the rows of all ranks in order of the stream, cut at the borders of
 * documents. A part that begins its document begins with a zero state; every other takes the state
 * that the part before it ends with.
 */
#ifndef CPL_PLAN_CHAIN_H
#define CPL_PLAN_CHAIN_H

#include "plan/counts.h"

struct cpl_chain_reader {
    const struct cpl_table *table; /* a partition */
    struct cpl_cutter cutter;
    size_t piece; /* the next one */
};

struct cpl_chain_reader cpl_chain_reader(const struct cpl_table *table);

/* false at the end of the chain. */
bool cpl_chain_next(struct cpl_chain_reader *reader, struct cpl_part *part);

/* How many parts there are. */
size_t cpl_chain_parts(const struct cpl_table *table);

#endif
