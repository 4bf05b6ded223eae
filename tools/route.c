/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `cplayout route`: what moves between two layouts. Here is the verb and its JSON; route_text.c has
 * the form for people.
 */
#include "route.h"

#include <stdlib.h>

#include "verbs.h"

static bool load_traffic(const struct route *route, int32_t rank, struct traffic *traffic)
{
    traffic->rank = rank;
    for (int32_t kind = 0; kind < MOVES_KINDS; kind++) {
        const struct moves_of of = {.route = route->route, .rank = rank, .kind = kind};

        if (!host_moves(route->host, &of, &traffic->kinds[kind], route->report)) {
            return false;
        }
    }
    return true;
}

static void free_traffic(struct traffic *traffic)
{
    for (int32_t kind = 0; kind < MOVES_KINDS; kind++) {
        free(traffic->kinds[kind].list);
    }
}

bool route_for_each_rank(const struct route *route, void *self,
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
    case CPLAYOUT_MOVES_PADS:
        return dst;
    default:
        return src && dst;
    }
}

struct runs runs_begin(const struct traffic *traffic, int kind)
{
    return (struct runs){.moves = &traffic->kinds[kind], .kind = kind};
}

bool runs_next(struct runs *runs)
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

int64_t runs_local(const struct runs *runs)
{
    return runs->kind == CPLAYOUT_MOVES_RECEIVED || runs->kind == CPLAYOUT_MOVES_PADS
               ? runs->run.dst
               : runs->run.src;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *kept_json(const struct traffic *traffic)
{
    struct runs runs = runs_begin(traffic, CPLAYOUT_MOVES_KEPT);
    json_t *const array = json_array();

    while (runs_next(&runs)) {
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
    struct runs runs = runs_begin(traffic, kind);
    json_t *const messages = json_array();

    while (runs_next(&runs)) {
        if (json_array_append_new(rows_of_peer(messages, runs.run.peer),
                                  json_pack("[I,I]", (json_int_t)runs_local(&runs),
                                            (json_int_t)runs.run.rows)) != 0) {
            json_decref(messages);
            return NULL;
        }
    }
    return messages;
}

static json_t *pads_json(const struct traffic *traffic)
{
    struct runs runs = runs_begin(traffic, CPLAYOUT_MOVES_PADS);
    json_t *const array = json_array();

    while (runs_next(&runs)) {
        if (json_array_append_new(array, json_pack("[I,I]", (json_int_t)runs_local(&runs),
                                                   (json_int_t)runs.run.rows)) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static bool append_rank(void *self, const struct traffic *traffic)
{
    json_t *const ranks = self;

    return json_array_append_new(ranks,
                                 json_pack("{s:i,s:o,s:o,s:o,s:o}", "rank", traffic->rank, "kept",
                                           kept_json(traffic), "sends",
                                           messages_json(traffic, CPLAYOUT_MOVES_SENT), "receives",
                                           messages_json(traffic, CPLAYOUT_MOVES_RECEIVED), "pads",
                                           pads_json(traffic))) == 0;
}

static bool print_json(const struct route *route)
{
    const struct cplayout_route_info *const info = &route->info;
    json_t *const ranks = json_array();

    if (!route_for_each_rank(route, ranks, append_rank)) {
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

/* ---- The verb ------------------------------------------------------------------------------- */

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
    if (fine) {
        plan->partition_describe(target, &route->target);
    }
    plan->partition_destroy(target);
    plan->partition_destroy(source);
    return fine;
}

bool verb_route(struct host *host, struct args *args, struct report *report)
{
    struct route route = {
        .host = host,
        .args = args,
        .info = {.size = sizeof(route.info)},
        .target = {.size = sizeof(route.target)},
        .report = report,
    };
    bool fine;

    if (!host_need_plan(host, report) || !create_route(&route)) {
        return false;
    }
    /* The plugin accepted P and T, so their product is a number of ranks. */
    route.ranks = (int32_t)(args->number[OPTION_CP] * args->number[OPTION_TP]);
    host->plan->route_describe(route.route, &route.info);
    fine = args->number[OPTION_JSON] != 0 ? print_json(&route) : route_print_text(&route);
    host->plan->route_destroy(route.route);
    return fine;
}
