/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream that layouts cut: documents back to back, each with its physical rows, of which the
 * first `valid` are real tokens and the rest is padding that the source already had. A dense sequence
 * is one document. Immutable once built; its memory is the arena's.
 */
#ifndef CPL_PLAN_STREAM_H
#define CPL_PLAN_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

struct cpl_document {
    int64_t start;  /* first row in the stream */
    int64_t length; /* physical rows, >= valid */
    int64_t valid;  /* real tokens; 0 for an empty document */
};

struct cpl_stream {
    const struct cpl_document *documents; /* [count], in order, without gaps */
    size_t count;
    int64_t rows;   /* physical */
    int64_t tokens; /* valid */
    bool packed;    /* documents pad on their own; a dense sequence must divide as it is */
};

/* Offsets of one sample, as hosts have them; [entries] int32 each. */
struct cpl_lengths {
    const int32_t *cu_seqlens;
    const int32_t *cu_seqlens_padded; /* NULL: equal to cu_seqlens */
    size_t entries;                   /* documents + 1 */
};

/* One document of `tokens`, which have been checked. Errors: MEMORY. */
enum cpl_status cpl_stream_dense(struct cpl_stream *stream, int64_t tokens, struct cpl_arena *arena,
                                 struct cpl_error *error);

/*
 * Samples one after the other, joined by their physical offsets. Errors: ARGUMENT (too few entries,
 * first not 0, decreasing, padded shorter than real, together above 2^31 - 1), MEMORY.
 */
enum cpl_status cpl_stream_packed(struct cpl_stream *stream, const struct cpl_lengths *samples,
                                  size_t count, struct cpl_arena *arena, struct cpl_error *error);

/* Index of the first document that ends behind a row of the stream. */
size_t cpl_stream_find(const struct cpl_stream *stream, int64_t row);

/* Whether two streams have the same documents. */
bool cpl_stream_equal(const struct cpl_stream *a, const struct cpl_stream *b);

#endif
