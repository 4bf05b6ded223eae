/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layouts by name: the owner rule and what it asks of a sequence. A layout deals the stream out in
 * global order; tables, windows and offsets follow from that alone. To add a layout, add one deal
 * function and one table entry in layouts.c.
 */
#ifndef CPL_PLAN_LAYOUT_H
#define CPL_PLAN_LAYOUT_H

#include <stdbool.h>

#include "base/error.h"

struct cpl_arena;
struct cpl_dealer;
struct cpl_stream;

/* A sequence on P context-parallel ranks, each cut into T windows. */
struct cpl_shape {
    int64_t tokens;                  /* S of a dense sequence; not read where there is a stream */
    int32_t cp;                      /* P */
    int32_t tp;                      /* T */
    const struct cpl_stream *stream; /* packed documents; NULL: dense */
    int64_t row_unit;                /* rows of a context-parallel rank are a multiple; 0: of 1 */
};

/* What a layout's name may be followed by. */
enum cpl_parameters {
    CPL_PARAMETERS_NONE,
    CPL_PARAMETERS_BLOCK,     /* "striped:B" */
    CPL_PARAMETERS_TOLERANCE, /* "balanced:TOL[:CHUNK]" */
};

/* What there is to deal. */
struct cpl_deck {
    int64_t rows;
    int32_t cp;                      /* P > 1 */
    const struct cpl_stream *stream; /* whose rows they are; of a dense sequence, one document */
    struct cpl_arena *arena;         /* for what the deal function needs meanwhile */
};

/* An entry of the table of layouts, and after parsing a copy of it with its parameters. */
struct cpl_layout {
    const char *name;
    const char *form; /* how it is written, for hints: "striped:B" */
    enum cpl_parameters parameters;
    int64_t block;          /* striped: rows of a block; balanced: of a chunk */
    double tolerance;       /* balanced: attention work of the busiest rank is at most 1 + this */
    int32_t chunks;         /* a sequence must divide into this many chunks per rank */
    bool blocks;            /* and into blocks per rank */
    bool per_document;      /* packed: dealt inside every document, which is padded to divide */
    bool follows_rank;      /* slice r of the scan lies on rank r, or the host undoes it itself */
    bool two_chunk_kernels; /* attention kernels made for zigzag can run on it */
    /* Deals all rows, in global order. Errors: MEMORY. */
    enum cpl_status (*deal)(const struct cpl_layout *layout, const struct cpl_deck *deck,
                            struct cpl_dealer *dealer, struct cpl_error *error);
};

/* The entry of a name without parameters; NULL if there is none. */
const struct cpl_layout *cpl_layout_find(const char *name);

/*
 * A layout by its name and parameters, "balanced:0.05". Errors: ARGUMENT, with what is wrong with it
 * and what there is.
 */
enum cpl_status cpl_layout_parse(const char *text, struct cpl_layout *layout,
                                 struct cpl_error *error);

/* The index-th entry of the table, NULL past its end. */
const struct cpl_layout *cpl_layout_at(size_t index);

/* Whether two layouts are one: the same entry with the same parameters. */
bool cpl_layout_equal(const struct cpl_layout *a, const struct cpl_layout *b);

/* Name and parameters, defaults filled in: "striped:16". */
enum { CPL_LAYOUT_BYTES = 64 };
const char *cpl_layout_title(const struct cpl_layout *layout, char text[CPL_LAYOUT_BYTES]);

/* Whether a layout deals inside every document. One rank holds the stream as it is. */
bool cpl_layout_deals_documents(const struct cpl_layout *layout, int32_t cp);

/* "contiguous, mirror, zigzag, ...", for hints. */
enum { CPL_LAYOUT_NAMES_BYTES = 128 };
void cpl_layout_names(char *text, size_t bytes);

/*
 * What the rows of a context-parallel rank must be a multiple of: lcm(T, row_unit). `shape` need not
 * have a length.
 */
int64_t cpl_rows_unit(const struct cpl_shape *shape);

/*
 * What S must be a multiple of: P * lcm(T, row_unit), and for zigzag of 2P, for striped:B of P*B. At
 * P = 1 it is lcm(T, row_unit). The product of P and T has been checked. A unit above all lengths
 * stands for any such.
 */
int64_t cpl_layout_unit(const struct cpl_layout *layout, const struct cpl_shape *shape);

/* The same for several layouts at once, as a batch needs it. */
int64_t cpl_layouts_unit(const struct cpl_layout *const *layouts, int32_t count,
                         const struct cpl_shape *shape);

/* Whether a sequence length is in range at all; `field` is what the caller calls it. */
enum cpl_status cpl_tokens_check(uint64_t tokens, const char *field, struct cpl_error *error);

/* The multiples of `unit` next to a length that is none: "1016 and 1024", never 0. */
void cpl_nearest_lengths(char text[64], int64_t length, int64_t unit);

/* "P = 4 and T = 2", with the row unit where there is one, for messages. */
enum { CPL_SHAPE_BYTES = 72 };
const char *cpl_shape_title(const struct cpl_shape *shape, char text[CPL_SHAPE_BYTES]);

/* Checks P and T. */
enum cpl_status cpl_ranks_check(const struct cpl_shape *shape, struct cpl_error *error);

/*
 * Checks P, T, S and that the layout can hold S, or the stream if it pads nothing itself. Messages
 * name the values and the nearest lengths.
 */
enum cpl_status cpl_shape_check(const struct cpl_layout *layout, const struct cpl_shape *shape,
                                struct cpl_error *error);

#endif
