/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/route.h"

#include <inttypes.h>

/*
 * One rank's pieces of `own` laid over the table `other`. Incoming: own is the target and other the
 * source; outgoing the reverse. Either the moves inside the rank are wanted, or those with peers.
 */
struct overlay {
    const struct cpl_table *own;
    const struct cpl_table *other;
    int32_t rank;
    bool incoming;
    bool inside;
};

static struct cpl_move overlap(const struct overlay *overlay, const struct cpl_piece *own,
                               const struct cpl_piece *other)
{
    const int64_t own_end = own->start + own->length;
    const int64_t other_end = other->start + other->length;
    const int64_t begin = own->start > other->start ? own->start : other->start;
    const int64_t end = own_end < other_end ? own_end : other_end;
    const int64_t at_own = own->local + begin - own->start;
    const int64_t at_other = other->local + begin - other->start;

    return (struct cpl_move){
        .src = overlay->incoming ? at_other : at_own,
        .dst = overlay->incoming ? at_own : at_other,
        .rows = end - begin,
        .peer = other->rank,
    };
}

/* Whether two pieces make a move of the wanted kind. With overlapping pieces some only come near. */
static bool is_asked(const struct overlay *overlay, const struct cpl_piece *own,
                     const struct cpl_piece *other)
{
    return other->start + other->length > own->start &&
           (other->rank == overlay->rank) == overlay->inside;
}

/* Lists the moves in global order; with moves == NULL only counts them. */
static size_t list_moves(const struct overlay *overlay, struct cpl_move *moves)
{
    const struct cpl_pieces *const others = &overlay->other->rows;
    const size_t pieces = cpl_pieces_count(&overlay->own->rows, overlay->rank);
    size_t count = 0;

    for (size_t i = 0; i < pieces; i++) {
        const struct cpl_piece *const own = cpl_pieces_at(&overlay->own->rows, overlay->rank, i);
        size_t j = cpl_table_find(overlay->other, own->start);

        for (; j < others->count; j++) {
            const struct cpl_piece *const other = &others->list[j];

            if (other->start >= own->start + own->length) {
                break;
            }
            if (!is_asked(overlay, own, other)) {
                continue;
            }
            if (moves != NULL) {
                moves[count] = overlap(overlay, own, other);
            }
            count++;
        }
    }
    return count;
}

/* Merges two sorted neighbours of `from`, [begin, middle) and [middle, end), into `to`. Stable. */
static void merge(const struct cpl_move *from, size_t begin, size_t middle, size_t end,
                  struct cpl_move *to)
{
    size_t left = begin;
    size_t right = middle;

    for (size_t i = begin; i < end; i++) {
        const bool take_left =
            left < middle && (right >= end || from[left].peer <= from[right].peer);

        to[i] = take_left ? from[left++] : from[right++];
    }
}

/*
 * Stable merge sort by peer; returns the array that holds the result. A rank has few moves but may
 * have many possible peers, so the cost must not follow the number of ranks.
 */
static struct cpl_move *sort_by_peer(struct cpl_move *moves, struct cpl_move *spare, size_t count)
{
    for (size_t width = 1; width < count; width *= 2) {
        struct cpl_move *const merged = spare;

        for (size_t begin = 0; begin < count; begin += 2 * width) {
            const size_t middle = begin + width < count ? begin + width : count;
            const size_t end = middle + width < count ? middle + width : count;

            merge(moves, begin, middle, end, merged);
        }
        spare = moves;
        moves = merged;
    }
    return moves;
}

/* Joins moves that continue each other on both sides; returns how many are left. */
static size_t join_moves(struct cpl_move *moves, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        struct cpl_move *const last = kept > 0 ? &moves[kept - 1] : NULL;

        if (last != NULL && last->peer == moves[i].peer && last->src + last->rows == moves[i].src &&
            last->dst + last->rows == moves[i].dst) {
            last->rows += moves[i].rows;
        } else {
            moves[kept++] = moves[i];
        }
    }
    return kept;
}

static enum cpl_status build_moves(const struct overlay *overlay, struct cpl_arena *arena,
                                   struct cpl_moves *moves, struct cpl_error *error)
{
    const size_t count = list_moves(overlay, NULL);
    struct cpl_move *const listed = cpl_arena_take(arena, count, sizeof(*listed));
    struct cpl_move *const spare = cpl_arena_take(arena, count, sizeof(*spare));
    struct cpl_move *sorted;

    if (listed == NULL || spare == NULL) {
        return cpl_fail_memory(error);
    }
    (void)list_moves(overlay, listed);
    sorted = sort_by_peer(listed, spare, count);
    *moves = (struct cpl_moves){.list = sorted, .count = join_moves(sorted, count)};
    return CPL_OK;
}

