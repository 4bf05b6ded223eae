/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `cplayout route`: what moves between two layouts, as text or as JSON.
 *
 * Runs of one side of a message that touch are shown as one, whatever cuts the other side has: so
 * sends and receives are the runs that lie in this rank's own rows, in the order of the message.
 */
#include "verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal.h"

enum { MATRIX_MOST = 16 }; /* ranks up to which a rank x rank matrix is readable */

struct route {
    const struct host *host;
    const struct args *args;
    struct cplayout_route *route;
    struct cplayout_route_info info;
    struct report *report;
    int32_t ranks;
};

/* All moves of one rank, by kind. */
struct traffic {
    int32_t rank;
    struct moves kinds[CPLAYOUT_MOVES_RECEIVED + 1];
};

static bool load_traffic(const struct route *route, int32_t rank, struct traffic *traffic)
{
    traffic->rank = rank;
    for (int32_t kind = 0; kind <= CPLAYOUT_MOVES_RECEIVED; kind++) {
        const struct moves_of of = {.route = route->route, .rank = rank, .kind = kind};

        if (!host_moves(route->host, &of, &traffic->kinds[kind], route->report)) {
            return false;
        }
    }
    return true;
}

static void free_traffic(struct traffic *traffic)
{
    for (int32_t kind = 0; kind <= CPLAYOUT_MOVES_RECEIVED; kind++) {
        free(traffic->kinds[kind].list);
    }
}

