/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/share.h"

enum cpl_status cpl_share_build(struct cpl_share *share, const struct cpl_table *table,
                                struct cpl_ranks ranks, struct cpl_arena *arena,
                                struct cpl_error *error)
{
    *share = (struct cpl_share){.table = table, .ranks = ranks};
    for (int32_t rank = ranks.first; rank < ranks.first + ranks.count; rank++) {
        share->valid += cpl_count_rank(table, rank).valid_rows;
    }
    return cpl_route_from_stream(&share->route, table, ranks, arena, error);
}

struct cpl_share_reader cpl_share_reader(const struct cpl_share *share)
{
    return (struct cpl_share_reader){
        .share = share,
        .rows = cpl_local_reader(share->table, share->ranks.first),
        .rank = share->ranks.first,
    };
}

bool cpl_share_next(struct cpl_share_reader *reader, struct cpl_part *part)
{
    const struct cpl_share *const share = reader->share;

    while (!cpl_local_next(&reader->rows, part)) {
        if (reader->rank + 1 == share->ranks.first + share->ranks.count) {
            return false;
        }
        reader->before += cpl_table_rows(share->table, reader->rank);
        reader->rank++;
        reader->rows = cpl_local_reader(share->table, reader->rank);
    }
    part->local += reader->before;
    return true;
}
