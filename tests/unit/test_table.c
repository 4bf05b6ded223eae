/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that a table holds what its layout says: every sequence up to 64 tokens on up to 8 x 4
 * ranks is compared with the oracle, piece by piece and token by token. Then what cannot be counted
 * token by token: lengths near 2^32 against 128-bit arithmetic, cost that does not depend on the
 * length, refusals with their messages, and memory that runs out at every possible moment.
 */
#include <criterion/criterion.h>

#include "base/arena.h"
#include "oracle/oracle.h"
#include "plan/counts.h"
#include "plan/table.h"
#include "unit/support.h"

enum { LAYOUTS = 3, CP_MOST = 8, TP_MOST = 4, TOKENS_MOST = 64 };

static const char *const layouts[LAYOUTS] = {"contiguous", "mirror", "zigzag"};

static const int64_t longest = INT64_C(0xffffffff);

__extension__ typedef __int128 int128;

/* One layout applied to one sequence, by the plugin and by the oracle. */
struct subject {
    const char *layout;
    struct counted counted;
    struct cpl_arena arena;
    struct cpl_table table;
    struct oracle oracle;
};

static void subject_init(struct subject *subject, const char *layout, const struct cpl_shape *shape)
{
    struct cpl_error error = {0};
    struct cpl_allocator allocator;
    enum cpl_status status;

    *subject = (struct subject){.layout = layout};
    allocator = counted_allocator(&subject->counted);
    cpl_arena_init(&subject->arena, &allocator);
    oracle_init(&subject->oracle, layout, shape->tokens, shape->cp, shape->tp);
    status =
        cpl_table_build(&subject->table, cpl_layout_find(layout), shape, &subject->arena, &error);
    cr_assert_eq(status, CPL_OK, "%s: %s", subject->oracle.text, error.message);
}

static void subject_fini(struct subject *subject)
{
    cpl_arena_fini(&subject->arena);
    oracle_fini(&subject->oracle);
    cr_assert_eq(subject->counted.live, 0);
    cr_assert_eq(subject->counted.wrong, 0);
}

/* Calls `check` with every layout and every sequence that it can hold within the limits. */
static void each_subject(void (*check)(const struct subject *subject))
{
    int checked = 0;

    for (int32_t i = 0; i < LAYOUTS * CP_MOST * TP_MOST * TOKENS_MOST; i++) {
        const char *const layout = layouts[i % LAYOUTS];
        const struct cpl_shape shape = {
            .cp = 1 + i / LAYOUTS % CP_MOST,
            .tp = 1 + i / LAYOUTS / CP_MOST % TP_MOST,
            .tokens = 1 + i / LAYOUTS / CP_MOST / TP_MOST,
        };
        struct subject subject;

        if (!oracle_fits(layout, shape.tokens, shape.cp, shape.tp)) {
            continue;
        }
        subject_init(&subject, layout, &shape);
        check(&subject);
        subject_fini(&subject);
        checked++;
    }
    cr_assert_gt(checked, 500, "only %d sequences", checked);
}

/* ---- Content --------------------------------------------------------------------------------- */

static void check_cover(const struct subject *subject)
{
    const struct cpl_table *const table = &subject->table;
    const struct oracle *const oracle = &subject->oracle;
    int64_t token = 0;

    for (size_t i = 0; i < table->rows.count; i++) {
        const struct cpl_piece *const piece = &table->rows.list[i];

        cr_assert_eq(piece->start, token, "%s: piece %zu leaves a gap", oracle->text, i);
        cr_assert_gt(piece->length, 0, "%s: piece %zu is empty", oracle->text, i);
        for (int64_t k = 0; k < piece->length; k++, token++) {
            cr_assert_lt(token, oracle->tokens, "%s: too many tokens", oracle->text);
            cr_assert_eq(piece->rank, oracle->owner[token], "%s: owner of token %" PRId64,
                         oracle->text, token);
            cr_assert_eq(piece->local + k, oracle->row[token], "%s: row of token %" PRId64,
                         oracle->text, token);
        }
    }
    cr_assert_eq(token, oracle->tokens, "%s: tokens are missing", oracle->text);
}

