/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static void *malloc_bytes(void *self, uint64_t bytes)
{
    (void)self;
    return malloc((size_t)bytes);
}

static void free_bytes(void *self, void *memory, uint64_t bytes)
{
    (void)self;
    (void)bytes;
    free(memory);
}

struct cpl_allocator cpl_allocator_default(void)
{
    return (struct cpl_allocator){.allocate = malloc_bytes, .release = free_bytes};
}

void *cpl_allocate(const struct cpl_allocator *allocator, size_t count, size_t bytes)
{
    void *memory;
    size_t total;

    if (__builtin_mul_overflow(count, bytes, &total)) {
        return NULL;
    }
    total = total > 0 ? total : 1;
    memory = allocator->allocate(allocator->self, total);
    if (memory != NULL) {
        memset(memory, 0, total);
    }
    return memory;
}

void cpl_release(const struct cpl_allocator *allocator, void *memory, size_t count, size_t bytes)
{
    if (memory != NULL) {
        allocator->release(allocator->self, memory, count * bytes > 0 ? count * bytes : 1);
    }
}
