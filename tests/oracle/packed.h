/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracle for packed documents and for tables of any rows: row by row, from the design's text
 * alone, like oracle.h. A row is a physical row of the stream; -1 is padding that a layout adds or a
 * table asks for.
 */
#ifndef TESTS_ORACLE_PACKED_H
#define TESTS_ORACLE_PACKED_H

#include <stdbool.h>
#include <stdint.h>

/* Tokens of a document, and the physical rows of which they are the first. */
struct packed_document {
    int64_t tokens;
    int64_t rows;
};

/* What each rank holds or wants, row by row. */
struct packed_rows {
    int32_t ranks;
    int64_t *first; /* [ranks + 1] where each rank begins in `row` */
    int64_t *row;   /* rows of the stream, -1 for padding */
};

/* A layout applied to documents. */
struct packed {
    char text[240]; /* "zigzag P=2 T=3 [3/4 5]", for messages */
    int32_t cp;
    int32_t tp;
    int64_t documents;
    struct packed_document *list; /* [documents] */
    int64_t rows;                 /* of the stream */
    int64_t tokens;               /* of them, real ones */
    int64_t window;               /* rows of each logical rank, padding included */
    int64_t *padded;              /* [documents + 1] offsets with the layout's padding */
    int64_t *document;            /* [rows] which one the row is of */
    int64_t *position;            /* [rows] in its document */
    bool *valid;                  /* [rows] a token, no source padding */
    int32_t *owner;               /* [rows] logical rank that holds the row */
    int64_t *local;               /* [rows] at this row of its own */
    struct packed_rows held;      /* the same by rank, `window` rows each */
};

/* Consecutive rows of one document that are consecutive rows of one rank. */
struct packed_part {
    int64_t start;
    int64_t length;
    int64_t local;
    int64_t position;
    int64_t valid;
    int64_t document;
    int32_t rank;
};

/* Whether the layout can hold a pack of so many physical rows. */
bool packed_fits(const char *layout, int64_t rows, int32_t cp, int32_t tp);

/* How to cut: P and T. */
struct packed_ranks {
    int32_t cp;
    int32_t tp;
};

/* The layout must fit. Ends the program if there is no memory. */
void packed_init(struct packed *packed, const char *layout, const struct packed_document *list,
                 int64_t documents, struct packed_ranks ranks);
void packed_fini(struct packed *packed);

/* Tokens among the rows of a rank, each as often as it is there. */
int64_t packed_valid(const struct packed *packed, const struct packed_rows *rows, int32_t rank);

/* Causal pairs inside documents whose query is a row of the rank, counted one by one. */
int64_t packed_pairs(const struct packed *packed, const struct packed_rows *rows, int32_t rank);

/* The parts of the chain, as long as they can be; `parts` has room for every row. */
int64_t packed_parts(const struct packed *packed, struct packed_part *parts);

/* Rows that a rank wants and another one holds: the fewest that a route can give it. */
int64_t packed_wanted(const struct packed *source, const struct packed_rows *target, int32_t rank);

/* Rows, each as often as it is wanted, that others want of what a rank holds. */
int64_t packed_lent(const struct packed *source, const struct packed_rows *target, int32_t rank);

/* A digest of documents and rows in local order: equal where the content is. */
uint64_t packed_content(const struct packed *packed, const struct packed_rows *rows);

/* Room for rows of `ranks` ranks, `most` together; first[0 ... ranks] and row are the caller's. */
void packed_rows_init(struct packed_rows *rows, int32_t ranks, int64_t most);
void packed_rows_fini(struct packed_rows *rows);

#endif
