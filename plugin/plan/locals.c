/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/locals.h"

#include <string.h>

/* ---- Parts ------------------------------------------------------------------------------------- */

struct cpl_local_reader cpl_local_reader(const struct cpl_table *table, int32_t rank)
{
    return (struct cpl_local_reader){.fragments = {.table = table, .rank = rank}};
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/*
 * Padding of a layout that pads documents: a document's share of a context-parallel rank lies between
 * its padded offsets divided by P, and the rank is a window of that.
 */
static void cut_padding(struct cpl_local_reader *reader, struct cpl_part *part)
{
    const struct cpl_table *const table = reader->fragments.table;
    const int64_t window = cpl_table_rows(table, part->rank);
    const int64_t place = part->rank % table->tp * window + part->local;

    while (table->padded[reader->document + 1] / table->cp <= place) {
        reader->document++;
    }
    part->document = reader->document;
    part->length = smaller(part->length, table->padded[reader->document + 1] / table->cp - place);
}

/* What is left of the padding that is being read, or its share of one document. */
static void read_padding(struct cpl_local_reader *reader, struct cpl_part *part)
{
    *part = (struct cpl_part){
        .start = -1,
        .length = reader->piece.length,
        .local = reader->local,
        .document = CPL_NO_DOCUMENT,
        .rank = reader->fragments.rank,
    };
    if (reader->fragments.table->by_document) {
        cut_padding(reader, part);
    }
    reader->piece.length -= part->length;
}

static bool next_fragment(struct cpl_local_reader *reader)
{
    const struct cpl_table *const table = reader->fragments.table;
    struct cpl_fragment fragment;

    if (!cpl_fragment_next(&reader->fragments, &fragment)) {
        return false;
    }
    reader->piece = (struct cpl_piece){
        .start = fragment.start,
        .length = fragment.length,
        .local = reader->local,
        .rank = reader->fragments.rank,
    };
    if (fragment.start >= 0) {
        reader->cutter = cpl_cutter(&table->stream, &reader->piece);
    }
    return true;
}

/* What is left of the fragment; false if nothing is. The cutter's piece moves with the reader. */
static bool read_rest(struct cpl_local_reader *reader, struct cpl_part *part)
{
    if (reader->piece.length == 0) {
        return false;
    }
    if (reader->piece.start < 0) {
        read_padding(reader, part);
        return true;
    }
    reader->cutter.piece = &reader->piece;
    return cpl_cutter_next(&reader->cutter, part);
}

bool cpl_local_next(struct cpl_local_reader *reader, struct cpl_part *part)
{
    while (!read_rest(reader, part)) {
        if (!next_fragment(reader)) {
            return false;
        }
    }
    reader->local += part->length;
    return true;
}

/* ---- Documents --------------------------------------------------------------------------------- */

struct cpl_document_reader cpl_document_reader(const struct cpl_table *table, int32_t rank)
{
    return (struct cpl_document_reader){.parts = cpl_local_reader(table, rank)};
}

static bool read_document(struct cpl_document_reader *reader, struct cpl_local_document *document)
{
    struct cpl_part part;

    if (!cpl_local_next(&reader->parts, &part)) {
        return false;
    }
    *document = (struct cpl_local_document){part.document, part.local, part.length, part.valid};
    return true;
}

bool cpl_document_next(struct cpl_document_reader *reader, struct cpl_local_document *document)
{
    struct cpl_local_document next;

    if (reader->ahead.rows == 0 && !read_document(reader, &reader->ahead)) {
        return false;
    }
    *document = reader->ahead;
    reader->ahead.rows = 0;
    while (read_document(reader, &next)) {
        if (next.document != document->document) {
            reader->ahead = next;
            break;
        }
        document->rows += next.rows;
        document->tokens += next.tokens;
    }
    return true;
}

/* ---- Tokens ------------------------------------------------------------------------------------ */

int64_t cpl_fragment_tokens(const struct cpl_stream *stream, const struct cpl_fragment *fragment)
{
    const struct cpl_piece piece = {.start = fragment->start, .length = fragment->length};
    struct cpl_cutter cutter;
    struct cpl_part part;
    int64_t tokens = 0;

    if (fragment->start < 0) {
        return 0;
    }
    cutter = cpl_cutter(stream, &piece);
    while (cpl_cutter_next(&cutter, &part)) {
        tokens += part.valid;
    }
    return tokens;
}

void cpl_padding_mask(const struct cpl_table *table, int32_t rank, uint8_t *mask)
{
    struct cpl_local_reader reader = cpl_local_reader(table, rank);
    struct cpl_part part;

    while (cpl_local_next(&reader, &part)) {
        memset(mask + part.local, 0, (size_t)part.valid);
        memset(mask + part.local + part.valid, 1, (size_t)(part.length - part.valid));
    }
}
