/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that tables of any rows are served: halos, shifts, gathers and random tables that overlap,
 * leave out and pad, over random packs in every layout. Their routes are carried out on row numbers
 * by either end and give exactly what was asked; both ends of a message list the same moves; the
 * adjoint is exact and adds in ascending order of ranks; there and back between partitions is the
 * identity. Then what a table tells of itself, refusals, and memory that runs out.
 */
#include "plan/counts.h"
#include "plan/route.h"
#include "plan/wanted.h"
#include "unit/packs.h"

enum { RANKS_MOST = 32, FRAGMENTS_MOST = 1 << 16, RANDOM_PACKS = 400, UNWRITTEN = -9 };

/* ---- Wishes ------------------------------------------------------------------------------------ */

struct wish {
    struct cpl_fragment fragments[FRAGMENTS_MOST];
    size_t counts[RANKS_MOST];
    size_t total;
    int64_t rows;
};

/* The ranks come one after the other. */
static void wish_add(struct wish *wish, int32_t rank, int64_t start, int64_t length)
{
    cr_assert_lt(wish->total, FRAGMENTS_MOST);
    wish->fragments[wish->total++] = (struct cpl_fragment){start, length};
    wish->counts[rank]++;
    wish->rows += length;
}

/* Up to `width` rows before every run of a rank, but none of another document. */
static void wish_halo(struct wish *wish, const struct packed *source, int64_t width)
{
    for (int64_t i = 0; i < source->held.first[source->held.ranks]; i++) {
        const int64_t row = source->held.row[i];
        const bool runs = row > 0 && i % source->window > 0 && source->held.row[i - 1] == row - 1;
        const int64_t before = row >= 0 ? source->position[row] : 0;
        const int64_t length = before < width ? before : width;

        if (!runs && length > 0) {
            wish_add(wish, (int32_t)(i / source->window), row - length, length);
        }
    }
}

/* What lies `step` rows behind each row in its document, else padding. */
static void wish_shift(struct wish *wish, const struct packed *source, int64_t step)
{
    for (int64_t i = 0; i < source->held.first[source->held.ranks]; i++) {
        const int64_t row = source->held.row[i];
        const bool inside = row >= 0 && row + step < source->rows &&
                            source->document[row + step] == source->document[row];

        wish_add(wish, (int32_t)(i / source->window), inside ? row + step : -1, 1);
    }
}

static void wish_gather(struct wish *wish, const struct packed *source, int64_t unused)
{
    (void)unused;
    for (int32_t rank = 0; rank < source->held.ranks && source->rows > 0; rank++) {
        wish_add(wish, rank, 0, source->rows);
    }
}

/* Up to 7 fragments each, any rows in any order. */
static void wish_any(struct wish *wish, const struct packed *source, int64_t number)
{
    uint64_t seed = (uint64_t)number;

    for (int32_t rank = 0; rank < source->held.ranks; rank++) {
        for (int64_t i = draw(&seed, 7); i > 0; i--) {
            const bool pads = source->rows == 0 || draw(&seed, 4) == 0;
            const int64_t start = pads ? -1 : draw(&seed, source->rows - 1);

            wish_add(wish, rank, start, 1 + draw(&seed, pads ? 3 : source->rows - 1 - start));
        }
    }
}

/* ---- Journeys ---------------------------------------------------------------------------------- */

/* A partition, a table, and the routes of all ranks. */
struct journey {
    const struct packed *source;
    struct packed_rows asked;
    const struct cpl_table *target;
    struct cpl_route routes[RANKS_MOST];
};

static void expand(struct packed_rows *asked, const struct wish *wish, int32_t ranks)
{
    size_t fragment = 0;
    int64_t at = 0;

    packed_rows_init(asked, ranks, wish->rows);
    for (int32_t rank = 0; rank < ranks; rank++) {
        for (size_t i = 0; i < wish->counts[rank]; i++, fragment++) {
            const struct cpl_fragment *const asked_for = &wish->fragments[fragment];

            for (int64_t k = 0; k < asked_for->length; k++) {
                asked->row[at++] = asked_for->start == -1 ? -1 : asked_for->start + k;
            }
        }
        asked->first[rank + 1] = at;
    }
}

static void build_routes(struct journey *journey, const struct cpl_table *source,
                         struct cpl_arena *arena)
{
    struct cpl_error error = {0};

    for (int32_t rank = 0; rank < source->ranks; rank++) {
        if (cpl_route_build(&journey->routes[rank], source, journey->target, rank, arena, &error) !=
            CPL_OK) {
            cr_assert_fail("%s: %s", journey->source->text, error.message);
        }
    }
}

