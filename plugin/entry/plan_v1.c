/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface plan/1. A partition handle is a table; one that plan/1 made sits at the start of an
 * object that owns its memory.
 */
#include <inttypes.h>

#include "entry/entry.h"
#include "plan/counts.h"
#include "plan/route.h"

struct owned_partition {
    struct cpl_table table; /* first: the handle points here */
    struct cpl_arena arena;
};

struct owned_route {
    struct cpl_arena arena;
    int32_t ranks;
    struct cpl_route *routes; /* [ranks] */
    struct cplayout_route_info info;
};

static const struct cpl_table *table_of(const struct cplayout_partition *partition)
{
    return (const struct cpl_table *)partition;
}

static const struct owned_route *route_of(const struct cplayout_route *route)
{
    return (const struct owned_route *)route;
}

static enum cpl_status check_rank(int32_t rank, int32_t ranks, struct cpl_error *error)
{
    if (rank < 0 || rank >= ranks) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "rank", "rank %d is not one of %d", rank,
                              ranks);
    }
    return CPL_OK;
}

/* Opens a list: tells how many entries exist and whether they will be written. */
static enum cpl_status open_list(uint64_t exist, const void *array, uint64_t capacity,
                                 uint64_t *count, struct cpl_error *error)
{
    if (count != NULL) {
        *count = exist;
    }
    if (capacity > 0 && array == NULL) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT,
                        "the array must not be NULL with a capacity of %" PRIu64, capacity);
    }
    if (capacity > 0 && exist > capacity) {
        return cpl_fail_field(error, CPL_ERROR_CAPACITY, "capacity",
                              "%" PRIu64 " entries do not fit a capacity of %" PRIu64, exist,
                              capacity);
    }
    return CPL_OK;
}

/* ---- Partition -------------------------------------------------------------------------------- */

static enum cpl_status build_partition(const struct cpl_host *host,
                                       const struct cplayout_partition_args *args,
                                       struct owned_partition **partition, struct cpl_error *error)
{
    const struct cpl_layout *const layout = cpl_layout_find(args->layout);
    const struct cpl_shape shape = {
        .tokens = (int64_t)args->sequence,
        .cp = args->cp,
        .tp = args->tp,
    };
    struct owned_partition *built;
    enum cpl_status status;
    char names[128];

    if (layout == NULL) {
        cpl_layout_names(names, sizeof(names));
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "layout",
                              "unknown layout '%.64s'; layouts: %s", args->layout, names);
    }
    status = cpl_tokens_check(args->sequence, "sequence", error);
    if (status != CPL_OK) {
        return status;
    }
    built = cpl_allocate(&host->allocator, 1, sizeof(*built));
    if (built == NULL) {
        return cpl_fail_memory(error);
    }
    cpl_arena_init(&built->arena, &host->allocator);
    status = cpl_table_build(&built->table, layout, &shape, &built->arena, error);
    if (status != CPL_OK) {
        cpl_arena_fini(&built->arena);
        cpl_release(&host->allocator, built, 1, sizeof(*built));
        return status;
    }
    *partition = built;
    return CPL_OK;
}

static int32_t cpl_plan_partition_create(const struct cplayout_host *record,
                                         const struct cplayout_partition_args *args,
                                         struct cplayout_partition **partition,
                                         struct cplayout_error *error)
{
    struct cplayout_partition_args copy;
    const struct cpl_incoming incoming = {"args", &copy, sizeof(copy)};
    struct cpl_host host = {.log = cpl_log_default()};
    struct owned_partition *built = NULL;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(partition, "partition", &problem);

