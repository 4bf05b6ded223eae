/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/table.h"

#include <inttypes.h>

#include "base/hash.h"

/* ---- What pieces and tables share -------------------------------------------------------------- */

size_t cpl_pieces_count(const struct cpl_pieces *pieces, int32_t rank)
{
    return pieces->first[rank + 1] - pieces->first[rank];
}

const struct cpl_piece *cpl_pieces_at(const struct cpl_pieces *pieces, int32_t rank, size_t index)
{
    return &pieces->list[pieces->of_rank[pieces->first[rank] + index]];
}

/* Lists pieces by rank, in the order in which they come. */
static enum cpl_status index_ranks(struct cpl_pieces *pieces, const struct cpl_hand *hand,
                                   size_t ranks, struct cpl_arena *arena, struct cpl_error *error)
{
    uint32_t *const first = cpl_arena_take(arena, ranks + 2, sizeof(*first));
    uint32_t *const of_rank = cpl_arena_take_raw(arena, hand->count, sizeof(*of_rank));

    if (first == NULL || of_rank == NULL) {
        return cpl_fail_memory(error);
    }
    *pieces = (struct cpl_pieces){.list = hand->pieces,
                                  .count = hand->count,
                                  .of_rank = of_rank,
                                  .first = first};
    if (hand->count == 0) {
        return CPL_OK; /* all ranks begin and end at 0 */
    }
    /* Counted two places ahead; placing moves every border to where its rank begins. */
    for (size_t i = 0; i < hand->count; i++) {
        first[hand->pieces[i].rank + 2]++;
    }
    for (size_t rank = 2; rank < ranks + 2; rank++) {
        first[rank] += first[rank - 1];
    }
    for (size_t i = 0; i < hand->count; i++) {
        of_rank[first[hand->pieces[i].rank + 1]++] = (uint32_t)i;
    }
    return CPL_OK;
}

/*
 * The sum of the pieces' hashes: unlike links of a chain they do not wait for each other, and the
 * order of a list follows from its pieces.
 */
static uint64_t hash_pieces(uint64_t hash, const struct cpl_pieces *pieces)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < pieces->count; i++) {
        const struct cpl_piece *const piece = &pieces->list[i];

        sum += cpl_hash_pair((uint64_t)piece->start ^ (uint64_t)piece->local << 32,
                             (uint64_t)piece->length ^ (uint64_t)piece->rank << 32);
    }
    return cpl_hash_word(cpl_hash_word(hash, sum), pieces->count);
}

static uint64_t identify(const struct cpl_table *table)
{
    uint64_t hash = cpl_hash_word(CPL_HASH_SEED, (uint64_t)table->ranks);

    for (size_t i = 0; i < table->stream.count; i++) {
        const struct cpl_document *const document = &table->stream.documents[i];

        hash = cpl_hash_word(hash, (uint64_t)document->length << 32 ^ (uint64_t)document->valid);
    }
    hash = hash_pieces(hash, &table->rows);
    hash = hash_pieces(hash, &table->pads);
    return hash != 0 ? hash : 1;
}

enum cpl_status cpl_table_finish(struct cpl_table *table, const struct cpl_hand *rows,
                                 const struct cpl_hand *pads, struct cpl_arena *arena,
                                 struct cpl_error *error)
{
    enum cpl_status status = index_ranks(&table->rows, rows, (size_t)table->ranks, arena, error);

    if (status == CPL_OK) {
        status = index_ranks(&table->pads, pads, (size_t)table->ranks, arena, error);
    }
    if (status == CPL_OK) {
        table->identity = identify(table);
    }
    return status;
}

/* ---- Partitions -------------------------------------------------------------------------------- */

/*
 * How often `chunks` (1 or 2) rows must be added to a multiple of it until `multiple` divides the sum.
 * There is an answer: a distance that is odd in spite of even rows has an odd `multiple`.
 */
static int64_t units_missing(int64_t rows, int64_t chunks, int64_t multiple)
{
    const int64_t distance = (multiple - rows % multiple) % multiple;

    return (distance % chunks == 0 ? distance : distance + multiple) / chunks;
}

/*
 * Offsets of the documents with the layout's padding: each is rounded up to whole chunks on every
 * rank, then whole units are added to the last one, even an empty one, until the rows of a
 * context-parallel rank divide into its windows and are a multiple of the row unit.
 */
static enum cpl_status pad_documents(struct cpl_table *table, const struct cpl_layout *layout,
                                     const struct cpl_shape *shape, struct cpl_arena *arena,
                                     struct cpl_error *error)
{
    const struct cpl_stream *const stream = &table->stream;
    const bool pads = cpl_layout_deals_documents(layout, table->cp);
    const int64_t unit = pads ? (int64_t)table->cp * layout->chunks : 1;
    int64_t *const offsets = cpl_arena_take(arena, stream->count + 1, sizeof(*offsets));
    int64_t end = 0;