static int64_t *take_rows(const struct packed_rows *rows)
{
    const size_t count = (size_t)rows->first[rows->ranks];
    int64_t *const taken = malloc((count + 1) * sizeof(*taken));

    cr_assert_not_null(taken);
    for (size_t i = 0; i < count; i++) {
        taken[i] = UNWRITTEN;
    }
    return taken;
}

/* Row `at` of a rank, which must exist. */
static int64_t place(const struct journey *journey, const struct packed_rows *rows, int32_t rank,
                     int64_t at)
{
    require(rank >= 0 && rank < rows->ranks && at >= 0 &&
                rows->first[rank] + at < rows->first[rank + 1],
            journey->source, "move out of rank's rows", rank);
    return rows->first[rank] + at;
}

/* Copies rows of a move; no row may be written twice. */
static void copy_move(const struct journey *journey, const struct cpl_move *move, int32_t from,
                      int32_t to, const int64_t *source, int64_t *target)
{
    require(move->rows > 0, journey->source, "a move of no rows", move->dst);
    for (int64_t k = 0; k < move->rows; k++) {
        const int64_t at = place(journey, &journey->asked, to, move->dst + k);

        require(target[at] == UNWRITTEN, journey->source, "a row is written twice", move->dst + k);
        target[at] = move->src == -1
                         ? 0
                         : source[place(journey, &journey->source->held, from, move->src + k)];
    }
}

/* Carries all routes out by what the receivers, or else the senders, list. Padding is 0. */
static void carry(const struct journey *journey, bool by_receiver, const int64_t *source,
                  int64_t *target)
{
    for (int32_t rank = 0; rank < journey->asked.ranks; rank++) {
        const struct cpl_route *const route = &journey->routes[rank];
        const struct cpl_moves *const moves = by_receiver ? &route->received : &route->sent;

        for (size_t i = 0; i < route->kept.count; i++) {
            copy_move(journey, &route->kept.list[i], rank, rank, source, target);
        }
        for (size_t i = 0; i < route->pads.count; i++) {
            copy_move(journey, &route->pads.list[i], rank, rank, source, target);
        }
        for (size_t i = 0; i < moves->count; i++) {
            const int32_t peer = moves->list[i].peer;

            require(peer != rank, journey->source, "a message to itself", rank);
            copy_move(journey, &moves->list[i], by_receiver ? peer : rank,
                      by_receiver ? rank : peer, source, target);
        }
    }
}

/* ---- Carried out ------------------------------------------------------------------------------- */

static void check_carried(const struct journey *journey, bool by_receiver)
{
    const int64_t count = journey->asked.first[journey->asked.ranks];
    int64_t *const source = take_rows(&journey->source->held);
    int64_t *const target = take_rows(&journey->asked);

    for (int64_t i = 0; i < journey->source->held.first[journey->source->held.ranks]; i++) {
        source[i] = journey->source->held.row[i] + 1;
    }
    carry(journey, by_receiver, source, target);
    for (int64_t i = 0; i < count; i++) {
        require(target[i] == journey->asked.row[i] + 1, journey->source,
                by_receiver ? "row that was received" : "row that was sent", i);
    }
    free(source);
    free(target);
}

static void check_carried_out(const struct journey *journey)
{
    check_carried(journey, true);
    check_carried(journey, false);
    for (int32_t rank = 0; rank < journey->asked.ranks; rank++) {
        const struct cpl_route *const route = &journey->routes[rank];

        require(cpl_moves_rows(&route->received) ==
                    packed_wanted(journey->source, &journey->asked, rank),
                journey->source, "rows received", rank);
        require(cpl_moves_rows(&route->sent) == packed_lent(journey->source, &journey->asked, rank),
                journey->source, "rows sent", rank);
    }
}

/* ---- Messages ---------------------------------------------------------------------------------- */

static size_t begin_of(const struct cpl_moves *moves, int32_t peer)
{
    size_t i = 0;

    while (i < moves->count && moves->list[i].peer != peer) {
        i++;
    }
    return i;
}

static void check_message(const struct journey *journey, int32_t from, int32_t to)
{
    const struct cpl_moves *const sent = &journey->routes[from].sent;
    const struct cpl_moves *const received = &journey->routes[to].received;
    size_t i = begin_of(sent, to);
    size_t k = begin_of(received, from);
    int64_t last = -1;

    for (; i < sent->count && sent->list[i].peer == to; i++, k++) {
        const int64_t row =
            journey->source->held.row[journey->source->held.first[from] + sent->list[i].src];

        require(k < received->count && received->list[k].peer == from &&
                    sent->list[i].src == received->list[k].src &&
                    sent->list[i].dst == received->list[k].dst &&
                    sent->list[i].rows == received->list[k].rows,
                journey->source, "the ends of a message differ at row", row);
        require(row >= last, journey->source, "a message out of global order", row);
        last = row;
    }
    require(k == received->count || received->list[k].peer != from, journey->source,
            "more is expected than sent", from);
}

