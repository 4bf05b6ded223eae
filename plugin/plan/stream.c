/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/stream.h"

#include <inttypes.h>
#include <string.h>

enum cpl_status cpl_stream_dense(struct cpl_stream *stream, int64_t tokens, struct cpl_arena *arena,
                                 struct cpl_error *error)
{
    struct cpl_document *document;

    document = cpl_arena_take(arena, 1, sizeof(*document));
    if (document == NULL) {
        return cpl_fail_memory(error);
    }
    *document = (struct cpl_document){.length = tokens, .valid = tokens};
    *stream =
        (struct cpl_stream){.documents = document, .count = 1, .rows = tokens, .tokens = tokens};
    return CPL_OK;
}

/* Where a message comes from: which array of which sample. */
struct offsets {
    const int32_t *values;
    const char *name;
    size_t entries;
    size_t sample;
};

static enum cpl_status check_offsets(const struct offsets *offsets, struct cpl_error *error)
{
    if (offsets->values[0] != 0) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, offsets->name,
                              "%s[0] of sample %zu must be 0, not %" PRId32, offsets->name,
                              offsets->sample, offsets->values[0]);
    }
    for (size_t i = 1; i < offsets->entries; i++) {
        if (offsets->values[i] < offsets->values[i - 1]) {
            return cpl_fail_field(error, CPL_ERROR_ARGUMENT, offsets->name,
                                  "%s[%zu] of sample %zu is %" PRId32
                                  ", below the entry before it, %" PRId32,
                                  offsets->name, i, offsets->sample, offsets->values[i],
                                  offsets->values[i - 1]);
        }
    }
    return CPL_OK;
}

static enum cpl_status check_sample(const struct cpl_lengths *lengths, size_t sample,
                                    struct cpl_error *error)
{
    const struct offsets real = {lengths->cu_seqlens, "cu_seqlens", lengths->entries, sample};
    const struct offsets padded = {lengths->cu_seqlens_padded, "cu_seqlens_padded",
                                   lengths->entries, sample};
    enum cpl_status status;

    if (lengths->cu_seqlens == NULL || lengths->entries < 2) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "cu_seqlens",
                              "cu_seqlens of sample %zu needs at least 2 entries, it has %zu",
                              sample, lengths->cu_seqlens != NULL ? lengths->entries : 0);
    }
    status = check_offsets(&real, error);
    if (status == CPL_OK && padded.values != NULL) {
        status = check_offsets(&padded, error);
    }
    return status;
}

static struct cpl_document document_of(const struct cpl_lengths *lengths, size_t index,
                                       int64_t base)
{
    const int32_t *const real = lengths->cu_seqlens;
    const int32_t *const padded =
        lengths->cu_seqlens_padded != NULL ? lengths->cu_seqlens_padded : real;

    return (struct cpl_document){
        .start = base + padded[index],
        .length = (int64_t)padded[index + 1] - padded[index],
        .valid = (int64_t)real[index + 1] - real[index],
    };
}

/* Appends a sample's documents, which have been counted. */
static enum cpl_status append_sample(struct cpl_stream *stream, struct cpl_document *documents,
                                     const struct cpl_lengths *lengths, size_t sample,
                                     struct cpl_error *error)
{
    const int64_t base = stream->rows;

    for (size_t i = 0; i + 1 < lengths->entries; i++) {
        const struct cpl_document document = document_of(lengths, i, base);

        if (document.length < document.valid) {
            return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "cu_seqlens_padded",
                                  "document %zu of sample %zu has %" PRId64
                                  " tokens but only %" PRId64 " padded rows",
                                  i, sample, document.valid, document.length);
        }
        documents[stream->count++] = document;
        stream->rows = document.start + document.length;
        stream->tokens += document.valid;
    }
    if (stream->rows > INT32_MAX) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "cu_seqlens",
                              "the samples up to %zu have %" PRId64
                              " rows together; offsets are int32, at most %" PRId32,
                              sample, stream->rows, INT32_MAX);
    }
    return CPL_OK;
}

enum cpl_status cpl_stream_packed(struct cpl_stream *stream, const struct cpl_lengths *samples,
                                  size_t count, struct cpl_arena *arena, struct cpl_error *error)
{
    struct cpl_stream built = {.packed = true};
    struct cpl_document *documents;
    enum cpl_status status = CPL_OK;
    size_t most = 0;

    for (size_t i = 0; i < count && status == CPL_OK; i++) {
        status = check_sample(&samples[i], i, error);
        most += samples[i].entries;
    }
    if (status != CPL_OK) {
        return status;
    }
    documents = cpl_arena_take(arena, most, sizeof(*documents));
    if (documents == NULL) {
        return cpl_fail_memory(error);
    }
    for (size_t i = 0; i < count && status == CPL_OK; i++) {
        status = append_sample(&built, documents, &samples[i], i, error);
    }
    if (status == CPL_OK) {
        built.documents = documents;
        *stream = built;
    }
    return status;
}

size_t cpl_stream_find(const struct cpl_stream *stream, int64_t row)
{
    size_t low = 0;
    size_t high = stream->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct cpl_document *const document = &stream->documents[middle];

        if (document->start + document->length <= row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool cpl_stream_equal(const struct cpl_stream *a, const struct cpl_stream *b)
{
    return a->count == b->count && a->rows == b->rows &&
           (a->count == 0 ||
            memcmp(a->documents, b->documents, a->count * sizeof(*a->documents)) == 0);
}
