/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text form of `cplayout map`: a table with a line and a strip per rank.
 *
 * The table is walked twice, first for the widths of its columns. Lines should not wrap: a rank
 * shows as many of its ranges as there is room for, and strips are left out where they would be too
 * short.
 */
#include "map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal.h"

enum {
    RANGES_MOST = 6,     /* ranges of one rank in the table; the rest is counted */
    RANGES_WITH = 3,     /* fewer are not shown for the sake of a strip */
    RANGES_BYTES = 320,  /* RANGES_MOST of the longest, and how many more there are */
    CELL_WIDTH_MOST = 6, /* characters per cell, where few cells would make a short strip */
    STRIP_LEAST = 16,    /* a strip in less room than this shows nothing */
    GAP = 2,             /* blanks between columns */
};

struct columns {
    const struct map *map;
    struct terminal terminal;
    int rank;
    int cp;                      /* 0: no such column */
    int shown;                   /* ranges of a rank, of RANGES_MOST */
    int ranges[RANGES_MOST + 1]; /* width, by how many are shown */
    int rows;
    int valid; /* 0: no such column */
    int pairs;
    int cells; /* of the strip; 0: no strip */
    int cell;  /* characters per cell */
};

/* ---- Ranges ---------------------------------------------------------------------------------- */

/* "0-1", "7", "pad 2". Returns the length. */
static size_t format_range(const struct cplayout_fragment *fragment, char *text, size_t bytes)
{
    const int64_t last = fragment->start + fragment->length - 1;
    int length;

    if (fragment->start < 0) {
        length = snprintf(text, bytes, "pad %" PRId64, fragment->length);
    } else if (fragment->length == 1) {
        length = snprintf(text, bytes, "%" PRId64, last);
    } else {
        length = snprintf(text, bytes, "%" PRId64 "-%" PRId64, fragment->start, last);
    }
    return (size_t)length;
}

/* "0-1, 6-7". Ranges beyond `shown` are counted only. */
static void format_ranges(const struct fragments *fragments, int shown, char text[RANGES_BYTES])
{
    size_t used = 0;

    (void)snprintf(text, RANGES_BYTES, "none");
    for (uint64_t i = 0; i < fragments->count; i++) {
        if (i == (uint64_t)shown) {
            (void)snprintf(text + used, RANGES_BYTES - used, ", and %" PRIu64 " more",
                           fragments->count - i);
            return;
        }
        used += (size_t)snprintf(text + used, RANGES_BYTES - used, "%s", i > 0 ? ", " : "");
        used += format_range(&fragments->list[i], text + used, RANGES_BYTES - used);
    }
}

/* ---- Widths ---------------------------------------------------------------------------------- */

