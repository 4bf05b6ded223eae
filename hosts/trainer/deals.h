/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layouts that some runs used, each of them once: runs share most of them.
 */
#ifndef TRAINER_DEALS_H
#define TRAINER_DEALS_H

#include "report.h"

enum { DEALS_MOST = 2 * ARRANGEMENTS };

/* One layout on some number of ranks, as the first step dealt it. */
struct deal {
    const char *name; /* of the layout; "one rank" where nothing is split */
    int32_t ranks;
    const struct strip *strip;
    const struct run_result *attention; /* a run whose attention it carried; NULL: none */
    bool linear_of[ARRANGEMENTS];       /* by the report's runs */
    bool attention_of[ARRANGEMENTS];
};

struct deals {
    struct deal deal[DEALS_MOST];
    size_t count;
};

struct deals deals_collect(const struct report *report);

/* Tokens, and causal pairs inside documents, of one rank. */
int64_t deal_tokens(const struct deal *deal, int32_t rank);
double deal_pairs(const struct deal *deal, int32_t rank);
int64_t deal_documents(const struct deal *deal);

/* Whether the state of a scan goes from another rank to the rank of part `i`. */
bool deal_crosses(const struct deal *deal, int64_t i);
int64_t deal_crossings(const struct deal *deal);

/* Attention work of a rank: the mean over the steps where attention ran so, else what it would have
 * been in the first step. */
double deal_work(const struct deal *deal, int32_t rank);
double deal_mean_work(const struct deal *deal);

#endif
