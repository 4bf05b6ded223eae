/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/route.h"

#include <inttypes.h>
#include <stdlib.h>

/*
 * One rank's pieces of `own` laid over the table `other`. Incoming: own is the target and other the
 * source; outgoing the reverse.
 */
struct overlay {
    const struct cpl_table *own;
    const struct cpl_table *other;
    int32_t rank;
    bool incoming;
};

/* Moves of an overlay: inside the rank, and with peers. */
struct listed {
    struct cpl_move *inside; /* NULL: only counted */
    struct cpl_move *outside;
    size_t inside_count;
    size_t outside_count;
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

/* Writes a move, or only counts it. */
static void list_move(struct listed *listed, const struct overlay *overlay,
                      const struct cpl_piece *own, const struct cpl_piece *other)
{
    const bool inside = other->rank == overlay->rank;
    size_t *const count = inside ? &listed->inside_count : &listed->outside_count;
    struct cpl_move *const moves = inside ? listed->inside : listed->outside;

    if (moves != NULL) {
        moves[*count] = overlap(overlay, own, other);
    }
    (*count)++;
}

/* Lists the moves in global order. With overlapping pieces some only come near each other. */
static void list_moves(const struct overlay *overlay, struct listed *listed)
{
    const struct cpl_pieces *const others = &overlay->other->rows;
    const size_t pieces = cpl_pieces_count(&overlay->own->rows, overlay->rank);

    for (size_t i = 0; i < pieces; i++) {
        const struct cpl_piece *const own = cpl_pieces_at(&overlay->own->rows, overlay->rank, i);
        const int64_t end = own->start + own->length;
        size_t j = cpl_table_find(overlay->other, own->start);

        for (; j < others->count && others->list[j].start < end; j++) {
            const struct cpl_piece *const other = &others->list[j];

            if (other->start + other->length > own->start) {
                list_move(listed, overlay, own, other);
            }
        }
    }
}

enum { DIGIT_BITS = 6, DIGITS = 1 << DIGIT_BITS };

/* Sorts by one digit of the peer, stable. */
static void sort_by_digit(const struct cpl_move *from, size_t count, int shift, struct cpl_move *to)
{
    size_t next[DIGITS + 1] = {0};

    for (size_t i = 0; i < count; i++) {
        next[(from[i].peer >> shift) % DIGITS + 1]++;
    }
    for (int digit = 1; digit < DIGITS; digit++) {
        next[digit] += next[digit - 1];
    }
    for (size_t i = 0; i < count; i++) {
        to[next[(from[i].peer >> shift) % DIGITS]++] = from[i];
    }
}

/* The largest peer; 0 if the moves are sorted already. */
static int32_t peers_to_sort(const struct cpl_move *moves, size_t count)
{
    int32_t largest = 0;
    bool sorted = true;

    for (size_t i = 0; i < count; i++) {
        sorted = sorted && moves[i].peer >= largest;
        largest = moves[i].peer > largest ? moves[i].peer : largest;
    }
    return sorted ? 0 : largest;
}

/*
 * Sorts by peer, digit by digit, and returns the array that holds the result. A rank has few moves but
 * may have many possible peers: the cost follows the logarithm of their number.
 */
static struct cpl_move *sort_by_peer(struct cpl_move *moves, struct cpl_move *spare, size_t count)
{
    const int32_t largest = peers_to_sort(moves, count);

