/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The convolution of the linear attention layers and the halo it needs. For every part of the
 * chain, all ranks walk over the same pieces in the same order: a piece is a run of halo rows that
 * one earlier part supplies. No state; one rank, one thread.
 */
#include "conv.h"

#include <string.h>

/* Halo rows of a part, supplied by one earlier part. */
struct piece {
    int64_t part, supplier; /* in the chain */
    int64_t rows;
    int64_t first;  /* row on the supplying rank */
    int64_t target; /* row among the own halo rows of the receiving rank */
};

/* A walk over all pieces of the chain. */
struct halo {
    const struct layer_run *run;
    int64_t width, channels; /* rows of a halo, row length */
    const real *x;           /* forward: this rank's rows, ... */
    real *blocks;            /* ... copied to [own parts][width, channels] */
    const real *dblocks;     /* backward: the gradient of `blocks`, ... */
    real *dx;                /* ... added to that of x */
    real *arrival;           /* [width, channels] a received gradient */
    bool backward;
};

static int halo_send(const struct halo *h, const struct channel *to, const real *rows,
                     int64_t count)
{
    return comm_send(h->run->comm, to, rows, real_bytes(count));
}

/* to += factor * from, element by element. */
static void add_product(real *restrict to, const real *restrict factor, const real *restrict from,
                        int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        to[i] += factor[i] * from[i];
    }
}

static void add(real *restrict to, const real *restrict from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        to[i] += from[i];
    }
}

/* Forward: the supplier's rows are copied into the halo. */
static int piece_forward(const struct halo *h, const struct piece *piece, bool sending)
{
    const struct shard *shard = h->run->shard;
    const int32_t owner = shard->chain[piece->part].rank;
    const int32_t supplier = shard->chain[piece->supplier].rank;
    const int64_t count = piece->rows * h->channels;
    const real *from = h->x + piece->first * h->channels;
    real *to = h->blocks + piece->target * h->channels;
    struct channel channel = {shard->rank, owner, (int32_t)piece->part, COMM_HALO};

    if (sending) {
        const bool due = supplier == shard->rank && owner != shard->rank;
        return due ? halo_send(h, &channel, from, count) : 0;
    }
    if (owner != shard->rank) {
        return 0;
    }
    if (supplier == shard->rank) {
        memcpy(to, from, real_bytes(count));
        return 0;
    }
    channel.peer = supplier;
    return comm_recv(h->run->comm, &channel, to, real_bytes(count));
}

/* Backward: the halo's gradients are added to the supplier's. */
static int piece_backward(const struct halo *h, const struct piece *piece, bool sending)
{
    const struct shard *shard = h->run->shard;
    const int32_t owner = shard->chain[piece->part].rank;
    const int32_t supplier = shard->chain[piece->supplier].rank;
    const int64_t count = piece->rows * h->channels;
    const real *from = h->dblocks + piece->target * h->channels;
    real *to = h->dx + piece->first * h->channels;
    struct channel channel = {shard->rank, supplier, (int32_t)piece->part, COMM_HALO};

    if (sending) {
        const bool due = owner == shard->rank && supplier != shard->rank;
        return due ? halo_send(h, &channel, from, count) : 0;
    }
    if (supplier != shard->rank) {
        return 0;
    }
    if (owner != shard->rank) {
        channel.peer = owner;
        if (comm_recv(h->run->comm, &channel, h->arrival, real_bytes(count))) {
            return -1;
        }
        from = h->arrival;
    }
    add(to, from, count);
    return 0;
}

/* The pieces of one part, from the nearest supplier to the furthest; `block` counts own parts. */
static int part_pieces(const struct halo *h, int64_t part, int64_t block, bool sending)
{
    const struct part *chain = h->run->shard->chain;
    const int64_t available = chain[part].position;
    int64_t missing = available < h->width ? available : h->width;
    int64_t end = (block + 1) * h->width;

    for (int64_t s = part - 1; s >= 0 && missing > 0; s--) {
        const int64_t rows = chain[s].length < missing ? chain[s].length : missing;
        const int64_t first = chain[s].local + chain[s].length - rows;
        const struct piece piece = {part, s, rows, first, end - rows};
        if (h->backward ? piece_backward(h, &piece, sending) : piece_forward(h, &piece, sending)) {
            return -1;
        }
        missing -= rows;
        end -= rows;
    }
    return 0;
}

/* First all sends, then all receipts, so that no rank waits for one that waits for it. */
static int halo_exchange(const struct halo *h)
{
    const struct shard *shard = h->run->shard;

    for (int pass = 0; pass < 2; pass++) {
        int64_t block = 0;
        for (int64_t p = 0; p < shard->parts; p++) {
            if (part_pieces(h, p, block, pass == 0)) {
                return -1;
            }
            block += shard->chain[p].rank == shard->rank;
        }
    }
    return 0;
}

/* An own part: its first row on this rank, and the end of its halo block, in rows. */
struct place {
    int64_t local, rows, halo_end;
};

