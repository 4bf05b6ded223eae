/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/run_copy.h"

#include <string.h>

static void copy_rows(const struct cpl_run_copy *run, unsigned char *to, const unsigned char *from)
{
    if (run->to_stride == run->row_bytes && run->from_stride == run->row_bytes) {
        memcpy(to, from, run->rows * run->row_bytes);
        return;
    }
    for (uint64_t row = 0; row < run->rows; row++) {
        memcpy(to + row * run->to_stride, from + row * run->from_stride, run->row_bytes);
    }
}

void cpl_run_copy(const struct cpl_run_copy *run)
{
    if (run->rows == 0 || run->row_bytes == 0) {
        return;
    }
    for (uint64_t i = 0; i < run->outer; i++) {
        copy_rows(run, run->to + i * run->to_outer_stride, run->from + i * run->from_outer_stride);
    }
}
