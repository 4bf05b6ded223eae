/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `cplayout map`: which rank holds which tokens. Here is the verb and its JSON; map_text.c has the
 * table for people. Ranks are looked at one by one: cost follows ranks and fragments.
 */
#include "map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "verbs.h"

int32_t map_ranks(const struct map *map)
{
    return map->info.cp * map->info.tp;
}

bool map_load(const struct map *map, int32_t rank, struct holding *holding)
{
    const struct fragments_of of = {.partition = map->partition, .rank = rank};
    struct cplayout_error error = {.size = sizeof(error)};

    holding->rank = rank;
    holding->info = (struct cplayout_rank_info){.size = sizeof(holding->info)};
    error.status = map->host->plan->rank_describe(map->partition, rank, &holding->info, &error);
    if (error.status != CPLAYOUT_OK) {
        return report_plugin(map->report, NULL, &error);
    }
    return host_fragments(map->host, &of, &holding->fragments, map->report);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *fragments_json(const struct fragments *fragments)
{
    json_t *const array = json_array();

    for (uint64_t i = 0; i < fragments->count; i++) {
        const struct cplayout_fragment *const fragment = &fragments->list[i];

        if (json_array_append_new(array, json_pack("[I,I]", (json_int_t)fragment->start,
                                                   (json_int_t)fragment->length)) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *holding_json(const struct map *map, const struct holding *holding)
{
    return json_pack("{s:i,s:i,s:i,s:o,s:I,s:I,s:I}", "rank", holding->rank, "cp_rank",
                     holding->rank / map->info.tp, "tp_rank", holding->rank % map->info.tp,
                     "fragments", fragments_json(&holding->fragments), "rows",
                     (json_int_t)holding->info.rows, "valid_rows",
                     (json_int_t)holding->info.valid_rows, "attention_pairs",
                     (json_int_t)holding->info.attention_pairs);
}

/* Appends every rank. False if one failed, with a report, or if memory ran out, without. */
static bool append_ranks(const struct map *map, json_t *ranks)
{
    struct holding holding = {.rank = 0};
    bool fine = true;

    for (int32_t rank = 0; fine && rank < map_ranks(map); rank++) {
        fine = map_load(map, rank, &holding) &&
               json_array_append_new(ranks, holding_json(map, &holding)) == 0;
    }
    free(holding.fragments.list);
    return fine;
}

static json_t *numbers_json(const struct offsets *offsets)
{
    json_t *const array = json_array();

    for (uint64_t i = 0; i < offsets->count; i++) {
        if (json_array_append_new(array, json_integer((json_int_t)offsets->list[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* NULL if the plugin refused, with a report, or if memory ran out, without. */
static json_t *offsets_json(const struct map *map)
{
    struct offsets offsets = {.list = NULL};
    json_t *array = NULL;

    if (host_offsets(map->host, map->partition, &offsets, map->report)) {
        array = numbers_json(&offsets);
    }
    free(offsets.list);
    return array;
}

static bool print_json(const struct map *map)
{
    json_t *const ranks = json_array();
    char identity[17];

    if (!append_ranks(map, ranks)) {
        json_decref(ranks);
        return report_memory(map->report); /* kept only if nothing was reported before */
    }
    (void)snprintf(identity, sizeof(identity), "%016" PRIx64, map->info.identity);
    return report_json(map->report,
                       json_pack("{s:s,s:i,s:i,s:I,s:I,s:I,s:o,s:s,s:o}", "layout", map->layout,
                                 "cp", map->info.cp, "tp", map->info.tp, "tokens",
                                 (json_int_t)map->info.tokens, "stream_rows",
                                 (json_int_t)map->info.stream_rows, "rows",
                                 (json_int_t)map->info.rows, "cu_seqlens_padded", offsets_json(map),
                                 "identity", identity, "ranks", ranks));
}

bool verb_map(struct host *host, struct args *args, struct report *report)
{
    struct cplayout_partition *partition = NULL;
    struct map map = {.host = host,
                      .layout = args->text[OPTION_LAYOUT],
                      .packed = args->text[OPTION_CU_SEQLENS] != NULL,
                      .info = {.size = sizeof(map.info)},
                      .report = report};
    bool fine;

    if (!host_need_plan(host, report) ||
        !host_partition(host, args, OPTION_LAYOUT, &partition, report)) {
        return false;
    }
    map.partition = partition;
    host->plan->partition_describe(partition, &map.info);
    fine = args->text[OPTION_SVG] == NULL || map_write_svg(&map, args);
    if (fine) {
        fine = args->number[OPTION_JSON] != 0 ? print_json(&map) : map_print_text(&map);
    }
    host->plan->partition_destroy(partition);
    return fine;
}
