/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that layouts are read from their names as they are written, and that the ones which cut the
 * stream without regard to documents hold what their rules say: every pair of them there and back
 * against the oracle, over short sequences and over packs drawn from a seed. Then one sequence on
 * 4096 ranks.
 */
#include <criterion/criterion.h>

#include "oracle/oracle.h"
#include "plan/route.h"
#include "unit/packs.h"

enum { KINDS = 6, CP_MOST = 8, TP_MOST = 4, RANKS_MOST = CP_MOST * TP_MOST };

static const char *const kinds[KINDS] = {"contiguous",    "mirror",    "zigzag",
                                         "zigzag-stream", "striped:1", "striped:3"};

/* ---- Names ------------------------------------------------------------------------------------- */

static struct cpl_layout parsed(const char *text)
{
    struct cpl_error error = {0};
    struct cpl_layout layout;

    cr_assert_eq(cpl_layout_parse(text, &layout, &error), CPL_OK, "'%s': %s", text, error.message);
    cr_assert_eq(error.status, CPL_OK);
    return layout;
}

struct written {
    const char *text;
    const char *name;
    const char *title;
    int64_t block;
    double tolerance;
};

static const struct written good[] = {
    {"contiguous", "contiguous", "contiguous", 0, 0},
    {"mirror", "mirror", "mirror", 0, 0},
    {"zigzag", "zigzag", "zigzag", 0, 0},
    {"zigzag-stream", "zigzag-stream", "zigzag-stream", 0, 0},
    {"striped:1", "striped", "striped:1", 1, 0},
    {"striped:16", "striped", "striped:16", 16, 0},
    {"striped:2147483647", "striped", "striped:2147483647", 2147483647, 0},
    {"balanced", "balanced", "balanced:0.05:512", 512, 0.05},
    {"balanced:0.1", "balanced", "balanced:0.1:512", 512, 0.1},
    {"balanced:.5", "balanced", "balanced:0.5:512", 512, 0.5},
    {"balanced:1000", "balanced", "balanced:1000:512", 512, 1000},
    {"balanced:0.1:64", "balanced", "balanced:0.1:64", 64, 0.1},
    {"balanced:2:2147483647", "balanced", "balanced:2:2147483647", 2147483647, 2},
};

enum { GOOD = sizeof(good) / sizeof(good[0]) };

Test(layouts, are_read_as_they_are_written)
{
    for (int i = 0; i < GOOD; i++) {
        const struct cpl_layout layout = parsed(good[i].text);

        cr_assert_str_eq(layout.name, good[i].name);
        cr_assert_eq(layout.block, good[i].block, "'%s': block %" PRId64, good[i].text,
                     layout.block);
        cr_assert_float_eq(layout.tolerance, good[i].tolerance, 1e-12, "'%s': tolerance %g",
                           good[i].text, layout.tolerance);
    }
}

Test(layouts, have_titles_that_can_be_read_again)
{
    for (int i = 0; i < GOOD; i++) {
        const struct cpl_layout layout = parsed(good[i].text);
        char title[CPL_LAYOUT_BYTES + 1];
        struct cpl_layout again;

        memset(title, '#', sizeof(title));
        cr_assert_eq(cpl_layout_title(&layout, title), title);
        cr_assert_str_eq(title, good[i].title);
        cr_assert_eq(title[CPL_LAYOUT_BYTES], '#');
        again = parsed(title);
        cr_assert(cpl_layout_equal(&layout, &again), "'%s'", title);
    }
}

/* Two texts are one layout if they have one title; titles are checked above. */
Test(layouts, are_equal_if_name_and_parameters_are)
{
    for (int i = 0; i < GOOD * GOOD; i++) {
        const struct written *const a = &good[i / GOOD];
        const struct written *const b = &good[i % GOOD];
        const struct cpl_layout left = parsed(a->text);
        const struct cpl_layout right = parsed(b->text);

        cr_assert_eq(cpl_layout_equal(&left, &right), strcmp(a->title, b->title) == 0,
                     "'%s' and '%s'", a->text, b->text);
    }
}

Test(layouts, are_equal_however_they_are_written)
{
    static const char *const same[][2] = {
        {"balanced", "balanced:0.05"},
        {"balanced:.5", "balanced:0.50:512"},
        {"balanced:1", "balanced:1.:512"},
        {"balanced:0.05:512", "balanced"},
    };

    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        const struct cpl_layout left = parsed(same[i][0]);
        const struct cpl_layout right = parsed(same[i][1]);

        cr_assert(cpl_layout_equal(&left, &right), "'%s' and '%s'", same[i][0], same[i][1]);
    }
}

