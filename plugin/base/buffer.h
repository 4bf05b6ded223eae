/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A buffer: one piece of memory that grows to the largest need and stays. Its content does not
 * survive growing. Zeroed but for the allocator it is empty.
 */
#ifndef CPL_BASE_BUFFER_H
#define CPL_BASE_BUFFER_H

#include "base/alloc.h"

struct cpl_buffer {
    struct cpl_allocator allocator;
    void *data; /* NULL while empty; aligned to 16 bytes */
    size_t capacity;
};

/* Room for `count` objects of `bytes` each, with any content; NULL if there is none. */
void *cpl_buffer_reserve(struct cpl_buffer *buffer, size_t count, size_t bytes);

/* Gives the memory back. */
void cpl_buffer_fini(struct cpl_buffer *buffer);

#endif
