/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that a route moves every row to where the target wants it, and no row more than it must:
 * for every sequence up to 64 tokens on up to 8 x 3 ranks and every ordered pair of layouts the
 * routes of all ranks are carried out on token numbers and compared with the oracle, message by
 * message. Then the promises that the design makes about mirror, the route from the whole stream,
 * tables that do not belong together, and memory that runs out at every possible moment.
 */
#include <criterion/criterion.h>

#include "base/arena.h"
#include "oracle/oracle.h"
#include "plan/route.h"
#include "unit/support.h"

enum { LAYOUTS = 3, CP_MOST = 8, TP_MOST = 3, TOKENS_MOST = 64, RANKS_MOST = CP_MOST * TP_MOST };

static const char *const layouts[LAYOUTS] = {"contiguous", "mirror", "zigzag"};

/* Two partitions of one sequence and the routes of all ranks from one to the other. */
struct pair {
    char text[128];
    struct cpl_arena arena;
    struct cpl_table source;
    struct cpl_table target;
    struct cpl_route routes[RANKS_MOST];
    struct oracle from;
    struct oracle to;
};

static void build_table(struct cpl_table *table, const char *layout, const struct cpl_shape *shape,
                        struct cpl_arena *arena)
{
    struct cpl_error error = {0};

    cr_assert_eq(cpl_table_build(table, cpl_layout_find(layout), shape, arena, &error), CPL_OK,
                 "%s: %s", layout, error.message);
}

static void pair_between(struct pair *pair, const char *from, const struct cpl_shape *source,
                         const char *to, const struct cpl_shape *target)
{
    const struct cpl_allocator allocator = cpl_allocator_default();
    struct cpl_error error = {0};

    memset(pair, 0, sizeof(*pair));
    cpl_arena_init(&pair->arena, &allocator);
    build_table(&pair->source, from, source, &pair->arena);
    build_table(&pair->target, to, target, &pair->arena);
    oracle_init(&pair->from, from, source->tokens, source->cp, source->tp);
    oracle_init(&pair->to, to, target->tokens, target->cp, target->tp);
    (void)snprintf(pair->text, sizeof(pair->text), "%s to %s P=%d T=%d", pair->from.text, to,
                   target->cp, target->tp);
    for (int32_t rank = 0; rank < pair->source.ranks; rank++) {
        cr_assert_eq(cpl_route_build(&pair->routes[rank], &pair->source, &pair->target, rank,
                                     &pair->arena, &error),
                     CPL_OK, "%s rank %d: %s", pair->text, rank, error.message);
    }
}

static void pair_init(struct pair *pair, const char *from, const char *to,
                      const struct cpl_shape *shape)
{
    pair_between(pair, from, shape, to, shape);
}

static void pair_fini(struct pair *pair)
{
    cpl_arena_fini(&pair->arena);
    oracle_fini(&pair->from);
    oracle_fini(&pair->to);
}

static void check_layouts(void (*check)(const struct pair *pair), const struct cpl_shape *shape,
                          const char *from, const char *to, int *checked)
{
    struct pair pair;

    if (oracle_fits(from, shape->tokens, shape->cp, shape->tp) &&
        oracle_fits(to, shape->tokens, shape->cp, shape->tp)) {
        pair_init(&pair, from, to, shape);
        check(&pair);
        pair_fini(&pair);
        (*checked)++;
    }
}

/* Calls `check` with every sequence within the limits and every pair of layouts that hold it. */
static void each_pair(void (*check)(const struct pair *pair))
{
    int checked = 0;

    for (int32_t i = 0; i < CP_MOST * TP_MOST * TOKENS_MOST; i++) {
        const struct cpl_shape shape = {
            .cp = 1 + i % CP_MOST,
            .tp = 1 + i / CP_MOST % TP_MOST,
            .tokens = 1 + i / CP_MOST / TP_MOST,
        };

        for (int k = 0; k < LAYOUTS * LAYOUTS; k++) {
            check_layouts(check, &shape, layouts[k / LAYOUTS], layouts[k % LAYOUTS], &checked);
        }
    }
    cr_assert_gt(checked, 1000, "only %d pairs", checked);
}

/* ---- Carrying out ---------------------------------------------------------------------------- */

/* Rows of all ranks, one behind the other: a token number each, -1 where nothing was written. */
struct data {
    int64_t rows[TOKENS_MOST];
};

static struct data data_of(const struct oracle *oracle)
{
    struct data data;

