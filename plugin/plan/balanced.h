/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout `balanced`: slices as in `contiguous`, between which chunks are swapped until no rank has
 * more than 1 + tolerance times the mean of causal attention work. Work counts (query, key) pairs of
 * real tokens inside documents. The same on every rank; never moves more rows than zigzag would.
 */
#ifndef CPL_PLAN_BALANCED_H
#define CPL_PLAN_BALANCED_H

#include "plan/layout.h"

enum cpl_status cpl_balanced_deal(const struct cpl_layout *layout, const struct cpl_deck *deck,
                                  struct cpl_dealer *dealer, struct cpl_error *error);

#endif
