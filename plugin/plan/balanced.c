/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/balanced.h"

#include <stdlib.h>
#include <string.h>

#include "plan/counts.h"
#include "plan/table.h"

/* ---- Work -------------------------------------------------------------------------------------- */

/* Tells the work of all rows before a row; rows are asked for in ascending order. */
struct meter {
    const struct cpl_stream *stream;
    size_t document;
    int64_t before; /* work of the documents before it */
};

static int64_t meter_read(struct meter *meter, int64_t row)
{
    const struct cpl_stream *const stream = meter->stream;
    const struct cpl_document *document = &stream->documents[meter->document];

    while (meter->document < stream->count && document->start + document->length <= row) {
        meter->before += cpl_pairs(0, document->valid);
        meter->document++;
        document++;
    }
    if (meter->document == stream->count || row <= document->start) {
        return meter->before;
    }
    return meter->before + cpl_pairs(0, row - document->start < document->valid
                                            ? row - document->start
                                            : document->valid);
}

/* ---- Swapping ---------------------------------------------------------------------------------- */

/* Consecutive rows of a slice that stay together. */
struct chunk {
    int64_t work;
    int64_t index; /* slice * per_rank + place in the slice */
};

struct balance {
    int32_t cp;
    int64_t slice;      /* rows of a rank */
    int64_t chunk;      /* rows of a chunk */
    int64_t per_rank;   /* chunks; what is left of a slice behind them never moves */
    struct chunk *held; /* [cp, per_rank] by work within a rank */
    int64_t *load;      /* [cp] */
    int64_t total;      /* of load */
    double most;        /* load that is allowed */
    int64_t moved;      /* chunks that are not on their slice's rank */
    int64_t moved_most; /* rows that may move; known if `bounded` */
    bool bounded;
};

static struct chunk *held_by(const struct balance *balance, int32_t rank)
{
    return balance->held + rank * balance->per_rank;
}

static int compare_chunks(const void *left, const void *right)
{
    const struct chunk *const a = left;
    const struct chunk *const b = right;

    return a->work != b->work ? (a->work > b->work) - (a->work < b->work)
                              : (a->index > b->index) - (a->index < b->index);
}

/*
 * Short slices have small chunks, or there would be nothing to swap. Long sequences have large ones: a
 * swap looks at all chunks of two ranks, and there may be as many swaps as chunks.
 */
