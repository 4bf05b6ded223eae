/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves rows as a route's moves say, in memory of this process: from tensor to tensor, and between
 * tensors and messages. A message holds its moves in order, each of them `outer` times all of its
 * rows, without gaps.
 */
#ifndef CPL_MOVE_COPY_H
#define CPL_MOVE_COPY_H

#include "base/tensor.h"
#include "plan/route.h"

/* Both sides have equal row bytes and outer counts, and all rows that the moves name. */
void cpl_copy_moves(const struct cpl_move *moves, size_t count, const struct cpl_rows *from,
                    const struct cpl_rows *to);

/* Writes zeros to the rows that the moves end in. */
void cpl_zero_moves(const struct cpl_move *moves, size_t count, const struct cpl_rows *to);

/* Into a message and out of it; its size is that of the moves. */
void cpl_pack_moves(const struct cpl_move *moves, size_t count, const struct cpl_rows *from,
                    unsigned char *message);
void cpl_unpack_moves(const struct cpl_move *moves, size_t count, const unsigned char *message,
                      const struct cpl_rows *to);

#endif
