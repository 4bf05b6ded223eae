/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text form of `cplayout route`: totals, rows by rank, and the runs of every message.
 */
#include "route.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "terminal.h"

enum { MATRIX_MOST = 16 }; /* ranks up to which a rank x rank matrix is readable */

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void print_header(const struct route *route)
{
    const struct cplayout_route_info *const info = &route->info;

    (void)printf("%s -> %s, P = %" PRId64 ", T = %" PRId64 ": %" PRIu64 " of %" PRIu64
                 " row%s move\n"
                 "busiest rank: %" PRIu64 " row%s, most peers of a rank: %" PRId32 "\n",
                 route->args->text[OPTION_FROM], route->args->text[OPTION_TO],
                 route->args->number[OPTION_CP], route->args->number[OPTION_TP], info->moved_rows,
                 info->total_rows, plural(info->total_rows), info->worst_rank_rows,
                 plural(info->worst_rank_rows), info->peers);
    if (route->args->text[OPTION_CU_SEQLENS] != NULL) {
        const uint64_t added = route->target.rows - route->target.stream_rows;

        (void)printf("%" PRIu64 " document%s; padding to fill: %" PRIu64 " row%s\n",
                     route->target.documents, plural(route->target.documents), added,
                     plural(added));
    }
}

static int64_t sum_rows(const struct moves *moves)
{
    int64_t rows = 0;

    for (uint64_t i = 0; i < moves->count; i++) {
        rows += moves->list[i].rows;
    }
    return rows;
}

/* Moves are grouped by peer. */
static int32_t count_peers(const struct moves *moves)
{
    int32_t peers = 0;

    for (uint64_t i = 0; i < moves->count; i++) {
        peers += i == 0 || moves->list[i].peer != moves->list[i - 1].peer;
    }
    return peers;
}

/* Columns of the matrix or the summary. */
struct columns {
    const struct route *route;
    int rank;
    int rows;
};

/*
 * A rank of the target holds all rows divided by the ranks. One rank of the source may send more:
 * where it pads, rows of the stream are not spread evenly.
 */
static struct columns size_columns(const struct route *route)
{
    const uint64_t even = route->info.total_rows / (uint64_t)route->ranks;
    const uint64_t busiest = route->info.worst_rank_rows;
    const int rank = terminal_digits((uint64_t)route->ranks - 1);
    const int rows = terminal_digits(busiest > even ? busiest : even);

    return (struct columns){.route = route, .rank = rank, .rows = rows > rank ? rows : rank};
}

/* Peers are ranks, and there are at most MATRIX_MOST. */
static void add_rows(const struct moves *moves, int64_t to[MATRIX_MOST])
{
    for (uint64_t i = 0; i < moves->count; i++) {
        to[moves->list[i].peer] += moves->list[i].rows;
    }
}

static bool print_matrix_line(void *self, const struct traffic *traffic)
{
    const struct columns *const columns = self;
    const int32_t ranks = columns->route->ranks;
    int64_t to[MATRIX_MOST] = {0};

    add_rows(&traffic->kinds[CPLAYOUT_MOVES_KEPT], to);
    add_rows(&traffic->kinds[CPLAYOUT_MOVES_SENT], to);
    (void)printf("  from %*" PRId32 " ", columns->rank, traffic->rank);
    for (int32_t peer = 0; peer < ranks; peer++) {
        if (to[peer] == 0) {
            (void)printf("  %*s", columns->rows, ".");
        } else {
            (void)printf("  %*" PRId64, columns->rows, to[peer]);
        }
    }
    (void)putchar('\n');
    return true;
}

static bool print_matrix(struct columns *columns)
{
    (void)printf("\nrows by rank\n  %*s ", columns->rank + (int)strlen("from "), "to");
    for (int32_t rank = 0; rank < columns->route->ranks; rank++) {
        (void)printf("  %*" PRId32, columns->rows, rank);
    }
    (void)putchar('\n');
    return route_for_each_rank(columns->route, columns, print_matrix_line);
}

static int at_least(int width, const char *title)
{
    return width > (int)strlen(title) ? width : (int)strlen(title);
}