    if (status == CPL_OK) {
        status = cpl_host_in(record, &host, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_copy_in(&incoming, args, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_require(copy.layout, "args.layout", &problem);
    }
    if (status == CPL_OK) {
        status = build_partition(&host, &copy, &built, &problem);
    }
    if (status == CPL_OK) {
        *partition = (struct cplayout_partition *)&built->table;
    }
    return cpl_leave(status, &problem, &host.log, error);
}

static void cpl_plan_partition_destroy(struct cplayout_partition *partition)
{
    struct owned_partition *const owned = (struct owned_partition *)partition;
    struct cpl_allocator allocator;

    if (owned == NULL) {
        return;
    }
    allocator = owned->arena.allocator;
    cpl_arena_fini(&owned->arena);
    cpl_release(&allocator, owned, 1, sizeof(*owned));
}

static void cpl_plan_partition_describe(const struct cplayout_partition *partition,
                                        struct cplayout_partition_info *info)
{
    const struct cpl_table *const table = table_of(partition);
    const struct cplayout_partition_info filled = {
        .identity = table->identity,
        .tokens = (uint64_t)table->shape.tokens,
        .rows = (uint64_t)table->shape.tokens,
        .cp = table->shape.cp,
        .tp = table->shape.tp,
    };

    cpl_copy_out(info, &filled, sizeof(filled));
}

static int32_t cpl_plan_rank_describe(const struct cplayout_partition *partition, int32_t rank,
                                      struct cplayout_rank_info *info, struct cplayout_error *error)
{
    struct cplayout_rank_info filled = {0};
    struct cpl_error problem;
    enum cpl_status status = cpl_require(partition, "partition", &problem);

    if (status == CPL_OK) {
        status = cpl_check_out(info, sizeof(*info), "info", &problem);
    }
    if (status == CPL_OK) {
        status = check_rank(rank, table_of(partition)->ranks, &problem);
    }
    if (status == CPL_OK) {
        filled.rows = (uint64_t)cpl_table_rows(table_of(partition), rank);
        filled.valid_rows = filled.rows;
        filled.attention_pairs = (uint64_t)cpl_attention_pairs(table_of(partition), rank);
        cpl_copy_out(info, &filled, sizeof(filled));
    }
    return cpl_leave(status, &problem, NULL, error);
}

static int32_t cpl_plan_fragments(const struct cplayout_partition *partition, int32_t rank,
                                  struct cplayout_fragment *fragments, uint64_t capacity,
                                  uint64_t *count, struct cplayout_error *error)
{
    const struct cpl_table *const table = table_of(partition);
    struct cpl_error problem;
    enum cpl_status status = cpl_require(partition, "partition", &problem);
    size_t exist = 0;

    if (status == CPL_OK) {
        status = check_rank(rank, table->ranks, &problem);
    }
    if (status == CPL_OK) {
        exist = cpl_table_pieces(table, rank);
        status = open_list(exist, fragments, capacity, count, &problem);
    }
    for (size_t i = 0; i < exist && capacity > 0 && status == CPL_OK; i++) {
        const struct cpl_piece *const piece = cpl_table_piece(table, rank, i);

        fragments[i] = (struct cplayout_fragment){piece->start, piece->length};
    }
    return cpl_leave(status, &problem, NULL, error);
}

static int32_t cpl_plan_positions(const struct cplayout_partition *partition, int32_t rank,
                                  int64_t *positions, uint64_t capacity, uint64_t *count,
                                  struct cplayout_error *error)
{
    const struct cpl_table *const table = table_of(partition);
    struct cpl_error problem;
    enum cpl_status status = cpl_require(partition, "partition", &problem);

    if (status == CPL_OK) {
        status = check_rank(rank, table->ranks, &problem);
    }
    if (status == CPL_OK) {
        status =
            open_list((uint64_t)cpl_table_rows(table, rank), positions, capacity, count, &problem);
    }
    if (status == CPL_OK && capacity > 0) {
        cpl_positions(table, rank, positions);
    }
    return cpl_leave(status, &problem, NULL, error);
}

static int32_t cpl_plan_chain(const struct cplayout_partition *partition,
                              struct cplayout_chain_part *parts, uint64_t capacity, uint64_t *count,
                              struct cplayout_error *error)
{
    const struct cpl_table *const table = table_of(partition);
    struct cpl_error problem;
    enum cpl_status status = cpl_require(partition, "partition", &problem);

    if (status == CPL_OK) {
        status = open_list(table->count, parts, capacity, count, &problem);
    }
    for (size_t i = 0; status == CPL_OK && capacity > 0 && i < table->count; i++) {
        const struct cpl_piece *const piece = &table->pieces[i];

        parts[i] =
            (struct cplayout_chain_part){piece->start, piece->length, piece->local, piece->rank, 0};
    }
    return cpl_leave(status, &problem, NULL, error);
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

static enum cpl_status create_route(const struct cpl_host *host, const struct cpl_table *source,
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

static int32_t cpl_plan_route_create(const struct cplayout_host *record,
                                     const struct cplayout_partition *source,
                                     const struct cplayout_partition *target,
                                     struct cplayout_route **route, struct cplayout_error *error)
{
    struct cpl_host host = {.log = cpl_log_default()};
    struct owned_route *built = NULL;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(route, "route", &problem);

    if (status == CPL_OK) {
        status = cpl_host_in(record, &host, &problem);
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

static void cpl_plan_route_destroy(struct cplayout_route *route)
{
    if (route != NULL) {
        route_free((struct owned_route *)route);
    }
}

static void cpl_plan_route_describe(const struct cplayout_route *route,
                                    struct cplayout_route_info *info)
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
        status = check_rank(copy.rank, route->ranks, error);
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

static int32_t cpl_plan_moves(const struct cplayout_route *route,
                              const struct cplayout_moves_args *args, struct cplayout_move *moves,
                              uint64_t capacity, uint64_t *count, struct cplayout_error *error)
{
    struct cpl_moves from = {.count = 0};
    struct cpl_error problem;
    enum cpl_status status = cpl_require(route, "route", &problem);

    if (status == CPL_OK) {
        status = find_moves(route_of(route), args, &from, &problem);
    }
    if (status == CPL_OK) {
        status = open_list(from.count, moves, capacity, count, &problem);
    }
    for (size_t i = 0; status == CPL_OK && capacity > 0 && i < from.count; i++) {
        const struct cpl_move *const move = &from.list[i];

        moves[i] = (struct cplayout_move){move->src, move->dst, move->rows, move->peer, 0};
    }
    return cpl_leave(status, &problem, NULL, error);
}

const struct cplayout_plan_interface cpl_plan_v1 = {.size = sizeof(struct cplayout_plan_interface),
                                                    CPLAYOUT_PLAN_SLOTS(CPL_FILL_SLOT)};
