/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carrying the states of a linear recurrence along the chain of parts. No state of its own; the
 * temporary arrays are the run's. One rank, one thread.
 */
#include "chain.h"

#include <string.h>

int chain_own_parts(const struct layer_run *run, int64_t chunk_rows, struct own_parts *own)
{
    const struct shard *shard = run->shard;

    *own = (struct own_parts){.chunk_rows = chunk_rows};
    own->parts = arena_take(run->arena, shard_own_parts(shard), sizeof *own->parts);
    if (layer_memory(run)) {
        return -1;
    }
    for (int64_t p = 0; p < shard->parts; p++) {
        const struct part *part = &shard->chain[p];
        if (part->rank == shard->rank) {
            const int64_t chunks = (part->length + chunk_rows - 1) / chunk_rows;
            own->parts[own->count++] =
                (struct own_part){p, part->local, part->length, own->chunks, chunks};
            own->chunks += chunks;
        }
    }
    return 0;
}

/* What the parts contribute and decay by, and the state each one receives. */
struct folded {
    real *factors;  /* [own parts, heads] */
    real *outgoing; /* [own parts, heads, size] first the contribution, then the state passed on */
    real *incoming; /* the same shape */
};

/* state := factor * state + contribution */
static void advance(real *restrict state, real factor, const real *restrict contribution,
                    int64_t size)
{
    for (int64_t i = 0; i < size; i++) {
        state[i] = factor * state[i] + contribution[i];
    }
}

/* The chunk of a part that comes k-th in the recurrence's direction. */
static int64_t chunk_at(const struct own_part *part, int64_t k, int step)
{
    return part->first_chunk + (step > 0 ? k : part->chunks - 1 - k);
}

static void fold_part(const struct recurrence *r, const struct own_part *part, real *factors,
                      real *state)
{
    for (int64_t h = 0; h < r->heads; h++) {
        factors[h] = 1;
    }
    memset(state, 0, real_bytes(r->heads * r->size));
    for (int64_t k = 0; k < part->chunks; k++) {
        const int64_t at = chunk_at(part, k, r->step) * r->heads;
        for (int64_t h = 0; h < r->heads; h++) {
            advance(state + h * r->size, r->factors[at + h], r->states + (at + h) * r->size,
                    r->size);
            factors[h] *= r->factors[at + h];
        }
    }
}

/* Whether own part i receives a state: the part before it in the recurrence is of its document. */
static bool receives(const struct shard *shard, const struct recurrence *r, int64_t i)
{
    const int64_t index = r->own->parts[i].index;

    return shard_continues(shard, r->step > 0 ? index : index + 1);
}

/* And whether it passes one on. */
static bool passes_on(const struct shard *shard, const struct recurrence *r, int64_t i)
{
    const int64_t index = r->own->parts[i].index;

    return shard_continues(shard, r->step > 0 ? index + 1 : index);
}

/* Fetches the state that reaches own part i: from the part before it in the recurrence. */
static int part_receive(const struct layer_run *run, const struct recurrence *r, int64_t i,
                        const struct folded *folded)
{
    const struct shard *shard = run->shard;
    const int64_t count = r->heads * r->size;
    const int64_t index = r->own->parts[i].index;
    const int64_t source = index - r->step;
    real *state = folded->incoming + i * count;

    if (!receives(shard, r, i)) {
        memset(state, 0, real_bytes(count));
        return 0;
    }
    if (shard->chain[source].rank == shard->rank) {
        memcpy(state, folded->outgoing + (i - r->step) * count, real_bytes(count));
        return 0;
    }
    const struct channel from = {shard->rank, shard->chain[source].rank, (int32_t)index,
                                 COMM_STATE};
    return comm_recv(run->comm, &from, state, real_bytes(count));
}

static int part_send(const struct layer_run *run, const struct recurrence *r, int64_t i,
                     const struct folded *folded)
{
    const struct shard *shard = run->shard;
    const int64_t count = r->heads * r->size;
    const int64_t target = r->own->parts[i].index + r->step;

    if (!passes_on(shard, r, i) || shard->chain[target].rank == shard->rank) {
        return 0;
    }
    const struct channel to = {shard->rank, shard->chain[target].rank, (int32_t)target, COMM_STATE};
    return comm_send(run->comm, &to, folded->outgoing + i * count, real_bytes(count));
}

/* The only part of the recurrence in which ranks wait for each other. */
static int pass_states(const struct layer_run *run, const struct recurrence *r,
                       const struct folded *folded)
{
    const int64_t count = r->heads * r->size;

    for (int64_t k = 0; k < r->own->count; k++) {
        const int64_t i = r->step > 0 ? k : r->own->count - 1 - k;
        if (part_receive(run, r, i, folded)) {
            return -1;
        }
        for (int64_t h = 0; h < r->heads; h++) {
            const real factor = folded->factors[i * r->heads + h];
            const real *incoming = folded->incoming + i * count + h * r->size;
            real *outgoing = folded->outgoing + i * count + h * r->size;
            for (int64_t n = 0; n < r->size; n++) {
                outgoing[n] += factor * incoming[n];
            }
        }
        if (part_send(run, r, i, folded)) {
            return -1;
        }
    }
    return 0;
}

/* state := factor * state + slot; the slot gets the state from before. */
static void exchange_state(real *restrict state, real factor, real *restrict slot, int64_t size)
{
    for (int64_t i = 0; i < size; i++) {
        const real contribution = slot[i];
        slot[i] = state[i];
        state[i] = factor * state[i] + contribution;
    }
}

/* Replaces the contributions of a part's chunks by the states that reach them. */
static void spread_part(const struct recurrence *r, const struct own_part *part, real *state)
{
    for (int64_t k = 0; k < part->chunks; k++) {
        const int64_t at = chunk_at(part, k, r->step) * r->heads;
        for (int64_t h = 0; h < r->heads; h++) {
            exchange_state(state + h * r->size, r->factors[at + h], r->states + (at + h) * r->size,
                           r->size);
        }
    }
}

int chain_recur(const struct layer_run *run, const struct recurrence *r)
{
    const struct own_parts *own = r->own;
    const struct arena_mark mark = arena_mark(run->arena);
    const int64_t count = r->heads * r->size;
    const struct folded folded = {arena_reals(run->arena, own->count * r->heads),
                                  arena_reals(run->arena, own->count * count),
                                  arena_reals(run->arena, own->count * count)};

    if (layer_memory(run)) {
        return -1;
    }
    for (int64_t i = 0; i < own->count; i++) {
        fold_part(r, &own->parts[i], folded.factors + i * r->heads, folded.outgoing + i * count);
    }
    if (pass_states(run, r, &folded)) {
        return -1;
    }
    for (int64_t i = 0; i < own->count; i++) {
        spread_part(r, &own->parts[i], folded.incoming + i * count);
    }
    arena_release(run->arena, mark);
    return 0;
}
