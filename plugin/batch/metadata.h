/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packed metadata: document offsets of a batch in one layout, as attention kernels take them. Equal on
 * all ranks. Its memory is the arena's.
 */
#ifndef CPL_BATCH_METADATA_H
#define CPL_BATCH_METADATA_H

#include "base/arena.h"
#include "plan/table.h"

struct cpl_metadata {
    const int32_t *logical; /* [entries] offsets of real tokens */
    const int32_t *padded;  /* [entries] offsets of rows, as the layout pads them */
    size_t entries;         /* documents + 1 */
    int32_t longest;        /* document, in real tokens */
    int32_t longest_padded; /* in rows */
    bool real_queries;      /* attention takes `logical` as its query offsets, else `padded` */
    bool padding_between;   /* `logical` and `padded` differ somewhere, by value */
};

/* Of a packed table in a layout, whose rows fit int32. Errors: MEMORY. */
enum cpl_status cpl_metadata_build(struct cpl_metadata *metadata, const struct cpl_table *table,
                                   const struct cpl_layout *layout, struct cpl_arena *arena,
                                   struct cpl_error *error);

#endif
