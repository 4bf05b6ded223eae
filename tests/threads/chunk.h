/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model chunk through the hooks: all layers forward and backward, each byte of every tensor against
 * the oracles, and what `conversion` tells before each call.
 */
#ifndef TESTS_THREADS_CHUNK_H
#define TESTS_THREADS_CHUNK_H

#include "threads/block.h"
#include "threads/deal.h"
#include "threads/host.h"

/* One configuration and a batch. Layouts are indices of deal_names. */
struct chunk {
    int32_t linear;
    int32_t attention;
    int32_t boundary;
    const char *pattern;
    const struct deal *deal;
    int32_t first_form; /* forms to run: count of them, from here on, in a circle */
    int32_t form_count;
};

/* All forms on one rank, whose context and schedule are made. Makes a batch and destroys it. */
void chunk_run(const struct chunk *chunk, struct seat *seat);

/* The same on a world of its own. */
void chunk_test(const struct chunk *chunk, enum transport transport);

#endif
