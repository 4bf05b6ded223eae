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

/* Fragments of every rank: a table (below), or the partition "table". */
struct cplayout_fragment {
    int64_t start;  /* row of the stream; -1: padding rows */
    int64_t length; /* rows, > 0 */
};

struct cplayout_table_args {
    uint64_t size;
    const struct cplayout_fragment *fragments; /* rank after rank, in local order; starts from -1 */
    const uint64_t *counts;                    /* [P*T] fragments of each rank */
};

struct cplayout_partition_args {
    uint64_t size;
    /*
     * "contiguous", "mirror", "zigzag", "zigzag-stream" (documents ignored), "striped:B" (blocks of B
     * rows go round the ranks, at most 2^22 of them), "balanced", "balanced:TOL" or "balanced:TOL:CHUNK" (contiguous, with
     * chunks swapped until attention work of the busiest context-parallel rank is within 1 + TOL of
     * the mean, no swap helps, or as many rows moved as "zigzag" moves; 0.05 and 512 rows, fewer where a rank has less than 8 chunks, more
     * where it has above 2048 or all have above 32768), or
     * "table": the host's own.
     */
    const char *layout;
    uint64_t sequence; /* S, tokens of one dense sequence: 1 ... 2^32 - 1, so that counts of
                         * causal pairs fit 63 bits; 0 with samples */
    int32_t cp;        /* P >= 1; P * T is at most 65536 */
    int32_t tp;        /* T >= 1; 1 without sequence parallelism */
    /* Packed: the documents of these samples, joined by physical offsets; 2^31 - 1 rows at most. */
    const struct cplayout_lengths *samples; /* [sample_count]; NULL: dense */
    uint64_t sample_count;
    const struct cplayout_table_args *table; /* of "table" only: every row of the stream once */
    uint64_t row_unit; /* rows of a context-parallel rank are a multiple of it; 0: of 1;
                        * below 2^31, not with "table" */
};

/*
 * Applies a layout. `host` gives log and allocator and may be NULL; the partition keeps what it
 * needs of it, and copies the offsets. Rule for a dense S, and for the rows of a pack unless the
 * layout is zigzag: a multiple of P*T. With P > 1 dense zigzag and zigzag-stream: of lcm(2P, P*T);
 * striped:B: of lcm(P*B, P*T). Packed zigzag with P > 1 pads: every document's physical length is rounded up to a multiple of 2P, then 2P rows at a
 * time are added to the last entry, even an empty one, until a context-parallel rank's rows are a
 * multiple of T and of row_unit, which the other layouts ask for as well. A pack of no tokens is legal: every rank has 0 rows.
 * Errors: ARGUMENT (unknown layout, a value out of range, a length that does not divide, offsets that
 * break their rules, named by sample and index, a table that leaves out or repeats a row, named by the
 * row and its ranks), MEMORY, VERSION.
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
                               * this rank holds: sum over its tokens of position + 1; of a table
                               * that holds rows again and again 2^63 - 1 at most */
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

/* Fragments of one rank in local order; neighbours that touch are one. Errors: ARGUMENT, CAPACITY. */
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

/* Real tokens in each of the rank's fragments, in their order. Errors: ARGUMENT, CAPACITY. */
typedef int32_t (*cplayout_fragment_tokens_fn)(const struct cplayout_partition *partition,
                                               int32_t rank, int64_t *tokens, uint64_t capacity,
                                               uint64_t *count, struct cplayout_error *error);

/* Rows of one document that lie next to each other on a rank. */
struct cplayout_local_document {
    int64_t document; /* index, 0 for a dense stream; -1: padding of no document */
    int64_t local;    /* first row on the rank */
    int64_t rows;     /* > 0, padding of both kinds included */
    int64_t tokens;   /* of them, real tokens */
};

/*
 * The documents on one rank in local order. Padding that zigzag adds to a document counts to it. Where
 * a layout ignores documents one may come more than once. Errors: ARGUMENT, CAPACITY.
 */
typedef int32_t (*cplayout_local_documents_fn)(const struct cplayout_partition *partition,
                                               int32_t rank,
                                               struct cplayout_local_document *documents,
                                               uint64_t capacity, uint64_t *count,
                                               struct cplayout_error *error);