static void check_bad(const char *text, const char *hint)
{
    struct cpl_error error = {0};
    struct cpl_layout layout;
    struct cpl_layout before;

    memset(&layout, 0x5a, sizeof(layout));
    memcpy(&before, &layout, sizeof(layout));
    cr_assert_eq(cpl_layout_parse(text, &layout, &error), CPL_ERROR_ARGUMENT, "'%s'", text);
    cr_assert_eq(error.status, CPL_ERROR_ARGUMENT, "'%s'", text);
    cr_assert_not_null(strstr(error.message, hint), "'%s': no '%s' in '%s'", text, hint,
                       error.message);
    cr_assert_eq(memcmp(&before, &layout, sizeof(layout)), 0, "'%s': the layout was changed", text);
}

Test(layouts, with_wrong_parameters_are_refused_with_their_form)
{
    static const char *const striped[] =
        {"striped",     "striped:",    "striped:0",          "striped:-1",
         "striped:1:2", "striped: 1",  "striped:1 ",         "striped:+1",
         "striped:x",   "striped:1.5", "striped:2147483648", "striped:99999999999999999999999",
         "striped:1:",  "striped:0x1"};
    static const char *const balanced[] = {
        "balanced:",        "balanced:0",      "balanced:-1",    "balanced:x",
        "balanced:1001",    "balanced:1000.1", "balanced:0.1:0", "balanced:0.1:5:6",
        "balanced:0.1:",    "balanced::64",    "balanced:.",     "balanced:1.2.3",
        "balanced:0,1",     "balanced:1e1",    "balanced:nan",   "balanced:inf",
        "balanced:0.0",     "balanced: 1",     "balanced:0.1:x", "balanced:0.1:2147483648",
        "balanced:0.1:-64",
    };
    static const char *const bare[] = {"contiguous", "mirror", "zigzag", "zigzag-stream"};
    char text[64];

    for (size_t i = 0; i < sizeof(striped) / sizeof(striped[0]); i++) {
        check_bad(striped[i], "striped:B");
    }
    for (size_t i = 0; i < sizeof(balanced) / sizeof(balanced[0]); i++) {
        check_bad(balanced[i], "balanced:TOL[:CHUNK]");
    }
    for (size_t i = 0; i < 2 * sizeof(bare) / sizeof(bare[0]); i++) {
        (void)snprintf(text, sizeof(text), "%s:%s", bare[i / 2], i % 2 == 0 ? "2" : "");
        check_bad(text, bare[i / 2]);
    }
}

Test(layouts, with_unknown_names_are_refused_with_all_there_are)
{
    static const char *const unknown[] = {"",        ":",           "unknown", "Zigzag",
                                          "zigzag ", "striped1",    "balance", "zigzag-",
                                          ":1",      "balanced0.1", " zigzag", "unknown:1",
                                          "stripe:1"};

    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        check_bad(unknown[i],
                  "contiguous, mirror, zigzag, zigzag-stream, striped:B, balanced:TOL[:CHUNK]");
    }
}

/* ---- Units ------------------------------------------------------------------------------------- */

static int64_t gcd(int64_t a, int64_t b)
{
    return b == 0 ? a : gcd(b, a % b);
}

static int64_t lcm(int64_t a, int64_t b)
{
    return a / gcd(a, b) * b;
}

Test(units, are_the_least_common_multiples)
{
    const struct cpl_layout stream = parsed("zigzag-stream");
    struct cpl_layout striped;
    char text[32];

    for (int64_t i = 0; i < 16 * 12 * 20; i++) {
        const int32_t cp = (int32_t)(2 + i % 16);
        const int32_t tp = (int32_t)(1 + i / 16 % 12);
        const int64_t block = 1 + i / 16 / 12;

        (void)snprintf(text, sizeof(text), "striped:%" PRId64, block);
        striped = parsed(text);
        cr_assert_eq(cpl_layout_unit(&stream, &(struct cpl_shape){.cp = cp, .tp = tp}),
                     lcm(2 * cp, cp * tp), "P=%d T=%d", cp, tp);
        cr_assert_eq(cpl_layout_unit(&striped, &(struct cpl_shape){.cp = cp, .tp = tp}),
                     lcm(cp * block, cp * tp), "%s P=%d T=%d", text, cp, tp);
        cr_assert_eq(oracle_unit(text, cp, tp), lcm(cp * block, cp * tp), "%s P=%d T=%d", text, cp,
                     tp);
        cr_assert_eq(cpl_layout_unit(&striped, &(struct cpl_shape){.cp = 1, .tp = tp}), tp);
        cr_assert_eq(cpl_layout_unit(&stream, &(struct cpl_shape){.cp = 1, .tp = tp}), tp);
    }
}