Test(table, covers_every_token_once_on_its_owner_and_row)
{
    each_subject(check_cover);
}

static void check_shape(const struct subject *subject)
{
    const struct cpl_table *const table = &subject->table;
    const struct oracle *const oracle = &subject->oracle;

    cr_assert_eq(table->stream.rows, oracle->tokens);
    cr_assert_eq(table->cp, oracle->cp);
    cr_assert_eq(table->tp, oracle->tp);
    cr_assert_eq(table->ranks, oracle->ranks);
    cr_assert_neq(table->identity, 0);
    for (int32_t rank = 0; rank < oracle->ranks; rank++) {
        cr_assert_eq(cpl_table_rows(table, rank), oracle->rows, "%s: rows of rank %d", oracle->text,
                     rank);
    }
}

Test(table, keeps_its_shape_and_equal_rows)
{
    each_subject(check_shape);
}

/* The pieces of one rank follow each other in its local rows; returns how many there are. */
static size_t check_rank_order(const struct subject *subject, int32_t rank)
{
    const struct oracle *const oracle = &subject->oracle;
    const size_t count = cpl_pieces_count(&(&subject->table)->rows, rank);
    int64_t row = 0;

    for (size_t i = 0; i < count; i++) {
        const struct cpl_piece *const piece = cpl_pieces_at(&(&subject->table)->rows, rank, i);

        cr_assert_eq(piece->rank, rank, "%s: piece %zu of rank %d", oracle->text, i, rank);
        cr_assert_eq(piece->local, row, "%s: piece %zu of rank %d begins at row %" PRId64,
                     oracle->text, i, rank, piece->local);
        for (int64_t k = 0; k < piece->length; k++, row++) {
            cr_assert_eq(piece->start + k, oracle_token(oracle, rank, row),
                         "%s: rank %d row %" PRId64, oracle->text, rank, row);
        }
    }
    cr_assert_eq(row, oracle->rows, "%s: rank %d has %" PRId64 " rows", oracle->text, rank, row);
    return count;
}

static void check_order(const struct subject *subject)
{
    size_t count = 0;

    for (int32_t rank = 0; rank < subject->oracle.ranks; rank++) {
        count += check_rank_order(subject, rank);
    }
    cr_assert_eq(count, subject->table.rows.count, "%s: pieces of all ranks", subject->oracle.text);
}

Test(table, orders_the_pieces_of_a_rank_by_local_row)
{
    each_subject(check_order);
}

static void check_positions(const struct subject *subject)
{
    const struct oracle *const oracle = &subject->oracle;
    int64_t positions[TOKENS_MOST + 1];

    for (int32_t rank = 0; rank < oracle->ranks; rank++) {
        positions[oracle->rows] = -7;
        cpl_positions(&subject->table, rank, CPL_POSITION_GLOBAL, positions);
        for (int64_t row = 0; row < oracle->rows; row++) {
            cr_assert_eq(positions[row], oracle_token(oracle, rank, row),
                         "%s: position at rank %d row %" PRId64, oracle->text, rank, row);
        }
        cr_assert_eq(positions[oracle->rows], -7, "%s: writes behind its rows", oracle->text);
    }
}

Test(table, gives_the_position_of_every_row)
{
    each_subject(check_positions);
}

static void check_find(const struct subject *subject)
{
    const struct cpl_table *const table = &subject->table;

    for (int64_t token = 0; token < subject->oracle.tokens; token++) {
        const size_t index = cpl_table_find(table, token);

        cr_assert_lt(index, table->rows.count, "%s: token %" PRId64, subject->oracle.text, token);
        cr_assert(table->rows.list[index].start <= token &&
                      token < table->rows.list[index].start + table->rows.list[index].length,
                  "%s: token %" PRId64 " is not in piece %zu", subject->oracle.text, token, index);
    }
    cr_assert_eq(cpl_table_find(table, subject->oracle.tokens), table->rows.count);
}

Test(table, finds_the_piece_of_every_position)
{
    each_subject(check_find);
}

