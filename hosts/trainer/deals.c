/* SPDX-License-Identifier: Apache-2.0 */
#include "deals.h"

#include <string.h>

static struct deal *find_or_add(struct deals *deals, const char *layout, int32_t ranks)
{
    const char *const name = ranks > 1 ? layout : "one rank";
    struct deal *deal;

    for (size_t i = 0; i < deals->count; i++) {
        deal = &deals->deal[i];
        if (deal->ranks == ranks && strcmp(deal->name, name) == 0) {
            return deal;
        }
    }
    deal = &deals->deal[deals->count++];
    *deal = (struct deal){.name = name, .ranks = ranks};
    return deal;
}

struct deals deals_collect(const struct report *report)
{
    struct deals deals = {.count = 0};

    for (size_t i = 0; i < report->count; i++) {
        const struct run_result *const run = &report->runs[i];
        struct deal *deal = find_or_add(&deals, run->arrangement->linear, run->ranks);

        deal->strip = &run->linear;
        deal->linear_of[i] = true;
        deal = find_or_add(&deals, run->arrangement->attention, run->ranks);
        deal->strip = &run->attention;
        deal->attention = run;
        deal->attention_of[i] = true;
    }
    return deals;
}

int64_t deal_tokens(const struct deal *deal, int32_t rank)
{
    int64_t tokens = 0;

    for (int64_t i = 0; i < deal->strip->count; i++) {
        const struct part *const part = &deal->strip->parts[i];

        tokens += part->rank == rank ? part->length : 0;
    }
    return tokens;
}

/* The query at position p of its document meets p + 1 keys. */
double deal_pairs(const struct deal *deal, int32_t rank)
{
    double pairs = 0;

    for (int64_t i = 0; i < deal->strip->count; i++) {
        const struct part *const part = &deal->strip->parts[i];
        const double length = (double)part->length;

        if (part->rank == rank) {
            pairs += length * (double)part->position + length * (length + 1) / 2;
        }
    }
    return pairs;
}

int64_t deal_documents(const struct deal *deal)
{
    int64_t documents = 0;

    for (int64_t i = 0; i < deal->strip->count; i++) {
        documents += deal->strip->parts[i].position == 0;
    }
    return documents;
}

bool deal_crosses(const struct deal *deal, int64_t i)
{
    const struct part *const parts = deal->strip->parts;

    return i > 0 && parts[i].position > 0 && parts[i].rank != parts[i - 1].rank;
}

int64_t deal_crossings(const struct deal *deal)
{
    int64_t crossings = 0;

    for (int64_t i = 0; i < deal->strip->count; i++) {
        crossings += deal_crosses(deal, i);
    }
    return crossings;
}

double deal_work(const struct deal *deal, int32_t rank)
{
    return deal->attention != NULL ? deal->attention->attention_pairs[rank]
                                   : deal_pairs(deal, rank);
}

double deal_mean_work(const struct deal *deal)
{
    double sum = 0;

    for (int32_t rank = 0; rank < deal->ranks; rank++) {
        sum += deal_work(deal, rank);
    }
    return sum / deal->ranks;
}