    if (offsets == NULL) {
        return cpl_fail_memory(error);
    }
    for (size_t i = 0; i < stream->count; i++) {
        end += (stream->documents[i].length + unit - 1) / unit * unit;
        offsets[i + 1] = end;
    }
    if (pads) {
        end += unit * units_missing(end / table->cp, layout->chunks, cpl_rows_unit(shape));
    }
    offsets[stream->count] = end;
    if (stream->packed && end > INT32_MAX) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "cu_seqlens",
                              "layout '%s' pads the documents to %" PRId64
                              " rows; offsets are int32, at most %" PRId32,
                              layout->name, end, INT32_MAX);
    }
    table->padded = offsets;
    return CPL_OK;
}

/*
 * Room for the pieces as most layouts need it: chunks of all documents, and one cut per border between
 * two windows. The others grow.
 */
static enum cpl_status make_room(const struct cpl_table *table, const struct cpl_layout *layout,
                                 struct cpl_dealer *dealer, struct cpl_arena *arena,
                                 struct cpl_error *error)
{
    const size_t documents =
        cpl_layout_deals_documents(layout, table->cp) ? table->stream.count : 1;
    const size_t chunks = documents * (size_t)layout->chunks * (size_t)table->cp;
    const size_t most = chunks + (size_t)table->cp * (size_t)(table->tp - 1);
    const size_t rows = (size_t)table->stream.rows;
    const size_t pads = (size_t)table->padded[table->stream.count] - rows;

    dealer->arena = arena;
    dealer->rows.room = most < rows ? most : rows;
    dealer->pads.room = most < pads ? most : pads;
    dealer->rows.pieces =
        cpl_arena_take_raw(arena, dealer->rows.room, sizeof(*dealer->rows.pieces));
    dealer->pads.pieces =
        cpl_arena_take_raw(arena, dealer->pads.room, sizeof(*dealer->pads.pieces));
    dealer->last_pad =
        cpl_arena_take(arena, pads > 0 ? (size_t)table->ranks : 0, sizeof(*dealer->last_pad));
    dealer->next = cpl_arena_take(arena, (size_t)table->cp, sizeof(*dealer->next));
    if (dealer->rows.pieces == NULL || dealer->pads.pieces == NULL || dealer->last_pad == NULL ||
        dealer->next == NULL) {
        return cpl_fail_memory(error);
    }
    for (int32_t cp_rank = 0; cp_rank < table->cp; cp_rank++) {
        dealer->next[cp_rank].rank = cp_rank * table->tp;
    }
    return CPL_OK;
}

static enum cpl_status deal_documents(const struct cpl_table *table,
                                      const struct cpl_layout *layout, struct cpl_dealer *dealer,
                                      struct cpl_error *error)
{
    struct cpl_deck deck = {.cp = table->cp, .stream = &table->stream, .arena = dealer->arena};
    enum cpl_status status = CPL_OK;

    for (size_t i = 0; i < table->stream.count && status == CPL_OK; i++) {
        deck.rows = table->padded[i + 1] - table->padded[i];
        dealer->end += table->stream.documents[i].length;
        status = layout->deal(layout, &deck, dealer, error);
    }
    return status;
}

static enum cpl_status deal_stream(const struct cpl_table *table, const struct cpl_layout *layout,
                                   struct cpl_dealer *dealer, struct cpl_error *error)
{
    const struct cpl_deck deck = {.rows = table->stream.rows,
                                  .cp = table->cp,
                                  .stream = &table->stream,
                                  .arena = dealer->arena};

    dealer->end = table->stream.rows;
    if (table->cp > 1) {
        return layout->deal(layout, &deck, dealer, error);
    }
    cpl_deal(dealer, 0, table->stream.rows);
    return CPL_OK;
}

static enum cpl_status deal_all(const struct cpl_table *table, const struct cpl_layout *layout,
                                struct cpl_dealer *dealer, struct cpl_error *error)
{
    const enum cpl_status status = cpl_layout_deals_documents(layout, table->cp)
                                       ? deal_documents(table, layout, dealer, error)
                                       : deal_stream(table, layout, dealer, error);

    return status == CPL_OK && dealer->failed ? cpl_fail_memory(error) : status;
}

enum cpl_status cpl_table_build(struct cpl_table *table, const struct cpl_layout *layout,
                                const struct cpl_shape *shape, struct cpl_arena *arena,
                                struct cpl_error *error)
{
    struct cpl_table built = {.cp = shape->cp, .tp = shape->tp, .partition = true};
    struct cpl_dealer dealer = {.position = 0};
    enum cpl_status status = cpl_shape_check(layout, shape, error);

