/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan/1: which rank holds which token, and what moves between two layouts.
 *
 * Pure computation: no context, no registration rule, no thread, no communication. The stream is one
 * dense sequence, or packed documents back to back. A partition is a layout applied to a stream; it
 * holds every row exactly once. A table is any other wish, which may overlap, leave out and pad. A
 * route says how to get from a partition to a partition or table of the same stream and ranks.
 *
 * Rows of the stream are physical: padding that the source has behind a document's tokens is a row
 * like any other, but not a valid one. Padding that a layout adds is no row of the stream; it has
 * start or position -1. Local rows count what one rank holds, padding included. With sequence
 * parallelism (T > 1) each of the P context-parallel ranks cuts its rows into T equal
 * consecutive windows; logical rank = cp_rank * T + tp_rank, 0 ... P*T - 1.
 *
 * Lists are asked for with a capacity. `count` receives how many entries there are; it may be NULL.
 * With capacity 0 the call only counts, and the array may be NULL. If the entries do not fit, the
 * call returns CAPACITY, and only the count is written.
 *
 * All functions are [any-thread]; objects are immutable and may be shared.
 */
#ifndef CPLAYOUT_PLAN_H
#define CPLAYOUT_PLAN_H

#include <stdint.h>

#include <cplayout/core.h>
#include <cplayout/lengths.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CPLAYOUT_PLAN_INTERFACE "plan/1"

struct cplayout_partition;
struct cplayout_route;

/* ---- Partition -------------------------------------------------------------------------------- */

struct cplayout_partition_args {
    uint64_t size;
    const char *layout; /* "contiguous", "mirror" or "zigzag" */
    uint64_t sequence;  /* S, tokens of one dense sequence: 1 ... 2^32 - 1, so that counts of
                         * causal pairs fit 63 bits; 0 with samples */
    int32_t cp;         /* P >= 1; P * T is at most 65536 */
    int32_t tp;         /* T >= 1; 1 without sequence parallelism */
    /* Packed: the documents of these samples, joined by physical offsets; 2^31 - 1 rows at most. */
    const struct cplayout_lengths *samples; /* [sample_count]; NULL: dense */
    uint64_t sample_count;
};

/*
 * Applies a layout. `host` gives log and allocator and may be NULL; the partition keeps what it
 * needs of it, and copies the offsets. Rule for a dense S, and for the rows of a pack unless the
 * layout is zigzag: a multiple of P*T. Dense zigzag with P > 1: of lcm(2P, P*T). Packed zigzag with
 * P > 1 pads: every document's physical length is rounded up to a multiple of 2P, then 2P rows at a
 * time are added to the last entry, even an empty one, until a context-parallel rank's rows are a
 * multiple of T. A pack of no tokens is legal: every rank has 0 rows.
 * Errors: ARGUMENT (unknown layout, a value out of range, a length that does not divide, offsets that
 * break their rules, named by sample and index), MEMORY, VERSION.
 */
typedef int32_t (*cplayout_partition_create_fn)(const struct cplayout_host *host,
                                                const struct cplayout_partition_args *args,
                                                struct cplayout_partition **partition,
                                                struct cplayout_error *error);

/* For partitions and tables. NULL is allowed. */
typedef void (*cplayout_partition_destroy_fn)(struct cplayout_partition *partition);

struct cplayout_partition_info {
    uint64_t size;
    /* Hash of the content (fragments in order), not of the name: partitions with equal identity are
     * the same and need no conversion. Never 0. */
    uint64_t identity;
    uint64_t tokens;      /* valid tokens of the stream; S if it is dense */
    uint64_t stream_rows; /* rows of the stream, source padding included */
    uint64_t rows;        /* of all ranks together, added padding included */
    uint64_t documents;   /* 1 if the stream is dense */
    int32_t cp;           /* P */
    int32_t tp;           /* T */
};

typedef void (*cplayout_partition_describe_fn)(const struct cplayout_partition *partition,
                                               struct cplayout_partition_info *info);