static void check_length(const char *text, const struct cpl_shape *shape)
{
    const struct cpl_layout layout = parsed(text);
    const bool fits = oracle_fits(text, shape->tokens, shape->cp, shape->tp);
    const int64_t unit = oracle_unit(text, shape->cp, shape->tp);
    struct cpl_error error = {0};

    cr_assert_eq(cpl_shape_check(&layout, shape, &error) == CPL_OK, fits,
                 "%s S=%" PRId64 " P=%d T=%d", text, shape->tokens, shape->cp, shape->tp);
    if (!fits) {
        cr_assert(message_names(error.message, unit), "no %" PRId64 ": %s", unit, error.message);
        cr_assert_not_null(strstr(error.message, text), "no '%s': %s", text, error.message);
    }
}

Test(units, decide_which_lengths_fit)
{
    for (int32_t i = 0; i < KINDS * CP_MOST * TP_MOST; i++) {
        struct cpl_shape shape = {.cp = 1 + i / KINDS % CP_MOST, .tp = 1 + i / KINDS / CP_MOST};

        for (shape.tokens = 1; shape.tokens <= 100; shape.tokens++) {
            check_length(kinds[i % KINDS], &shape);
        }
    }
}

Test(units, beyond_all_lengths_refuse_without_overflow)
{
    const struct cpl_layout primes[] = {parsed("striped:2147483647"), parsed("striped:2147483629"),
                                        parsed("striped:2147483587")};
    const struct cpl_layout *const all[] = {&primes[0], &primes[1], &primes[2]};
    const struct cpl_shape shape = {.tokens = INT64_C(0xffffffff), .cp = 4095, .tp = 16};
    struct cpl_error error = {0};

    cr_assert_eq(cpl_shape_check(&primes[0], &shape, &error), CPL_ERROR_ARGUMENT);
    cr_assert(message_names(error.message, shape.tokens), "%s", error.message);
    cr_assert(message_names(error.message, INT64_C(2147483647) * 4095 * 16), "%s", error.message);
    cr_assert_eq(cpl_layouts_unit(all, 1, &(struct cpl_shape){.cp = 2, .tp = 1}),
                 2 * INT64_C(2147483647));
    cr_assert_eq(cpl_layouts_unit(all, 2, &(struct cpl_shape){.cp = 1, .tp = 3}), 3);
    for (int32_t cp = 2; cp <= 65536; cp *= 2) {
        cr_assert_gt(cpl_layouts_unit(all, 3, &(struct cpl_shape){.cp = cp, .tp = 1}), shape.tokens,
                     "P=%d", cp);
    }
}

/* ---- Sequences --------------------------------------------------------------------------------- */

/* What the plugin and the oracle make of the same layout. */
struct both {
    struct cpl_table table;
    struct oracle oracle;
};

static void both_init(struct both *both, const char *text, const struct cpl_shape *shape,
                      struct cpl_arena *arena)
{
    const struct cpl_layout layout = parsed(text);
    struct cpl_error error = {0};

    oracle_init(&both->oracle, text, shape->tokens, shape->cp, shape->tp);
    cr_assert_eq(cpl_table_build(&both->table, &layout, shape, arena, &error), CPL_OK, "%s: %s",
                 both->oracle.text, error.message);
}

/* Every row of the table, in order, is on the oracle's rank and row; none is left out. */
static void check_table(const struct cpl_table *table, const struct oracle *oracle)
{
    int64_t token = 0;

    cr_assert_eq(table->pads.count, 0, "%s: padding", oracle->text);
    cr_assert(table->partition);
    cr_assert_eq(table->ranks, oracle->ranks);
    for (size_t i = 0; i < table->rows.count; i++) {
        const struct cpl_piece *const piece = &table->rows.list[i];

        cr_assert_eq(piece->start, token, "%s: piece %zu leaves a gap", oracle->text, i);
        for (int64_t k = 0; k < piece->length; k++, token++) {
            cr_assert_lt(token, oracle->tokens, "%s: too many tokens", oracle->text);
            cr_assert(piece->rank == oracle->owner[token] && piece->local + k == oracle->row[token],
                      "%s: token %" PRId64 " is row %" PRId64 " of rank %d", oracle->text, token,
                      piece->local + k, piece->rank);
        }
    }
    cr_assert_eq(token, oracle->tokens, "%s: tokens are missing", oracle->text);
}

