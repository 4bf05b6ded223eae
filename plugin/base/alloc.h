/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the plugin: every byte comes from the host's allocator, malloc by default.
 */
#ifndef CPL_BASE_ALLOC_H
#define CPL_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

struct cpl_allocator {
    void *(*allocate)(void *self, uint64_t bytes);
    void (*release)(void *self, void *memory, uint64_t bytes);
    void *self;
};

/* malloc and free. */
struct cpl_allocator cpl_allocator_default(void);

/* Zeroed memory for `count` objects of `bytes` each; NULL if there is none or the size overflows. */
void *cpl_allocate(const struct cpl_allocator *allocator, size_t count, size_t bytes);

/* `count` and `bytes` as they were asked for. NULL is allowed. */
void cpl_release(const struct cpl_allocator *allocator, void *memory, size_t count, size_t bytes);

#endif