static enum cpl_status check_tables(const struct cpl_table *source, const struct cpl_table *target,
                                    struct cpl_error *error)
{
    if (source->cp != target->cp || source->tp != target->tp ||
        source->stream.rows != target->stream.rows) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "target",
                              "a route stays on its ranks and its stream: source has %" PRId64
                              " rows, P = %d, T = %d, target %" PRId64 ", P = %d, T = %d",
                              source->stream.rows, source->cp, source->tp, target->stream.rows,
                              target->cp, target->tp);
    }
    if (!cpl_stream_equal(&source->stream, &target->stream)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "target",
                              "source and target have different documents in their %" PRId64
                              " rows",
                              source->stream.rows);
    }
    if (source->wanted != NULL) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "source",
                              "the source of a route must be a partition");
    }
    return CPL_OK;
}

/* Padding that the target adds on this rank: moves without a source. */
static enum cpl_status list_pads(struct cpl_moves *moves, const struct cpl_table *target,
                                 int32_t rank, struct cpl_arena *arena, struct cpl_error *error)
{
    const size_t count = cpl_pieces_count(&target->pads, rank);
    struct cpl_move *const list = cpl_arena_take(arena, count, sizeof(*list));

    if (list == NULL) {
        return cpl_fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        const struct cpl_piece *const pad = cpl_pieces_at(&target->pads, rank, i);

        list[i] =
            (struct cpl_move){.src = -1, .dst = pad->local, .rows = pad->length, .peer = rank};
    }
    *moves = (struct cpl_moves){.list = list, .count = count};
    return CPL_OK;
}

enum cpl_status cpl_route_build(struct cpl_route *route, const struct cpl_table *source,
                                const struct cpl_table *target, int32_t rank,
                                struct cpl_arena *arena, struct cpl_error *error)
{
    const struct overlay kept = {target, source, rank, true, true};
    const struct overlay received = {target, source, rank, true, false};
    const struct overlay sent = {source, target, rank, false, false};
    enum cpl_status status = check_tables(source, target, error);
    struct cpl_route built = {.rank = rank};

    if (status == CPL_OK) {
        status = build_moves(&kept, arena, &built.kept, error);
    }
    if (status == CPL_OK) {
        status = build_moves(&received, arena, &built.received, error);
    }
    if (status == CPL_OK) {
        status = build_moves(&sent, arena, &built.sent, error);
    }
    if (status == CPL_OK) {
        status = list_pads(&built.pads, target, rank, arena, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    built.source_rows = cpl_table_rows(source, rank);
    built.target_rows = cpl_table_rows(target, rank);
    built.source = source->identity;
    built.target = target->identity;
    *route = built;
    return CPL_OK;
}

enum cpl_status cpl_route_from_stream(struct cpl_route *route, const struct cpl_table *target,
                                      int32_t rank, struct cpl_arena *arena,
                                      struct cpl_error *error)
{
    const struct cpl_piece whole = {.length = target->stream.rows, .rank = rank};
    const struct cpl_table stream = {.stream = target->stream,
                                     .rows = {.list = &whole, .count = whole.length > 0},
                                     .ranks = target->ranks};
    const struct overlay kept = {target, &stream, rank, true, true};
    struct cpl_route built = {.rank = rank, .source_rows = target->stream.rows};
    enum cpl_status status = build_moves(&kept, arena, &built.kept, error);

    if (status == CPL_OK) {
        status = list_pads(&built.pads, target, rank, arena, error);
    }
    if (status == CPL_OK) {
        built.target_rows = cpl_table_rows(target, rank);
        built.target = target->identity;
        *route = built;
    }
    return status;
}

int64_t cpl_moves_rows(const struct cpl_moves *moves)
{
    int64_t rows = 0;

    for (size_t i = 0; i < moves->count; i++) {
        rows += moves->list[i].rows;
    }
    return rows;
}

int32_t cpl_moves_peers(const struct cpl_moves *moves)
{
    int32_t peers = 0;

    for (size_t i = 0; i < moves->count; i++) {
        peers += i == 0 || moves->list[i].peer != moves->list[i - 1].peer;
    }
    return peers;
}

int32_t cpl_route_peers(const struct cpl_route *route)
{
    const struct cpl_moves *const in = &route->received;
    const struct cpl_moves *const out = &route->sent;
    int32_t peers = 0;
    int32_t last = -1;

    /* Both lists are sorted by peer: walk them together. */
    for (size_t i = 0, j = 0; i < in->count || j < out->count;) {
        const bool from_in =
            j == out->count || (i < in->count && in->list[i].peer <= out->list[j].peer);
        const int32_t peer = from_in ? in->list[i++].peer : out->list[j++].peer;

        peers += peer != last;
        last = peer;
    }
    return peers;
}
