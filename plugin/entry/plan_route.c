/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots of plan/1: routes.
 */
#include "entry/plan.h"
#include "plan/route.h"

struct owned_route {
    struct cpl_arena arena;
    int32_t ranks;
    struct cpl_route *routes; /* [ranks] */
    struct cplayout_route_info info;
};

static const struct owned_route *route_of(const struct cplayout_route *route)
{
    return (const struct owned_route *)route;
}

/* ---- Route ------------------------------------------------------------------------------------ */

static void count_route(struct cplayout_route_info *info, const struct cpl_route *route)
{
    const uint64_t received = (uint64_t)cpl_moves_rows(&route->received);
    const uint64_t sent = (uint64_t)cpl_moves_rows(&route->sent);
    const uint64_t busier = sent > received ? sent : received;
    const int32_t peers = cpl_route_peers(route);

    info->total_rows += (uint64_t)route->target_rows;
    info->moved_rows += received;
    info->worst_rank_rows = busier > info->worst_rank_rows ? busier : info->worst_rank_rows;
    info->peers = peers > info->peers ? peers : info->peers;
}

static enum cpl_status build_routes(struct owned_route *route, const struct cpl_table *source,
                                    const struct cpl_table *target, struct cpl_error *error)
{
    enum cpl_status status = CPL_OK;

    route->ranks = source->ranks;
    route->routes = cpl_arena_take(&route->arena, (size_t)route->ranks, sizeof(*route->routes));
    if (route->routes == NULL) {
        return cpl_fail_memory(error);
    }
    for (int32_t rank = 0; rank < route->ranks && status == CPL_OK; rank++) {
        status = cpl_route_build(&route->routes[rank], source, target, rank, &route->arena, error);
        if (status == CPL_OK) {
            count_route(&route->info, &route->routes[rank]);
        }
    }
    return status;
}

static void route_free(struct owned_route *route)
{
    const struct cpl_allocator allocator = route->arena.allocator;

    cpl_arena_fini(&route->arena);
    cpl_release(&allocator, route, 1, sizeof(*route));
}

static enum cpl_status create_route(const struct cpl_caller *host, const struct cpl_table *source,
                                    const struct cpl_table *target, struct owned_route **route,
                                    struct cpl_error *error)
{
    struct owned_route *const built = cpl_allocate(&host->allocator, 1, sizeof(*built));
    enum cpl_status status;

    if (built == NULL) {
        return cpl_fail_memory(error);
    }
    cpl_arena_init(&built->arena, &host->allocator);
    status = build_routes(built, source, target, error);
    if (status != CPL_OK) {
        route_free(built);
        return status;
    }
    *route = built;
    return CPL_OK;
}

int32_t cpl_plan_route_create(const struct cplayout_host *record,
                              const struct cplayout_partition *source,
                              const struct cplayout_partition *target,
                              struct cplayout_route **route, struct cplayout_error *error)
{
    struct cpl_caller host = {.log = cpl_log_default()};
    struct owned_route *built = NULL;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(route, "route", &problem);

    if (status == CPL_OK) {
        status = cpl_caller_in(record, &host, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_require(source, "source", &problem);
    }
    if (status == CPL_OK) {
        status = cpl_require(target, "target", &problem);
    }
    if (status == CPL_OK) {
        status = create_route(&host, table_of(source), table_of(target), &built, &problem);
    }
    if (status == CPL_OK) {
        *route = (struct cplayout_route *)built;
    }
    return cpl_leave(status, &problem, &host.log, error);
}

void cpl_plan_route_destroy(struct cplayout_route *route)
{
    if (route != NULL) {
        route_free((struct owned_route *)route);
    }
}

void cpl_plan_route_describe(const struct cplayout_route *route, struct cplayout_route_info *info)
{
    cpl_copy_out(info, &route_of(route)->info, sizeof(*info));
}

/* NULL if there is no such kind. */
static const struct cpl_moves *moves_of(const struct cpl_route *route, int32_t kind)
{
    switch (kind) {
    case CPLAYOUT_MOVES_KEPT:
        return &route->kept;
    case CPLAYOUT_MOVES_SENT:
        return &route->sent;
    case CPLAYOUT_MOVES_RECEIVED:
        return &route->received;
    case CPLAYOUT_MOVES_PADS:
        return &route->pads;
    default:
        return NULL;
    }
}

static enum cpl_status find_moves(const struct owned_route *route,
                                  const struct cplayout_moves_args *args, struct cpl_moves *moves,
                                  struct cpl_error *error)
{
    const struct cpl_moves *found;
    struct cplayout_moves_args copy;
    const struct cpl_incoming incoming = {"args", &copy, sizeof(copy)};
    enum cpl_status status = cpl_copy_in(&incoming, args, error);

