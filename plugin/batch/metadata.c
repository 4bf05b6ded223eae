/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/metadata.h"

#include <string.h>

static int32_t largest_step(const int32_t *offsets, size_t entries)
{
    int32_t largest = 0;

    for (size_t i = 1; i < entries; i++) {
        const int32_t step = offsets[i] - offsets[i - 1];

        largest = step > largest ? step : largest;
    }
    return largest;
}

/*
 * Kernels take real offsets as query offsets where several ranks hold contiguous slices of the stream, or
 * zigzag chunks of padded documents, and physical ones otherwise: Megatron-LM's rule.
 */
static bool takes_real(const struct cpl_table *table, const struct cpl_layout *layout)
{
    return table->cp > 1 &&
           (table->by_document || cpl_layout_equal(layout, cpl_layout_find("contiguous")));
}

enum cpl_status cpl_metadata_build(struct cpl_metadata *metadata, const struct cpl_table *table,
                                   const struct cpl_layout *layout, struct cpl_arena *arena,
                                   struct cpl_error *error)
{
    const struct cpl_stream *const stream = &table->stream;
    const size_t entries = stream->count + 1;
    int32_t *const logical = cpl_arena_take_raw(arena, entries, sizeof(*logical));
    int32_t *const padded = cpl_arena_take_raw(arena, entries, sizeof(*padded));

    if (logical == NULL || padded == NULL) {
        return cpl_fail_memory(error);
    }
    logical[0] = 0;
    padded[0] = 0;
    for (size_t i = 0; i < stream->count; i++) {
        logical[i + 1] = logical[i] + (int32_t)stream->documents[i].valid;
        padded[i + 1] = (int32_t)table->padded[i + 1];
    }
    *metadata = (struct cpl_metadata){
        .logical = logical,
        .padded = padded,
        .entries = entries,
        .longest = largest_step(logical, entries),
        .longest_padded = largest_step(padded, entries),
        .real_queries = takes_real(table, layout),
        .padding_between = memcmp(logical, padded, entries * sizeof(*logical)) != 0,
    };
    return CPL_OK;
}
