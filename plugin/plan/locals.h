/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one rank holds, in local order and by documents.
 */
#ifndef CPL_PLAN_LOCALS_H
#define CPL_PLAN_LOCALS_H

#include "plan/counts.h"

/* Of a part: padding that belongs to no document. */
#define CPL_NO_DOCUMENT SIZE_MAX

/* Reads a rank's rows in local order, cut at the borders of documents. Zeroed but for table and rank. */
struct cpl_local_reader {
    struct cpl_fragment_reader fragments;
    struct cpl_piece piece;   /* the fragment that is being read; length 0: none */
    struct cpl_cutter cutter; /* of its rows */
    int64_t local;            /* rows that are behind */
    size_t document;          /* of padding */
};

struct cpl_local_reader cpl_local_reader(const struct cpl_table *table, int32_t rank);

/*
 * The next part; padding comes as parts with start -1 and no valid rows, of the document that the layout
 * pads with it. false at the end.
 */
bool cpl_local_next(struct cpl_local_reader *reader, struct cpl_part *part);

/* Rows of one document that lie next to each other. */
struct cpl_local_document {
    size_t document; /* or CPL_NO_DOCUMENT */
    int64_t local;
    int64_t rows;
    int64_t tokens; /* real ones */
};

struct cpl_document_reader {
    struct cpl_local_reader parts;
    struct cpl_local_document ahead; /* rows 0: none */
};

struct cpl_document_reader cpl_document_reader(const struct cpl_table *table, int32_t rank);

/* false at the end. */
bool cpl_document_next(struct cpl_document_reader *reader, struct cpl_local_document *document);

/* Real tokens among rows of the stream; 0 for padding. */
int64_t cpl_fragment_tokens(const struct cpl_stream *stream, const struct cpl_fragment *fragment);

/* 1 for padding of either kind, else 0; room for cpl_table_rows entries. */
void cpl_padding_mask(const struct cpl_table *table, int32_t rank, uint8_t *mask);

#endif