static void check_pairs(const struct subject *subject)
{
    for (int32_t rank = 0; rank < subject->oracle.ranks; rank++) {
        cr_assert_eq(cpl_count_rank(&subject->table, rank).attention_pairs,
                     oracle_pairs(&subject->oracle, rank), "%s: pairs of rank %d",
                     subject->oracle.text, rank);
    }
}

Test(table, counts_attention_pairs)
{
    each_subject(check_pairs);
}

static bool continues(const struct cpl_piece *before, const struct cpl_piece *after)
{
    return before->rank == after->rank && before->start + before->length == after->start &&
           before->local + before->length == after->local;
}

static void check_merged(const struct subject *subject)
{
    for (int32_t rank = 0; rank < subject->oracle.ranks; rank++) {
        for (size_t i = 1; i < cpl_pieces_count(&(&subject->table)->rows, rank); i++) {
            const struct cpl_piece *const before =
                cpl_pieces_at(&(&subject->table)->rows, rank, i - 1);
            const struct cpl_piece *const after = cpl_pieces_at(&(&subject->table)->rows, rank, i);

            cr_assert(!continues(before, after), "%s: rank %d pieces %zu and %zu are one",
                      subject->oracle.text, rank, i - 1, i);
        }
    }
}

Test(table, joins_neighbours)
{
    each_subject(check_merged);
}

/* ---- Chain ----------------------------------------------------------------------------------- */

static void check_chain(const struct subject *subject)
{
    const struct cpl_table *const table = &subject->table;
    struct oracle_part parts[TOKENS_MOST];
    const int64_t count = oracle_parts(&subject->oracle, parts);

    cr_assert_eq(table->rows.count, (size_t)count, "%s: %zu parts", subject->oracle.text,
                 table->rows.count);
    for (size_t i = 0; i < table->rows.count; i++) {
        cr_assert_eq(table->rows.list[i].start, parts[i].start);
        cr_assert_eq(table->rows.list[i].length, parts[i].length);
        cr_assert_eq(table->rows.list[i].local, parts[i].local);
        cr_assert_eq(table->rows.list[i].rank, parts[i].rank);
    }
}

Test(table, is_the_chain_in_global_order)
{
    each_subject(check_chain);
}

static void check_chain_count(const struct subject *subject)
{
    const int32_t cp = subject->oracle.cp;
    const bool zigzag = strcmp(subject->layout, "zigzag") == 0;

    /* Chunks P - 1 and P of zigzag lie one behind the other on the last rank. */
    if (subject->oracle.tp == 1) {
        cr_assert_eq(subject->table.rows.count, (size_t)(zigzag && cp > 1 ? 2 * cp - 1 : cp),
                     "%s: %zu parts", subject->oracle.text, subject->table.rows.count);
    }
}

Test(table, chain_has_P_parts_or_2P_minus_1)
{
    each_subject(check_chain_count);
}

/* ---- Identity -------------------------------------------------------------------------------- */

struct known {
    uint64_t identity;
    struct oracle oracle;
};

static struct known known[LAYOUTS * CP_MOST * TP_MOST * TOKENS_MOST];
static size_t known_count;

static void remember(const struct subject *subject)
{
    struct known *const entry = &known[known_count++];
    const struct oracle *const oracle = &subject->oracle;

    entry->identity = subject->table.identity;
    oracle_init(&entry->oracle, subject->layout, oracle->tokens, oracle->cp, oracle->tp);
}

Test(table, identities_are_equal_where_the_content_is)
{
    each_subject(remember);
    for (size_t i = 0; i < known_count; i++) {
        for (size_t j = 0; j < i; j++) {
            cr_assert_eq(known[i].identity == known[j].identity,
                         oracle_equal(&known[i].oracle, &known[j].oracle), "%s and %s",
                         known[i].oracle.text, known[j].oracle.text);
        }
    }
    for (size_t i = 0; i < known_count; i++) {
        oracle_fini(&known[i].oracle);
    }
}