struct cplayout_rank_info {
    uint64_t size;
    uint64_t rows;            /* local rows */
    uint64_t valid_rows;      /* of them, tokens: no padding of either kind */
    uint64_t attention_pairs; /* causal (query, key) pairs of tokens inside a document whose query
                               * this rank holds: sum over its tokens of position + 1 */
};

/*
 * Offsets of the documents as the layout pads them, documents + 1 of them: where each would begin if
 * the ranks' rows were put back in order. Errors: ARGUMENT, CAPACITY.
 */
typedef int32_t (*cplayout_padded_offsets_fn)(const struct cplayout_partition *partition,
                                              int64_t *offsets, uint64_t capacity, uint64_t *count,
                                              struct cplayout_error *error);

/* Errors: ARGUMENT if rank is not 0 ... P*T - 1. */
typedef int32_t (*cplayout_rank_describe_fn)(const struct cplayout_partition *partition,
                                             int32_t rank, struct cplayout_rank_info *info,
                                             struct cplayout_error *error);

/* Consecutive tokens in a rank's local order. Neighbours that touch are one fragment. */
struct cplayout_fragment {
    int64_t start;  /* global position of the first row; -1: padding rows */
    int64_t length; /* rows, > 0 */
};

/* Fragments of one rank in local order. Errors: ARGUMENT, CAPACITY. */
typedef int32_t (*cplayout_fragments_fn)(const struct cplayout_partition *partition, int32_t rank,
                                         struct cplayout_fragment *fragments, uint64_t capacity,
                                         uint64_t *count, struct cplayout_error *error);

enum {
    CPLAYOUT_POSITIONS_GLOBAL = 0,   /* row of the stream */
    CPLAYOUT_POSITIONS_DOCUMENT = 1, /* offset from the start of the row's document */
};

/* Which positions are asked for. */
struct cplayout_positions_args {
    uint64_t size;
    int32_t rank;
    int32_t kind; /* CPLAYOUT_POSITIONS_... */
};

/* Position of every local row of one rank, -1 for added padding. Errors: ARGUMENT, CAPACITY. */
typedef int32_t (*cplayout_positions_fn)(const struct cplayout_partition *partition,
                                         const struct cplayout_positions_args *args,
                                         int64_t *positions, uint64_t capacity, uint64_t *count,
                                         struct cplayout_error *error);

/*
 * One part of the chain along which a linear layer passes its state: rows start ... start+length-1 of
 * the stream, all of one document, lie at local rows local ... local+length-1 of `rank`.
 */
struct cplayout_chain_part {
    int64_t start;
    int64_t length;
    int64_t local;
    int64_t position; /* of the first row in its document; 0: the part begins with a zero state,
                       * else with the state that the part before it in the list ends with */
    int64_t valid;    /* how many of the rows are tokens; they come first */
    int64_t document; /* index, 0 for a dense stream */
    int32_t rank;
    int32_t reserved;
};

/*
 * The chain of a partition: the rows of all ranks in order of the stream, cut at the borders of
 * documents. Errors: ARGUMENT (a table), CAPACITY.
 */
typedef int32_t (*cplayout_chain_fn)(const struct cplayout_partition *partition,
                                     struct cplayout_chain_part *parts, uint64_t capacity,
                                     uint64_t *count, struct cplayout_error *error);

/* ---- Table ------------------------------------------------------------------------------------ */

struct cplayout_table_args {
    uint64_t size;
    const struct cplayout_fragment *fragments; /* rank after rank, in local order; starts from -1 */
    const uint64_t *counts;                    /* [P*T] fragments of each rank */
};

/*
 * A table: the rows that each rank of a partition's group wants, in any order, overlapping or not.
 * It serves as a route's target and for the queries of one rank. The partition may be destroyed
 * before it; what is given is copied. `host` as above.
 * Errors: ARGUMENT (a fragment outside of the stream or without rows, named by rank and index),
 * MEMORY, VERSION.
 */