enum {
    CPLAYOUT_OFFSETS_LOGICAL = 0,  /* of real tokens */
    CPLAYOUT_OFFSETS_PHYSICAL = 1, /* of rows */
};

/* Which offsets are asked for. */
struct cplayout_offsets_args {
    uint64_t size;
    int32_t rank;
    int32_t kind; /* CPLAYOUT_OFFSETS_... */
};

/*
 * Local cu_seqlens: the running sums of tokens or rows over the rank's local documents, one entry
 * more than there are. Errors: ARGUMENT, CAPACITY.
 */
typedef int32_t (*cplayout_local_offsets_fn)(const struct cplayout_partition *partition,
                                             const struct cplayout_offsets_args *args,
                                             int64_t *offsets, uint64_t capacity, uint64_t *count,
                                             struct cplayout_error *error);

/* For every local row of one rank: 1 for padding of either kind, else 0. Errors: ARGUMENT, CAPACITY. */
typedef int32_t (*cplayout_padding_mask_fn)(const struct cplayout_partition *partition,
                                            int32_t rank, uint8_t *mask, uint64_t capacity,
                                            uint64_t *count, struct cplayout_error *error);

/* Consecutive rows of the stream that are consecutive where the rows of all ranks are put in a row. */
struct cplayout_run {
    int64_t start; /* row of the stream */
    int64_t at;    /* row of the ranks' rows, rank after rank, padding included */
    int64_t rows;  /* > 0 */
};

/*
 * The inverse order of a partition, in order of the stream: read forward it undoes the layout after a
 * gather in rank order and drops the padding, read backward it redoes it. For dense zigzag these are
 * the orders of 2P chunks. Errors: ARGUMENT (a table), CAPACITY.
 */
typedef int32_t (*cplayout_inverse_fn)(const struct cplayout_partition *partition,
                                       struct cplayout_run *runs, uint64_t capacity,
                                       uint64_t *count, struct cplayout_error *error);

/* ---- Attention -------------------------------------------------------------------------------- */

/*
 * Consecutive real tokens of one document on a rank, as queries of causal attention: query k of them
 * sees the keys first_key ... first_key + position + k of the stream.
 */
struct cplayout_key_extent {
    int64_t local; /* first query on the rank */
    int64_t queries;
    int64_t first_key; /* row of the stream in which the document begins */
    int64_t position;  /* of the first query in its document */
};

/* The query fragments of one rank in local order. Errors: ARGUMENT, CAPACITY. */
typedef int32_t (*cplayout_key_extents_fn)(const struct cplayout_partition *partition, int32_t rank,
                                           struct cplayout_key_extent *extents, uint64_t capacity,
                                           uint64_t *count, struct cplayout_error *error);

/* Attention of one context-parallel rank, its T windows together: kernels run after they are gathered. */
struct cplayout_attention {
    int64_t pairs;    /* causal (query, key) pairs of real tokens inside a document */
    int64_t key_rows; /* key/value rows needed from other context-parallel ranks, each once */
};

/* [P], one entry per context-parallel rank. Errors: ARGUMENT (a table), CAPACITY. */
typedef int32_t (*cplayout_attention_fn)(const struct cplayout_partition *partition,
                                         struct cplayout_attention *attention, uint64_t capacity,
                                         uint64_t *count, struct cplayout_error *error);

/* ---- Table ------------------------------------------------------------------------------------ */

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

/*
 * The table of halos: for every part of a rank's rows that does not begin its document (the chain's
 * parts on this rank, in local order) the `width` rows before it, fewer where the document begins
 * nearer. What a causal convolution of width + 1 taps needs. `host` as above.
 * Errors: ARGUMENT (width below 1, a table), MEMORY, VERSION.
 */
typedef int32_t (*cplayout_halo_create_fn)(const struct cplayout_host *host,
                                           const struct cplayout_partition *partition,
                                           int64_t width, struct cplayout_partition **table,
                                           struct cplayout_error *error);

/*
 * The table of shifted rows: in place of every local row the one `by` rows later in its document, if
 * both hold real tokens, else padding. Labels are a shift by 1, multi-token prediction by more; by may
 * be negative. `host` as above. Errors: ARGUMENT (by beyond 2^32, a table), MEMORY, VERSION.
 */