static bool print_summary_line(void *self, const struct traffic *traffic)
{
    const struct columns *const columns = self;
    const struct moves *const kept = &traffic->kinds[CPLAYOUT_MOVES_KEPT];
    const struct moves *const sent = &traffic->kinds[CPLAYOUT_MOVES_SENT];
    const struct moves *const received = &traffic->kinds[CPLAYOUT_MOVES_RECEIVED];

    (void)printf("  %*" PRId32 "  %*" PRId64 "  %*" PRId64 "  %*" PRId64 "  %8" PRId32
                 "  %10" PRId32 "\n",
                 at_least(columns->rank, "rank"), traffic->rank, at_least(columns->rows, "kept"),
                 sum_rows(kept), at_least(columns->rows, "sent"), sum_rows(sent),
                 at_least(columns->rows, "received"), sum_rows(received), count_peers(sent),
                 count_peers(received));
    return true;
}

static bool print_summary(struct columns *columns)
{
    (void)printf("\n  %*s  %*s  %*s  %*s  to peers  from peers\n", at_least(columns->rank, "rank"),
                 "rank", at_least(columns->rows, "kept"), "kept", at_least(columns->rows, "sent"),
                 "sent", at_least(columns->rows, "received"), "received");
    return route_for_each_rank(columns->route, columns, print_summary_line);
}

static void print_range(int64_t start, int64_t rows)
{
    if (rows == 1) {
        (void)printf("%" PRId64, start);
    } else {
        (void)printf("%" PRId64 "-%" PRId64, start, start + rows - 1);
    }
}

static void print_kept(const struct traffic *traffic)
{
    struct runs runs = runs_begin(traffic, CPLAYOUT_MOVES_KEPT);
    const char *before = "  keeps     ";

    while (runs_next(&runs)) {
        (void)fputs(before, stdout);
        print_range(runs.run.src, runs.run.rows);
        if (runs.run.src != runs.run.dst) {
            (void)fputs(" as ", stdout);
            print_range(runs.run.dst, runs.run.rows);
        }
        before = ", ";
    }
    if (runs.next > 0) {
        (void)putchar('\n');
    }
}

static void print_messages(const struct traffic *traffic, int kind)
{
    const bool sent = kind == CPLAYOUT_MOVES_SENT;
    struct runs runs = runs_begin(traffic, kind);
    int32_t peer = -1;

    while (runs_next(&runs)) {
        if (runs.run.peer != peer) {
            (void)printf("%s  %-8s  %s %" PRId32 ": ", peer < 0 ? "" : "\n",
                         sent ? "sends" : "receives", sent ? "to" : "from", runs.run.peer);
            peer = runs.run.peer;
        } else {
            (void)fputs(", ", stdout);
        }
        print_range(runs_local(&runs), runs.run.rows);
    }
    if (peer >= 0) {
        (void)putchar('\n');
    }
}

static void print_pads(const struct traffic *traffic)
{
    struct runs runs = runs_begin(traffic, CPLAYOUT_MOVES_PADS);
    const char *before = "  pads      ";

    while (runs_next(&runs)) {
        (void)fputs(before, stdout);
        print_range(runs_local(&runs), runs.run.rows);
        before = ", ";
    }
    if (runs.next > 0) {
        (void)putchar('\n');
    }
}

static bool print_ranges(void *self, const struct traffic *traffic)
{
    (void)self;
    (void)printf("rank %" PRId32 "\n", traffic->rank);
    print_kept(traffic);
    print_messages(traffic, CPLAYOUT_MOVES_SENT);
    print_messages(traffic, CPLAYOUT_MOVES_RECEIVED);
    print_pads(traffic);
    return true;
}

/* A matrix is only readable if its lines do not wrap. */
static bool shows_matrix(const struct columns *columns)
{
    const struct terminal terminal = terminal_detect();
    const int margin = (int)strlen("  from  ") + columns->rank;
    const int width = margin + columns->route->ranks * (columns->rows + 2);

    return columns->route->ranks <= MATRIX_MOST &&
           (!terminal.interactive || width <= terminal.columns);
}

bool route_print_text(const struct route *route)
{
    struct columns columns = size_columns(route);

    print_header(route);
    if (!(shows_matrix(&columns) ? print_matrix(&columns) : print_summary(&columns))) {
        return false;
    }
    (void)fputs("\nlocal rows, in the order of each message\n", stdout);
    return route_for_each_rank(route, NULL, print_ranges);
}
