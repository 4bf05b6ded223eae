/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/table.h"

#include "base/hash.h"

/* Most pieces a layout can make: its chunks, and one cut per border between two windows. */
static size_t pieces_most(const struct cpl_layout *layout, const struct cpl_shape *shape)
{
    return (size_t)shape->cp * (size_t)(layout->chunks + shape->tp - 1);
}

/* Lists the pieces by rank. They come in global order, which within a rank is its local order. */
static enum cpl_status index_ranks(struct cpl_table *table, struct cpl_arena *arena,
                                   struct cpl_error *error)
{
    const size_t ranks = (size_t)table->ranks;
    uint32_t *const first = cpl_arena_take(arena, ranks + 2, sizeof(*first));
    uint32_t *const of_rank = cpl_arena_take(arena, table->count, sizeof(*of_rank));

    if (first == NULL || of_rank == NULL) {
        return cpl_fail_memory(error);
    }
    /* Counted two places ahead; placing moves every border to where its rank begins. */
    for (size_t i = 0; i < table->count; i++) {
        first[table->pieces[i].rank + 2]++;
    }
    for (size_t rank = 2; rank < ranks + 2; rank++) {
        first[rank] += first[rank - 1];
    }
    for (size_t i = 0; i < table->count; i++) {
        of_rank[first[table->pieces[i].rank + 1]++] = (uint32_t)i;
    }
    table->first = first;
    table->of_rank = of_rank;
    return CPL_OK;
}

static uint64_t identify(const struct cpl_table *table)
{
    uint64_t hash = cpl_hash_word(CPL_HASH_SEED, (uint64_t)table->shape.tokens);

    hash = cpl_hash_word(hash, (uint64_t)table->ranks);
    for (size_t i = 0; i < table->count; i++) {
        const struct cpl_piece *const piece = &table->pieces[i];

        hash = cpl_hash_word(hash, (uint64_t)piece->start);
        hash = cpl_hash_word(hash, (uint64_t)piece->length);
        hash = cpl_hash_word(hash, (uint64_t)piece->local);
        hash = cpl_hash_word(hash, (uint64_t)piece->rank);
    }
    return hash != 0 ? hash : 1;
}

enum cpl_status cpl_table_build(struct cpl_table *table, const struct cpl_layout *layout,
                                const struct cpl_shape *shape, struct cpl_arena *arena,
                                struct cpl_error *error)
{
    struct cpl_table built = {.shape = *shape};
    struct cpl_dealer dealer = {.tp = shape->tp};
    enum cpl_status status = cpl_shape_check(layout, shape, error);
    size_t most;

    if (status != CPL_OK) {
        return status;
    }
    most = pieces_most(layout, shape);
    built.ranks = shape->cp * shape->tp;
    dealer.window = shape->tokens / built.ranks;
    dealer.pieces = cpl_arena_take(arena, most, sizeof(*dealer.pieces));
    dealer.held = cpl_arena_take(arena, (size_t)shape->cp, sizeof(*dealer.held));
    if (dealer.pieces == NULL || dealer.held == NULL) {
        return cpl_fail_memory(error);
    }
    if (shape->cp == 1) {
        cpl_deal(&dealer, 0, shape->tokens); /* one rank: all layouts are the same partition */
    } else {
        layout->deal(shape, &dealer);
    }
    built.pieces = dealer.pieces;
    built.count = dealer.count;
    status = index_ranks(&built, arena, error);
    if (status == CPL_OK) {
        built.identity = identify(&built);
        *table = built;
    }
    return status;
}

size_t cpl_table_pieces(const struct cpl_table *table, int32_t rank)
{
    return table->first[rank + 1] - table->first[rank];
}

const struct cpl_piece *cpl_table_piece(const struct cpl_table *table, int32_t rank, size_t index)
{
    return &table->pieces[table->of_rank[table->first[rank] + index]];
}

int64_t cpl_table_rows(const struct cpl_table *table, int32_t rank)
{
    const size_t count = cpl_table_pieces(table, rank);
    const struct cpl_piece *last;

    if (count == 0) {
        return 0;
    }
    last = cpl_table_piece(table, rank, count - 1);
    return last->local + last->length;
}

size_t cpl_table_find(const struct cpl_table *table, int64_t position)
{
    size_t low = 0;
    size_t high = table->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (table->pieces[middle].start + table->pieces[middle].length <= position) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
