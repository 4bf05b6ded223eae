/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena: a list of blocks, filled from the first to the last. A block that has no room for a
 * take is left behind; releasing a mark makes the blocks after it free again. One thread only.
 */
#include "arena.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, BLOCK_BYTES = 1 << 22 };

struct arena_block {
    struct arena_block *next;
    unsigned char *data;
    size_t size, used;
};

static struct arena_block *block_create(size_t least)
{
    const size_t size = least > BLOCK_BYTES ? least : BLOCK_BYTES;
    struct arena_block *block = calloc(1, sizeof *block);

    if (!block) {
        return NULL;
    }
    block->data = aligned_alloc(ALIGNMENT, size);
    if (!block->data) {
        free(block);
        return NULL;
    }
    block->size = size;
    return block;
}

/* Makes `current` a block with room for `bytes`; false when there is no memory. */
static bool make_room(struct arena *arena, size_t bytes)
{
    struct arena_block *here = arena->current;
    struct arena_block *next = here ? here->next : arena->first;

    if (here && here->size - here->used >= bytes) {
        return true;
    }
    if (!next || next->size < bytes) {
        struct arena_block *fresh = block_create(bytes);
        if (!fresh) {
            return false;
        }
        fresh->next = next;
        *(here ? &here->next : &arena->first) = fresh;
        next = fresh;
    }
    next->used = 0;
    arena->current = next;
    return true;
}

void *arena_take(struct arena *arena, int64_t count, size_t size)
{
    size_t bytes;

    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) ||
        bytes > SIZE_MAX - ALIGNMENT) {
        arena->failed = true;
        return NULL;
    }
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!make_room(arena, bytes)) {
        arena->failed = true;
        return NULL;
    }
    void *taken = arena->current->data + arena->current->used;
    arena->current->used += bytes;
    return taken;
}

real *arena_reals(struct arena *arena, int64_t count)
{
    return arena_take(arena, count, sizeof(real));
}

real *arena_zeros(struct arena *arena, int64_t count)
{
    real *taken = arena_reals(arena, count);

    if (taken) {
        memset(taken, 0, real_bytes(count));
    }
    return taken;
}

struct arena_mark arena_mark(const struct arena *arena)
{
    struct arena_block *block = arena->current;

    return (struct arena_mark){block, block ? block->used : 0};
}

void arena_release(struct arena *arena, struct arena_mark mark)
{
    arena->current = mark.block;
    if (mark.block) {
        mark.block->used = mark.used;
    }
}

void arena_reset(struct arena *arena)
{
    arena_release(arena, (struct arena_mark){NULL, 0});
    arena->failed = false;
}

void arena_destroy(struct arena *arena)
{
    struct arena_block *block = arena->first;

    while (block) {
        struct arena_block *next = block->next;
        free(block->data);
        free(block);
        block = next;
    }
    *arena = (struct arena){0};
}