/* A conversion: both ends, the routes of all ranks, and what each row of the target was filled with. */
struct conversion {
    const struct both *from;
    const struct both *to;
    struct cpl_route routes[RANKS_MOST];
    int64_t *filled; /* [tokens] by rank and row: the token that came, -1 for none */
};

static void fail(const struct conversion *conversion, const char *what, int32_t rank)
{
    cr_assert_fail("%s to %s: %s, rank %d", conversion->from->oracle.text,
                   conversion->to->oracle.text, what, rank);
}

/* Carries a move out. */
static void carry(const struct conversion *conversion, const struct cpl_move *move, int32_t source,
                  int32_t target)
{
    const struct oracle *const from = &conversion->from->oracle;
    const struct oracle *const to = &conversion->to->oracle;

    if (move->src < 0 || move->dst < 0 || move->rows < 1 || move->src + move->rows > from->rows ||
        move->dst + move->rows > to->rows) {
        fail(conversion, "a move outside of the rows", target);
    }
    for (int64_t k = 0; k < move->rows; k++) {
        int64_t *const row = &conversion->filled[target * to->rows + move->dst + k];

        if (*row != -1) {
            fail(conversion, "a row that is written twice", target);
        }
        *row = oracle_token(from, source, move->src + k);
    }
}

/* The index-th move of a message that comes in has its twin on the sender's side, in the same order. */
static void check_twin(const struct conversion *conversion, int32_t rank, size_t index)
{
    const struct cpl_moves *const received = &conversion->routes[rank].received;
    const struct cpl_move *const move = &received->list[index];
    const struct cpl_moves *const sent = &conversion->routes[move->peer].sent;
    size_t nth = 0;
    size_t i = 0;

    while (index > nth && received->list[index - nth - 1].peer == move->peer) {
        nth++;
    }
    while (i < sent->count && sent->list[i].peer != rank) {
        i++;
    }
    i += nth;
    if (i >= sent->count || sent->list[i].peer != rank || sent->list[i].src != move->src ||
        sent->list[i].dst != move->dst || sent->list[i].rows != move->rows) {
        fail(conversion, "the ends of a message differ", rank);
    }
}

static void carry_rank(const struct conversion *conversion, int32_t rank)
{
    const struct cpl_route *const route = &conversion->routes[rank];

    for (size_t i = 0; i < route->kept.count; i++) {
        carry(conversion, &route->kept.list[i], rank, rank);
    }
    for (size_t i = 0; i < route->received.count; i++) {
        const int32_t peer = route->received.list[i].peer;

        if (peer < 0 || peer >= conversion->from->oracle.ranks || peer == rank) {
            fail(conversion, "a message from nobody", rank);
        }
        carry(conversion, &route->received.list[i], peer, rank);
        check_twin(conversion, rank, i);
    }
}

/* Rows of messages, by one end or the other, are the tokens whose owner changes. */
static void check_moved(const struct conversion *conversion)
{
    const int64_t moved = oracle_moved(&conversion->from->oracle, &conversion->to->oracle);
    int64_t sent = 0;
    int64_t received = 0;

    for (int32_t rank = 0; rank < conversion->from->oracle.ranks; rank++) {
        sent += cpl_moves_rows(&conversion->routes[rank].sent);
        received += cpl_moves_rows(&conversion->routes[rank].received);
    }
    if (sent != moved || received != moved) {
        fail(conversion, "not the rows whose owner changes", -1);
    }
}

static void check_conversion(const struct both *from, const struct both *to,
                             struct cpl_arena *arena)
{
    const struct oracle *const target = &to->oracle;
    struct conversion conversion = {.from = from, .to = to};
    struct cpl_error error = {0};