    for (int shift = 0; largest >> shift > 0; shift += DIGIT_BITS) {
        struct cpl_move *const sorted = spare;

        sort_by_digit(moves, count, shift, sorted);
        spare = moves;
        moves = sorted;
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

static int compare_moves(const void *left, const void *right)
{
    const struct cpl_move *const a = left;
    const struct cpl_move *const b = right;

    return a->src != b->src ? (a->src > b->src) - (a->src < b->src)
                            : (a->dst > b->dst) - (a->dst < b->dst);
}

/*
 * Rows of a partition come in order of the stream on both ends of a message. Where the target
 * overlaps, each end meets the moves in an order of its own; the rows of the owner, which also follow
 * the stream, and then the places they go to, put both in one.
 */
static void agree_on_order(const struct overlay *overlay, struct cpl_move *moves, size_t count)
{
    const bool overlapping = overlay->own->reach != NULL || overlay->other->reach != NULL;

    if (overlapping && count > 1) {
        qsort(moves, count, sizeof(*moves), compare_moves);
    }
}

/* Moves inside the rank (`kept` may be NULL: not wanted) and with its peers. */
static enum cpl_status build_moves(const struct overlay *overlay, struct cpl_arena *arena,
                                   struct cpl_moves *kept, struct cpl_moves *moved,
                                   struct cpl_error *error)
{
    struct listed counted = {.inside = NULL};
    struct listed listed = {.inside = NULL};
    struct cpl_move *spare;
    struct cpl_move *sorted;

    list_moves(overlay, &counted);
    listed.inside = cpl_arena_take_raw(arena, counted.inside_count, sizeof(*listed.inside));
    listed.outside = cpl_arena_take_raw(arena, counted.outside_count, sizeof(*listed.outside));
    spare = cpl_arena_take_raw(arena, counted.outside_count, sizeof(*spare));
    if (listed.inside == NULL || listed.outside == NULL || spare == NULL) {
        return cpl_fail_memory(error);
    }
    list_moves(overlay, &listed);
    agree_on_order(overlay, listed.inside, listed.inside_count);
    agree_on_order(overlay, listed.outside, listed.outside_count);
    sorted = sort_by_peer(listed.outside, spare, listed.outside_count);
    *moved = (struct cpl_moves){.list = sorted, .count = join_moves(sorted, listed.outside_count)};
    if (kept != NULL) {
        *kept = (struct cpl_moves){.list = listed.inside,
                                   .count = join_moves(listed.inside, listed.inside_count)};
    }
    return CPL_OK;
}

static enum cpl_status check_tables(const struct cpl_table *source, const struct cpl_table *target,
                                    struct cpl_error *error)
{
    if (source->ranks != target->ranks || source->stream.rows != target->stream.rows) {
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
    if (!source->partition) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "source",
                              "the source of a route must be a partition");
    }
    return CPL_OK;
}

/* Writes a rank's added padding, moves without a source, behind `before` local rows. */
static size_t write_pads(const struct cpl_table *target, int32_t rank, int64_t before,
                         struct cpl_move *list)
{
    const size_t count = cpl_pieces_count(&target->pads, rank);

    for (size_t i = 0; i < count; i++) {
        const struct cpl_piece *const pad = cpl_pieces_at(&target->pads, rank, i);

        list[i] = (struct cpl_move){.src = -1,
                                    .dst = before + pad->local,
                                    .rows = pad->length,
                                    .peer = rank};
    }
    return count;
}

/* Padding that the target adds on these ranks. */
static enum cpl_status list_pads(struct cpl_moves *moves, const struct cpl_table *target,
                                 struct cpl_ranks ranks, struct cpl_arena *arena,
                                 struct cpl_error *error)
{
    struct cpl_move *list;
    int64_t before = 0;
    size_t count = 0;

    for (int32_t rank = ranks.first; rank < ranks.first + ranks.count; rank++) {
        count += cpl_pieces_count(&target->pads, rank);
    }
    list = cpl_arena_take_raw(arena, count, sizeof(*list));
    if (list == NULL) {
        return cpl_fail_memory(error);
    }
    *moves = (struct cpl_moves){.list = list};
    for (int32_t rank = ranks.first; rank < ranks.first + ranks.count; rank++) {
        moves->count += write_pads(target, rank, before, list + moves->count);
        before += cpl_table_rows(target, rank);
    }
    return CPL_OK;
}

enum cpl_status cpl_route_build(struct cpl_route *route, const struct cpl_table *source,
                                const struct cpl_table *target, int32_t rank,
                                struct cpl_arena *arena, struct cpl_error *error)
{
    const struct overlay incoming = {target, source, rank, true};
    const struct overlay outgoing = {source, target, rank, false};
    enum cpl_status status = check_tables(source, target, error);
    struct cpl_route built = {.rank = rank};