/* Identity of a layout (by record, so that a test can change it) on a shape. */
static uint64_t identity_of(const struct cpl_layout *layout, const struct cpl_shape *shape)
{
    const struct cpl_allocator allocator = cpl_allocator_default();
    struct cpl_error error = {0};
    struct cpl_arena arena;
    struct cpl_table table;
    enum cpl_status status;

    cpl_arena_init(&arena, &allocator);
    status = cpl_table_build(&table, layout, shape, &arena, &error);
    cr_assert_eq(status, CPL_OK, "%s", error.message);
    cpl_arena_fini(&arena);
    return table.identity;
}

Test(table, one_rank_has_one_partition)
{
    for (int32_t tp = 1; tp <= TP_MOST; tp++) {
        const struct cpl_shape shape = {.tokens = 5 * tp, .cp = 1, .tp = tp};
        const uint64_t identity = identity_of(cpl_layout_find("contiguous"), &shape);

        cr_assert_eq(identity_of(cpl_layout_find("mirror"), &shape), identity);
        cr_assert_eq(identity_of(cpl_layout_find("zigzag"), &shape), identity);
    }
}

Test(table, two_ranks_make_mirror_contiguous)
{
    const struct cpl_shape two = {.tokens = 24, .cp = 2, .tp = 3};
    const struct cpl_shape four = {.tokens = 24, .cp = 4, .tp = 3};

    cr_assert_eq(identity_of(cpl_layout_find("mirror"), &two),
                 identity_of(cpl_layout_find("contiguous"), &two));
    cr_assert_neq(identity_of(cpl_layout_find("zigzag"), &two),
                  identity_of(cpl_layout_find("contiguous"), &two));
    cr_assert_neq(identity_of(cpl_layout_find("mirror"), &four),
                  identity_of(cpl_layout_find("contiguous"), &four));
}

Test(table, identity_does_not_depend_on_the_name)
{
    const struct cpl_shape shape = {.tokens = 48, .cp = 4, .tp = 2};

    for (int i = 0; i < LAYOUTS; i++) {
        struct cpl_layout renamed = *cpl_layout_find(layouts[i]);

        renamed.name = "another";
        cr_assert_eq(identity_of(&renamed, &shape),
                     identity_of(cpl_layout_find(layouts[i]), &shape), "%s", layouts[i]);
    }
}

/* ---- Layouts by name ------------------------------------------------------------------------- */

Test(layout, is_found_by_its_exact_name)
{
    static const char *const names[] = {"contiguous",    "mirror",  "zigzag",
                                        "zigzag-stream", "striped", "balanced"};
    const size_t count = sizeof(names) / sizeof(names[0]);

    for (size_t i = 0; i < count; i++) {
        cr_assert_str_eq(cpl_layout_find(names[i])->name, names[i]);
        cr_assert_eq(cpl_layout_at(i), cpl_layout_find(names[i]));
    }
    cr_assert_null(cpl_layout_at(count));
    cr_assert_null(cpl_layout_at(SIZE_MAX));
    cr_assert_null(cpl_layout_find(""));
    cr_assert_null(cpl_layout_find("Zigzag"));
    cr_assert_null(cpl_layout_find("zigzag "));
    cr_assert_null(cpl_layout_find("zigza"));
    cr_assert_null(cpl_layout_find("zigzag-"));
}

Test(layout, names_fit_any_room)
{
    const char *const all =
        "contiguous, mirror, zigzag, zigzag-stream, striped:B, balanced:TOL[:CHUNK]";
    char text[2 * CPL_LAYOUT_NAMES_BYTES];

    for (size_t bytes = 1; bytes <= CPL_LAYOUT_NAMES_BYTES; bytes++) {
        memset(text, '#', sizeof(text));
        cpl_layout_names(text, bytes);
        cr_assert_lt(strlen(text), bytes);
        cr_assert_eq(strncmp(text, all, strlen(text)), 0, "'%s'", text);
        cr_assert_eq(text[bytes], '#', "writes behind %zu bytes", bytes);
    }
    cr_assert_str_eq(text, all);
}