    conversion.filled = malloc((size_t)target->tokens * sizeof(*conversion.filled));
    cr_assert_not_null(conversion.filled);
    memset(conversion.filled, 0xff, (size_t)target->tokens * sizeof(*conversion.filled));
    for (int32_t rank = 0; rank < target->ranks; rank++) {
        cr_assert_eq(cpl_route_build(&conversion.routes[rank], &from->table, &to->table, rank,
                                     arena, &error),
                     CPL_OK, "%s", error.message);
    }
    for (int32_t rank = 0; rank < target->ranks; rank++) {
        carry_rank(&conversion, rank);
    }
    check_moved(&conversion);
    for (int64_t i = 0; i < target->tokens; i++) {
        if (conversion.filled[i] != target->token[i]) {
            fail(&conversion, "another token than is wanted", (int32_t)(i / target->rows));
        }
    }
    free(conversion.filled);
}

/* All layouts that hold the sequence, each against the oracle, and all routes between them. */
static int check_sequence(const struct cpl_shape *shape, struct cpl_arena *arena)
{
    struct both both[KINDS];
    int count = 0;

    for (int i = 0; i < KINDS; i++) {
        if (oracle_fits(kinds[i], shape->tokens, shape->cp, shape->tp)) {
            both_init(&both[count], kinds[i], shape, arena);
            check_table(&both[count].table, &both[count].oracle);
            count++;
        }
    }
    for (int i = 0; i < count * count; i++) {
        check_conversion(&both[i / count], &both[i % count], arena);
    }
    for (int i = 0; i < count; i++) {
        oracle_fini(&both[i].oracle);
    }
    cpl_arena_reset(arena);
    return count * count;
}

/* Up to twice the unit that holds all of them, and all lengths up to 48. */
Test(sequences, go_there_and_back_between_all_layouts)
{
    struct counted counted = {0};
    const struct cpl_allocator allocator = counted_allocator(&counted);
    struct cpl_arena arena;
    int pairs = 0;

    cpl_arena_init(&arena, &allocator);
    for (int32_t i = 0; i < CP_MOST * TP_MOST; i++) {
        const int32_t cp = 1 + i % CP_MOST;
        const int32_t tp = 1 + i / CP_MOST;
        const int64_t unit = lcm(lcm(2 * cp, 3 * cp), (int64_t)cp * tp);
        struct cpl_shape shape = {.cp = cp, .tp = tp};

        for (shape.tokens = 1; shape.tokens <= 48; shape.tokens++) {
            pairs += check_sequence(&shape, &arena);
        }
        shape.tokens = unit;
        cr_assert_eq(check_sequence(&shape, &arena), KINDS * KINDS);
        shape.tokens = 2 * unit;
        cr_assert_eq(check_sequence(&shape, &arena), KINDS * KINDS);
    }
    cpl_arena_fini(&arena);
    cr_assert_eq(counted.live, 0);
    cr_assert_eq(counted.wrong, 0);
    cr_assert_gt(pairs, 3000, "only %d", pairs);
}

Test(sequences, that_are_dense_are_dealt_alike_by_both_zigzags)
{
    const struct cpl_allocator allocator = cpl_allocator_default();
    const struct cpl_shape shape = {.tokens = 96, .cp = 4, .tp = 3};
    struct cpl_arena arena;
    struct both zigzag;
    struct both stream;

    cpl_arena_init(&arena, &allocator);
    both_init(&zigzag, "zigzag", &shape, &arena);
    both_init(&stream, "zigzag-stream", &shape, &arena);
    cr_assert_eq(zigzag.table.identity, stream.table.identity);
    cpl_arena_fini(&arena);
    oracle_fini(&zigzag.oracle);
    oracle_fini(&stream.oracle);
}

/* ---- Packs ------------------------------------------------------------------------------------- */

/* The pack cut by a layout is the sequence of its rows cut by it, wherever documents end. */
static void check_pack(const char *text, const struct pack *pack, struct packed_ranks ranks)
{
    const struct cpl_allocator allocator = cpl_allocator_default();
    const struct cpl_layout layout = parsed(text);
    struct cpl_error error = {0};
    struct cpl_stream stream;
    const struct cpl_shape shape = {.cp = ranks.cp, .tp = ranks.tp, .stream = &stream};
    struct cpl_arena arena;
    struct cpl_table table;
    struct oracle oracle;

    cpl_arena_init(&arena, &allocator);
    oracle_init(&oracle, text, pack->rows, ranks.cp, ranks.tp);
    cr_assert_eq(cpl_stream_packed(&stream, pack->samples, pack->sample_count, &arena, &error),
                 CPL_OK);
    cr_assert_eq(cpl_table_build(&table, &layout, &shape, &arena, &error), CPL_OK, "%s: %s",
                 oracle.text, error.message);
    check_table(&table, &oracle);
    cr_assert_eq(table.stream.rows, pack->rows);
    oracle_fini(&oracle);
    cpl_arena_fini(&arena);
}

