/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the unit tests share: an allocator that counts and fails on request, an arena that runs out
 * when it is told to, and a look at the numbers that a message names.
 */
#ifndef TESTS_UNIT_SUPPORT_H
#define TESTS_UNIT_SUPPORT_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* Counts of one allocator. Zero it, and set fail_at if a call is to fail. */
struct counted {
    uint64_t fail_at; /* the call that fails, from 1; 0 = none */
    uint64_t calls;
    uint64_t bytes; /* asked for so far */
    int64_t live;   /* blocks out */
    uint64_t wrong; /* releases with another size than was asked for */
};

enum { COUNTED_HEAD = 16 };

/* Memory comes full of a pattern, so that whoever forgets to clear it is found out. */
static inline void *counted_allocate(void *self, uint64_t bytes)
{
    struct counted *const counted = self;
    unsigned char *memory;

    if (++counted->calls == counted->fail_at) {
        return NULL;
    }
    memory = malloc(COUNTED_HEAD + (size_t)bytes);
    if (memory == NULL) {
        return NULL;
    }
    memset(memory, 0xa5, COUNTED_HEAD + (size_t)bytes);
    memcpy(memory, &bytes, sizeof(bytes));
    counted->bytes += bytes;
    counted->live++;
    return memory + COUNTED_HEAD;
}

static inline void counted_release(void *self, void *memory, uint64_t bytes)
{
    struct counted *const counted = self;
    unsigned char *const start = (unsigned char *)memory - COUNTED_HEAD;
    uint64_t asked;

    memcpy(&asked, start, sizeof(asked));
    counted->wrong += asked != bytes;
    counted->live--;
    free(start);
}

static inline struct cpl_allocator counted_allocator(struct counted *counted)
{
    return (struct cpl_allocator){
        .allocate = counted_allocate,
        .release = counted_release,
        .self = counted,
    };
}

/*
 * Begins an arena that has `spare` bytes left and whose allocator fails from then on. With more and
 * more to spare, one taking after the other is the first that fails.
 */
static inline void arena_begin_short(struct cpl_arena *arena, struct counted *counted, size_t spare)
{
    const struct cpl_allocator allocator = counted_allocator(counted);
    size_t capacity = 0;

    cpl_arena_init(arena, &allocator);
    (void)cpl_arena_take(arena, 1, 16);
    counted->fail_at = counted->calls + 1;
    while (cpl_arena_take(arena, 1, 16) != NULL) {
        capacity += 16;
    }
    cpl_arena_reset(arena);
    (void)cpl_arena_take(arena, 1, capacity + 16 - spare);
    counted->fail_at = counted->calls + 1;
}

/* Whether a message holds the number as a word of its own, not as part of a longer one. */
static inline bool message_names(const char *message, int64_t number)
{
    char text[32];
    const size_t length = (size_t)snprintf(text, sizeof(text), "%" PRId64, number);
    const char *found = message;

    while ((found = strstr(found, text)) != NULL) {
        const char before = found > message ? found[-1] : ' ';
        const char after = found[length];

        if ((before < '0' || before > '9') && (after < '0' || after > '9')) {
            return true;
        }
        found++;
    }
    return false;
}

#endif