typedef int32_t (*cplayout_shift_create_fn)(const struct cplayout_host *host,
                                            const struct cplayout_partition *partition, int64_t by,
                                            struct cplayout_partition **table,
                                            struct cplayout_error *error);

/* ---- Route ------------------------------------------------------------------------------------ */

/*
 * Builds the route from a partition to a partition or table for all ranks. Both must have the same
 * stream and the same number of ranks P*T; they may be destroyed before the route. `host` as above.
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

/*
 * Product routes: every rank holds only a range of the columns (heads) of its rows. What goes in a move
 * is the columns that its two ranks have in common.
 */
struct cplayout_columns {
    int64_t first; /* >= 0 */
    int64_t count; /* >= 0 */
};

struct cplayout_columns_args {
    uint64_t size;
    int32_t rank;
    int32_t kind;                          /* CPLAYOUT_MOVES_KEPT, SENT or RECEIVED */
    const struct cplayout_columns *source; /* [ranks] columns that a rank holds before */
    const struct cplayout_columns *target; /* [ranks] and after */
};

/*
 * The columns of each of a rank's moves, in the order of cplayout_moves_fn; count 0: nothing goes.
 * `first` counts columns of the whole; subtract the rank's own first for a place in its rows.
 * Errors: ARGUMENT (a negative or overflowing range, named by rank), CAPACITY.
 */
typedef int32_t (*cplayout_move_columns_fn)(const struct cplayout_route *route,
                                            const struct cplayout_columns_args *args,
                                            struct cplayout_columns *columns, uint64_t capacity,
                                            uint64_t *count, struct cplayout_error *error);

/* ---- Cost ------------------------------------------------------------------------------------- */

/* What a partition costs in attention. What a conversion costs says the route (route_describe). */
struct cplayout_cost {
    uint64_t size;
    double max_over_mean; /* attention pairs of the busiest context-parallel rank over their mean */
    uint64_t padding_rows; /* that the layout adds, all ranks */
    uint64_t key_rows;     /* key/value rows that context-parallel ranks need from others */
};

/* Errors: ARGUMENT (a table). */
typedef int32_t (*cplayout_cost_fn)(const struct cplayout_partition *partition,
                                    struct cplayout_cost *cost, struct cplayout_error *error);

/*
 * When to convert around attention, and when to run linear layers in zigzag: below `length` tokens in
 * a micro-batch converting moves fewer bytes. Counts bytes only: with states gathered from all ranks,
 * running in zigzag costs linear_layers * (P - 1) * state_bytes more per rank, converting
 * conversions * share * S / P * row_bytes; T cancels.
 */
struct cplayout_break_even_args {
    uint64_t size;
    int32_t cp; /* P */
    int32_t linear_layers;
    int32_t conversions;  /* per forward, > 0 */
    int32_t reserved;     /* 0 */
    uint64_t state_bytes; /* M, of one layer's recurrent state, all heads */
    uint64_t row_bytes;   /* hidden size times bytes of an element, > 0 */
    double share;         /* of a rank's rows that a conversion moves, above 0 up to 1 */
};

/* [any-thread]. Errors: ARGUMENT. */
typedef int32_t (*cplayout_break_even_fn)(const struct cplayout_break_even_args *args,
                                          double *length, struct cplayout_error *error);

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
    SLOT(plan, moves)              \
    SLOT(plan, fragment_tokens)    \
    SLOT(plan, local_documents)    \
    SLOT(plan, local_offsets)      \
    SLOT(plan, padding_mask)       \
    SLOT(plan, inverse)            \
    SLOT(plan, key_extents)        \
    SLOT(plan, attention)          \
    SLOT(plan, halo_create)        \
    SLOT(plan, shift_create)       \
    SLOT(plan, move_columns)       \
    SLOT(plan, cost)               \
    SLOT(plan, break_even)

struct cplayout_plan_interface {
    uint64_t size;
    CPLAYOUT_PLAN_SLOTS(CPLAYOUT_DECLARE_SLOT)
};

#ifdef __cplusplus
}
#endif

#endif
