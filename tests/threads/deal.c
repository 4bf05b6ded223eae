/* SPDX-License-Identifier: Apache-2.0 */
#include "threads/deal.h"

#include <string.h>

const char *const deal_names[DEAL_LAYOUTS] = {"contiguous", "mirror", "zigzag"};

const char *const deal_kind_names[DEAL_KINDS] = {
    [DEAL_MIXED] = "mixed documents",        [DEAL_TIGHT] = "documents without padding",
    [DEAL_SHORT] = "short documents",        [DEAL_HOLLOW] = "documents of padding alone",
    [DEAL_NOTHING] = "documents of no rows",
};

/* ---- Dense ---------------------------------------------------------------------------------- */

void deal_dense(struct deal *deal, struct packed_ranks ranks, int64_t units)
{
    int64_t unit = 1;

    for (int32_t i = 0; i < DEAL_LAYOUTS; i++) {
        while (!oracle_fits(deal_names[i], unit, ranks.cp, ranks.tp)) {
            unit++;
        }
    }
    *deal = (struct deal){.cp = ranks.cp, .tp = ranks.tp, .ranks = ranks.cp * ranks.tp};
    deal->stream = units * unit;
    for (int32_t i = 0; i < DEAL_LAYOUTS; i++) {
        tap_require(oracle_fits(deal_names[i], deal->stream, ranks.cp, ranks.tp),
                    "%d tokens do not fit %s", (int)deal->stream, deal_names[i]);
        oracle_init(&deal->dense[i], deal_names[i], deal->stream, ranks.cp, ranks.tp);
    }
}

/* ---- Packed --------------------------------------------------------------------------------- */

static void add(struct deal *deal, int64_t tokens, int64_t rows)
{
    tap_require(deal->documents < DEAL_DOCUMENTS_MOST, "too many documents");
    deal->list[deal->documents++] = (struct packed_document){tokens, rows};
    deal->stream += rows;
}

static void add_mixed(struct deal *deal, int64_t seed)
{
    const int64_t p = deal->cp;

    add(deal, 3 + seed % 5, 5 + seed % 5 + seed % 3);
    add(deal, 0, 0);
    add(deal, 2 * p + 1, 2 * p + 1);
    add(deal, 1, 4 + seed % 3);
    add(deal, 4 * p, 4 * p + seed % 2);
    add(deal, 1 + seed % (2 * p), 1 + seed % (2 * p));
    add(deal, p, 2 * p);
}

static void add_tight(struct deal *deal, int64_t seed)
{
    for (int64_t i = 0; i < 5; i++) {
        const int64_t rows = 1 + (seed + 3 * i) % (3 * deal->cp + 2);

        add(deal, rows, rows);
    }
}

static void add_short(struct deal *deal, int64_t seed)
{
    for (int64_t i = 0; i < 7; i++) {
        const int64_t rows = (seed + i) % (2 * deal->cp);

        add(deal, rows, rows + (i == 4));
    }
}

static void add_hollow(struct deal *deal, int64_t seed)
{
    add(deal, 0, 3 + seed % 4);
    add(deal, 2, 2);
    add(deal, 0, 2 * deal->cp);
}

/* Padding or tokens that make the pack fit layouts that cut the whole stream. */
static void round_up(struct deal *deal, bool tokens)
{
    int64_t rows = 0;

    while ((deal->stream + rows) % deal->ranks != 0) {
        rows++;
    }
    add(deal, tokens ? rows : 0, rows);
}

static void add_documents(struct deal *deal, enum deal_kind kind, int64_t seed)
{
    static void (*const adders[])(struct deal *, int64_t) = {add_mixed, add_tight, add_short,
                                                             add_hollow};

    if (kind == DEAL_NOTHING) {
        add(deal, 0, 0);
        add(deal, 0, 0);
        return;
    }
    adders[kind](deal, seed);
    round_up(deal, kind == DEAL_TIGHT || kind == DEAL_SHORT);
    if (kind == DEAL_SHORT) {
        add(deal, 0, 0);
    }
}