    if (status == CPL_OK) {
        status = cpl_check_rank(copy.rank, route->ranks, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    found = moves_of(&route->routes[copy.rank], copy.kind);
    if (found == NULL) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "kind", "%d is no kind of moves",
                              copy.kind);
    }
    *moves = *found;
    return CPL_OK;
}

int32_t cpl_plan_moves(const struct cplayout_route *route, const struct cplayout_moves_args *args,
                       struct cplayout_move *moves, uint64_t capacity, uint64_t *count,
                       struct cplayout_error *error)
{
    struct cpl_moves from = {.count = 0};
    struct cpl_error problem;
    enum cpl_status status = cpl_require(route, "route", &problem);

    if (status == CPL_OK) {
        status = find_moves(route_of(route), args, &from, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_open_list(&(struct cpl_list){from.count, moves, capacity, count}, &problem);
    }
    for (size_t i = 0; status == CPL_OK && capacity > 0 && i < from.count; i++) {
        const struct cpl_move *const move = &from.list[i];

        moves[i] = (struct cplayout_move){move->src, move->dst, move->rows, move->peer, 0};
    }
    return cpl_leave(status, &problem, NULL, error);
}

/* ---- Columns ---------------------------------------------------------------------------------- */

static enum cpl_status check_columns(const struct cplayout_columns *columns, int32_t ranks,
                                     const char *name, struct cpl_error *error)
{
    for (int32_t rank = 0; rank < ranks; rank++) {
        if (columns[rank].first < 0 || columns[rank].count < 0 ||
            columns[rank].first > INT64_MAX - columns[rank].count) {
            return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                                  "%s of rank %d are %lld from %lld on, which is no range", name,
                                  rank, (long long)columns[rank].count,
                                  (long long)columns[rank].first);
        }
    }
    return CPL_OK;
}

/* What two ranges have in common. */
static struct cplayout_columns common(const struct cplayout_columns *a,
                                      const struct cplayout_columns *b)
{
    const int64_t first = a->first > b->first ? a->first : b->first;
    const int64_t a_end = a->first + a->count;
    const int64_t b_end = b->first + b->count;
    const int64_t end = a_end < b_end ? a_end : b_end;

    return (struct cplayout_columns){first, end > first ? end - first : 0};
}

static enum cpl_status columns_in(const struct owned_route *route,
                                  const struct cplayout_columns_args *args,
                                  struct cplayout_columns_args *copy, struct cpl_moves *moves,
                                  struct cpl_error *error)
{
    const struct cpl_incoming incoming = {"args", copy, sizeof(*copy)};
    enum cpl_status status = cpl_copy_in(&incoming, args, error);

    if (status == CPL_OK) {
        status = cpl_require(copy->source, "source", error);
    }
    if (status == CPL_OK) {
        status = cpl_require(copy->target, "target", error);
    }
    if (status == CPL_OK) {
        status = check_columns(copy->source, route->ranks, "source", error);
    }
    if (status == CPL_OK) {
        status = check_columns(copy->target, route->ranks, "target", error);
    }
    if (status == CPL_OK) {
        const struct cplayout_moves_args which = {sizeof(which), copy->rank, copy->kind};

        status = find_moves(route, &which, moves, error);
    }
    return status;
}

int32_t cpl_plan_move_columns(const struct cplayout_route *route,
                              const struct cplayout_columns_args *args,
                              struct cplayout_columns *columns, uint64_t capacity, uint64_t *count,
                              struct cplayout_error *error)
{
    struct cplayout_columns_args copy;
    struct cpl_moves moves = {.count = 0};
    struct cpl_error problem;
    enum cpl_status status = cpl_require(route, "route", &problem);

    if (status == CPL_OK) {
        status = columns_in(route_of(route), args, &copy, &moves, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_open_list(&(struct cpl_list){moves.count, columns, capacity, count}, &problem);
    }
    for (size_t i = 0; status == CPL_OK && capacity > 0 && i < moves.count; i++) {
        const bool sent = copy.kind == CPLAYOUT_MOVES_SENT;
        const int32_t from = sent ? copy.rank : moves.list[i].peer;
        const int32_t to = sent ? moves.list[i].peer : copy.rank;

        columns[i] = common(&copy.source[from], &copy.target[to]);
    }
    return cpl_leave(status, &problem, NULL, error);
}
