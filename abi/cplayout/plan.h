/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan/1: which rank holds which token, and what moves between two layouts.
 *
 * Pure computation: no context, no registration rule, no thread, no communication. A partition is a
 * layout applied to one sequence; it holds every row exactly once. A route says how to get from one
 * partition to another of the same sequence and ranks.
 *
 * Global positions count the S tokens of the sequence; local rows count what one rank holds. With
 * sequence parallelism (T > 1) each of the P context-parallel ranks cuts its rows into T equal
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
                         * causal pairs fit 63 bits */
    int32_t cp;         /* P >= 1; P * T is at most 65536 */
    int32_t tp;         /* T >= 1; 1 without sequence parallelism */
};

/*
 * Applies a layout. `host` gives log and allocator and may be NULL; the partition keeps what it
 * needs of it. Rule: S must divide by P*T; for zigzag with P > 1 by lcm(2P, P*T).
 * Errors: ARGUMENT (unknown layout, a value out of range, S that does not divide), MEMORY, VERSION.
 */
typedef int32_t (*cplayout_partition_create_fn)(const struct cplayout_host *host,
                                                const struct cplayout_partition_args *args,
                                                struct cplayout_partition **partition,
                                                struct cplayout_error *error);

/* NULL is allowed. */
typedef void (*cplayout_partition_destroy_fn)(struct cplayout_partition *partition);

struct cplayout_partition_info {
    uint64_t size;
    /* Hash of the content (fragments in order), not of the name: partitions with equal identity are
     * the same and need no conversion. Never 0. */
    uint64_t identity;
    uint64_t tokens; /* S */
    uint64_t rows;   /* of all ranks together */
    int32_t cp;      /* P */
    int32_t tp;      /* T */
};

typedef void (*cplayout_partition_describe_fn)(const struct cplayout_partition *partition,
                                               struct cplayout_partition_info *info);

struct cplayout_rank_info {
    uint64_t size;
    uint64_t rows;            /* local rows */
    uint64_t valid_rows;      /* of them, tokens (not padding) */
    uint64_t attention_pairs; /* causal (query, key) pairs whose query this rank holds:
                               * sum over its tokens of position + 1 */
};

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

/* Global position of every local row of one rank, -1 for padding. Errors: ARGUMENT, CAPACITY. */
typedef int32_t (*cplayout_positions_fn)(const struct cplayout_partition *partition, int32_t rank,
                                         int64_t *positions, uint64_t capacity, uint64_t *count,
                                         struct cplayout_error *error);

/*
 * One part of the chain along which a linear layer passes its state: tokens start ... start+length-1
 * lie at local rows local ... local+length-1 of `rank`.
 */
struct cplayout_chain_part {
    int64_t start;
    int64_t length;
    int64_t local;
    int32_t rank;
    int32_t reserved;
};

/*
 * The chain of the sequence: the fragments of all ranks in global order. The first part begins with
 * a zero state; each other takes the state that its predecessor ends with. Errors: CAPACITY.
 */
typedef int32_t (*cplayout_chain_fn)(const struct cplayout_partition *partition,
                                     struct cplayout_chain_part *parts, uint64_t capacity,
                                     uint64_t *count, struct cplayout_error *error);

/* ---- Route ------------------------------------------------------------------------------------ */

/*
 * Builds the route from one partition to another for all ranks. Both must have the same S, P and T;
 * they may be destroyed before the route. `host` as above. Errors: ARGUMENT, MEMORY, VERSION.
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
    SLOT(plan, rank_describe)      \
    SLOT(plan, fragments)          \
    SLOT(plan, positions)          \
    SLOT(plan, chain)              \
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