typedef int32_t (*cplayout_table_create_fn)(const struct cplayout_host *host,
                                            const struct cplayout_partition *partition,
                                            const struct cplayout_table_args *args,
                                            struct cplayout_partition **table,
                                            struct cplayout_error *error);

/* ---- Route ------------------------------------------------------------------------------------ */

/*
 * Builds the route from a partition to a partition or table for all ranks. Both must have the same
 * stream, P and T; they may be destroyed before the route. `host` as above.
 *
 * The adjoint is the same route read backwards: copies go from dst back to src. A row that has several
 * copies receives their sum, in ascending order of the ranks that hold them (its own in its place);
 * a row without a copy receives zero. Errors: ARGUMENT, MEMORY, VERSION.
 */
typedef int32_t (*cplayout_route_create_fn)(const struct cplayout_host *host,
                                            const struct cplayout_partition *source,
                                            const struct cplayout_partition *target,
                                            struct cplayout_route **route,
                                            struct cplayout_error *error);

/* NULL is allowed. */
typedef void (*cplayout_route_destroy_fn)(struct cplayout_route *route);

struct cplayout_route_info {
    uint64_t size;
    uint64_t total_rows;      /* rows of the target, all ranks */
    uint64_t moved_rows;      /* of them, rows that come from another rank */
    uint64_t worst_rank_rows; /* largest of rows sent and rows received by any rank */
    int32_t peers;            /* most distinct peers of a rank, to or from */
    int32_t reserved;
};

typedef void (*cplayout_route_describe_fn)(const struct cplayout_route *route,
                                           struct cplayout_route_info *info);

enum {
    CPLAYOUT_MOVES_KEPT = 0, /* rows that stay on the rank: src -> dst; peer is the rank itself */
    CPLAYOUT_MOVES_SENT = 1, /* rows sent: src is local, dst is the row on the peer */
    CPLAYOUT_MOVES_RECEIVED = 2, /* rows received: src is the row on the peer, dst is local */
    CPLAYOUT_MOVES_PADS = 3,     /* rows of padding: src is -1, peer is the rank itself */
};

/* Consecutive rows that go from row src of the owner to row dst of the receiver. */
struct cplayout_move {
    int64_t src;
    int64_t dst;
    int64_t rows; /* > 0 */
    int32_t peer; /* logical rank on the other side */
    int32_t reserved;
};

/* Which moves are asked for. */
struct cplayout_moves_args {
    uint64_t size;
    int32_t rank;
    int32_t kind; /* CPLAYOUT_MOVES_... */
};

/*
 * Moves of one rank: grouped by peer in ascending order, inside a peer by global position on both
 * sides. Errors: ARGUMENT, CAPACITY.
 */
typedef int32_t (*cplayout_moves_fn)(const struct cplayout_route *route,
                                     const struct cplayout_moves_args *args,
                                     struct cplayout_move *moves, uint64_t capacity,
                                     uint64_t *count, struct cplayout_error *error);

/* Every slot of the plan/1 table, in order; slots are only ever appended. */
#define CPLAYOUT_PLAN_SLOTS(SLOT)  \
    SLOT(plan, partition_create)   \
    SLOT(plan, partition_destroy)  \
    SLOT(plan, partition_describe) \
    SLOT(plan, padded_offsets)     \
    SLOT(plan, rank_describe)      \
    SLOT(plan, fragments)          \
    SLOT(plan, positions)          \
    SLOT(plan, chain)              \
    SLOT(plan, table_create)       \
    SLOT(plan, route_create)       \
    SLOT(plan, route_destroy)      \
    SLOT(plan, route_describe)     \
    SLOT(plan, moves)

struct cplayout_plan_interface {
    uint64_t size;
    CPLAYOUT_PLAN_SLOTS(CPLAYOUT_DECLARE_SLOT)
};

#ifdef __cplusplus
}
#endif

#endif
