/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies rows from tensor to tensor as a route's moves say, both in memory of this process.
 */
#ifndef CPL_MOVE_COPY_H
#define CPL_MOVE_COPY_H

#include "base/tensor.h"
#include "plan/route.h"

/* Both sides have equal row bytes and outer counts, and all rows that the moves name. */
void cpl_copy_moves(const struct cpl_move *moves, size_t count, const struct cpl_rows *from,
                    const struct cpl_rows *to);

#endif