static void check_messages(const struct journey *journey)
{
    for (int32_t from = 0; from < journey->asked.ranks; from++) {
        for (int32_t to = 0; to < journey->asked.ranks; to++) {
            if (from != to) {
                check_message(journey, from, to);
            }
        }
    }
}

/* ---- Adjoint ----------------------------------------------------------------------------------- */

/* Gradient of the source rows and, per row, the ranks it came from in order. */
struct adjoint {
    int64_t *sum;
    int64_t *order;
};

static int64_t fold(int64_t order, int32_t rank)
{
    return (int64_t)((uint64_t)order * 1000003 + (uint64_t)rank + 1);
}

static void add_moves(const struct journey *journey, const struct cpl_moves *moves, int32_t from,
                      int32_t to, const int64_t *gradient, struct adjoint *adjoint)
{
    for (size_t i = 0; i < moves->count; i++) {
        require(i == 0 || moves->list[i - 1].peer <= moves->list[i].peer, journey->source,
                "order of peers", from);
        for (int64_t k = 0; k < moves->list[i].rows && moves->list[i].peer == to; k++) {
            const int64_t src =
                place(journey, &journey->source->held, from, moves->list[i].src + k);

            adjoint->sum[src] +=
                gradient[place(journey, &journey->asked, to, moves->list[i].dst + k)];
            adjoint->order[src] = fold(adjoint->order[src], to);
        }
    }
}

/* Ascending ranks that hold copies, the rank's own in their place. */
static void carry_back(const struct journey *journey, const int64_t *gradient,
                       struct adjoint *adjoint)
{
    for (int32_t rank = 0; rank < journey->asked.ranks; rank++) {
        for (int32_t peer = 0; peer < journey->asked.ranks; peer++) {
            const struct cpl_route *const route = &journey->routes[rank];

            add_moves(journey, peer == rank ? &route->kept : &route->sent, rank, peer, gradient,
                      adjoint);
        }
    }
}

/* What the design says of the adjoint, row by row. */
static void expect_back(const struct journey *journey, const int64_t *gradient,
                        struct adjoint *adjoint)
{
    for (int32_t rank = 0; rank < journey->asked.ranks; rank++) {
        for (int64_t i = journey->asked.first[rank]; i < journey->asked.first[rank + 1]; i++) {
            const int64_t row = journey->asked.row[i];

            if (row >= 0) {
                const int64_t src = journey->source->owner[row] * journey->source->window +
                                    journey->source->local[row];

                adjoint->sum[src] += gradient[i];
                adjoint->order[src] = fold(adjoint->order[src], rank);
            }
        }
    }
}

static int64_t dot(const int64_t *a, const int64_t *b, int64_t count)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static void fill(int64_t *values, int64_t count, uint64_t seed)
{
    for (int64_t i = 0; i < count; i++) {
        values[i] = draw(&seed, 14) - 7;
    }
}

static void check_adjoint(const struct journey *journey)
{
    const struct packed_rows *const held = &journey->source->held;
    const int64_t sources = held->first[held->ranks];
    const int64_t targets = journey->asked.first[journey->asked.ranks];
    const size_t bytes = (size_t)(sources + 1) * sizeof(int64_t);
    struct adjoint back = {calloc(1, bytes), calloc(1, bytes)};
    struct adjoint expected = {calloc(1, bytes), calloc(1, bytes)};
    int64_t *const x = take_rows(held);
    int64_t *const y = take_rows(&journey->asked);
    int64_t *const ax = take_rows(&journey->asked);

    fill(x, sources, 1);
    fill(y, targets, 2);
    carry(journey, true, x, ax);
    carry_back(journey, y, &back);
    expect_back(journey, y, &expected);
    require(dot(ax, y, targets) == dot(x, back.sum, sources), journey->source, "<Ax, y>",
            dot(ax, y, targets));
    require(memcmp(back.sum, expected.sum, bytes) == 0, journey->source, "sums", 0);
    require(memcmp(back.order, expected.order, bytes) == 0, journey->source, "order of sums", 0);
    free(back.sum);
    free(back.order);
    free(expected.sum);
    free(expected.order);
    free(x);
    free(y);
    free(ax);
}

/* ---- The table itself -------------------------------------------------------------------------- */

static bool continues(const struct cpl_fragment *before, const struct cpl_fragment *after)
{
    return before->start == -1 ? after->start == -1
                               : before->start + before->length == after->start;
}