    memcpy(data.rows, oracle->token, (size_t)oracle->tokens * sizeof(data.rows[0]));
    return data;
}

static struct data data_blank(void)
{
    struct data data;

    for (int i = 0; i < TOKENS_MOST; i++) {
        data.rows[i] = -1;
    }
    return data;
}

/* Copies the rows of moves from rank `from` to rank `to`; no row may be written twice. */
static void copy_move(const struct pair *pair, const struct cpl_move *move, int32_t from,
                      int32_t to, const struct data *source, struct data *target)
{
    const int64_t window = pair->from.rows;

    cr_assert_gt(move->rows, 0, "%s", pair->text);
    cr_assert(move->src >= 0 && move->src + move->rows <= window, "%s: src", pair->text);
    cr_assert(move->dst >= 0 && move->dst + move->rows <= window, "%s: dst", pair->text);
    for (int64_t k = 0; k < move->rows; k++) {
        int64_t *const row = &target->rows[to * window + move->dst + k];

        cr_assert_eq(*row, -1, "%s: rank %d row %" PRId64 " is written twice", pair->text, to,
                     move->dst + k);
        *row = source->rows[from * window + move->src + k];
    }
}

/* Carries all routes out: kept rows, and what the receivers (or else the senders) list. */
static struct data carry_out(const struct pair *pair, const struct data *source, bool by_receiver)
{
    struct data target = data_blank();

    for (int32_t rank = 0; rank < pair->source.ranks; rank++) {
        const struct cpl_route *const route = &pair->routes[rank];
        const struct cpl_moves *const moves = by_receiver ? &route->received : &route->sent;

        for (size_t i = 0; i < route->kept.count; i++) {
            copy_move(pair, &route->kept.list[i], rank, rank, source, &target);
        }
        for (size_t i = 0; i < moves->count; i++) {
            const int32_t peer = moves->list[i].peer;

            cr_assert(peer >= 0 && peer < pair->source.ranks, "%s: peer %d", pair->text, peer);
            copy_move(pair, &moves->list[i], by_receiver ? peer : rank, by_receiver ? rank : peer,
                      source, &target);
        }
    }
    return target;
}

static void check_data(const struct pair *pair, const struct data *data,
                       const struct oracle *expected)
{
    for (int64_t i = 0; i < expected->tokens; i++) {
        cr_assert_eq(data->rows[i], expected->token[i],
                     "%s: rank %" PRId64 " row %" PRId64 " holds token %" PRId64, pair->text,
                     i / expected->rows, i % expected->rows, data->rows[i]);
    }
}

static void check_carried_out(const struct pair *pair)
{
    const struct data source = data_of(&pair->from);
    const struct data received = carry_out(pair, &source, true);
    const struct data sent = carry_out(pair, &source, false);

    check_data(pair, &received, &pair->to);
    check_data(pair, &sent, &pair->to);
}

Test(route, carried_out_by_either_end_gives_the_target)
{
    each_pair(check_carried_out);
}

static void check_there_and_back(const struct pair *pair)
{
    const struct cpl_shape local = {.tokens = pair->source.stream.rows,
                                    .cp = pair->source.cp,
                                    .tp = pair->source.tp};
    const struct cpl_shape *const shape = &local;
    const struct data source = data_of(&pair->from);
    const struct data there = carry_out(pair, &source, true);
    char from[32];
    char to[32];
    struct pair reverse;
    struct data back;

    (void)sscanf(pair->from.text, "%31s", from);
    (void)sscanf(pair->to.text, "%31s", to);
    pair_init(&reverse, to, from, shape);
    back = carry_out(&reverse, &there, true);
    check_data(&reverse, &back, &pair->from);
    pair_fini(&reverse);
}

