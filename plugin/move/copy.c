/* SPDX-License-Identifier: Apache-2.0 */
#include "move/copy.h"

#include "kernels/run_copy.h"

void cpl_copy_moves(const struct cpl_move *moves, size_t count, const struct cpl_rows *from,
                    const struct cpl_rows *to)
{
    for (size_t i = 0; i < count; i++) {
        const struct cpl_run_copy run = {
            .to = to->data + (uint64_t)moves[i].dst * to->row_stride,
            .from = from->data + (uint64_t)moves[i].src * from->row_stride,
            .rows = (uint64_t)moves[i].rows,
            .row_bytes = to->row_bytes,
            .to_stride = to->row_stride,
            .from_stride = from->row_stride,
            .outer = to->outer,
            .to_outer_stride = to->outer_stride,
            .from_outer_stride = from->outer_stride,
        };

        cpl_run_copy(&run);
    }
}