enum {
    CHUNKS_LEAST = 8, /* of a rank */
    CHUNKS_MOST = 2048,
    CHUNKS_MOST_OF_ALL = 32768,
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void set_sizes(struct balance *balance, const struct cpl_layout *layout,
                      const struct cpl_deck *deck)
{
    const int64_t slice = deck->rows / deck->cp;
    const int64_t most = larger(slice / CHUNKS_LEAST, 1);
    const int64_t least = larger((slice + CHUNKS_MOST - 1) / CHUNKS_MOST,
                                 (deck->rows + CHUNKS_MOST_OF_ALL - 1) / CHUNKS_MOST_OF_ALL);

    balance->cp = deck->cp;
    balance->slice = slice;
    balance->chunk = smaller(larger(smaller(layout->block, most), least), slice);
    balance->per_rank = slice / balance->chunk;
}

static void weigh(struct balance *balance, const struct cpl_stream *stream)
{
    struct meter meter = {.stream = stream};
    int64_t before = 0;

    for (int32_t rank = 0; rank < balance->cp; rank++) {
        const int64_t start = rank * balance->slice;
        const int64_t first = before;

        for (int64_t i = 0; i < balance->per_rank; i++) {
            const int64_t after = meter_read(&meter, start + (i + 1) * balance->chunk);

            held_by(balance, rank)[i] =
                (struct chunk){after - before, rank * balance->per_rank + i};
            before = after;
        }
        before = meter_read(&meter, start + balance->slice);
        balance->load[rank] = before - first;
        qsort(held_by(balance, rank), (size_t)balance->per_rank, sizeof(struct chunk),
              compare_chunks);
    }
    balance->total = before;
}

/* A chunk of the busiest rank and one of the idlest, to change places. */
struct swap {
    int32_t from;
    int32_t to;
    int64_t heavy; /* index in what `from` holds */
    int64_t light; /* and `to` */
    int64_t gain;  /* work that goes over */
};

static void find_ranks(const struct balance *balance, struct swap *swap)
{
    swap->from = 0;
    swap->to = 0;
    for (int32_t rank = 1; rank < balance->cp; rank++) {
        swap->from = balance->load[rank] > balance->load[swap->from] ? rank : swap->from;
        swap->to = balance->load[rank] < balance->load[swap->to] ? rank : swap->to;
    }
}

static int64_t distance(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

/*
 * The pair whose difference is nearest to what should go over. Both lists ascend, so that the light
 * chunk which fits a heavy one best only moves up.
 */
static void find_chunks(const struct balance *balance, int64_t wanted, struct swap *swap)
{
    const struct chunk *const heavy = held_by(balance, swap->from);
    const struct chunk *const light = held_by(balance, swap->to);
    int64_t best = INT64_MAX;
    int64_t j = 0;

    swap->heavy = 0;
    swap->light = 0;
    for (int64_t i = 0; i < balance->per_rank; i++) {
        while (j + 1 < balance->per_rank && distance(heavy[i].work - light[j + 1].work, wanted) <=
                                                distance(heavy[i].work - light[j].work, wanted)) {
            j++;
        }
        if (distance(heavy[i].work - light[j].work, wanted) < best) {
            best = distance(heavy[i].work - light[j].work, wanted);
            swap->heavy = i;
            swap->light = j;
        }
    }
    swap->gain = heavy[swap->heavy].work - light[swap->light].work;
}

/* The next swap; false if none makes it better. */
static bool find_swap(const struct balance *balance, struct swap *swap)
{
    const int64_t mean = balance->total / balance->cp;
    int64_t excess;
    int64_t lack;

    find_ranks(balance, swap);
    if ((double)balance->load[swap->from] <= balance->most) {
        return false;
    }
    excess = balance->load[swap->from] - mean;
    lack = mean - balance->load[swap->to];
    find_chunks(balance, excess < lack ? excess : lack, swap);
    return swap->gain > 0 && swap->gain < balance->load[swap->from] - balance->load[swap->to];
}

/* Puts a chunk in the place of another and keeps the order by work. */
static void replace(const struct balance *balance, int32_t rank, int64_t place, struct chunk chunk)
{
    struct chunk *const held = held_by(balance, rank);

    while (place > 0 && compare_chunks(&held[place - 1], &chunk) > 0) {
        held[place] = held[place - 1];
        place--;
    }
    while (place + 1 < balance->per_rank && compare_chunks(&held[place + 1], &chunk) < 0) {
        held[place] = held[place + 1];
        place++;
    }
    held[place] = chunk;
}

/* Whether a chunk that goes from one rank to another leaves its slice (1) or comes home (-1). */
static int64_t leaves_home(const struct balance *balance, const struct chunk *chunk, int32_t from,
                           int32_t to)
{
    const int64_t home = chunk->index / balance->per_rank;

    return (home == from) - (home == to);
}

static void apply(struct balance *balance, const struct swap *swap)
{
    const struct chunk heavy = held_by(balance, swap->from)[swap->heavy];
    const struct chunk light = held_by(balance, swap->to)[swap->light];

    balance->moved += leaves_home(balance, &heavy, swap->from, swap->to) +
                      leaves_home(balance, &light, swap->to, swap->from);
    replace(balance, swap->from, swap->heavy, light);
    replace(balance, swap->to, swap->light, heavy);
    balance->load[swap->from] -= swap->gain;
    balance->load[swap->to] += swap->gain;
}

/* ---- The bound --------------------------------------------------------------------------------- */

/* Rows that zigzag takes out of their slices. */
static enum cpl_status count_zigzag(const struct cpl_deck *deck, int64_t *moved,
                                    struct cpl_error *error)
{
    struct cpl_stream stream = *deck->stream;
    const struct cpl_shape shape = {.cp = deck->cp, .tp = 1, .stream = &stream};
    const int64_t slice = deck->rows / deck->cp;
    struct cpl_table zigzag;
    enum cpl_status status;

    stream.packed = false; /* lengths that do not divide are padded, and how far does not matter */
    status = cpl_table_build(&zigzag, cpl_layout_find("zigzag"), &shape, deck->arena, error);
    if (status != CPL_OK) {
        return status;
    }
    *moved = deck->rows;
    for (size_t i = 0; i < zigzag.rows.count; i++) {
        const struct cpl_piece *const piece = &zigzag.rows.list[i];
        const int64_t begin = larger(piece->start, piece->rank * slice);
        const int64_t end = smaller(piece->start + piece->length, (piece->rank + 1) * slice);

        *moved -= larger(end - begin, 0);
    }
    return CPL_OK;
}

/* Whether one more swap moves no more than zigzag, which is counted when the first is due. */
static enum cpl_status within_bound(struct balance *balance, const struct cpl_deck *deck,
                                    bool *within, struct cpl_error *error)
{
    enum cpl_status status = CPL_OK;

    if (!balance->bounded) {
        status = count_zigzag(deck, &balance->moved_most, error);
        balance->bounded = status == CPL_OK;
    }
    *within = (balance->moved + 2) * balance->chunk <= balance->moved_most;
    return status;
}

/* ---- Dealing ----------------------------------------------------------------------------------- */

static enum cpl_status swap_chunks(struct balance *balance, const struct cpl_deck *deck,
                                   struct cpl_error *error)
{
    const int64_t swaps_most = balance->per_rank * balance->cp;
    enum cpl_status status = CPL_OK;
    bool within = true;
    struct swap swap;

    /* Every swap takes from the busiest rank less than would make the idlest busier than it. */
    for (int64_t i = 0; i < swaps_most && find_swap(balance, &swap); i++) {
        status = within_bound(balance, deck, &within, error);
        if (status != CPL_OK || !within) {
            break;
        }
        apply(balance, &swap);
    }
    return status;
}

static void deal_chunks(const struct balance *balance, const int32_t *owner,
                        struct cpl_dealer *dealer)
{
    const int64_t left = balance->slice - balance->per_rank * balance->chunk;

    for (int32_t rank = 0; rank < balance->cp; rank++) {
        for (int64_t i = 0; i < balance->per_rank; i++) {
            cpl_deal(dealer, owner[rank * balance->per_rank + i], balance->chunk);
        }
        cpl_deal(dealer, rank, left);
    }
}

static void find_owners(const struct balance *balance, int32_t *owner)
{
    for (int32_t rank = 0; rank < balance->cp; rank++) {
        for (int64_t i = 0; i < balance->per_rank; i++) {
            owner[held_by(balance, rank)[i].index] = rank;
        }
    }
}

enum cpl_status cpl_balanced_deal(const struct cpl_layout *layout, const struct cpl_deck *deck,
                                  struct cpl_dealer *dealer, struct cpl_error *error)
{
    struct balance balance = {.cp = 0};
    int32_t *owner;
    enum cpl_status status;

    if (deck->rows == 0) {
        return CPL_OK;
    }
    set_sizes(&balance, layout, deck);
    owner =
        cpl_arena_take_raw(deck->arena, (size_t)(balance.per_rank * balance.cp), sizeof(*owner));
    balance.held = cpl_arena_take_raw(deck->arena, (size_t)(balance.per_rank * balance.cp),
                                      sizeof(*balance.held));
    balance.load = cpl_arena_take(deck->arena, (size_t)balance.cp, sizeof(*balance.load));
    if (owner == NULL || balance.held == NULL || balance.load == NULL) {
        return cpl_fail_memory(error);
    }
    weigh(&balance, deck->stream);
    balance.most = (double)balance.total / balance.cp * (1 + layout->tolerance);
    status = swap_chunks(&balance, deck, error);
    if (status == CPL_OK) {
        find_owners(&balance, owner);
        deal_chunks(&balance, owner, dealer);
    }
    return status;
}