/* Fragments are told in the order asked, neighbours that touch joined. */
static void check_told(const struct journey *journey, int32_t rank)
{
    const struct packed_rows *const asked = &journey->asked;
    const size_t count = cpl_table_fragments(journey->target, rank, NULL, 0);
    struct cpl_fragment *const told = calloc(count + 1, sizeof(*told));
    int64_t at = asked->first[rank];

    (void)cpl_table_fragments(journey->target, rank, told, count);
    for (size_t i = 0; i < count; i++) {
        require(i == 0 || !continues(&told[i - 1], &told[i]), journey->source, "split fragment",
                rank);
        for (int64_t k = 0; k < told[i].length; k++, at++) {
            require(at < asked->first[rank + 1] &&
                        asked->row[at] == (told[i].start == -1 ? -1 : told[i].start + k),
                    journey->source, "fragment of rank", rank);
        }
    }
    require(at == asked->first[rank + 1], journey->source, "rows of the fragments", rank);
    free(told);
}

static void check_positions(const struct journey *journey, int32_t rank)
{
    const int64_t *const asked = journey->asked.row + journey->asked.first[rank];
    const int64_t rows = journey->asked.first[rank + 1] - journey->asked.first[rank];
    int64_t *const global = take_rows(&journey->asked);
    int64_t *const inside = take_rows(&journey->asked);

    cpl_positions(journey->target, rank, CPL_POSITION_GLOBAL, global);
    cpl_positions(journey->target, rank, CPL_POSITION_DOCUMENT, inside);
    for (int64_t i = 0; i < rows; i++) {
        require(global[i] == asked[i], journey->source, "global position", i);
        require(inside[i] == (asked[i] < 0 ? -1 : journey->source->position[asked[i]]),
                journey->source, "position in the document", i);
    }
    free(global);
    free(inside);
}

static void check_table(const struct journey *journey)
{
    for (int32_t rank = 0; rank < journey->asked.ranks; rank++) {
        const struct cpl_counts counts = cpl_count_rank(journey->target, rank);

        require(cpl_table_rows(journey->target, rank) ==
                    journey->asked.first[rank + 1] - journey->asked.first[rank],
                journey->source, "rows of rank", rank);
        require(counts.valid_rows == packed_valid(journey->source, &journey->asked, rank),
                journey->source, "valid rows of rank", rank);
        require(counts.attention_pairs == packed_pairs(journey->source, &journey->asked, rank),
                journey->source, "pairs of rank", rank);
        check_told(journey, rank);
        check_positions(journey, rank);
    }
}

/* ---- All kinds of tables ----------------------------------------------------------------------- */

struct kind {
    void (*wish)(struct wish *wish, const struct packed *source, int64_t number);
    int64_t number;
};

static void travel(const struct subject *source, const struct kind *kind,
                   void (*check)(const struct journey *journey))
{
    static struct wish wish;
    static struct journey journey;
    const struct cpl_allocator allocator = cpl_allocator_default();
    const struct cpl_wanted wanted = {wish.fragments, wish.counts};
    struct cpl_error error = {0};
    struct cpl_arena arena;
    struct cpl_table table;

    memset(wish.counts, 0, sizeof(wish.counts));
    wish.total = 0;
    wish.rows = 0;
    kind->wish(&wish, &source->oracle, kind->number);
    journey = (struct journey){.source = &source->oracle, .target = &table};
    expand(&journey.asked, &wish, source->table.ranks);
    cpl_arena_init(&arena, &allocator);
    cr_assert_eq(cpl_wanted_build(&table, &source->table, &wanted, &arena, &error), CPL_OK, "%s",
                 error.message);
    build_routes(&journey, &source->table, &arena);
    check(&journey);
    packed_rows_fini(&journey.asked);
    cpl_arena_fini(&arena);
}

static void each_journey(void (*check)(const struct journey *journey))
{
    static struct pack pack;
    uint64_t seed = 17;

    for (int i = 0; i < RANDOM_PACKS; i++) {
        const struct packed_ranks ranks = draw_ranks(&seed);
        const struct kind kinds[] = {{wish_halo, 1 + draw(&seed, 6)},
                                     {wish_shift, 1 + draw(&seed, 4)},
                                     {wish_gather, 0},
                                     {wish_any, i},
                                     {wish_any, -i}};

        pack_draw(&pack, &seed, ranks);
        for (int k = 0; k < LAYOUTS * 5; k++) {
            struct subject source;

            if (packed_fits(layouts[k % LAYOUTS], pack.rows, ranks.cp, ranks.tp)) {
                subject_init(&source, &pack, layouts[k % LAYOUTS], ranks);
                travel(&source, &kinds[k / LAYOUTS], check);
                subject_fini(&source);
            }
        }
    }
}

Test(wanted, routes_carried_out_give_what_was_asked)
{
    each_journey(check_carried_out);
}

Test(wanted, both_ends_of_a_message_agree)
{
    each_journey(check_messages);
}

Test(wanted, adjoint_is_exact_and_adds_in_order)
{
    each_journey(check_adjoint);
}

Test(wanted, table_tells_what_was_asked)
{
    each_journey(check_table);
}