Test(layout, unit_is_the_shortest_length)
{
    for (int32_t cp = 1; cp <= 24; cp++) {
        for (int32_t tp = 1; tp <= 12; tp++) {
            for (int i = 0; i < LAYOUTS; i++) {
                cr_assert_eq(cpl_layout_unit(cpl_layout_find(layouts[i]),
                                             &(struct cpl_shape){.cp = cp, .tp = tp}),
                             oracle_unit(layouts[i], cp, tp), "%s P=%d T=%d", layouts[i], cp, tp);
            }
        }
    }
}

/* ---- Refusals -------------------------------------------------------------------------------- */

/* Builds a table that must be refused, and checks that nothing is left of the attempt. */
static void refuse(const char *layout, const struct cpl_shape *shape, struct cpl_error *error)
{
    struct counted counted = {0};
    const struct cpl_allocator allocator = counted_allocator(&counted);
    struct cpl_arena arena;
    struct cpl_table table;
    struct cpl_table before;

    memset(&table, 0x5a, sizeof(table));
    memcpy(&before, &table, sizeof(table));
    *error = (struct cpl_error){0};
    cpl_arena_init(&arena, &allocator);
    cr_assert_eq(cpl_table_build(&table, cpl_layout_find(layout), shape, &arena, error),
                 CPL_ERROR_ARGUMENT, "%s S=%" PRId64 " P=%d T=%d", layout, shape->tokens, shape->cp,
                 shape->tp);
    cr_assert_eq(error->status, CPL_ERROR_ARGUMENT);
    cr_assert_eq(memcmp(&before, &table, sizeof(table)), 0, "the table was changed");
    cr_assert_eq(counted.calls, 0, "memory was asked for");
    cpl_arena_fini(&arena);
}

static void check_refused_length(const char *layout, const struct cpl_shape *shape)
{
    const int64_t unit = oracle_unit(layout, shape->cp, shape->tp);
    int64_t below = shape->tokens;
    int64_t above = shape->tokens;
    struct cpl_error error;

    while (below > 0 && !oracle_fits(layout, below, shape->cp, shape->tp)) {
        below--;
    }
    while (!oracle_fits(layout, above, shape->cp, shape->tp)) {
        above++;
    }
    refuse(layout, shape, &error);
    cr_assert(message_names(error.message, shape->tokens), "no S: %s", error.message);
    cr_assert(message_names(error.message, unit), "no unit %" PRId64 ": %s", unit, error.message);
    cr_assert(message_names(error.message, above), "no %" PRId64 ": %s", above, error.message);
    cr_assert(below == 0 || message_names(error.message, below), "no %" PRId64 ": %s", below,
              error.message);
    cr_assert_not_null(strstr(error.message, layout), "no layout: %s", error.message);
}

Test(refusal, of_a_length_names_unit_and_nearest_lengths)
{
    int refused = 0;

    for (int32_t i = 0; i < LAYOUTS * CP_MOST * TP_MOST * TOKENS_MOST; i++) {
        const char *const layout = layouts[i % LAYOUTS];
        const struct cpl_shape shape = {
            .cp = 1 + i / LAYOUTS % CP_MOST,
            .tp = 1 + i / LAYOUTS / CP_MOST % TP_MOST,
            .tokens = 1 + i / LAYOUTS / CP_MOST / TP_MOST,
        };

        if (!oracle_fits(layout, shape.tokens, shape.cp, shape.tp)) {
            check_refused_length(layout, &shape);
            refused++;
        }
    }
    cr_assert_gt(refused, 500);
}

struct refusal {
    struct cpl_shape shape;
    int64_t named[2]; /* values that the message must hold; 0 = none */
    int kind;         /* refusals of one kind share the message but for its numbers */
};

enum { KIND_CP, KIND_TP, KIND_RANKS, KIND_TOKENS };

