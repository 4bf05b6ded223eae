/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena: memory that is taken piece by piece and given back all at once. Whoever builds tables
 * owns one. A reset makes one block of all that was needed, which then serves again and again: a
 * caller with steady needs stops allocating after the second use. One thread at a time.
 */
#ifndef CPL_BASE_ARENA_H
#define CPL_BASE_ARENA_H

#include "base/alloc.h"

struct cpl_arena_block;

struct cpl_arena {
    struct cpl_allocator allocator;
    struct cpl_arena_block *first; /* blocks in order of use */
    struct cpl_arena_block *current;
};

void cpl_arena_init(struct cpl_arena *arena, const struct cpl_allocator *allocator);

/* Zeroed memory, aligned to 16 bytes, until the next reset; NULL if there is none. */
void *cpl_arena_take(struct cpl_arena *arena, size_t count, size_t bytes);

/* The same with any content, for arrays that are written before they are read. */
void *cpl_arena_take_raw(struct cpl_arena *arena, size_t count, size_t bytes);

/* Everything taken is given up; the memory is kept. */
void cpl_arena_reset(struct cpl_arena *arena);

/* Gives the blocks back. A zeroed arena is allowed. */
void cpl_arena_fini(struct cpl_arena *arena);

#endif
