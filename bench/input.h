/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What plans are made for: a dense sequence, or a pack of document lengths from a file.
 */
#ifndef BENCH_INPUT_H
#define BENCH_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum {
    TOKENS = 131072, /* of dense sequences */
    PACK_TOKENS_MOST = 1 << 20,
    PACK_RANKS_MOST = 64,
    DOCUMENTS_MOST = 4000, /* lines of a data file */
};

/* A sequence or a pack, and the memory of its plans. */
struct input {
    const char *name;
    int32_t tokens;
    int32_t cp;
    int32_t tp;
    int32_t *cu_seqlens; /* NULL: dense */
    size_t documents;
    struct cpl_arena arena;
};

/* A dense sequence. The allocator serves the arena. */
void input_init(struct input *input, const char *name, int32_t cp,
                const struct cpl_allocator *allocator);
void input_fini(struct input *input);

/* The first pack of a file: lengths in order until it is full, the last one clipped. */
void input_read(struct input *input, const char *path);

/* P * T */
int32_t input_ranks(const struct input *input);

#endif