Test(route, there_and_back_is_the_identity)
{
    each_pair(check_there_and_back);
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* The moves with one peer, from moves->list[begin] on, are these rows; returns where they end. */
static size_t check_message(const struct pair *pair, const struct cpl_moves *moves, size_t begin,
                            int32_t peer, const struct oracle_row *rows, int64_t count)
{
    size_t i = begin;
    int64_t done = 0;

    for (; i < moves->count && moves->list[i].peer == peer; i++) {
        for (int64_t k = 0; k < moves->list[i].rows; k++, done++) {
            cr_assert_lt(done, count, "%s: too many rows", pair->text);
            cr_assert_eq(moves->list[i].src + k, rows[done].src,
                         "%s: token %" PRId64 " leaves row %" PRId64, pair->text, rows[done].token,
                         moves->list[i].src + k);
            cr_assert_eq(moves->list[i].dst + k, rows[done].dst,
                         "%s: token %" PRId64 " reaches row %" PRId64, pair->text, rows[done].token,
                         moves->list[i].dst + k);
        }
    }
    cr_assert_eq(done, count, "%s: %" PRId64 " of %" PRId64 " rows with peer %d", pair->text, done,
                 count, peer);
    return i;
}

/* What a rank sends and receives is, by ascending peer, what the oracle lists in global order. */
static void check_messages(const struct pair *pair)
{
    struct oracle_row rows[TOKENS_MOST];

    for (int32_t rank = 0; rank < pair->source.ranks; rank++) {
        const struct cpl_route *const route = &pair->routes[rank];
        size_t sent = 0;
        size_t received = 0;
        int64_t count;

        for (int32_t peer = 0; peer < pair->source.ranks; peer++) {
            if (peer == rank) {
                continue;
            }
            count = oracle_transfer(&pair->from, &pair->to, rank, peer, rows);
            sent = check_message(pair, &route->sent, sent, peer, rows, count);
            count = oracle_transfer(&pair->from, &pair->to, peer, rank, rows);
            received = check_message(pair, &route->received, received, peer, rows, count);
        }
        cr_assert_eq(sent, route->sent.count, "%s: rank %d sends more", pair->text, rank);
        cr_assert_eq(received, route->received.count, "%s: rank %d gets more", pair->text, rank);
    }
}

Test(route, lists_messages_by_peer_and_in_global_order)
{
    each_pair(check_messages);
}

static size_t moves_begin(const struct cpl_moves *moves, int32_t peer)
{
    size_t i = 0;

    while (i < moves->count && moves->list[i].peer != peer) {
        i++;
    }
    return i;
}

/* Both ends of a message list the same moves. */
static void check_ends(const struct pair *pair, int32_t from, int32_t to)
{
    const struct cpl_moves *const sent = &pair->routes[from].sent;
    const struct cpl_moves *const received = &pair->routes[to].received;
    size_t i = moves_begin(sent, to);
    size_t k = moves_begin(received, from);

    for (; i < sent->count && sent->list[i].peer == to; i++, k++) {
        cr_assert(k < received->count && received->list[k].peer == from,
                  "%s: rank %d does not expect all that %d sends", pair->text, to, from);
        cr_assert_eq(sent->list[i].src, received->list[k].src, "%s", pair->text);
        cr_assert_eq(sent->list[i].dst, received->list[k].dst, "%s", pair->text);
        cr_assert_eq(sent->list[i].rows, received->list[k].rows, "%s", pair->text);
    }
    cr_assert(k == received->count || received->list[k].peer != from,
              "%s: rank %d waits for more than %d sends", pair->text, to, from);
}

static void check_both_ends(const struct pair *pair)
{
    for (int32_t i = 0; i < pair->source.ranks * pair->source.ranks; i++) {
        if (i / pair->source.ranks != i % pair->source.ranks) {
            check_ends(pair, i / pair->source.ranks, i % pair->source.ranks);
        }
    }
}

Test(route, both_ends_of_a_message_agree)
{
    each_pair(check_both_ends);
}

static void check_kept(const struct pair *pair)
{
    struct oracle_row rows[TOKENS_MOST];

    for (int32_t rank = 0; rank < pair->source.ranks; rank++) {
        const struct cpl_moves *const kept = &pair->routes[rank].kept;
        const int64_t count = oracle_transfer(&pair->from, &pair->to, rank, rank, rows);

        cr_assert_eq(check_message(pair, kept, 0, rank, rows, count), kept->count, "%s: rank %d",
                     pair->text, rank);
    }
}

Test(route, keeps_exactly_the_rows_whose_owner_stays)
{
    each_pair(check_kept);
}

static void check_joined_moves(const struct pair *pair, const struct cpl_moves *moves)
{
    for (size_t i = 1; i < moves->count; i++) {
        const struct cpl_move *const before = &moves->list[i - 1];
        const struct cpl_move *const after = &moves->list[i];

        cr_assert(before->peer != after->peer || before->src + before->rows != after->src ||
                      before->dst + before->rows != after->dst,
                  "%s: moves %zu and %zu are one", pair->text, i - 1, i);
    }
}

static void check_joined(const struct pair *pair)
{
    for (int32_t rank = 0; rank < pair->source.ranks; rank++) {
        check_joined_moves(pair, &pair->routes[rank].kept);
        check_joined_moves(pair, &pair->routes[rank].sent);
        check_joined_moves(pair, &pair->routes[rank].received);
    }
}

Test(route, joins_moves_that_continue_each_other)
{
    each_pair(check_joined);
}

/* ---- Counts ---------------------------------------------------------------------------------- */

static int32_t oracle_peers(const struct pair *pair, int32_t rank, bool sent)
{
    int32_t peers = 0;

    for (int32_t peer = 0; peer < pair->source.ranks; peer++) {
        const int32_t from = sent ? rank : peer;
        const int32_t to = sent ? peer : rank;

        peers += peer != rank && oracle_transfer(&pair->from, &pair->to, from, to, NULL) > 0;
    }
    return peers;
}

static void check_counts(const struct pair *pair)
{
    int64_t sent = 0;
    int64_t received = 0;

    for (int32_t rank = 0; rank < pair->source.ranks; rank++) {
        const struct cpl_route *const route = &pair->routes[rank];

        cr_assert_eq(route->rank, rank);
        cr_assert_eq(route->source_rows, pair->from.rows);
        cr_assert_eq(route->target_rows, pair->to.rows);
        cr_assert_eq(route->source, pair->source.identity);
        cr_assert_eq(route->target, pair->target.identity);
        cr_assert_eq(cpl_moves_peers(&route->sent), oracle_peers(pair, rank, true), "%s",
                     pair->text);
        cr_assert_eq(cpl_moves_peers(&route->received), oracle_peers(pair, rank, false), "%s",
                     pair->text);
        cr_assert_eq(cpl_moves_rows(&route->kept) + cpl_moves_rows(&route->sent), pair->from.rows);
        cr_assert_eq(cpl_moves_rows(&route->kept) + cpl_moves_rows(&route->received),
                     pair->to.rows);
        sent += cpl_moves_rows(&route->sent);
        received += cpl_moves_rows(&route->received);
    }
    cr_assert_eq(sent, oracle_moved(&pair->from, &pair->to), "%s: not minimal", pair->text);
    cr_assert_eq(received, sent);
}

Test(route, moves_no_more_rows_than_it_must)
{
    each_pair(check_counts);
}

static void check_identical(const struct pair *pair)
{
    if (pair->source.identity != pair->target.identity) {
        return;
    }
    for (int32_t rank = 0; rank < pair->source.ranks; rank++) {
        const struct cpl_route *const route = &pair->routes[rank];

        cr_assert_eq(route->sent.count, 0, "%s", pair->text);
        cr_assert_eq(route->received.count, 0, "%s", pair->text);
        cr_assert_eq(route->kept.count, 1, "%s", pair->text);
        cr_assert_eq(route->kept.list[0].src, 0);
        cr_assert_eq(route->kept.list[0].dst, 0);
    }
}

Test(route, between_identical_partitions_moves_nothing)
{
    each_pair(check_identical);
}

/* ---- Mirror and zigzag ----------------------------------------------------------------------- */

static bool is_mirror_to_zigzag(const struct pair *pair)
{
    return strncmp(pair->from.text, "mirror", 6) == 0 && strncmp(pair->to.text, "zigzag", 6) == 0;
}

static void check_partner(const struct pair *pair, int32_t rank)
{
    const struct cpl_route *const route = &pair->routes[rank];

    cr_assert_eq(2 * cpl_moves_rows(&route->kept), route->source_rows, "%s rank %d", pair->text,
                 rank);
    cr_assert_eq(cpl_moves_peers(&route->sent), 1, "%s rank %d", pair->text, rank);
    cr_assert_eq(cpl_moves_peers(&route->received), 1, "%s rank %d", pair->text, rank);
    cr_assert_eq(route->sent.list[0].peer, rank ^ 1, "%s rank %d", pair->text, rank);
    cr_assert_eq(route->received.list[0].peer, rank ^ 1, "%s rank %d", pair->text, rank);
}

static void check_mirror(const struct pair *pair)
{
    const int32_t cp = pair->source.cp;

    if (!is_mirror_to_zigzag(pair) || pair->source.tp != 1) {
        return;
    }
    for (int32_t rank = 0; rank < cp / 2 * 2; rank++) {
        check_partner(pair, rank);
    }
    if (cp % 2 == 1) {
        cr_assert_eq(cpl_moves_rows(&pair->routes[cp - 1].kept), pair->from.rows,
                     "%s: the odd rank keeps all", pair->text);
    }
}

Test(mirror, keeps_half_and_trades_the_rest_with_one_partner)
{
    each_pair(check_mirror);
}

/* Rows that all ranks move, and that the busiest moves, from a layout to zigzag. */
struct traffic {
    int64_t total;
    int64_t worst;
};

static struct traffic traffic_to_zigzag(const char *layout, const struct cpl_shape *shape)
{
    struct traffic traffic = {0};
    struct pair pair;

    pair_init(&pair, layout, "zigzag", shape);
    for (int32_t rank = 0; rank < pair.source.ranks; rank++) {
        const int64_t sent = cpl_moves_rows(&pair.routes[rank].sent);
        const int64_t received = cpl_moves_rows(&pair.routes[rank].received);
        const int64_t busy = sent > received ? sent : received;

        traffic.total += sent;
        traffic.worst = busy > traffic.worst ? busy : traffic.worst;
    }
    pair_fini(&pair);
    return traffic;
}

static void check_ratio(int32_t cp, int64_t over, int64_t under)
{
    for (int64_t tokens = 2 * cp; tokens <= TOKENS_MOST; tokens += 2 * cp) {
        const struct cpl_shape shape = {.tokens = tokens, .cp = cp, .tp = 1};
        const struct traffic mirror = traffic_to_zigzag("mirror", &shape);
        const struct traffic contiguous = traffic_to_zigzag("contiguous", &shape);

        cr_assert_gt(contiguous.total, 0);
        cr_assert_eq(mirror.total * under, contiguous.total * over, "P=%d: %" PRId64 " of %" PRId64,
                     cp, mirror.total, contiguous.total);
        cr_assert_eq(2 * mirror.worst, contiguous.worst, "P=%d: worst rank", cp);
    }
}

Test(mirror, moves_two_thirds_of_contiguous_on_four_ranks)
{
    check_ratio(4, 2, 3);
}

Test(mirror, moves_four_sevenths_of_contiguous_on_eight_ranks)
{
    check_ratio(8, 4, 7);
}

/* ---- The stream ------------------------------------------------------------------------------ */

static void check_stream(const struct pair *pair)
{
    struct cpl_arena arena;
    const struct cpl_allocator allocator = cpl_allocator_default();
    struct cpl_error error = {0};
    struct cpl_route route;

    cpl_arena_init(&arena, &allocator);
    for (int32_t rank = 0; rank < pair->target.ranks; rank++) {
        struct oracle_row rows[TOKENS_MOST];

        for (int64_t row = 0; row < pair->to.rows; row++) {
            const int64_t token = oracle_token(&pair->to, rank, row);

            rows[row] = (struct oracle_row){.token = token, .src = token, .dst = row};
        }
        cr_assert_eq(cpl_route_from_stream(&route, &pair->target, (struct cpl_ranks){rank, 1},
                                           &arena, &error),
                     CPL_OK);
        cr_assert_eq(route.rank, rank);
        cr_assert_eq(route.source_rows, pair->to.tokens);
        cr_assert_eq(route.target_rows, pair->to.rows);
        cr_assert_eq(route.target, pair->target.identity);
        cr_assert_eq(route.sent.count, 0);
        cr_assert_eq(route.received.count, 0);
        cr_assert_eq(check_message(pair, &route.kept, 0, rank, rows, pair->to.rows),
                     route.kept.count);
        check_joined_moves(pair, &route.kept);
    }
    cpl_arena_fini(&arena);
}

Test(route, from_the_stream_takes_the_ranks_own_rows)
{
    each_pair(check_stream);
}

/* ---- Other ranks of the same number ---------------------------------------------------------- */

static void check_regrouped(const char *from, const struct cpl_shape *source, const char *to,
                            const struct cpl_shape *target)
{
    struct pair pair;

    pair_between(&pair, from, source, to, target);
    check_carried_out(&pair);
    check_messages(&pair);
    check_both_ends(&pair);
    check_kept(&pair);
    check_counts(&pair);
    pair_fini(&pair);
}

Test(route, between_other_p_and_t_of_as_many_ranks_is_one_as_any)
{
    static const struct cpl_shape shapes[] = {
        {.tokens = 48, .cp = 1, .tp = 12}, {.tokens = 48, .cp = 2, .tp = 6},
        {.tokens = 48, .cp = 4, .tp = 3},  {.tokens = 48, .cp = 3, .tp = 4},
        {.tokens = 48, .cp = 6, .tp = 2},  {.tokens = 48, .cp = 8, .tp = 1},
    };
    const int count = sizeof(shapes) / sizeof(shapes[0]);

    for (int i = 0; i < count * count * LAYOUTS * LAYOUTS; i++) {
        const struct cpl_shape *const source = &shapes[i % count];
        const struct cpl_shape *const target = &shapes[i / count % count];
        const int names = i / count / count;

        if (source->cp * source->tp == target->cp * target->tp) {
            check_regrouped(layouts[names % LAYOUTS], source, layouts[names / LAYOUTS], target);
        }
    }
}

/* ---- Refusals and memory --------------------------------------------------------------------- */

static void check_refused(const struct cpl_shape *a, const struct cpl_shape *b)
{
    const struct cpl_allocator allocator = cpl_allocator_default();
    struct cpl_error error = {0};
    struct cpl_arena arena;
    struct cpl_table source;
    struct cpl_table target;
    struct cpl_route route = {.rank = -9};

    cpl_arena_init(&arena, &allocator);
    build_table(&source, "contiguous", a, &arena);
    build_table(&target, "zigzag", b, &arena);
    cr_assert_eq(cpl_route_build(&route, &source, &target, 0, &arena, &error), CPL_ERROR_ARGUMENT);
    cr_assert_eq(error.status, CPL_ERROR_ARGUMENT);
    cr_assert_eq(route.rank, -9, "the route was changed");
    cr_assert(message_names(error.message, a->tokens), "%s", error.message);
    cr_assert(message_names(error.message, b->tokens), "%s", error.message);
    cr_assert(message_names(error.message, a->cp), "%s", error.message);
    cr_assert(message_names(error.message, b->cp), "%s", error.message);
    cr_assert(message_names(error.message, a->tp), "%s", error.message);
    cr_assert(message_names(error.message, b->tp), "%s", error.message);
    cpl_arena_fini(&arena);
}

Test(route, between_different_sequences_is_refused_and_both_are_named)
{
    const struct cpl_shape shape = {.tokens = 720, .cp = 4, .tp = 3};
    const struct cpl_shape others[] = {
        {.tokens = 1440, .cp = 4, .tp = 3}, {.tokens = 720, .cp = 6, .tp = 3},
        {.tokens = 720, .cp = 4, .tp = 5},  {.tokens = 1440, .cp = 12, .tp = 1},
        {.tokens = 2880, .cp = 8, .tp = 2},
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        check_refused(&shape, &others[i]);
        check_refused(&others[i], &shape);
    }
}

/* Builds a route in an arena with `spare` bytes left; without a source, one from the stream. */
static enum cpl_status build_short(const struct cpl_table *source, const struct cpl_table *target,
                                   size_t spare)
{
    struct counted counted = {0};
    struct cpl_error error = {0};
    struct cpl_route route = {.rank = -9};
    struct cpl_arena arena;
    enum cpl_status status;

    arena_begin_short(&arena, &counted, spare);
    status = source != NULL
                 ? cpl_route_build(&route, source, target, 1, &arena, &error)
                 : cpl_route_from_stream(&route, target, (struct cpl_ranks){1, 1}, &arena, &error);
    cpl_arena_fini(&arena);
    cr_assert_eq(counted.live, 0, "%" PRId64 " blocks leak", counted.live);
    cr_assert_eq(counted.wrong, 0, "released with another size");
    cr_assert_eq(status, error.status);
    cr_assert(status == CPL_OK || strlen(error.message) > 0);
    cr_assert_eq(status == CPL_OK, route.rank != -9, "the route was changed");
    return status;
}

/* Gives more and more memory until it is enough. */
static void check_memory(const struct cpl_table *source, const struct cpl_table *target)
{
    size_t spare = 0;
    enum cpl_status status;

    while ((status = build_short(source, target, spare)) == CPL_ERROR_MEMORY) {
        spare += 16;
    }
    cr_assert_eq(status, CPL_OK);
    cr_assert_gt(spare, sizeof(struct cpl_move), "%zu bytes are enough", spare);
}

Test(route, reports_memory_that_runs_out_and_returns_the_rest)
{
    const struct cpl_shape shape = {.tokens = 240, .cp = 4, .tp = 3};
    const struct cpl_allocator allocator = cpl_allocator_default();
    struct cpl_arena arena;
    struct cpl_table source;
    struct cpl_table target;

    cpl_arena_init(&arena, &allocator);
    build_table(&source, "contiguous", &shape, &arena);
    build_table(&target, "zigzag", &shape, &arena);
    check_memory(&source, &target);
    check_memory(&target, &source);
    check_memory(NULL, &target);
    cpl_arena_fini(&arena);
}
