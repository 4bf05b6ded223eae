/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/keys.h"

#include <stdlib.h>

#include "plan/chain.h"

bool cpl_key_extent_next(struct cpl_local_reader *reader, struct cpl_key_extent *extent)
{
    struct cpl_part part;

    while (cpl_local_next(reader, &part)) {
        if (part.valid > 0) {
            *extent = (struct cpl_key_extent){
                .local = part.local,
                .queries = part.valid,
                .first_key = part.start - part.position,
                .position = part.position,
            };
            return true;
        }
    }
    return false;
}

/* ---- Attention --------------------------------------------------------------------------------- */

/* Parts come in order of the stream: keys between the last query and this one lie elsewhere. */
static void add_part(struct cpl_attending *progress, const struct cpl_part *part)
{
    if (part->valid == 0) {
        return;
    }
    if (progress->document != part->document) {
        progress->document = part->document;
        progress->end = 0;
    }
    progress->pairs += cpl_pairs(part->position, part->valid);
    progress->key_rows += part->position - progress->end;
    progress->end = part->position + part->valid;
}

/* A layout deals in order of the stream: what a context-parallel rank has follows window by window. */
static void add_windows(struct cpl_attending *progress, const struct cpl_table *table,
                        int32_t cp_rank)
{
    for (int32_t tp_rank = 0; tp_rank < table->tp; tp_rank++) {
        struct cpl_local_reader reader = cpl_local_reader(table, cp_rank * table->tp + tp_rank);
        struct cpl_part part;

        while (cpl_local_next(&reader, &part)) {
            add_part(progress, &part);
        }
    }
}

/* The host's own table may have any order; the chain has the stream's, for all ranks in one pass. */
static void add_chain(struct cpl_attending *ranks, const struct cpl_table *table)
{
    struct cpl_chain_reader reader = cpl_chain_reader(table);
    struct cpl_part part;

    while (cpl_chain_next(&reader, &part)) {
        add_part(&ranks[part.rank / table->tp], &part);
    }
}

struct cpl_attending *cpl_attention_of(const struct cpl_table *table)
{
    struct cpl_attending *const ranks = calloc((size_t)table->cp, sizeof(*ranks));

    if (ranks == NULL) {
        return NULL;
    }
    for (int32_t i = 0; i < table->cp; i++) {
        ranks[i].document = CPL_NO_DOCUMENT;
        if (table->wanted == NULL) {
            add_windows(&ranks[i], table, i);
        }
    }
    if (table->wanted != NULL) {
        add_chain(ranks, table);
    }
    return ranks;
}

/* ---- Cost -------------------------------------------------------------------------------------- */

static int64_t padding_of(const struct cpl_table *table)
{
    int64_t rows = 0;

    for (size_t i = 0; i < table->pads.count; i++) {
        rows += table->pads.list[i].length;
    }
    return rows;
}

enum cpl_status cpl_cost_of(const struct cpl_table *table, struct cpl_cost *cost,
                            struct cpl_error *error)
{
    struct cpl_attending *const ranks = cpl_attention_of(table);
    int64_t most = 0;
    int64_t sum = 0;

    if (ranks == NULL) {
        return cpl_fail_memory(error);
    }
    *cost = (struct cpl_cost){.max_over_mean = 1, .padding_rows = padding_of(table)};
    for (int32_t i = 0; i < table->cp; i++) {
        most = ranks[i].pairs > most ? ranks[i].pairs : most;
        sum += ranks[i].pairs;
        cost->key_rows += ranks[i].key_rows;
    }
    if (sum > 0) {
        cost->max_over_mean = (double)most * table->cp / (double)sum;
    }
    free(ranks);
    return CPL_OK;
}
