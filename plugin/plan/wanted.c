/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/wanted.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static enum cpl_status check_fragment(const struct cpl_stream *stream,
                                      const struct cpl_fragment *fragment, int32_t rank,
                                      size_t index, struct cpl_error *error)
{
    const bool padding = fragment->start == -1;

    if (fragment->length < 1 ||
        (!padding && (fragment->start < 0 || fragment->start > stream->rows - fragment->length))) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "fragments",
                              "fragment %zu of rank %d is (%" PRId64 ", %" PRId64
                              "); the stream has %" PRId64 " rows, padding starts at -1",
                              index, rank, fragment->start, fragment->length, stream->rows);
    }
    return CPL_OK;
}

/* Adds a piece, or lengthens the one before it if it goes on there: how it was asked for is all one. */
static void want_piece(struct cpl_hand *hand, const struct cpl_piece *piece)
{
    struct cpl_piece *const last = hand->count > 0 ? &hand->pieces[hand->count - 1] : NULL;
    const bool follows = last != NULL && last->rank == piece->rank &&
                         last->local + last->length == piece->local &&
                         (piece->start == -1 || last->start + last->length == piece->start);

    if (follows) {
        last->length += piece->length;
    } else {
        hand->pieces[hand->count++] = *piece;
    }
}

/* Turns fragments into pieces. */
struct maker {
    const struct cpl_stream *stream;
    struct cpl_dealer *dealer;
    int64_t total; /* rows of all ranks so far */
};

static enum cpl_status want_rank(struct maker *maker, const struct cpl_fragment *fragments,
                                 size_t count, int32_t rank, struct cpl_error *error)
{
    const int64_t before = maker->total;

    for (size_t i = 0; i < count; i++) {
        const struct cpl_piece piece = {
            .start = fragments[i].start,
            .length = fragments[i].length,
            .local = maker->total - before,
            .rank = rank,
        };
        const enum cpl_status status = check_fragment(maker->stream, &fragments[i], rank, i, error);

        if (status != CPL_OK) {
            return status;
        }
        if (__builtin_add_overflow(maker->total, piece.length, &maker->total)) {
            return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "fragments",
                                  "the rows of all ranks overflow at fragment %zu of rank %d", i,
                                  rank);
        }
        want_piece(piece.start == -1 ? &maker->dealer->pads : &maker->dealer->rows, &piece);
    }
    return CPL_OK;
}

/* `before` gets the rows of all ranks before each one. */
static enum cpl_status want_all(const struct cpl_table *table, const struct cpl_wanted *wanted,
                                struct cpl_dealer *dealer, int64_t *before, struct cpl_error *error)
{
    const struct cpl_fragment *fragments = wanted->fragments;
    struct maker maker = {.stream = &table->stream, .dealer = dealer};
    enum cpl_status status = CPL_OK;

    for (int32_t rank = 0; rank < table->ranks && status == CPL_OK; rank++) {
        const size_t count = wanted->counts[rank];

        status = want_rank(&maker, fragments, count, rank, error);
        fragments += count;
        before[rank + 1] = maker.total;
    }
    return status;
}

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* By start; equal ones by rank and local row, so that every rank sorts alike. */
static int compare_pieces(const void *left, const void *right)
{
    const struct cpl_piece *const a = left;
    const struct cpl_piece *const b = right;

    if (a->start != b->start) {
        return compare(a->start, b->start);
    }
    return a->rank != b->rank ? compare(a->rank, b->rank) : compare(a->local, b->local);
}

/* The furthest end so far: what a search by position goes by when pieces overlap. */
static const int64_t *reach_of(const struct cpl_hand *hand, struct cpl_arena *arena)
{
    int64_t *const reach = cpl_arena_take(arena, hand->count, sizeof(*reach));
    int64_t furthest = 0;

    for (size_t i = 0; i < hand->count && reach != NULL; i++) {
        const int64_t end = hand->pieces[i].start + hand->pieces[i].length;

        furthest = end > furthest ? end : furthest;
        reach[i] = furthest;
    }
    return reach;
}

/* Copies what is asked for, so that fragments can be told in the order asked. */
static enum cpl_status remember(struct cpl_table *table, const struct cpl_wanted *wanted,
                                size_t total, struct cpl_arena *arena, struct cpl_error *error)
{
    struct cpl_fragment *const copy = cpl_arena_take(arena, total, sizeof(*copy));
    size_t *const first = cpl_arena_take(arena, (size_t)table->ranks + 1, sizeof(*first));

    if (copy == NULL || first == NULL) {
        return cpl_fail_memory(error);
    }
    if (total > 0) {
        memcpy(copy, wanted->fragments, total * sizeof(*copy));
    }
    for (int32_t rank = 0; rank < table->ranks; rank++) {
        first[rank + 1] = first[rank] + wanted->counts[rank];
    }
    table->wanted = copy;
    table->wanted_first = first;
    return CPL_OK;
}

static enum cpl_status count_all(const struct cpl_wanted *wanted, int32_t ranks, size_t *total,
                                 struct cpl_error *error)
{
    *total = 0;
    for (int32_t rank = 0; rank < ranks; rank++) {
        if (__builtin_add_overflow(*total, wanted->counts[rank], total) || *total > UINT32_MAX) {
            return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "fragments",
                                  "more than %" PRIu32 " fragments up to rank %d", UINT32_MAX,
                                  rank);
        }
    }
    return CPL_OK;
}

