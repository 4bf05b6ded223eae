/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scene: a random pack, a partition of it, and the rows that every rank holds, one by one. What
 * plan/1 derives is compared with what follows from these rows.
 */
#ifndef TESTS_THREADS_SCENE_H
#define TESTS_THREADS_SCENE_H

#include "threads/host.h"

enum { DOCUMENTS_MOST = 6, ROWS_MOST = 400, RANKS_MOST = 24, LIST_MOST = 600 };

/* Where a row of the stream is. */
struct row {
    int64_t document;
    int64_t position;
    int64_t start;  /* of its document */
    int64_t tokens; /* of its document */
};

struct scene {
    char text[160];
    int32_t cu_seqlens[DOCUMENTS_MOST + 1];
    int32_t padded[DOCUMENTS_MOST + 1];
    int64_t documents;
    int64_t rows; /* of the stream */
    struct row stream[ROWS_MOST];
    int32_t cp, tp;
    struct cplayout_partition *partition;
    int64_t held[RANKS_MOST][ROWS_MOST]; /* rows of the stream, -1 padding */
    uint64_t held_rows[RANKS_MOST];
    struct cplayout_error error;
};

/* SplitMix64, from 0 to `most`. */
int64_t scene_draw(uint64_t *seed, int64_t most);

/* Draws ranks and documents of 0 to 12 tokens, some with padding; the rows divide by 2 P T. */
void scene_init(struct scene *scene, uint64_t *seed);

/* Lays it out and reads what the ranks hold; false if the layout does not fit. */
bool scene_open(struct scene *scene, const char *layout);
void scene_close(struct scene *scene);

/* The rows of all ranks of any partition or table with the scene's number of ranks. */
void scene_read(const struct cplayout_partition *partition, int32_t ranks,
                int64_t held[RANKS_MOST][ROWS_MOST], uint64_t rows[RANKS_MOST]);

bool scene_is_token(const struct scene *scene, int64_t row);

#endif