static void check_pack_refused(const char *text, const struct pack *pack, struct packed_ranks ranks)
{
    const struct cpl_allocator allocator = cpl_allocator_default();
    const struct cpl_layout layout = parsed(text);
    struct cpl_error error = {0};
    struct cpl_stream stream;
    const struct cpl_shape shape = {.cp = ranks.cp, .tp = ranks.tp, .stream = &stream};
    struct cpl_arena arena;
    struct cpl_table table;

    cpl_arena_init(&arena, &allocator);
    cr_assert_eq(cpl_stream_packed(&stream, pack->samples, pack->sample_count, &arena, &error),
                 CPL_OK);
    cr_assert_eq(cpl_table_build(&table, &layout, &shape, &arena, &error), CPL_ERROR_ARGUMENT);
    cr_assert(message_names(error.message, pack->rows), "%s", error.message);
    cpl_arena_fini(&arena);
}

/* Makes the last document longer, until the layout can hold the pack. */
static void fill_up(struct pack *pack, const char *text, struct packed_ranks ranks)
{
    const size_t sample = pack->sample_count - 1;
    const size_t entry = pack->samples[sample].entries - 1;

    pack->samples[sample].cu_seqlens_padded = pack->padded[sample];
    while (!oracle_fits(text, pack->rows, ranks.cp, ranks.tp)) {
        pack->padded[sample][entry]++;
        pack->list[pack->documents - 1].rows++;
        pack->rows++;
    }
}

Test(packs, are_dealt_like_the_sequence_of_their_rows)
{
    static const char *const texts[] = {"zigzag-stream", "striped:1", "striped:3", "striped:16"};
    uint64_t seed = 20240611;
    struct pack pack;
    int refused = 0;
    int held = 0;

    for (int i = 0; i < 400; i++) {
        const struct packed_ranks ranks = draw_ranks(&seed);
        const char *const text = texts[i % 4];

        pack_draw(&pack, &seed, ranks);
        if (!oracle_fits(text, pack.rows, ranks.cp, ranks.tp)) {
            check_pack_refused(text, &pack, ranks);
            fill_up(&pack, text, ranks);
            refused++;
        }
        if (pack.rows > 0) {
            check_pack(text, &pack, ranks);
            held++;
        }
    }
    cr_assert_gt(refused, 50, "only %d", refused);
    cr_assert_gt(held, 300, "only %d", held);
}

/* ---- Many ranks -------------------------------------------------------------------------------- */

static void check_many(const char *text, int64_t block)
{
    const struct cpl_allocator allocator = cpl_allocator_default();
    const struct cpl_shape shape = {.tokens = 4096 * 2 * 3 * 8, .cp = 4096, .tp = 2};
    struct cpl_error error = {0};
    struct cpl_route route;
    struct cpl_arena arena;
    struct both contiguous;
    struct both other;
    int64_t moved = 0;

    cpl_arena_init(&arena, &allocator);
    both_init(&contiguous, "contiguous", &shape, &arena);
    both_init(&other, text, &shape, &arena);
    check_table(&other.table, &other.oracle);
    for (int32_t rank = 0; rank < other.table.ranks; rank++) {
        cr_assert_eq(cpl_route_build(&route, &contiguous.table, &other.table, rank, &arena, &error),
                     CPL_OK, "%s: %s", text, error.message);
        moved += cpl_moves_rows(&route.received);
    }
    cr_assert_eq(moved, oracle_moved(&contiguous.oracle, &other.oracle), "%s", text);
    cr_assert_leq(other.table.rows.count, (size_t)(shape.tokens / block), "%s", text);
    oracle_fini(&contiguous.oracle);
    oracle_fini(&other.oracle);
    cpl_arena_fini(&arena);
}

/* One row after the other on 4096 ranks is as many pieces as rows. */
Test(many, ranks_hold_what_the_oracle_says)
{
    check_many("zigzag-stream", 8);
    check_many("striped:1", 1);
    check_many("striped:3", 3);
    check_many("striped:8", 8);
}
