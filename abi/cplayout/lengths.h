/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lengths of packed documents (THD): one sample's documents back to back.
 */
#ifndef CPLAYOUT_LENGTHS_H
#define CPLAYOUT_LENGTHS_H

#include <stdint.h>

/*
 * Document offsets of one packed sample: [entries] int32 in host memory, entries = documents + 1 >= 2,
 * first 0, never decreasing; equal neighbours are an empty document.
 */
struct cplayout_lengths {
    const int32_t *cu_seqlens;        /* of real tokens */
    const int32_t *cu_seqlens_padded; /* of physical rows, at least as long per document; NULL: the
                                       * same as cu_seqlens */
    uint64_t entries;
};

#endif