    if (status == CPL_OK) {
        status = build_moves(&incoming, arena, &built.kept, &built.received, error);
    }
    if (status == CPL_OK) {
        status = build_moves(&outgoing, arena, NULL, &built.sent, error);
    }
    if (status == CPL_OK) {
        status = list_pads(&built.pads, target, (struct cpl_ranks){rank, 1}, arena, error);
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

/* Lists one rank's rows of the stream behind `before` local rows. */
static void list_rank(const struct cpl_table *target, int32_t rank, int64_t before,
                      struct listed *listed)
{
    const struct cpl_piece whole = {.length = target->stream.rows, .rank = rank};
    const struct cpl_table stream = {.rows = {.list = &whole, .count = whole.length > 0}};
    const struct overlay overlay = {target, &stream, rank, true};
    const size_t begin = listed->inside_count;

    list_moves(&overlay, listed);
    for (size_t i = begin; i < listed->inside_count && listed->inside != NULL; i++) {
        listed->inside[i].dst += before;
    }
}

static int64_t list_ranks(const struct cpl_table *target, struct cpl_ranks ranks,
                          struct listed *listed)
{
    int64_t rows = 0;

    for (int32_t rank = ranks.first; rank < ranks.first + ranks.count; rank++) {
        list_rank(target, rank, rows, listed);
        rows += cpl_table_rows(target, rank);
    }
    return rows;
}

enum cpl_status cpl_route_from_stream(struct cpl_route *route, const struct cpl_table *target,
                                      struct cpl_ranks ranks, struct cpl_arena *arena,
                                      struct cpl_error *error)
{
    struct cpl_route built = {.rank = ranks.first,
                              .source_rows = target->stream.rows,
                              .target = target->identity};
    struct listed counted = {.inside = NULL};
    struct listed listed = {.inside = NULL};

    (void)list_ranks(target, ranks, &counted);
    listed.inside = cpl_arena_take_raw(arena, counted.inside_count, sizeof(*listed.inside));
    if (listed.inside == NULL) {
        return cpl_fail_memory(error);
    }
    built.target_rows = list_ranks(target, ranks, &listed);
    for (size_t i = 0; i < listed.inside_count; i++) {
        listed.inside[i].peer = ranks.first; /* so that a run over two windows is one */
    }
    built.kept = (struct cpl_moves){.list = listed.inside,
                                    .count = join_moves(listed.inside, listed.inside_count)};
    if (list_pads(&built.pads, target, ranks, arena, error) != CPL_OK) {
        return error->status;
    }
    *route = built;
    return CPL_OK;
}

size_t cpl_moves_of_peer(const struct cpl_moves *moves, size_t begin)
{
    size_t end = begin;

    while (end < moves->count && moves->list[end].peer == moves->list[begin].peer) {
        end++;
    }
    return end - begin;
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

/* Leaves a peer's moves behind. */
static size_t pass(const struct cpl_moves *moves, size_t next, int32_t peer)
{
    while (next < moves->count && moves->list[next].peer == peer) {
        next++;
    }
    return next;
}

int32_t cpl_peers_next(struct cpl_peers *peers)
{
    const struct cpl_moves *const in = &peers->route->received;
    const struct cpl_moves *const out = &peers->route->sent;
    int32_t peer = -1;

    if (peers->received < in->count) {
        peer = in->list[peers->received].peer;
    }
    if (peers->sent < out->count && (peer < 0 || out->list[peers->sent].peer < peer)) {
        peer = out->list[peers->sent].peer;
    }
    peers->received = pass(in, peers->received, peer);
    peers->sent = pass(out, peers->sent, peer);
    return peer;
}

int32_t cpl_route_peers(const struct cpl_route *route)
{
    struct cpl_peers peers = {.route = route};
    int32_t count = 0;

    while (cpl_peers_next(&peers) >= 0) {
        count++;
    }
    return count;
}