    if (status != CPL_OK) {
        return status;
    }
    built.ranks = shape->cp * shape->tp;
    built.by_document = cpl_layout_deals_documents(layout, shape->cp);
    if (shape->stream != NULL) {
        built.stream = *shape->stream;
    } else {
        status = cpl_stream_dense(&built.stream, shape->tokens, arena, error);
    }
    if (status == CPL_OK) {
        status = pad_documents(&built, layout, shape, arena, error);
    }
    if (status == CPL_OK) {
        status = make_room(&built, layout, &dealer, arena, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    dealer.window = built.padded[built.stream.count] / built.ranks;
    status = deal_all(&built, layout, &dealer, error);
    if (status == CPL_OK) {
        status = cpl_table_finish(&built, &dealer.rows, &dealer.pads, arena, error);
    }
    if (status == CPL_OK) {
        *table = built;
    }
    return status;
}

/* ---- Queries ----------------------------------------------------------------------------------- */

static int64_t pieces_end(const struct cpl_pieces *pieces, int32_t rank)
{
    const size_t count = cpl_pieces_count(pieces, rank);
    int64_t end = 0;

    for (size_t i = 0; i < count; i++) {
        const struct cpl_piece *const piece = cpl_pieces_at(pieces, rank, i);

        end = piece->local + piece->length > end ? piece->local + piece->length : end;
    }
    return end;
}

int64_t cpl_table_rows(const struct cpl_table *table, int32_t rank)
{
    int64_t rows;
    int64_t pads;

    if (table->wanted == NULL) {
        return table->padded[table->stream.count] / table->ranks; /* all windows are alike */
    }
    rows = pieces_end(&table->rows, rank);
    pads = pieces_end(&table->pads, rank);
    return rows > pads ? rows : pads;
}

static const struct cpl_piece *next_of(const struct cpl_pieces *pieces, int32_t rank, size_t index)
{
    return index < cpl_pieces_count(pieces, rank) ? cpl_pieces_at(pieces, rank, index) : NULL;
}

/* One piece, rows and padding interleaved; false at the end. */
static bool read_piece(struct cpl_fragment_reader *reader, struct cpl_fragment *fragment)
{
    const struct cpl_table *const table = reader->table;
    const struct cpl_piece *const row = next_of(&table->rows, reader->rank, reader->row);
    const struct cpl_piece *const pad = next_of(&table->pads, reader->rank, reader->pad);
    const bool takes_row = row != NULL && (pad == NULL || row->local < pad->local);

    if (row == NULL && pad == NULL) {
        return false;
    }
    *fragment = takes_row ? (struct cpl_fragment){row->start, row->length}
                          : (struct cpl_fragment){-1, pad->length};
    reader->row += takes_row;
    reader->pad += !takes_row;
    return true;
}

/* The same where a table remembers what was asked for. */
static bool read_wanted(struct cpl_fragment_reader *reader, struct cpl_fragment *fragment)
{
    const struct cpl_table *const table = reader->table;
    const size_t index = table->wanted_first[reader->rank] + reader->row;

    if (index == table->wanted_first[reader->rank + 1]) {
        return false;
    }
    *fragment = table->wanted[index];
    reader->row++;
    return true;
}

static bool continues(const struct cpl_fragment *last, const struct cpl_fragment *next)
{
    return next->start == -1 ? last->start == -1
                             : last->start >= 0 && last->start + last->length == next->start;
}

static bool read_any(struct cpl_fragment_reader *reader, struct cpl_fragment *fragment)
{
    return reader->table->wanted != NULL ? read_wanted(reader, fragment)
                                         : read_piece(reader, fragment);
}

bool cpl_fragment_next(struct cpl_fragment_reader *reader, struct cpl_fragment *fragment)
{
    struct cpl_fragment next;

    if (reader->ahead.length == 0 && !read_any(reader, &reader->ahead)) {
        return false;
    }
    *fragment = reader->ahead;
    reader->ahead.length = 0;
    while (read_any(reader, &next)) {
        if (!continues(fragment, &next)) {
            reader->ahead = next;
            break;
        }
        fragment->length += next.length;
    }
    return true;
}

size_t cpl_table_fragments(const struct cpl_table *table, int32_t rank,
                           struct cpl_fragment *fragments, size_t capacity)
{
    struct cpl_fragment_reader reader = {.table = table, .rank = rank};
    struct cpl_fragment fragment;
    size_t count = 0;

    for (; cpl_fragment_next(&reader, &fragment); count++) {
        if (count < capacity) {
            fragments[count] = fragment;
        }
    }
    return count;
}

size_t cpl_table_find(const struct cpl_table *table, int64_t position)
{
    size_t low = 0;
    size_t high = table->rows.count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct cpl_piece *const piece = &table->rows.list[middle];
        const int64_t end =
            table->reach != NULL ? table->reach[middle] : piece->start + piece->length;

        if (end <= position) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