static const struct refusal refusals[] = {
    {{64, 0, 1, NULL, 0}, {0, 0}, KIND_CP},
    {{64, -3, 1, NULL, 0}, {-3, 0}, KIND_CP},
    {{64, INT32_MIN, 1, NULL, 0}, {INT32_MIN, 0}, KIND_CP},
    {{64, 1, 0, NULL, 0}, {0, 0}, KIND_TP},
    {{64, 2, -5, NULL, 0}, {-5, 0}, KIND_TP},
    {{64, 2, INT32_MIN, NULL, 0}, {INT32_MIN, 0}, KIND_TP},
    {{64, 65536, 65536, NULL, 0}, {65536, 0}, KIND_RANKS},
    {{64, INT32_MAX, INT32_MAX, NULL, 0}, {INT32_MAX, 0}, KIND_RANKS},
    {{64, INT32_MAX, 2, NULL, 0}, {INT32_MAX, 2}, KIND_RANKS},
    {{64, 3, INT32_MAX, NULL, 0}, {3, INT32_MAX}, KIND_RANKS},
    {{0, 2, 2, NULL, 0}, {0, 0}, KIND_TOKENS},
    {{-64, 2, 2, NULL, 0}, {-64, 0}, KIND_TOKENS},
    {{INT64_MIN, 2, 2, NULL, 0}, {INT64_MIN, 0}, KIND_TOKENS},
    {{INT64_C(0x100000000), 2, 2, NULL, 0},
     {INT64_C(0x100000000), INT64_C(0xffffffff)},
     KIND_TOKENS},
    {{INT64_MAX, 1, 1, NULL, 0}, {INT64_MAX, 0}, KIND_TOKENS},
};

enum { REFUSALS = sizeof(refusals) / sizeof(refusals[0]) };

/* The words of a message, without its numbers. */
static void strip_numbers(const char *message, char *words)
{
    for (; *message != '\0'; message++) {
        if (strchr("-0123456789", *message) == NULL) {
            *words++ = *message;
        }
    }
    *words = '\0';
}

Test(refusal, of_sizes_has_a_message_of_its_own)
{
    static char words[REFUSALS][CPL_MESSAGE_BYTES];
    struct cpl_error error;

    for (int layout = 0; layout < LAYOUTS; layout++) {
        for (size_t i = 0; i < REFUSALS; i++) {
            refuse(layouts[layout], &refusals[i].shape, &error);
            for (int k = 0; k < 2; k++) {
                cr_assert(message_names(error.message, refusals[i].named[k]) ||
                              (k == 1 && refusals[i].named[k] == 0),
                          "%zu: no %" PRId64 " in '%s'", i, refusals[i].named[k], error.message);
            }
            strip_numbers(error.message, words[i]);
        }
        for (size_t i = 0; i < REFUSALS * REFUSALS; i++) {
            const size_t a = i / REFUSALS;
            const size_t b = i % REFUSALS;

            cr_assert_eq(strcmp(words[a], words[b]) == 0, refusals[a].kind == refusals[b].kind,
                         "'%s' and '%s'", words[a], words[b]);
        }
    }
}

/* ---- Long sequences -------------------------------------------------------------------------- */

static const int32_t long_cp[] = {1, 2, 3, 7, 64, 1000, 4096};
static const int32_t long_tp[] = {1, 3, 4, 16};

enum {
    LONG_CP = sizeof(long_cp) / sizeof(long_cp[0]),
    LONG_TP = sizeof(long_tp) / sizeof(long_tp[0]),
};

struct run {
    int64_t start;
    int64_t length;
};

/* The one or two runs of tokens that a context-parallel rank holds, in order. */
static int runs_of(const char *layout, const struct cpl_shape *shape, int32_t rank,
                   struct run runs[2])
{
    const int64_t slice = shape->tokens / shape->cp;
    const int64_t late = 2 * (int64_t)shape->cp - 1 - rank;

    if (shape->cp > 1 && strcmp(layout, "zigzag") == 0) {
        runs[0] = (struct run){slice / 2 * rank, slice / 2};
        runs[1] = (struct run){slice / 2 * late, slice / 2};
        return 2;
    }
    if (strcmp(layout, "mirror") == 0) {
        rank = rank % 2 == 0 ? rank / 2 : shape->cp - 1 - (rank - 1) / 2;
    }
    runs[0] = (struct run){slice * rank, slice};
    return 1;
}