/* Rows of the stream where some are padding, else tokens. */
static const char *ranges_title(const struct map *map)
{
    return map->packed ? "rows of the stream" : "tokens";
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int title_width(const char *title)
{
    return (int)strlen(title);
}

static struct columns begin_columns(const struct map *map)
{
    struct columns columns = {.map = map,
                              .terminal = terminal_detect(),
                              .rank = larger(title_width("rank"),
                                             terminal_digits((uint64_t)map_ranks(map) - 1)),
                              .rows = title_width("rows"),
                              .pairs = title_width("pairs")};

    if (map->info.tp > 1) {
        columns.cp = larger(title_width("cp"), terminal_digits((uint64_t)map->info.cp - 1));
    }
    if (map->packed) {
        columns.valid = title_width("valid");
    }
    for (int shown = 1; shown <= RANGES_MOST; shown++) {
        columns.ranges[shown] = title_width(ranges_title(map));
    }
    return columns;
}

static void widen(const struct holding *holding, struct columns *columns)
{
    char ranges[RANGES_BYTES];

    for (int shown = 1; shown <= RANGES_MOST; shown++) {
        format_ranges(&holding->fragments, shown, ranges);
        columns->ranges[shown] = larger(columns->ranges[shown], (int)strlen(ranges));
    }
    columns->rows = larger(columns->rows, terminal_digits(holding->info.rows));
    columns->pairs = larger(columns->pairs, terminal_digits(holding->info.attention_pairs));
    if (columns->valid > 0) {
        columns->valid = larger(columns->valid, terminal_digits(holding->info.valid_rows));
    }
}

static int gapped(int width)
{
    return width > 0 ? width + GAP : 0;
}

/* Characters that are left in a line behind the table. */
static int room_behind(const struct columns *columns, int shown)
{
    return columns->terminal.columns - columns->rank - gapped(columns->cp) -
           gapped(columns->ranges[shown]) - gapped(columns->rows) - gapped(columns->valid) -
           gapped(columns->pairs);
}

/* As many ranges as leave a strip its room or else, if those were very few, as fit without. */
static int choose_shown(const struct columns *columns)
{
    int shown = RANGES_MOST;

    while (shown > RANGES_WITH && room_behind(columns, shown) < GAP + STRIP_LEAST) {
        shown--;
    }
    if (room_behind(columns, shown) >= GAP + STRIP_LEAST) {
        return shown;
    }
    shown = RANGES_MOST;
    while (shown > 1 && room_behind(columns, shown) < 0) {
        shown--;
    }
    return shown;
}

/*
 * Zigzag cuts 2P chunks and T windows: 2PT cells show every border of a dense sequence, fewer are a
 * scaled picture. Borders in packed documents lie anywhere.
 */
static void size_strip(struct columns *columns)
{
    const struct map *const map = columns->map;
    const uint64_t borders = 2 * (uint64_t)map->info.cp * (uint64_t)map->info.tp;
    const uint64_t rows = map->info.stream_rows;
    const uint64_t exact = map->packed || borders > rows ? rows : borders;
    const int room = room_behind(columns, columns->shown) - GAP;

    if (room < STRIP_LEAST || rows == 0) {
        return;
    }
    columns->cells = exact < (uint64_t)room ? (int)exact : room;
    columns->cell = room / columns->cells;
    if (columns->cell > CELL_WIDTH_MOST) {
        columns->cell = CELL_WIDTH_MOST;
    }
}

static bool measure(const struct map *map, struct columns *columns)
{
    struct holding holding = {.rank = 0};
    bool fine = true;

    *columns = begin_columns(map);
    for (int32_t rank = 0; fine && rank < map_ranks(map); rank++) {
        fine = map_load(map, rank, &holding);
        if (fine) {
            widen(&holding, columns);
        }
    }
    free(holding.fragments.list);
    columns->shown = choose_shown(columns);
    size_strip(columns);
    return fine;
}

/* ---- Strips ---------------------------------------------------------------------------------- */

/* Where the index-th of `cells` equal cells begins, rounded down, without overflow. */
static uint64_t cell_start(uint64_t rows, uint64_t cells, uint64_t index)
{
    return rows / cells * index + rows % cells * index / cells;
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

static enum terminal_fill fill_of(const struct columns *columns, const struct holding *holding,
                                  uint64_t index)
{
    const uint64_t rows = columns->map->info.stream_rows;
    const uint64_t begin = cell_start(rows, (uint64_t)columns->cells, index);
    const uint64_t end = cell_start(rows, (uint64_t)columns->cells, index + 1);
    const uint64_t held = overlap(&holding->fragments, begin, end);

    if (held == 0) {
        return TERMINAL_EMPTY;
    }
    return held == end - begin ? TERMINAL_FULL : TERMINAL_PARTLY;
}

static void print_strip(const struct columns *columns, const struct holding *holding)
{
    const int32_t color = holding->rank / columns->map->info.tp;

    (void)fputs("  ", stdout);
    for (int i = 0; i < columns->cells; i++) {
        terminal_cells(&columns->terminal, fill_of(columns, holding, (uint64_t)i), color,
                       columns->cell);
    }
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static void print_titles(const struct columns *columns)
{
    (void)printf("%*s", columns->rank, "rank");
    if (columns->cp > 0) {
        (void)printf("  %*s", columns->cp, "cp");
    }
    (void)printf("  %-*s  %*s", columns->ranges[columns->shown], ranges_title(columns->map),
                 columns->rows, "rows");
    if (columns->valid > 0) {
        (void)printf("  %*s", columns->valid, "valid");
    }
    (void)printf("  %*s\n", columns->pairs, "pairs");
}

static void print_holding(const struct columns *columns, const struct holding *holding)
{
    char ranges[RANGES_BYTES];

    format_ranges(&holding->fragments, columns->shown, ranges);
    (void)printf("%*" PRId32, columns->rank, holding->rank);
    if (columns->cp > 0) {
        (void)printf("  %*" PRId32, columns->cp, holding->rank / columns->map->info.tp);
    }
    (void)printf("  %-*s  %*" PRIu64, columns->ranges[columns->shown], ranges, columns->rows,
                 holding->info.rows);
    if (columns->valid > 0) {
        (void)printf("  %*" PRIu64, columns->valid, holding->info.valid_rows);
    }
    (void)printf("  %*" PRIu64, columns->pairs, holding->info.attention_pairs);
    if (columns->cells > 0) {
        print_strip(columns, holding);
    }
    (void)putchar('\n');
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

static void explain(const struct columns *columns, const char *title, const char *meaning)
{
    (void)printf("%s: ", title);
    terminal_wrap(&columns->terminal, (int)strlen(title) + (int)strlen(": "), meaning);
}

static void print_legend(const struct columns *columns)
{
    char strip[160];

    if (columns->valid > 0) {
        explain(columns, "valid", "rows that are tokens, no padding");
    }
    explain(columns, "pairs", "(query, key) pairs of causal attention, by the rank of the query");
    if (columns->cells > 0) {
        (void)snprintf(strip, sizeof(strip),
                       "the %s from left to right: %s held, %s in part, %s by others",
                       columns->map->packed ? "stream" : "sequence",
                       terminal_glyph(&columns->terminal, TERMINAL_FULL),
                       terminal_glyph(&columns->terminal, TERMINAL_PARTLY),
                       terminal_glyph(&columns->terminal, TERMINAL_EMPTY));
        explain(columns, "strip", strip);
    }
}

static bool print_table(const struct columns *columns)
{
    const struct map *const map = columns->map;
    struct holding holding = {.rank = 0};
    struct balance balance = {.most = 0};
    bool fine = true;

    print_titles(columns);
    for (int32_t rank = 0; fine && rank < map_ranks(map); rank++) {
        fine = map_load(map, rank, &holding);
        if (fine) {
            print_holding(columns, &holding);
            weigh(map, &holding, &balance);
        }
    }
    free(holding.fragments.list);
    if (fine) {
        print_balance(map, &balance);
        print_legend(columns);
    }
    return fine;
}

static void print_header(const struct map *map)
{
    const struct cplayout_partition_info *const info = &map->info;
    const uint64_t source = info->stream_rows - info->tokens;

    (void)printf("%s, P = %" PRId32 ", T = %" PRId32 ": %" PRIu64 " token%s in %" PRIu64
                 " row%s, identity %016" PRIx64 "\n",
                 map->layout, info->cp, info->tp, info->tokens, info->tokens == 1 ? "" : "s",
                 info->rows, info->rows == 1 ? "" : "s", info->identity);
    if (map->packed) {
        (void)printf("%" PRIu64 " document%s; padding: %" PRIu64 " row%s in the input, %" PRIu64
                     " added\n",
                     info->documents, info->documents == 1 ? "" : "s", source,
                     source == 1 ? "" : "s", info->rows - info->stream_rows);
    }
}

bool map_print_text(const struct map *map)
{
    struct columns columns;

    if (!measure(map, &columns)) {
        return false;
    }
    print_header(map);
    return print_table(&columns);
}
