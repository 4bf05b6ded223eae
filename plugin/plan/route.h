/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A route: what one rank keeps, receives and sends on the way from a source partition to a target
 * table. It is the merge of two interval tables; nothing else computes where a row goes. Minimal: a
 * row whose owner stays is kept, each other row moves once per place that wants it. Memory is the
 * arena's.
 *
 * The adjoint reads the same moves backwards: what was received goes back, from dst to src. A source
 * row that has several copies is their sum, taken in ascending order of the rank that holds the copy
 * (kept ones at this rank's own place); rows without a copy are zero, and padding has no source.
 */
#ifndef CPL_PLAN_ROUTE_H
#define CPL_PLAN_ROUTE_H

#include "plan/table.h"

/* Rows src ... src+rows-1 of the owner become rows dst ... dst+rows-1 of the receiver. */
struct cpl_move {
    int64_t src;
    int64_t dst;
    int64_t rows;
    int32_t peer; /* rank on the other side */
};

/* Moves by ascending peer, for one peer in global order: the order of a message on both ends. */
struct cpl_moves {
    const struct cpl_move *list;
    size_t count;
};

struct cpl_route {
    int32_t rank;
    int64_t source_rows; /* local */
    int64_t target_rows;
    uint64_t source; /* identities */
    uint64_t target;
    struct cpl_moves kept;
    struct cpl_moves received;
    struct cpl_moves sent;
    struct cpl_moves pads; /* rows of the target that are padding; src -1 */
};

/*
 * Builds the route of `rank`. Cost: its own pieces, each looked up in the other table.
 * Errors: ARGUMENT (tables of another stream or other ranks, a source that is no partition), MEMORY.
 */
enum cpl_status cpl_route_build(struct cpl_route *route, const struct cpl_table *source,
                                const struct cpl_table *target, int32_t rank,
                                struct cpl_arena *arena, struct cpl_error *error);

/* Consecutive ranks. */
struct cpl_ranks {
    int32_t first;
    int32_t count;
};

/*
 * The route from the whole stream, which a rank has before it, to the rows of some ranks in a
 * partition, one rank's after the other's: all of them are kept.
 */
enum cpl_status cpl_route_from_stream(struct cpl_route *route, const struct cpl_table *target,
                                      struct cpl_ranks ranks, struct cpl_arena *arena,
                                      struct cpl_error *error);

/* How many moves from `begin` on have the same peer. */
size_t cpl_moves_of_peer(const struct cpl_moves *moves, size_t begin);

/* Rows of all moves together, and the number of distinct peers. */
int64_t cpl_moves_rows(const struct cpl_moves *moves);
int32_t cpl_moves_peers(const struct cpl_moves *moves);

/* Ranks that this one sends to or receives from: how many, and one by one in ascending order. */
int32_t cpl_route_peers(const struct cpl_route *route);

struct cpl_peers {
    const struct cpl_route *route;
    size_t received; /* moves that are behind; zeroed to begin with */
    size_t sent;
};

/* The next peer, -1 if there is none. */
int32_t cpl_peers_next(struct cpl_peers *peers);

#endif
