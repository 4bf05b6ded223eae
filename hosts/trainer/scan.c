/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chunkwise scan over this rank's rows: what every chunk contributes, the states along the chain
 * of parts (chain.c), then the outputs; backward the same in the opposite direction. No state; one
 * rank, one thread.
 */
#include "scan.h"

#include "chunk.h"

static struct scratch scratch_take(const struct layer_run *run, int64_t head_dim)
{
    return (struct scratch){arena_reals(run->arena, CHUNK * CHUNK),
                            arena_reals(run->arena, CHUNK * CHUNK),
                            arena_reals(run->arena, CHUNK * head_dim)};
}

/* Loads the n-th pair of chunk and head of this rank, all heads of a chunk after another. */
static void load_pair(const struct scan *scan, const struct own_parts *own, int64_t n,
                      struct chunk *chunk)
{
    const struct own_part *part = own->parts;
    const int64_t c = n / scan->heads;

    while (c >= part->first_chunk + part->chunks) {
        part++;
    }
    chunk_load(scan, part, c - part->first_chunk, n % scan->heads, chunk);
}

int scan_forward(const struct layer_run *run, const struct scan *scan, real *y,
                 struct scan_saved *saved)
{
    const int64_t size = scan->head_dim * scan->head_dim;
    struct chunk chunk;

    if (chain_own_parts(run, CHUNK, &saved->own)) {
        return -1;
    }
    const int64_t pairs = saved->own.chunks * scan->heads;
    saved->states = arena_reals(run->arena, pairs * size);
    saved->factors = arena_reals(run->arena, pairs);
    const struct arena_mark mark = arena_mark(run->arena);
    const struct scratch scratch = scratch_take(run, scan->head_dim);
    if (layer_memory(run)) {
        return -1;
    }
    for (int64_t n = 0; n < pairs; n++) {
        load_pair(scan, &saved->own, n, &chunk);
        chunk_contribution(scan, &chunk, scratch, saved);
    }
    const struct recurrence recurrence = {&saved->own,    scan->heads,   size,
                                          saved->factors, saved->states, 1};
    if (chain_recur(run, &recurrence)) {
        return -1;
    }
    for (int64_t n = 0; n < pairs; n++) {
        load_pair(scan, &saved->own, n, &chunk);
        chunk_output(scan, &chunk, scratch, saved, y);
    }
    arena_release(run->arena, mark);
    return 0;
}

int scan_backward(const struct layer_run *run, const struct scan *scan,
                  const struct scan_saved *saved, const real *dy,
                  const struct scan_gradient *gradient)
{
    const struct own_parts *own = &saved->own;
    const int64_t size = scan->head_dim * scan->head_dim;
    const int64_t pairs = own->chunks * scan->heads;
    const struct arena_mark mark = arena_mark(run->arena);
    real *dstates = arena_reals(run->arena, pairs * size);
    const struct scratch scratch = scratch_take(run, scan->head_dim);
    const struct scan_flow flow = {dy, saved->states, dstates};
    struct chunk chunk;

    if (layer_memory(run)) {
        return -1;
    }
    for (int64_t n = 0; n < pairs; n++) {
        load_pair(scan, own, n, &chunk);
        chunk_contribution_backward(scan, &chunk, scratch, dy, dstates);
    }
    const struct recurrence recurrence = {own, scan->heads, size, saved->factors, dstates, -1};
    if (chain_recur(run, &recurrence)) {
        return -1;
    }
    for (int64_t n = 0; n < pairs; n++) {
        load_pair(scan, own, n, &chunk);
        chunk_backward(scan, &chunk, scratch, &flow, gradient);
    }
    arena_release(run->arena, mark);
    return 0;
}
