/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layouts by name: the owner rule and what it asks of a sequence. A layout deals the stream out in
 * global order; tables, windows and offsets follow from that alone. To add a layout, add one deal
 * function and one table entry in layout.c.
 */
#ifndef CPL_PLAN_LAYOUT_H
#define CPL_PLAN_LAYOUT_H

#include <stdbool.h>

#include "base/error.h"

struct cpl_dealer;
struct cpl_stream;

/* A sequence on P context-parallel ranks, each cut into T windows. */
struct cpl_shape {
    int64_t tokens;                  /* S of a dense sequence; not read where there is a stream */
    int32_t cp;                      /* P */
    int32_t tp;                      /* T */
    const struct cpl_stream *stream; /* packed documents; NULL: dense */
};

struct cpl_layout {
    const char *name;
    int32_t chunks;         /* a sequence must divide into this many chunks per rank */
    bool per_document;      /* packed: dealt inside every document, which is padded to divide */
    bool follows_rank;      /* slice r of the scan lies on rank r, or the host undoes it itself */
    bool two_chunk_kernels; /* attention kernels made for zigzag can run on it */
    /* Deals `rows` rows chunk by chunk (rows / (P * chunks) each), in global order. P > 1. */
    void (*deal)(int64_t rows, int32_t cp, struct cpl_dealer *dealer);
};

/* NULL if there is no such layout. */
const struct cpl_layout *cpl_layout_find(const char *name);

/* The index-th layout of the table, NULL past its end. */
const struct cpl_layout *cpl_layout_at(size_t index);

/* Whether a layout deals inside every document. One rank holds the stream as it is. */
bool cpl_layout_deals_documents(const struct cpl_layout *layout, int32_t cp);

/* "contiguous, mirror, zigzag", for hints. */
void cpl_layout_names(char *text, size_t bytes);

/*
 * What S must be a multiple of: P*T, and for zigzag lcm(2P, P*T). At P = 1 it is T. The product of
 * cp and tp has been checked.
 */
int64_t cpl_layout_unit(const struct cpl_layout *layout, int32_t cp, int32_t tp);

/* The same for several layouts at once, as a batch needs it. */
int64_t cpl_layouts_unit(const struct cpl_layout *const *layouts, int32_t count, int32_t cp,
                         int32_t tp);

/* Whether a sequence length is in range at all; `field` is what the caller calls it. */
enum cpl_status cpl_tokens_check(uint64_t tokens, const char *field, struct cpl_error *error);

/* The multiples of `unit` next to a length that is none: "1016 and 1024", never 0. */
void cpl_nearest_lengths(char text[64], int64_t length, int64_t unit);

/*
 * Checks P, T, S and that the layout can hold S, or the stream if it pads nothing itself. Messages
 * name the values and the nearest lengths.
 */
enum cpl_status cpl_shape_check(const struct cpl_layout *layout, const struct cpl_shape *shape,
                                struct cpl_error *error);

#endif
