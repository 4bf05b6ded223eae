/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run copy: the one kernel that moves rows. Copies `rows` consecutive rows, once per outer entry.
 * This is the CPU version.
 */
#ifndef CPL_KERNELS_RUN_COPY_H
#define CPL_KERNELS_RUN_COPY_H

#include <stdint.h>

struct cpl_run_copy {
    unsigned char *to;         /* first byte of the first row */
    const unsigned char *from; /* must not overlap `to` */
    uint64_t rows;
    uint64_t row_bytes;
    uint64_t to_stride; /* bytes between rows */
    uint64_t from_stride;
    uint64_t outer; /* entries, each with all rows */
    uint64_t to_outer_stride;
    uint64_t from_outer_stride;
    uint64_t total; /* bytes that are copied together with this run, on this rank: a hint on how to
                     * store them; 0: few */
};

void cpl_run_copy(const struct cpl_run_copy *run);

#endif
