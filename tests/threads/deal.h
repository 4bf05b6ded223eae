/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch as the oracles see it: which rank holds which row in each layout, dense or packed, and the
 * arguments that make the plugin's batch of it.
 */
#ifndef TESTS_THREADS_DEAL_H
#define TESTS_THREADS_DEAL_H

#include "oracle/oracle.h"
#include "oracle/packed.h"
#include "threads/host.h"

enum { DEAL_LAYOUTS = 3, DEAL_DOCUMENTS_MOST = 24, DEAL_SAMPLES_MOST = 3 };

/* "contiguous", "mirror", "zigzag": layouts are indices. */
extern const char *const deal_names[DEAL_LAYOUTS];

struct deal {
    int32_t cp;
    int32_t tp;
    int32_t ranks;
    bool packed;
    int64_t stream; /* rows of the stream */
    struct oracle dense[DEAL_LAYOUTS];
    struct packed packs[DEAL_LAYOUTS];
    struct packed_document list[DEAL_DOCUMENTS_MOST];
    int64_t documents;
    int32_t cu[DEAL_DOCUMENTS_MOST + DEAL_SAMPLES_MOST];
    int32_t cu_padded[DEAL_DOCUMENTS_MOST + DEAL_SAMPLES_MOST];
    struct cplayout_lengths samples[DEAL_SAMPLES_MOST];
    uint64_t sample_count;
};

/* Kinds of packs. */
enum deal_kind {
    DEAL_MIXED,   /* documents of all sizes with source padding, empty ones between them */
    DEAL_TIGHT,   /* no source padding, and no padded offsets are given */
    DEAL_SHORT,   /* shorter than 2P, an empty one last */
    DEAL_HOLLOW,  /* documents of padding alone */
    DEAL_NOTHING, /* documents, but no rows */
    DEAL_KINDS,
};

extern const char *const deal_kind_names[DEAL_KINDS];

/* One sequence of `units` times the shortest that fits every layout. */
void deal_dense(struct deal *deal, struct packed_ranks ranks, int64_t units);

/* A pack that fits every layout. The seed changes lengths, and in how many samples they come. */
void deal_pack(struct deal *deal, struct packed_ranks ranks, enum deal_kind kind, int64_t seed);

void deal_fini(struct deal *deal);

/* "zigzag P=2 T=1 [3/4 5/5]": the documents, for messages. */
const char *deal_text(const struct deal *deal);

/* The batch without fields. Points into the deal. */
struct cplayout_batch_args deal_args(const struct deal *deal);

/* The rows that a rank holds in a layout, in local order; -1: padding that the layout adds. */
const int64_t *deal_rows(const struct deal *deal, int32_t layout, int32_t rank);
int64_t deal_count(const struct deal *deal, int32_t layout); /* of every rank */

/* Whether two layouts deal this batch alike, so that nothing is ever converted between them. */
bool deal_same(const struct deal *deal, int32_t a, int32_t b);

/* Rows that leave a rank between two layouts, and rows that come to it. */
uint64_t deal_sent(const struct deal *deal, int32_t from, int32_t to, int32_t rank);
uint64_t deal_received(const struct deal *deal, int32_t from, int32_t to, int32_t rank);

/* Other ranks that a rank sends to between two layouts. */
int64_t deal_peers(const struct deal *deal, int32_t from, int32_t to, int32_t rank);

#endif
