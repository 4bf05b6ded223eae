/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table: which rank holds which rows of the stream, in which local order, as intervals. A
 * partition is a table that holds every row once: a layout applied to a stream, or the host's own. A
 * wanted table is any other: it may overlap, leave out and pad. Immutable once built; its memory is the
 * arena's.
 */
#ifndef CPL_PLAN_TABLE_H
#define CPL_PLAN_TABLE_H

#include "base/arena.h"
#include "plan/dealer.h"
#include "plan/layout.h"
#include "plan/stream.h"

/* Pieces and where each rank's are. */
struct cpl_pieces {
    const struct cpl_piece *list; /* [count] */
    size_t count;
    const uint32_t *of_rank; /* [count] indices into list: by rank, then in the list's order */
    const uint32_t *first;   /* [ranks + 1] where each rank begins in of_rank */
};

/* Consecutive rows of a rank. */
struct cpl_fragment {
    int64_t start; /* row of the stream; -1: padding */
    int64_t length;
};

struct cpl_table {
    struct cpl_stream stream;
    int32_t cp;
    int32_t tp;
    int32_t ranks;          /* P * T */
    struct cpl_pieces rows; /* by start, so that they are also the chain of a linear layer */
    struct cpl_pieces pads; /* padding that the layout adds; by local row within a rank */
    const int64_t *reach;   /* [rows.count] furthest end up to each piece; NULL: ends ascend too */
    const int64_t *padded;  /* [documents + 1] offsets of the documents as the layout pads them */
    bool partition;         /* holds every row of the stream once */
    bool by_document;       /* the layout pads and deals inside every document */
    const struct cpl_fragment *wanted; /* what was asked for, rank after rank; NULL: a layout */
    const size_t *wanted_first;        /* [ranks + 1] where each rank begins in wanted */
    const int64_t *rows_before;        /* [ranks + 1] local rows of all ranks before; of wanted */
    const uint32_t *of_cp_rank; /* like rows.of_rank, by context-parallel rank; of "table" only */
    uint64_t identity;          /* hash of the content, never 0 */
};

/* Applies a layout. Errors: those of cpl_shape_check, ARGUMENT (padded beyond int32), MEMORY. */
enum cpl_status cpl_table_build(struct cpl_table *table, const struct cpl_layout *layout,
                                const struct cpl_shape *shape, struct cpl_arena *arena,
                                struct cpl_error *error);

/* Indexes pieces that have been dealt and names the table; the last step of building one. */
enum cpl_status cpl_table_finish(struct cpl_table *table, const struct cpl_hand *rows,
                                 const struct cpl_hand *pads, struct cpl_arena *arena,
                                 struct cpl_error *error);

/* Number of a rank's pieces, and its index-th in the list's order. */
size_t cpl_pieces_count(const struct cpl_pieces *pieces, int32_t rank);
const struct cpl_piece *cpl_pieces_at(const struct cpl_pieces *pieces, int32_t rank, size_t index);

/* Local rows of a rank, padding included. */
int64_t cpl_table_rows(const struct cpl_table *table, int32_t rank);

/* Reads a rank's fragments in local order, neighbours that touch joined. */
struct cpl_fragment_reader {
    const struct cpl_table *table;
    int32_t rank;
    size_t row; /* next of each kind; zeroed to begin with */
    size_t pad;
    struct cpl_fragment ahead; /* length 0: none */
};

/* false at the end. */
bool cpl_fragment_next(struct cpl_fragment_reader *reader, struct cpl_fragment *fragment);

/* All fragments of a rank. Returns how many there are and writes up to `capacity` of them. */
size_t cpl_table_fragments(const struct cpl_table *table, int32_t rank,
                           struct cpl_fragment *fragments, size_t capacity);

/* Index in rows.list of the first piece that may reach behind a row of the stream. */
size_t cpl_table_find(const struct cpl_table *table, int64_t position);

#endif
