/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/keys.h"

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

/* ---- One rank's attention ---------------------------------------------------------------------- */

/* How far into a document a rank's queries have come. */
struct progress {
    struct cpl_attention attention;
    size_t document;
    int64_t end;
};

/* Parts come in order of the stream: keys between the last query and this one lie elsewhere. */
static void add_part(struct progress *progress, const struct cpl_part *part)
{
    if (part->valid == 0) {
        return;
    }
    if (progress->document != part->document) {
        progress->document = part->document;
        progress->end = 0;
    }
    progress->attention.pairs += cpl_pairs(part->position, part->valid);
    progress->attention.key_rows += part->position - progress->end;
    progress->end = part->position + part->valid;
}

/* A layout deals in order of the stream: what a context-parallel rank has follows window by window. */
static void add_windows(struct progress *progress, const struct cpl_table *table, int32_t cp_rank)
{
    for (int32_t tp_rank = 0; tp_rank < table->tp; tp_rank++) {
        struct cpl_local_reader reader = cpl_local_reader(table, cp_rank * table->tp + tp_rank);
        struct cpl_part part;

        while (cpl_local_next(&reader, &part)) {
            add_part(progress, &part);
        }
    }
}

/* The host's own table may have any order; its pieces are listed in the stream's. */
static void add_pieces(struct progress *progress, const struct cpl_table *table, int32_t cp_rank)
{
    const uint32_t *const first = &table->rows.first[cp_rank * table->tp];

    for (uint32_t i = first[0]; i < first[table->tp]; i++) {
        struct cpl_cutter cutter =
            cpl_cutter(&table->stream, &table->rows.list[table->of_cp_rank[i]]);
        struct cpl_part part;

        while (cpl_cutter_next(&cutter, &part)) {
            add_part(progress, &part);
        }
    }
}

struct cpl_attention cpl_attention_of(const struct cpl_table *table, int32_t cp_rank)
{
    struct progress progress = {.document = CPL_NO_DOCUMENT};

    if (table->wanted != NULL) {
        add_pieces(&progress, table, cp_rank);
    } else {
        add_windows(&progress, table, cp_rank);
    }
    return progress.attention;
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

struct cpl_cost cpl_cost_of(const struct cpl_table *table)
{
    struct cpl_cost cost = {.max_over_mean = 1, .padding_rows = padding_of(table)};
    int64_t most = 0;
    int64_t sum = 0;

    for (int32_t cp_rank = 0; cp_rank < table->cp; cp_rank++) {
        const struct cpl_attention attention = cpl_attention_of(table, cp_rank);

        most = attention.pairs > most ? attention.pairs : most;
        sum += attention.pairs;
        cost.key_rows += attention.key_rows;
    }
    if (sum > 0) {
        cost.max_over_mean = (double)most * table->cp / (double)sum;
    }
    return cost;
}