enum cpl_status cpl_wanted_build(struct cpl_table *table, const struct cpl_table *partition,
                                 const struct cpl_wanted *wanted, struct cpl_arena *arena,
                                 struct cpl_error *error)
{
    struct cpl_table built = {.stream = partition->stream,
                              .cp = partition->cp,
                              .tp = partition->tp,
                              .ranks = partition->ranks,
                              .padded = partition->padded};
    struct cpl_dealer dealer = {.position = 0};
    int64_t *const before = cpl_arena_take(arena, (size_t)built.ranks + 1, sizeof(*before));
    size_t total;
    enum cpl_status status = count_all(wanted, built.ranks, &total, error);

    if (status == CPL_OK) {
        status = remember(&built, wanted, total, arena, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    dealer.rows.pieces = cpl_arena_take(arena, total, sizeof(*dealer.rows.pieces));
    dealer.pads.pieces = cpl_arena_take(arena, total, sizeof(*dealer.pads.pieces));
    if (dealer.rows.pieces == NULL || dealer.pads.pieces == NULL || before == NULL) {
        return cpl_fail_memory(error);
    }
    status = want_all(&built, wanted, &dealer, before, error);
    if (status != CPL_OK) {
        return status;
    }
    qsort(dealer.rows.pieces, dealer.rows.count, sizeof(*dealer.rows.pieces), compare_pieces);
    built.rows_before = before;
    built.reach = reach_of(&dealer.rows, arena);
    status = built.reach != NULL
                 ? cpl_table_finish(&built, &dealer.rows, &dealer.pads, arena, error)
                 : cpl_fail_memory(error);
    if (status == CPL_OK) {
        *table = built;
    }
    return status;
}

/* ---- Partitions -------------------------------------------------------------------------------- */

/* Pieces come by start: each must begin where the one before it ends. */
static enum cpl_status check_cover(const struct cpl_table *table, struct cpl_error *error)
{
    int64_t next = 0;
    int32_t holder = -1;

    for (size_t i = 0; i < table->rows.count; i++) {
        const struct cpl_piece *const piece = &table->rows.list[i];

        if (piece->start > next) {
            break;
        }
        if (piece->start < next) {
            return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "table",
                                  "row %" PRId64
                                  " is held twice, by rank %d and rank %d; a partition "
                                  "holds every row once",
                                  piece->start, holder, piece->rank);
        }
        next = piece->start + piece->length;
        holder = piece->rank;
    }
    return next == table->stream.rows ? CPL_OK
                                      : cpl_fail_field(error, CPL_ERROR_ARGUMENT, "table",
                                                       "row %" PRId64 " of %" PRId64
                                                       " is held by no rank; a partition holds "
                                                       "every row once",
                                                       next, table->stream.rows);
}

static int compare_indices(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

/* A context-parallel rank's pieces follow rank by rank; here its T ranks' are in the list's order. */
static enum cpl_status index_cp_ranks(struct cpl_table *table, struct cpl_arena *arena,
                                      struct cpl_error *error)
{
    const struct cpl_pieces *const rows = &table->rows;
    uint32_t *const indices = cpl_arena_take_raw(arena, rows->count, sizeof(*indices));

    if (indices == NULL) {
        return cpl_fail_memory(error);
    }
    if (rows->count > 0) {
        memcpy(indices, rows->of_rank, rows->count * sizeof(*indices));
    }
    for (int32_t rank = 0; table->tp > 1 && rank < table->ranks; rank += table->tp) {
        qsort(indices + rows->first[rank], rows->first[rank + table->tp] - rows->first[rank],
              sizeof(*indices), compare_indices);
    }
    table->of_cp_rank = indices;
    return CPL_OK;
}

/* The host pads as it likes; documents keep their offsets. */
static enum cpl_status keep_offsets(struct cpl_table *table, struct cpl_arena *arena,
                                    struct cpl_error *error)
{
    int64_t *const offsets = cpl_arena_take(arena, table->stream.count + 1, sizeof(*offsets));

    if (offsets == NULL) {
        return cpl_fail_memory(error);
    }
    for (size_t i = 0; i < table->stream.count; i++) {
        offsets[i + 1] = table->stream.documents[i].start + table->stream.documents[i].length;
    }
    table->padded = offsets;
    return CPL_OK;
}

static enum cpl_status take_stream(struct cpl_table *table, const struct cpl_shape *shape,
                                   struct cpl_arena *arena, struct cpl_error *error)
{
    if (shape->stream == NULL) {
        return cpl_stream_dense(&table->stream, shape->tokens, arena, error);
    }
    table->stream = *shape->stream;
    return CPL_OK;
}

enum cpl_status cpl_wanted_partition(struct cpl_table *table, const struct cpl_shape *shape,
                                     const struct cpl_wanted *wanted, struct cpl_arena *arena,
                                     struct cpl_error *error)
{
    struct cpl_table base = {.cp = shape->cp, .tp = shape->tp};
    struct cpl_table built;
    enum cpl_status status = cpl_ranks_check(shape, error);

    if (status == CPL_OK) {
        base.ranks = shape->cp * shape->tp;
        status = take_stream(&base, shape, arena, error);
    }
    if (status == CPL_OK) {
        status = keep_offsets(&base, arena, error);
    }
    if (status == CPL_OK) {
        status = cpl_wanted_build(&built, &base, wanted, arena, error);
    }
    if (status == CPL_OK) {
        status = check_cover(&built, error);
    }
    if (status == CPL_OK) {
        status = index_cp_ranks(&built, arena, error);
    }
    if (status == CPL_OK) {
        built.partition = true;
        *table = built;
    }
    return status;
}
