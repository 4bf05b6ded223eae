/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdbool.h>
#include <string.h>

enum { BLOCK_BYTES = 16384, ALIGNMENT = 16 };

struct cpl_arena_block {
    struct cpl_arena_block *next;
    size_t capacity; /* of bytes */
    size_t used;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

void cpl_arena_init(struct cpl_arena *arena, const struct cpl_allocator *allocator)
{
    *arena = (struct cpl_arena){.allocator = *allocator};
}

static struct cpl_arena_block *block_create(const struct cpl_arena *arena, size_t bytes)
{
    const size_t capacity = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    const size_t head = sizeof(struct cpl_arena_block);
    struct cpl_arena_block *block;

    block = arena->allocator.allocate(arena->allocator.self, head + capacity);
    if (block != NULL) {
        block->next = NULL;
        block->capacity = capacity;
        block->used = 0;
    }
    return block;
}

static void *block_take(struct cpl_arena_block *block, size_t bytes)
{
    unsigned char *taken;

    if (block == NULL || block->capacity - block->used < bytes) {
        return NULL;
    }
    taken = block->bytes + block->used;
    block->used += bytes;
    return taken;
}

/* Puts a block that holds `bytes` behind the current one and makes it the current one. */
static bool arena_grow(struct cpl_arena *arena, size_t bytes)
{
    struct cpl_arena_block *block = block_create(arena, bytes);

    if (block == NULL) {
        return false;
    }
    if (arena->current == NULL) {
        block->next = arena->first;
        arena->first = block;
    } else {
        block->next = arena->current->next;
        arena->current->next = block;
    }
    arena->current = block;
    return true;
}

void *cpl_arena_take_raw(struct cpl_arena *arena, size_t count, size_t bytes)
{
    size_t total;
    void *taken;

    if (__builtin_mul_overflow(count, bytes, &total) || total > SIZE_MAX / 2) {
        return NULL;
    }
    total = (total + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    while ((taken = block_take(arena->current, total)) == NULL) {
        if (arena->current != NULL && arena->current->next != NULL) {
            arena->current = arena->current->next;
        } else if (!arena_grow(arena, total)) {
            return NULL;
        }
    }
    return taken;
}

void *cpl_arena_take(struct cpl_arena *arena, size_t count, size_t bytes)
{
    void *const taken = cpl_arena_take_raw(arena, count, bytes);

    return taken != NULL ? memset(taken, 0, count * bytes) : NULL;
}

static void free_blocks(struct cpl_arena *arena)
{
    struct cpl_arena_block *block = arena->first;

    while (block != NULL) {
        struct cpl_arena_block *const next = block->next;

        arena->allocator.release(arena->allocator.self, block,
                                 sizeof(struct cpl_arena_block) + block->capacity);
        block = next;
    }
    arena->first = NULL;
}

/*
 * One block for all that was taken, and a quarter more: needs that change a little from use to use
 * would otherwise add a block each time that the largest of them grows.
 */
static void merge_blocks(struct cpl_arena *arena)
{
    struct cpl_arena_block *merged;
    size_t used = 0;

    for (const struct cpl_arena_block *block = arena->first; block != NULL; block = block->next) {
        used += block->used;
    }
    merged = block_create(arena, used + used / 4);
    if (merged != NULL) {
        free_blocks(arena);
        arena->first = merged;
    }
}

void cpl_arena_reset(struct cpl_arena *arena)
{
    if (arena->first != NULL && arena->first->next != NULL) {
        merge_blocks(arena);
    }
    for (struct cpl_arena_block *block = arena->first; block != NULL; block = block->next) {
        block->used = 0;
    }
    arena->current = arena->first;
}

void cpl_arena_fini(struct cpl_arena *arena)
{
    free_blocks(arena);
    arena->current = NULL;
}