/* Sum of position + 1 over positions begin ... end - 1. */
static int128 pairs_between(int64_t begin, int64_t end)
{
    return ((int128)end * ((int128)end + 1) - (int128)begin * ((int128)begin + 1)) / 2;
}

/* Pairs of one window: what lies in rows low ... high - 1 of the rank's runs. */
static int128 window_pairs(const struct run *runs, int count, int64_t low, int64_t high)
{
    int128 pairs = 0;
    int64_t row = 0;

    for (int i = 0; i < count; i++) {
        const int64_t from = low > row ? low - row : 0;
        const int64_t to = high - row < runs[i].length ? high - row : runs[i].length;

        if (from < to) {
            pairs += pairs_between(runs[i].start + from, runs[i].start + to);
        }
        row += runs[i].length;
    }
    return pairs;
}

/* Checks the windows of one context-parallel rank; returns their pairs together. */
static int128 check_long_rank(const struct cpl_table *table, const char *layout, int32_t cp_rank)
{
    const struct cpl_shape local = {.tokens = table->stream.rows, .cp = table->cp, .tp = table->tp};
    const struct cpl_shape *const shape = &local;
    const int64_t window = shape->tokens / table->ranks;
    struct run runs[2];
    const int count = runs_of(layout, shape, cp_rank, runs);
    int128 sum = 0;

    for (int32_t tp_rank = 0; tp_rank < shape->tp; tp_rank++) {
        const int128 expected = window_pairs(runs, count, tp_rank * window, (tp_rank + 1) * window);
        const int64_t pairs = cpl_count_rank(table, cp_rank * shape->tp + tp_rank).attention_pairs;

        cr_assert((int128)pairs == expected,
                  "%s S=%" PRId64 " P=%d T=%d: cp rank %d window %d has %" PRId64 " pairs", layout,
                  shape->tokens, shape->cp, shape->tp, cp_rank, tp_rank, pairs);
        sum += pairs;
    }
    return sum;
}

static void check_long(const char *layout, const struct cpl_shape *shape)
{
    const bool balanced = strcmp(layout, "zigzag") == 0;
    const int128 all = pairs_between(0, shape->tokens);
    const struct cpl_allocator allocator = cpl_allocator_default();
    struct cpl_error error = {0};
    struct cpl_arena arena;
    struct cpl_table table;
    int128 sum = 0;

    cpl_arena_init(&arena, &allocator);
    cr_assert_eq(cpl_table_build(&table, cpl_layout_find(layout), shape, &arena, &error), CPL_OK,
                 "%s", error.message);
    for (int32_t cp_rank = 0; cp_rank < shape->cp; cp_rank++) {
        const int128 pairs = check_long_rank(&table, layout, cp_rank);

        cr_assert(!balanced || pairs * shape->cp == all, "P=%d T=%d: rank %d is out of balance",
                  shape->cp, shape->tp, cp_rank);
        sum += pairs;
    }
    cr_assert(sum == all);
    cpl_arena_fini(&arena);
}

Test(long_sequence, counts_pairs_without_overflow_and_zigzag_is_balanced)
{
    for (int i = 0; i < LONG_CP * LONG_TP * LAYOUTS; i++) {
        const char *const layout = layouts[i % LAYOUTS];
        struct cpl_shape shape = {
            .cp = long_cp[i / LAYOUTS % LONG_CP],
            .tp = long_tp[i / LAYOUTS / LONG_CP],
        };
        const int64_t unit = oracle_unit(layout, shape.cp, shape.tp);

        shape.tokens = longest / unit * unit;
        check_long(layout, &shape);
    }
}

Test(long_sequence, of_the_longest_length_on_one_rank)
{
    const struct cpl_shape shape = {.tokens = longest, .cp = 1, .tp = 1};

    for (int i = 0; i < LAYOUTS; i++) {
        check_long(layouts[i], &shape);
    }
}

/* Calls to the allocator, bytes and pieces that a table takes. */
struct cost {
    uint64_t calls;
    uint64_t bytes;
    size_t pieces;
};

