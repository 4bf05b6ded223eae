/* SPDX-License-Identifier: Apache-2.0 */
#include "threads/counter.h"

#include <stdlib.h>
#include <string.h>

#include "threads/host.h"

enum { HEAD_BYTES = 16 };

void *counter_allocate(void *self, uint64_t bytes)
{
    struct counter *const counter = self;
    const long long call = atomic_fetch_add(&counter->calls, 1) + 1;
    unsigned char *memory = NULL;

    if (call != counter->fail_at) {
        memory = malloc(HEAD_BYTES + (size_t)bytes);
    }
    if (memory == NULL) {
        return NULL;
    }
    memset(memory, 0xa5, HEAD_BYTES + (size_t)bytes);
    memcpy(memory, &bytes, sizeof(bytes));
    (void)atomic_fetch_add(&counter->live, 1);
    return memory + HEAD_BYTES;
}

void counter_release(void *self, void *memory, uint64_t bytes)
{
    struct counter *const counter = self;
    unsigned char *const start = (unsigned char *)memory - HEAD_BYTES;
    uint64_t asked;

    memcpy(&asked, start, sizeof(asked));
    (void)atomic_fetch_add(&counter->wrong, asked != bytes);
    (void)atomic_fetch_sub(&counter->live, 1);
    free(start);
}

struct cplayout_host counter_record(struct counter *counter)
{
    struct cplayout_host record = host_record();

    record.allocate = counter_allocate;
    record.release = counter_release;
    record.allocator_self = counter;
    return record;
}

void counter_check(struct counter *counter, const char *what)
{
    CHECK(atomic_load(&counter->live) == 0, "%s: %lld blocks are lost", what,
          atomic_load(&counter->live));
    CHECK(atomic_load(&counter->wrong) == 0, "%s: %lld blocks came back with another size", what,
          atomic_load(&counter->wrong));
}
