/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gathering rows into global order and summing gradients back. The order by rank, in which rows
 * travel, is found from the chain of parts. No state; one rank, one thread.
 */
#include "gather.h"

#include <string.h>

/* Rows in the order of the ranks (each rank's in its local order) against rows in global order. */
struct order {
    const struct shard *shard;
    int64_t width;  /* row length */
    int64_t *first; /* [ranks] a rank's first row in rank order */
    int64_t *rows;  /* [ranks] padding included */
    int64_t sum;    /* of rows */
};

/* Rows of every rank, as the shard or else its parts say. */
static void count_rows(const struct shard *shard, int64_t *rows)
{
    if (shard->rows_of) {
        memcpy(rows, shard->rows_of, (size_t)shard->ranks * sizeof *rows);
        return;
    }
    memset(rows, 0, (size_t)shard->ranks * sizeof *rows);
    for (int64_t p = 0; p < shard->parts; p++) {
        rows[shard->chain[p].rank] += shard->chain[p].length;
    }
}

static int order_make(const struct layer_run *run, int64_t width, struct order *order)
{
    const struct shard *shard = run->shard;

    *order = (struct order){
        .shard = shard,
        .width = width,
        .first = arena_take(run->arena, shard->ranks, sizeof *order->first),
        .rows = arena_take(run->arena, shard->ranks, sizeof *order->rows),
    };
    if (layer_memory(run)) {
        return -1;
    }
    count_rows(shard, order->rows);
    for (int32_t r = 0; r < shard->ranks; r++) {
        order->first[r] = order->sum;
        order->sum += order->rows[r];
    }
    return 0;
}

static void order_to_global(const struct order *order, const real *by_rank, real *global)
{
    for (int64_t p = 0; p < order->shard->parts; p++) {
        const struct part *part = &order->shard->chain[p];
        memcpy(global + part->start * order->width,
               by_rank + (order->first[part->rank] + part->local) * order->width,
               real_bytes(part->length * order->width));
    }
}

static void order_to_ranks(const struct order *order, const real *global, real *by_rank)
{
    for (int64_t p = 0; p < order->shard->parts; p++) {
        const struct part *part = &order->shard->chain[p];
        memcpy(by_rank + (order->first[part->rank] + part->local) * order->width,
               global + part->start * order->width, real_bytes(part->length * order->width));
    }
}

int gather_rows(const struct layer_run *run, int64_t width, const real *own, real *global)
{
    const struct arena_mark mark = arena_mark(run->arena);
    const int32_t ranks = run->shard->ranks;
    struct order order;

    if (order_make(run, width, &order)) {
        return -1;
    }
    size_t *bytes = arena_take(run->arena, ranks, sizeof *bytes);
    real *by_rank = arena_reals(run->arena, order.sum * width);
    if (layer_memory(run)) {
        return -1;
    }
    for (int32_t r = 0; r < ranks; r++) {
        bytes[r] = real_bytes(order.rows[r] * width);
    }
    if (comm_allgather(run->comm, run->shard->rank, COMM_ATTENTION, own, bytes, by_rank)) {
        return -1;
    }
    order_to_global(&order, by_rank, global);
    arena_release(run->arena, mark);
    return 0;
}

int gather_rows_backward(const struct layer_run *run, int64_t width, const real *dglobal,
                         real *down)
{
    const struct arena_mark mark = arena_mark(run->arena);
    const int32_t ranks = run->shard->ranks;
    struct order order;

    if (order_make(run, width, &order)) {
        return -1;
    }
    int64_t *counts = arena_take(run->arena, ranks, sizeof *counts);
    real *by_rank = arena_zeros(run->arena, order.sum * width);
    if (layer_memory(run)) {
        return -1;
    }
    for (int32_t r = 0; r < ranks; r++) {
        counts[r] = order.rows[r] * width;
    }
    order_to_ranks(&order, dglobal, by_rank);
    if (comm_reduce_scatter(run->comm, run->shard->rank, COMM_ATTENTION, by_rank, counts, down)) {
        return -1;
    }
    arena_release(run->arena, mark);
    return 0;
}