/* Goes on to part p if it is an own one. */
static bool next_place(const struct shard *shard, int64_t p, int64_t width, struct place *place)
{
    if (shard->chain[p].rank != shard->rank) {
        return false;
    }
    place->local = shard->chain[p].local;
    place->rows = shard->chain[p].length;
    place->halo_end += width;
    return true;
}

/* y := bias + sum_j weight[j] x[t - taps + 1 + j]; rows before the part's first are in the halo. */
static void row_forward(const struct conv *conv, const struct conv_saved *saved,
                        const struct place *place, int64_t t, real *y)
{
    const int64_t width = conv->channels;
    const real *halo = saved->halo + place->halo_end * width;
    const real *inside = saved->x + place->local * width;

    memcpy(y, conv->bias, real_bytes(width));
    for (int64_t j = 0; j < conv->taps; j++) {
        const int64_t at = t - conv->taps + 1 + j;
        const real *x = (at < 0 ? halo : inside) + at * width;
        add_product(y, conv->weight + j * width, x, width);
    }
}

static void part_forward(const struct conv *conv, const struct conv_saved *saved,
                         const struct place *place)
{
    for (int64_t t = 0; t < place->rows; t++) {
        real *y = saved->y + (place->local + t) * conv->channels;
        real *sigmoid = saved->sigmoid + (place->local + t) * conv->channels;
        row_forward(conv, saved, place, t, y);
        for (int64_t c = 0; c < conv->channels; c++) {
            sigmoid[c] = real_sigmoid(y[c]);
        }
        for (int64_t c = 0; c < conv->channels; c++) {
            y[c] *= sigmoid[c];
        }
    }
}

int conv_forward(const struct layer_run *run, const struct conv *conv, const real *x,
                 struct conv_saved *saved)
{
    const struct shard *shard = run->shard;
    const int64_t width = conv->taps - 1;
    const int64_t count = shard->rows * conv->channels;
    const int64_t own = shard_own_parts(shard);

    *saved = (struct conv_saved){
        .x = x,
        .halo = arena_zeros(run->arena, own * width * conv->channels),
        .sigmoid = arena_zeros(run->arena, count), /* padding is in no part */
        .y = arena_zeros(run->arena, count),
    };
    if (layer_memory(run)) {
        return -1;
    }
    const struct halo halo = {.run = run,
                              .width = width,
                              .channels = conv->channels,
                              .x = x,
                              .blocks = saved->halo};
    if (halo_exchange(&halo)) {
        return -1;
    }
    struct place place = {0};
    for (int64_t p = 0; p < shard->parts; p++) {
        if (next_place(shard, p, width, &place)) {
            part_forward(conv, saved, &place);
        }
    }
    return 0;
}

/* dy := dy silu'(pre); with y = pre s, silu'(pre) = s (1 + pre (1 - s)) = s + y (1 - s). */
static void silu_backward(int64_t count, const struct conv_saved *saved, real *dy)
{
    for (int64_t i = 0; i < count; i++) {
        dy[i] *= saved->sigmoid[i] + saved->y[i] * (1 - saved->sigmoid[i]);
    }
}

/* The gradients of one part's rows: of the weights, of x, and of the part's halo rows. */
static void part_backward(const struct conv *conv, const struct conv_saved *saved,
                          const struct place *place, const real *dy, const struct conv_gradient *g,
                          real *dhalo)
{
    const int64_t width = conv->channels;

    for (int64_t i = 0; i < place->rows * conv->taps; i++) {
        const int64_t t = i / conv->taps;
        const int64_t j = i % conv->taps;
        const int64_t at = t - conv->taps + 1 + j;
        const int64_t offset = ((at < 0 ? place->halo_end : place->local) + at) * width;
        const real *x = (at < 0 ? saved->halo : saved->x) + offset;
        const real *d = dy + (place->local + t) * width;
        add_product(g->dweight + j * width, d, x, width);
        add_product((at < 0 ? dhalo : g->dx) + offset, conv->weight + j * width, d, width);
    }
    for (int64_t t = 0; t < place->rows; t++) {
        add(g->dbias, dy + (place->local + t) * width, width);
    }
}

int conv_backward(const struct layer_run *run, const struct conv *conv,
                  const struct conv_saved *saved, real *dy, struct conv_gradient gradient)
{
    const struct shard *shard = run->shard;
    const struct arena_mark mark = arena_mark(run->arena);
    const int64_t width = conv->taps - 1;
    const int64_t block = width * conv->channels;
    real *dhalo = arena_zeros(run->arena, shard_own_parts(shard) * block);
    const struct halo halo = {.run = run,
                              .width = width,
                              .channels = conv->channels,
                              .dblocks = dhalo,
                              .dx = gradient.dx,
                              .arrival = arena_reals(run->arena, block),
                              .backward = true};
    struct place place = {0};

    if (layer_memory(run)) {
        return -1;
    }
    silu_backward(shard->rows * conv->channels, saved, dy);
    for (int64_t p = 0; p < shard->parts; p++) {
        if (next_place(shard, p, width, &place)) {
            part_backward(conv, saved, &place, dy, &gradient, dhalo);
        }
    }
    const int status = halo_exchange(&halo);
    arena_release(run->arena, mark);
    return status;
}
