/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for one rank's activations: taken in order, given back all at once. Blocks stay allocated,
 * so a step that takes what the step before took allocates nothing. An arena belongs to one thread.
 */
#ifndef TRAINER_ARENA_H
#define TRAINER_ARENA_H

#include "real.h"

#include <stdbool.h>

struct arena_block;

/* All zero is an empty arena. `failed` stays set from the first failed take to the next reset. */
struct arena {
    struct arena_block *first, *current;
    bool failed;
};

/* A point to return to. */
struct arena_mark {
    struct arena_block *block;
    size_t used;
};

/* `count` elements of `size` bytes at an address divisible by 64, contents undefined. NULL and
 * `failed` on overflow or lack of memory: take several, then look at `failed` once. */
void *arena_take(struct arena *arena, int64_t count, size_t size);
real *arena_reals(struct arena *arena, int64_t count);
real *arena_zeros(struct arena *arena, int64_t count);

/* Everything taken after the mark is given back by the release. */
struct arena_mark arena_mark(const struct arena *arena);
void arena_release(struct arena *arena, struct arena_mark mark);

/* Gives everything back and clears `failed`; keeps the memory. */
void arena_reset(struct arena *arena);

/* Frees the memory; the arena is empty again. */
void arena_destroy(struct arena *arena);

#endif
