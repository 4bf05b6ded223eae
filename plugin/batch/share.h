/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A share: rows of a partition that one rank looks at. With sequence parallelism a context-parallel
 * rank's rows are T windows on T ranks: activations are a window, and most fields of a batch are all of
 * them. Its memory is the arena's.
 */
#ifndef CPL_BATCH_SHARE_H
#define CPL_BATCH_SHARE_H

#include "plan/locals.h"
#include "plan/route.h"

struct cpl_share {
    const struct cpl_table *table;
    struct cpl_ranks ranks; /* whose rows it holds, one after the other */
    struct cpl_route route; /* from the stream */
    int64_t valid;          /* rows but padding of either kind */
};

/* Errors: MEMORY. */
enum cpl_status cpl_share_build(struct cpl_share *share, const struct cpl_table *table,
                                struct cpl_ranks ranks, struct cpl_arena *arena,
                                struct cpl_error *error);

/* Whether some of its rows are padding. */
static inline bool cpl_share_padded(const struct cpl_share *share)
{
    return share->valid != share->route.target_rows;
}

/* Reads its rows in order, cut at the borders of documents; parts count rows from the share's first. */
struct cpl_share_reader {
    const struct cpl_share *share;
    struct cpl_local_reader rows;
    int32_t rank;
    int64_t before; /* rows of the ranks that are behind */
};

struct cpl_share_reader cpl_share_reader(const struct cpl_share *share);

/* false at the end. */
bool cpl_share_next(struct cpl_share_reader *reader, struct cpl_part *part);

#endif
