/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator that counts, checks what comes back, and fails where a test wants it to.
 */
#ifndef TESTS_THREADS_COUNTER_H
#define TESTS_THREADS_COUNTER_H

#include <stdatomic.h>

#include <cplayout/host.h>

struct counter {
    atomic_llong calls;
    atomic_llong live;  /* blocks */
    atomic_llong wrong; /* blocks that came back with another size */
    long long fail_at;  /* the call that fails, from 1; 0: none */
};

/* Memory comes full of a pattern: whoever forgets to clear it is found out. */
void *counter_allocate(void *self, uint64_t bytes);
void counter_release(void *self, void *memory, uint64_t bytes);

/* A host record with it. */
struct cplayout_host counter_record(struct counter *counter);

/* Checks that everything came back as it was given. */
void counter_check(struct counter *counter, const char *what);

#endif