/* Calls `visit` for every rank, in order, while it returns true. */
static bool for_each_rank(const struct route *route, void *self,
                          bool (*visit)(void *self, const struct traffic *traffic))
{
    struct traffic traffic = {.rank = 0};
    bool fine = true;

    for (int32_t rank = 0; fine && rank < route->ranks; rank++) {
        fine = load_traffic(route, rank, &traffic) && visit(self, &traffic);
    }
    free_traffic(&traffic);
    return fine;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* A walk over moves that joins neighbours. */
struct runs {
    const struct moves *moves;
    int kind;
    uint64_t next;
    struct cplayout_move run; /* the current one */
};

/* Whether `move` goes on where `run` ends, on the sides that matter for the kind. */
static bool continues(int kind, const struct cplayout_move *run, const struct cplayout_move *move)
{
    const bool src = move->src == run->src + run->rows;
    const bool dst = move->dst == run->dst + run->rows;

    if (move->peer != run->peer) {
        return false;
    }
    switch (kind) {
    case CPLAYOUT_MOVES_SENT:
        return src;
    case CPLAYOUT_MOVES_RECEIVED:
        return dst;
    default:
        return src && dst;
    }
}

static struct runs begin_runs(const struct traffic *traffic, int kind)
{
    return (struct runs){.moves = &traffic->kinds[kind], .kind = kind};
}

/* Steps to the next run; false at the end. */
static bool next_run(struct runs *runs)
{
    const struct moves *const moves = runs->moves;

    if (runs->next >= moves->count) {
        return false;
    }
    runs->run = moves->list[runs->next++];
    while (runs->next < moves->count &&
           continues(runs->kind, &runs->run, &moves->list[runs->next])) {
        runs->run.rows += moves->list[runs->next++].rows;
    }
    return true;
}

/* Where a run lies in this rank's own rows. */
static int64_t local_start(const struct runs *runs)
{
    return runs->kind == CPLAYOUT_MOVES_RECEIVED ? runs->run.dst : runs->run.src;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *kept_json(const struct traffic *traffic)
{
    struct runs runs = begin_runs(traffic, CPLAYOUT_MOVES_KEPT);
    json_t *const array = json_array();

    while (next_run(&runs)) {
        if (json_array_append_new(array, json_pack("[I,I,I]", (json_int_t)runs.run.src,
                                                   (json_int_t)runs.run.dst,
                                                   (json_int_t)runs.run.rows)) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* The list of runs of the message with `peer`: the last one, or a new one. Borrowed. */
static json_t *rows_of_peer(json_t *messages, int32_t peer)
{
    const size_t count = json_array_size(messages);
    json_t *const last = count > 0 ? json_array_get(messages, count - 1) : NULL;
    json_t *message;

    if (json_integer_value(json_object_get(last, "peer")) == peer && last != NULL) {
        return json_object_get(last, "rows");
    }
    message = json_pack("{s:i,s:[]}", "peer", peer, "rows");
    if (json_array_append_new(messages, message) != 0) {
        return NULL;
    }
    return json_object_get(message, "rows");
}

static json_t *messages_json(const struct traffic *traffic, int kind)
{
    struct runs runs = begin_runs(traffic, kind);
    json_t *const messages = json_array();

    while (next_run(&runs)) {
        if (json_array_append_new(rows_of_peer(messages, runs.run.peer),
                                  json_pack("[I,I]", (json_int_t)local_start(&runs),
                                            (json_int_t)runs.run.rows)) != 0) {
            json_decref(messages);
            return NULL;
        }
    }
    return messages;
}

/* Only packed input is padded: `pads` is empty. */
static bool append_rank(void *self, const struct traffic *traffic)
{
    json_t *const ranks = self;

    return json_array_append_new(ranks,
                                 json_pack("{s:i,s:o,s:o,s:o,s:[]}", "rank", traffic->rank, "kept",
                                           kept_json(traffic), "sends",
                                           messages_json(traffic, CPLAYOUT_MOVES_SENT), "receives",
                                           messages_json(traffic, CPLAYOUT_MOVES_RECEIVED),
                                           "pads")) == 0;
}

static bool print_json(const struct route *route)
{
    const struct cplayout_route_info *const info = &route->info;
    json_t *const ranks = json_array();

    if (!for_each_rank(route, ranks, append_rank)) {
        json_decref(ranks);
        return report_memory(route->report); /* kept only if nothing was reported before */
    }
    return report_json(route->report,
                       json_pack("{s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:i,s:o}", "from",
                                 route->args->text[OPTION_FROM], "to", route->args->text[OPTION_TO],
                                 "cp", (json_int_t)route->args->number[OPTION_CP], "tp",
                                 (json_int_t)route->args->number[OPTION_TP], "total_rows",
                                 (json_int_t)info->total_rows, "moved_rows",
                                 (json_int_t)info->moved_rows, "worst_rank_rows",
                                 (json_int_t)info->worst_rank_rows, "peers", info->peers, "ranks",
                                 ranks));
}

/* ---- Text ------------------------------------------------------------------------------------ */

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

/* A rank holds at most all rows divided by the ranks in a partition without padding. */
static struct columns size_columns(const struct route *route)
{
    const uint64_t most = route->info.total_rows / (uint64_t)route->ranks;
    const int rank = terminal_digits((uint64_t)route->ranks - 1);
    const int rows = terminal_digits(most);

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
    return for_each_rank(columns->route, columns, print_matrix_line);
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

    (void)printf("  %*" PRId32 "  %*" PRId64 "  %*" PRId64 "  %*" PRId64 "  %7" PRId32 "  %9" PRId32
                 "\n",
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
    return for_each_rank(columns->route, columns, print_summary_line);
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
    struct runs runs = begin_runs(traffic, CPLAYOUT_MOVES_KEPT);
    const char *before = "  keeps     ";

    while (next_run(&runs)) {
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
    struct runs runs = begin_runs(traffic, kind);
    int32_t peer = -1;

    while (next_run(&runs)) {
        if (runs.run.peer != peer) {
            (void)printf("%s  %-8s  %s %" PRId32 ": ", peer < 0 ? "" : "\n",
                         sent ? "sends" : "receives", sent ? "to" : "from", runs.run.peer);
            peer = runs.run.peer;
        } else {
            (void)fputs(", ", stdout);
        }
        print_range(local_start(&runs), runs.run.rows);
    }
    if (peer >= 0) {
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

static bool print_text(const struct route *route)
{
    struct columns columns = size_columns(route);

    print_header(route);
    if (!(shows_matrix(&columns) ? print_matrix(&columns) : print_summary(&columns))) {
        return false;
    }
    (void)fputs("\nlocal rows, in the order of each message\n", stdout);
    return for_each_rank(route, NULL, print_ranges);
}

static bool create_route(struct route *route)
{
    const struct cplayout_plan_interface *const plan = route->host->plan;
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_partition *source = NULL;
    struct cplayout_partition *target = NULL;
    bool fine;

    fine = host_partition(route->host, route->args, OPTION_FROM, &source, route->report) &&
           host_partition(route->host, route->args, OPTION_TO, &target, route->report);
    if (fine) {
        error.status =
            plan->route_create(&route->host->record, source, target, &route->route, &error);
        fine = error.status == CPLAYOUT_OK || report_plugin(route->report, NULL, &error);
    }
    plan->partition_destroy(target);
    plan->partition_destroy(source);
    return fine;
}

bool verb_route(struct host *host, const struct args *args, struct report *report)
{
    struct route route = {
        .host = host,
        .args = args,
        .info = {.size = sizeof(route.info)},
        .report = report,
    };
    bool fine;

    if (!host_need_plan(host, report) || !create_route(&route)) {
        return false;
    }
    /* The plugin accepted P and T, so their product is a number of ranks. */
    route.ranks = (int32_t)(args->number[OPTION_CP] * args->number[OPTION_TP]);
    host->plan->route_describe(route.route, &route.info);
    fine = args->number[OPTION_JSON] != 0 ? print_json(&route) : print_text(&route);
    host->plan->route_destroy(route.route);
    return fine;
}
