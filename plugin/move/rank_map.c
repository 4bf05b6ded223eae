/* SPDX-License-Identifier: Apache-2.0 */
#include "move/rank_map.h"

#include <stdlib.h>

struct entry {
    int32_t communicator;
    int32_t logical;
};

static int compare(const void *left, const void *right)
{
    const struct entry *const a = left;
    const struct entry *const b = right;

    if (a->communicator != b->communicator) {
        return a->communicator < b->communicator ? -1 : 1;
    }
    return (a->logical > b->logical) - (a->logical < b->logical);
}

enum cpl_status cpl_rank_map_twins(const struct cpl_allocator *allocator, const int32_t *map,
                                   int32_t count, int32_t twins[2], struct cpl_error *error)
{
    struct entry *const entries = cpl_allocate(allocator, (size_t)count, sizeof(*entries));

    twins[0] = 0;
    twins[1] = 0;
    if (entries == NULL) {
        return cpl_fail_memory(error);
    }
    for (int32_t rank = 0; rank < count; rank++) {
        entries[rank] = (struct entry){map[rank], rank};
    }
    qsort(entries, (size_t)count, sizeof(*entries), compare);
    for (int32_t i = 1; i < count && twins[0] == twins[1]; i++) {
        if (entries[i].communicator == entries[i - 1].communicator) {
            twins[0] = entries[i - 1].logical;
            twins[1] = entries[i].logical;
        }
    }
    cpl_release(allocator, entries, (size_t)count, sizeof(*entries));
    return CPL_OK;
}
