/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buffer.h"

/* Growing by at least a half keeps slowly rising needs from allocating every time. */
static size_t grown(size_t capacity, size_t needed)
{
    const size_t more = capacity + capacity / 2;

    return needed > more ? needed : more;
}

void *cpl_buffer_reserve(struct cpl_buffer *buffer, size_t count, size_t bytes)
{
    const struct cpl_allocator *const allocator = &buffer->allocator;
    size_t needed;

    if (__builtin_mul_overflow(count, bytes, &needed) || needed > SIZE_MAX / 4) {
        return NULL;
    }
    needed = needed > 0 ? needed : 1;
    if (needed > buffer->capacity) {
        const size_t capacity = grown(buffer->capacity, needed);

        cpl_buffer_fini(buffer);
        buffer->data = allocator->allocate(allocator->self, capacity);
        buffer->capacity = buffer->data != NULL ? capacity : 0;
    }
    return buffer->data;
}

void cpl_buffer_fini(struct cpl_buffer *buffer)
{
    cpl_release(&buffer->allocator, buffer->data, 1, buffer->capacity);
    buffer->data = NULL;
    buffer->capacity = 0;
}
