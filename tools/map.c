/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `cplayout map`: which rank holds which tokens, as a table with a strip per rank or as JSON.
 *
 * Cost follows ranks and fragments. One rank is looked at a time; the table is walked twice, first
 * for the widths of its columns.
 */
#include "verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal.h"

enum {
    RANGES_SHOWN = 6,    /* fragments of one rank in the table; the rest is counted */
    RANGES_BYTES = 320,  /* RANGES_SHOWN of the longest, and how many more there are */
    CELL_WIDTH_MOST = 6, /* characters per chunk, where few chunks would make a short strip */
    STRIP_LEAST = 16,    /* a strip shorter than this shows nothing */
    GAPS = 4 * 2,        /* blanks between the five columns */
};

struct map {
    const struct host *host;
    const struct cplayout_partition *partition;
    const char *layout;
    struct cplayout_partition_info info;
    struct report *report;
};

/* What one rank holds. */
struct holding {
    int32_t rank;
    struct cplayout_rank_info info;
    struct fragments fragments;
};

static int32_t count_ranks(const struct map *map)
{
    return map->info.cp * map->info.tp;
}

static bool load_holding(const struct map *map, int32_t rank, struct holding *holding)
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

    for (int32_t rank = 0; fine && rank < count_ranks(map); rank++) {
        fine = load_holding(map, rank, &holding) &&
               json_array_append_new(ranks, holding_json(map, &holding)) == 0;
    }
    free(holding.fragments.list);
    return fine;
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
                       json_pack("{s:s,s:i,s:i,s:I,s:I,s:[i,I],s:s,s:o}", "layout", map->layout,
                                 "cp", map->info.cp, "tp", map->info.tp, "tokens",
                                 (json_int_t)map->info.tokens, "rows", (json_int_t)map->info.rows,
                                 "cu_seqlens_padded", 0, (json_int_t)map->info.tokens, "identity",
                                 identity, "ranks", ranks));
}

/* ---- Text ------------------------------------------------------------------------------------ */

struct widths {
    int rank;
    int ranges;
    int rows;
    int pairs;
    int cells; /* of the strip */
    int cell;  /* characters per cell */
};

/* "0-1", "7"; padding is "2 pad". Returns the length. */
static size_t format_range(const struct cplayout_fragment *fragment, char *text, size_t bytes)
{
    const int64_t last = fragment->start + fragment->length - 1;
    int length;

    if (fragment->start < 0) {
        length = snprintf(text, bytes, "%" PRId64 " pad", fragment->length);
    } else if (fragment->length == 1) {
        length = snprintf(text, bytes, "%" PRId64, last);
    } else {
        length = snprintf(text, bytes, "%" PRId64 "-%" PRId64, fragment->start, last);
    }
    return (size_t)length;
}