static struct cost cost_of(const char *layout, const struct cpl_shape *shape)
{
    struct counted counted = {0};
    const struct cpl_allocator allocator = counted_allocator(&counted);
    struct cpl_error error = {0};
    struct cpl_arena arena;
    struct cpl_table table;

    cpl_arena_init(&arena, &allocator);
    cr_assert_eq(cpl_table_build(&table, cpl_layout_find(layout), shape, &arena, &error), CPL_OK,
                 "%s", error.message);
    cpl_arena_fini(&arena);
    return (
        struct cost){.calls = counted.calls, .bytes = counted.bytes, .pieces = table.rows.count};
}

Test(long_sequence, costs_as_much_as_a_short_one)
{
    for (int i = 0; i < LAYOUTS; i++) {
        const int64_t unit = oracle_unit(layouts[i], 512, 3);
        const struct cpl_shape shortest = {.tokens = unit, .cp = 512, .tp = 3};
        const struct cpl_shape huge = {.tokens = longest / unit * unit, .cp = 512, .tp = 3};
        const struct cost low = cost_of(layouts[i], &shortest);
        const struct cost high = cost_of(layouts[i], &huge);

        cr_assert_gt(low.calls, 1, "the shape is too small to tell");
        cr_assert_eq(low.calls, high.calls);
        cr_assert_eq(low.bytes, high.bytes);
        cr_assert_eq(low.pieces, high.pieces);
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Builds a table with the n-th allocation failing; returns its status. */
static enum cpl_status build_failing(const char *layout, const struct cpl_shape *shape, uint64_t n)
{
    struct counted counted = {.fail_at = n};
    const struct cpl_allocator allocator = counted_allocator(&counted);
    struct cpl_error error = {0};
    struct cpl_table table = {0};
    struct cpl_arena arena;
    enum cpl_status status;

    cpl_arena_init(&arena, &allocator);
    status = cpl_table_build(&table, cpl_layout_find(layout), shape, &arena, &error);
    cpl_arena_fini(&arena);
    cr_assert_eq(counted.live, 0, "%s: %" PRId64 " blocks leak", layout, counted.live);
    cr_assert_eq(counted.wrong, 0, "%s: released with another size", layout);
    cr_assert_eq(status, error.status);
    cr_assert(status == CPL_OK || strlen(error.message) > 0);
    cr_assert(status == CPL_OK || table.identity == 0, "%s: the table was changed", layout);
    return status;
}

Test(memory, that_runs_out_is_reported_and_returned)
{
    for (int i = 0; i < LAYOUTS; i++) {
        const struct cpl_shape shape = {.tokens = 24576, .cp = 2048, .tp = 3};
        uint64_t n = 1;
        enum cpl_status status;

        while ((status = build_failing(layouts[i], &shape, n)) == CPL_ERROR_MEMORY) {
            n++;
        }
        cr_assert_eq(status, CPL_OK, "%s", layouts[i]);
        cr_assert_geq(n, 4, "%s: only %" PRIu64 " allocations could fail", layouts[i], n - 1);
    }
}

/* The same, one taking after the other, whatever the arena's blocks hold. */
Test(memory, that_is_short_by_any_amount_is_reported)
{
    const struct cpl_shape shape = {.tokens = 48, .cp = 4, .tp = 3};
    size_t spare = 0;
    enum cpl_status status;

    do {
        struct counted counted = {0};
        struct cpl_error error = {0};
        struct cpl_table table = {0};
        struct cpl_arena arena;

        arena_begin_short(&arena, &counted, spare);
        status = cpl_table_build(&table, cpl_layout_find("zigzag"), &shape, &arena, &error);
        cpl_arena_fini(&arena);
        cr_assert_eq(counted.live, 0);
        cr_assert(status == CPL_OK || status == CPL_ERROR_MEMORY, "%s", error.message);
        cr_assert(status == CPL_OK || table.identity == 0, "the table was changed");
        spare += 16;
    } while (status == CPL_ERROR_MEMORY);
    cr_assert_gt(spare, 12 * sizeof(struct cpl_piece));
}
