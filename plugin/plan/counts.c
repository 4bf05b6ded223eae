/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/counts.h"

struct cpl_cutter cpl_cutter(const struct cpl_stream *stream, const struct cpl_piece *piece)
{
    return (struct cpl_cutter){.stream = stream,
                               .piece = piece,
                               .document = cpl_stream_find(stream, piece->start)};
}

static int64_t clamp(int64_t value, int64_t most)
{
    if (value < 0) {
        return 0;
    }
    return value < most ? value : most;
}

bool cpl_cutter_next(struct cpl_cutter *cutter, struct cpl_part *part)
{
    const struct cpl_piece *const piece = cutter->piece;
    const int64_t start = piece->start + cutter->done;
    const struct cpl_document *document;
    int64_t length;

    if (cutter->done == piece->length) {
        return false;
    }
    while (cutter->stream->documents[cutter->document].start +
               cutter->stream->documents[cutter->document].length <=
           start) {
        cutter->document++; /* done with it, or empty */
    }
    document = &cutter->stream->documents[cutter->document];
    length = clamp(document->start + document->length - start, piece->length - cutter->done);
    *part = (struct cpl_part){
        .start = start,
        .length = length,
        .local = piece->local + cutter->done,
        .position = start - document->start,
        .valid = clamp(document->start + document->valid - start, length),
        .document = cutter->document,
        .rank = piece->rank,
    };
    cutter->done += length;
    return true;
}

int64_t cpl_pairs(int64_t start, int64_t n)
{
    /* One of n and n - 1 is even; halving it first keeps the product below the sum. */
    const int64_t triangle = n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;

    return n * (start + 1) + triangle;
}

/* A table may hold a row again and again: pairs beyond 63 bits count as 2^63 - 1. */
static void add_pairs(struct cpl_counts *counts, const struct cpl_part *part)
{
    if (__builtin_add_overflow(counts->attention_pairs, cpl_pairs(part->position, part->valid),
                               &counts->attention_pairs)) {
        counts->attention_pairs = INT64_MAX;
    }
}

struct cpl_counts cpl_count_rank(const struct cpl_table *table, int32_t rank)
{
    const size_t pieces = cpl_pieces_count(&table->rows, rank);
    struct cpl_counts counts = {0};

    for (size_t i = 0; i < pieces; i++) {
        struct cpl_cutter cutter = cpl_cutter(&table->stream, cpl_pieces_at(&table->rows, rank, i));
        struct cpl_part part;

        while (cpl_cutter_next(&cutter, &part)) {
            counts.valid_rows += part.valid;
            add_pairs(&counts, &part);
        }
    }
    return counts;
}

static void fill_pads(const struct cpl_table *table, int32_t rank, int64_t *positions)
{
    const size_t pads = cpl_pieces_count(&table->pads, rank);

    for (size_t i = 0; i < pads; i++) {
        const struct cpl_piece *const pad = cpl_pieces_at(&table->pads, rank, i);

        for (int64_t row = 0; row < pad->length; row++) {
            positions[pad->local + row] = -1;
        }
    }
}

static void fill_part(const struct cpl_part *part, enum cpl_position_kind kind, int64_t *positions)
{
    const int64_t first = kind == CPL_POSITION_GLOBAL ? part->start : part->position;

    for (int64_t row = 0; row < part->length; row++) {
        positions[part->local + row] = first + row;
    }
}

void cpl_positions(const struct cpl_table *table, int32_t rank, enum cpl_position_kind kind,
                   int64_t *positions)
{
    const size_t pieces = cpl_pieces_count(&table->rows, rank);

    for (size_t i = 0; i < pieces; i++) {
        struct cpl_cutter cutter = cpl_cutter(&table->stream, cpl_pieces_at(&table->rows, rank, i));
        struct cpl_part part;

        while (cpl_cutter_next(&cutter, &part)) {
            fill_part(&part, kind, positions);
        }
    }
    fill_pads(table, rank, positions);
}