/* Offsets of documents first ... last - 1. */
static void write_sample(struct deal *deal, int64_t first, int64_t last, size_t *used, bool padded)
{
    int32_t *const cu = &deal->cu[*used];
    int32_t *const cu_padded = &deal->cu_padded[*used];

    for (int64_t i = first; i < last; i++) {
        cu[i - first + 1] = cu[i - first] + (int32_t)deal->list[i].tokens;
        cu_padded[i - first + 1] = cu_padded[i - first] + (int32_t)deal->list[i].rows;
    }
    deal->samples[deal->sample_count++] = (struct cplayout_lengths){
        .cu_seqlens = cu,
        .cu_seqlens_padded = padded ? cu_padded : NULL,
        .entries = (uint64_t)(last - first + 1),
    };
    *used += (size_t)(last - first + 1);
}

static void write_samples(struct deal *deal, int64_t samples, bool padded)
{
    size_t used = 0;

    samples = samples < deal->documents ? samples : deal->documents;
    for (int64_t i = 0; i < samples; i++) {
        write_sample(deal, i * deal->documents / samples, (i + 1) * deal->documents / samples,
                     &used, padded);
    }
}

void deal_pack(struct deal *deal, struct packed_ranks ranks, enum deal_kind kind, int64_t seed)
{
    *deal = (struct deal){
        .cp = ranks.cp,
        .tp = ranks.tp,
        .ranks = ranks.cp * ranks.tp,
        .packed = true,
    };
    add_documents(deal, kind, seed);
    write_samples(deal, 1 + seed % DEAL_SAMPLES_MOST, kind != DEAL_TIGHT);
    for (int32_t i = 0; i < DEAL_LAYOUTS; i++) {
        tap_require(packed_fits(deal_names[i], deal->stream, ranks.cp, ranks.tp),
                    "%d rows do not fit %s", (int)deal->stream, deal_names[i]);
        packed_init(&deal->packs[i], deal_names[i], deal->list, deal->documents, ranks);
    }
}

/* ---- Both ----------------------------------------------------------------------------------- */

void deal_fini(struct deal *deal)
{
    for (int32_t i = 0; i < DEAL_LAYOUTS; i++) {
        if (deal->packed) {
            packed_fini(&deal->packs[i]);
        } else {
            oracle_fini(&deal->dense[i]);
        }
    }
}

const char *deal_text(const struct deal *deal)
{
    return deal->packed ? deal->packs[2].text : deal->dense[2].text;
}

struct cplayout_batch_args deal_args(const struct deal *deal)
{
    return (struct cplayout_batch_args){
        .size = sizeof(struct cplayout_batch_args),
        .sequence_length = deal->packed ? 0 : (uint64_t)deal->stream,
        .samples = deal->packed ? deal->samples : NULL,
        .sample_count = deal->sample_count,
    };
}

int64_t deal_count(const struct deal *deal, int32_t layout)
{
    return deal->packed ? deal->packs[layout].window : deal->dense[layout].rows;
}

const int64_t *deal_rows(const struct deal *deal, int32_t layout, int32_t rank)
{
    const int64_t *const rows =
        deal->packed ? deal->packs[layout].held.row : deal->dense[layout].token;

    return rows + rank * deal_count(deal, layout);
}

bool deal_same(const struct deal *deal, int32_t a, int32_t b)
{
    const int64_t count = deal_count(deal, a);

    return count == deal_count(deal, b) &&
           memcmp(deal_rows(deal, a, 0), deal_rows(deal, b, 0),
                  (size_t)(count * deal->ranks) * sizeof(int64_t)) == 0;
}

static int32_t owner_of(const struct deal *deal, int32_t layout, int64_t row)
{
    return deal->packed ? deal->packs[layout].owner[row] : deal->dense[layout].owner[row];
}

uint64_t deal_sent(const struct deal *deal, int32_t from, int32_t to, int32_t rank)
{
    uint64_t sent = 0;

    for (int64_t row = 0; row < deal->stream; row++) {
        sent += owner_of(deal, from, row) == rank && owner_of(deal, to, row) != rank;
    }
    return sent;
}

uint64_t deal_received(const struct deal *deal, int32_t from, int32_t to, int32_t rank)
{
    return deal_sent(deal, to, from, rank);
}

int64_t deal_peers(const struct deal *deal, int32_t from, int32_t to, int32_t rank)
{
    bool met[TAP_RANKS_MOST] = {false};
    int64_t peers = 0;

    for (int64_t row = 0; row < deal->stream; row++) {
        const int32_t peer = owner_of(deal, to, row);

        if (owner_of(deal, from, row) == rank && peer != rank && !met[peer]) {
            met[peer] = true;
            peers++;
        }
    }
    return peers;
}