/* "0-1, 6-7". Ranges beyond RANGES_SHOWN are counted only. */
static void format_ranges(const struct fragments *fragments, char text[RANGES_BYTES])
{
    size_t used = 0;

    (void)snprintf(text, RANGES_BYTES, "none");
    for (uint64_t i = 0; i < fragments->count; i++) {
        if (i == RANGES_SHOWN) {
            (void)snprintf(text + used, RANGES_BYTES - used, ", and %" PRIu64 " more",
                           fragments->count - i);
            return;
        }
        used += (size_t)snprintf(text + used, RANGES_BYTES - used, "%s", i > 0 ? ", " : "");
        used += format_range(&fragments->list[i], text + used, RANGES_BYTES - used);
    }
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static void widen(const struct holding *holding, struct widths *widths)
{
    char ranges[RANGES_BYTES];

    format_ranges(&holding->fragments, ranges);
    widths->ranges = larger(widths->ranges, (int)strlen(ranges));
    widths->rows = larger(widths->rows, terminal_digits(holding->info.rows));
    widths->pairs = larger(widths->pairs, terminal_digits(holding->info.attention_pairs));
}

/* Zigzag cuts 2P chunks and T windows: 2PT cells show every border, fewer are a scaled picture. */
static void size_strip(const struct map *map, const struct terminal *terminal,
                       struct widths *widths)
{
    const uint64_t wanted = 2 * (uint64_t)map->info.cp * (uint64_t)map->info.tp;
    const uint64_t exact = wanted < map->info.tokens ? wanted : map->info.tokens;
    const int before = widths->rank + widths->ranges + widths->rows + widths->pairs + GAPS;
    const int room = larger(terminal->columns - 1 - before, STRIP_LEAST);

    widths->cells = exact < (uint64_t)room ? larger((int)exact, 1) : room;
    widths->cell = room / widths->cells;
    if (widths->cell > CELL_WIDTH_MOST) {
        widths->cell = CELL_WIDTH_MOST;
    }
}

static bool measure(const struct map *map, const struct terminal *terminal, struct widths *widths)
{
    struct holding holding = {.rank = 0};
    bool fine = true;

    *widths = (struct widths){.rank = larger((int)strlen("rank"),
                                             terminal_digits((uint64_t)count_ranks(map))),
                              .ranges = (int)strlen("tokens"),
                              .rows = (int)strlen("rows"),
                              .pairs = (int)strlen("pairs")};
    for (int32_t rank = 0; fine && rank < count_ranks(map); rank++) {
        fine = load_holding(map, rank, &holding);
        if (fine) {
            widen(&holding, widths);
        }
    }
    free(holding.fragments.list);
    size_strip(map, terminal, widths);
    return fine;
}

/* Where the index-th of `cells` equal cells begins, rounded down, without overflow. */
static uint64_t cell_start(uint64_t tokens, uint64_t cells, uint64_t index)
{
    return tokens / cells * index + tokens % cells * index / cells;
}

static uint64_t overlap(const struct fragments *fragments, uint64_t begin, uint64_t end)
{
    uint64_t held = 0;

    for (uint64_t i = 0; i < fragments->count; i++) {
        const uint64_t start = (uint64_t)fragments->list[i].start;
        const uint64_t stop = start + (uint64_t)fragments->list[i].length;
        const uint64_t low = start > begin ? start : begin;
        const uint64_t high = stop < end ? stop : end;

        if (fragments->list[i].start >= 0 && low < high) {
            held += high - low;
        }
    }
    return held;
}

static enum terminal_fill fill_of(const struct map *map, const struct holding *holding,
                                  uint64_t cells, uint64_t index)
{
    const uint64_t begin = cell_start(map->info.tokens, cells, index);
    const uint64_t end = cell_start(map->info.tokens, cells, index + 1);
    const uint64_t held = overlap(&holding->fragments, begin, end);

    if (held == 0) {
        return TERMINAL_EMPTY;
    }
    return held == end - begin ? TERMINAL_FULL : TERMINAL_PARTLY;
}

static void print_strip(const struct map *map, const struct terminal *terminal,
                        const struct widths *widths, const struct holding *holding)
{
    const uint64_t cells = (uint64_t)widths->cells;

    for (uint64_t i = 0; i < cells; i++) {
        const enum terminal_fill fill = fill_of(map, holding, cells, i);

        terminal_cells(terminal, fill, holding->rank / map->info.tp, widths->cell);
    }
    (void)putchar('\n');
}

static void print_holding(const struct map *map, const struct terminal *terminal,
                          const struct widths *widths, const struct holding *holding)
{
    char ranges[RANGES_BYTES];

    format_ranges(&holding->fragments, ranges);
    (void)printf("%*" PRId32 "  %-*s  %*" PRIu64 "  %*" PRIu64 "  ", widths->rank, holding->rank,
                 widths->ranges, ranges, widths->rows, holding->info.rows, widths->pairs,
                 holding->info.attention_pairs);
    print_strip(map, terminal, widths, holding);
}

/* Attention kernels run after the windows of a CP rank are gathered: they count together. */
struct balance {
    double most;
    double total;
    double current; /* of the CP rank that is being added up */
};

static void weigh(const struct map *map, const struct holding *holding, struct balance *balance)
{
    const double pairs = (double)holding->info.attention_pairs;

    balance->current = holding->rank % map->info.tp == 0 ? pairs : balance->current + pairs;
    balance->total += pairs;
    if (balance->current > balance->most) {
        balance->most = balance->current;
    }
}

static void print_balance(const struct map *map, const struct balance *balance)
{
    const double mean = balance->total / map->info.cp;

    (void)printf("attention balance: max/mean %.4f over %" PRId32 " CP rank%s\n",
                 mean > 0 ? balance->most / mean : 1.0, map->info.cp, map->info.cp == 1 ? "" : "s");
}

static bool print_table(const struct map *map, const struct terminal *terminal,
                        const struct widths *widths)
{
    struct holding holding = {.rank = 0};
    struct balance balance = {.most = 0};
    bool fine = true;

    (void)printf("%*s  %-*s  %*s  %*s\n", widths->rank, "rank", widths->ranges, "tokens",
                 widths->rows, "rows", widths->pairs, "pairs");
    for (int32_t rank = 0; fine && rank < count_ranks(map); rank++) {
        fine = load_holding(map, rank, &holding);
        if (fine) {
            print_holding(map, terminal, widths, &holding);
            weigh(map, &holding, &balance);
        }
    }
    free(holding.fragments.list);
    if (fine) {
        print_balance(map, &balance);
    }
    return fine;
}

static bool print_text(const struct map *map)
{
    const struct terminal terminal = terminal_detect();
    struct widths widths;

    if (!measure(map, &terminal, &widths)) {
        return false;
    }
    (void)printf("%s, P = %" PRId32 ", T = %" PRId32 ": %" PRIu64 " tokens in %" PRIu64
                 " rows, identity %016" PRIx64 "\n",
                 map->layout, map->info.cp, map->info.tp, map->info.tokens, map->info.rows,
                 map->info.identity);
    return print_table(map, &terminal, &widths);
}

bool verb_map(struct host *host, const struct args *args, struct report *report)
{
    struct cplayout_partition *partition = NULL;
    struct map map = {.host = host,
                      .layout = args->text[OPTION_LAYOUT],
                      .info = {.size = sizeof(map.info)},
                      .report = report};
    bool fine;

    if (!host_need_plan(host, report) ||
        !host_partition(host, args, OPTION_LAYOUT, &partition, report)) {
        return false;
    }
    map.partition = partition;
    host->plan->partition_describe(partition, &map.info);
    fine = args->number[OPTION_JSON] != 0 ? print_json(&map) : print_text(&map);
    host->plan->partition_destroy(partition);
    return fine;
}
