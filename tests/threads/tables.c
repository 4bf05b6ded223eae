/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables that plan/1 makes of partitions (halos, shifts), the host's own partition, routes between
 * partitions of other P and T, columns of product routes, and the break-even of converting; what is
 * wrong with their arguments. Expected values are worked out row by row.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "threads/scene.h"

enum { CASES = 300, ARGUMENT = CPLAYOUT_ERROR_ARGUMENT };

static const char *const layouts[] = {"contiguous", "mirror", "zigzag", "striped:1", "balanced"};
enum { LAYOUTS = sizeof(layouts) / sizeof(layouts[0]) };

static int64_t held[RANKS_MOST][ROWS_MOST];
static uint64_t held_rows[RANKS_MOST];

/* Runs `check` over many packs in every layout. */
static void for_scenes(void (*check)(struct scene *scene, uint64_t *seed))
{
    static struct scene scene;
    uint64_t seed = 77;

    for (int i = 0; i < CASES; i++) {
        scene_init(&scene, &seed);
        if (scene_open(&scene, layouts[i % LAYOUTS])) {
            check(&scene, &seed);
            scene_close(&scene);
        }
    }
}

/* ---- Halos and shifts -------------------------------------------------------------------------- */

/* Where a rank's rows go on with other rows than the next of the document, a halo may begin. */
static uint64_t expected_halo(const struct scene *scene, int32_t rank, int64_t width,
                              int64_t rows[ROWS_MOST])
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < scene->held_rows[rank]; i++) {
        const int64_t row = scene->held[rank][i];
        const bool begins = row >= 0 && (i == 0 || scene->held[rank][i - 1] != row - 1 ||
                                         scene->stream[row].position == 0);
        int64_t from = row - width;

        if (begins && from < scene->stream[row].start) {
            from = scene->stream[row].start;
        }
        for (; begins && from < row; from++) {
            rows[count++] = from;
        }
    }
    return count;
}

static void check_halo(struct scene *scene, uint64_t *seed)
{
    static int64_t expected[ROWS_MOST * 2];
    const struct cplayout_host record = host_record();
    const int64_t width = 1 + scene_draw(seed, 3);
    struct cplayout_partition *table = NULL;

    CHECK(host_plan()->halo_create(&record, scene->partition, width, &table, &scene->error) ==
              CPLAYOUT_OK,
          "%s: %s", scene->text, scene->error.message);
    scene_read(table, scene->cp * scene->tp, held, held_rows);
    for (int32_t rank = 0; rank < scene->cp * scene->tp; rank++) {
        const uint64_t count = expected_halo(scene, rank, width, expected);

        CHECK(count == held_rows[rank] &&
                  memcmp(expected, held[rank], count * sizeof(*expected)) == 0,
              "%s: halo of width %lld of rank %d", scene->text, (long long)width, rank);
    }
    host_plan()->partition_destroy(table);
}

static void check_shift(struct scene *scene, uint64_t *seed)
{
    const struct cplayout_host record = host_record();
    const int64_t by = scene_draw(seed, 20) == 0 ? 1000 : scene_draw(seed, 6) - 3;
    struct cplayout_partition *table = NULL;

    CHECK(host_plan()->shift_create(&record, scene->partition, by, &table, &scene->error) ==
              CPLAYOUT_OK,
          "%s: %s", scene->text, scene->error.message);
    scene_read(table, scene->cp * scene->tp, held, held_rows);
    for (int32_t rank = 0; rank < scene->cp * scene->tp; rank++) {
        CHECK(held_rows[rank] == scene->held_rows[rank], "%s: rows of rank %d", scene->text, rank);
        for (uint64_t i = 0; i < held_rows[rank]; i++) {
            const int64_t row = scene->held[rank][i];
            const bool there = scene_is_token(scene, row) &&
                               scene->stream[row].position + by >= 0 &&
                               scene->stream[row].position + by < scene->stream[row].tokens;

            CHECK(held[rank][i] == (there ? row + by : -1), "%s: shift by %lld, rank %d, row %llu",
                  scene->text, (long long)by, rank, (unsigned long long)i);
        }
    }
    host_plan()->partition_destroy(table);
}

/* ---- The host's own partition ------------------------------------------------------------------ */

/* A partition of the scene's pack from fragments of all ranks. */
static int32_t create_table(struct scene *scene, const struct cplayout_fragment *fragments,
                            const uint64_t *counts, struct cplayout_partition **partition)
{
    const struct cplayout_lengths sample = {scene->cu_seqlens, scene->padded,
                                            (uint64_t)scene->documents + 1};
    const struct cplayout_table_args table = {sizeof(table), fragments, counts};
    const struct cplayout_host record = host_record();
    const struct cplayout_partition_args args = {.size = sizeof(args),
                                                 .layout = "table",
                                                 .cp = scene->cp,
                                                 .tp = scene->tp,
                                                 .samples = &sample,
                                                 .sample_count = 1,
                                                 .table = &table};

    return host_plan()->partition_create(&record, &args, partition, &scene->error);
}

/* All fragments of the scene's partition, rank after rank. Returns how many. */
static uint64_t list_fragments(struct scene *scene, struct cplayout_fragment *list,
                               uint64_t counts[RANKS_MOST])
{
    uint64_t total = 0;

    for (int32_t rank = 0; rank < scene->cp * scene->tp; rank++) {
        (void)host_plan()->fragments(scene->partition, rank, list + total, LIST_MOST, &counts[rank],
                                     &scene->error);
        total += counts[rank];
    }
    return total;
}

static uint64_t identity_of(const struct cplayout_partition *partition)
{
    struct cplayout_partition_info info = {.size = sizeof(info)};

    host_plan()->partition_describe(partition, &info);
    return info.identity;
}

static void check_refused(struct scene *scene, const struct cplayout_fragment *fragments,
                          const uint64_t *counts, const char *word)
{
    struct cplayout_partition *partition = NULL;

    CHECK(create_table(scene, fragments, counts, &partition) == ARGUMENT && partition == NULL &&
              strstr(scene->error.message, word) != NULL,
          "%s: '%s' lacks '%s'", scene->text, scene->error.message, word);
}

/* The layout's own, which other tests hold to the rows, and the same as the host's fragments. */
static void check_alike(struct scene *scene, const struct cplayout_partition *table)
{
    static struct cplayout_run runs[2][RANKS_MOST * LIST_MOST];
    struct cplayout_attention work[2][RANKS_MOST];
    struct cplayout_cost costs[2] = {{.size = sizeof(costs[0])}, {.size = sizeof(costs[1])}};
    const struct cplayout_partition *const both[] = {scene->partition, table};
    uint64_t count = 0;
    uint64_t told[2] = {0};

    for (int i = 0; i < 2; i++) {
        CHECK(host_plan()->attention(both[i], work[i], RANKS_MOST, &count, &scene->error) ==
                      CPLAYOUT_OK &&
                  host_plan()->cost(both[i], &costs[i], &scene->error) == CPLAYOUT_OK &&
                  host_plan()->inverse(both[i], runs[i], RANKS_MOST * LIST_MOST, &told[i],
                                       &scene->error) == CPLAYOUT_OK,
              "%s: %s", scene->text, scene->error.message);
    }
    CHECK(memcmp(work[0], work[1], (size_t)scene->cp * sizeof(work[0][0])) == 0 &&
              costs[0].key_rows == costs[1].key_rows,
          "%s: other attention as a table", scene->text);
    CHECK(told[0] == told[1] && memcmp(runs[0], runs[1], told[0] * sizeof(runs[0][0])) == 0,
          "%s: other inverse as a table", scene->text);
}

/* The T windows of a context-parallel rank the other way round: its attention stays what it is. */
static void check_turned(struct scene *scene, const struct cplayout_fragment *list,
                         const uint64_t *counts)
{
    static struct cplayout_fragment turned[RANKS_MOST * LIST_MOST];
    struct cplayout_attention work[2][RANKS_MOST];
    struct cplayout_partition *partition = NULL;
    uint64_t turned_counts[RANKS_MOST] = {0};
    uint64_t begin[RANKS_MOST + 1] = {0};
    uint64_t total = 0;
    uint64_t count = 0;

    for (int32_t rank = 0; rank < scene->cp * scene->tp; rank++) {
        begin[rank + 1] = begin[rank] + counts[rank];
    }
    for (int32_t rank = 0; rank < scene->cp * scene->tp; rank++) {
        const int32_t other = rank - rank % scene->tp + scene->tp - 1 - rank % scene->tp;

        turned_counts[rank] = counts[other];
        memcpy(turned + total, list + begin[other], counts[other] * sizeof(*list));
        total += counts[other];
    }
    CHECK(create_table(scene, turned, turned_counts, &partition) == CPLAYOUT_OK &&
              host_plan()->attention(scene->partition, work[0], RANKS_MOST, &count,
                                     &scene->error) == CPLAYOUT_OK &&
              host_plan()->attention(partition, work[1], RANKS_MOST, &count, &scene->error) ==
                  CPLAYOUT_OK,
          "%s: %s", scene->text, scene->error.message);
    CHECK(memcmp(work[0], work[1], (size_t)scene->cp * sizeof(work[0][0])) == 0,
          "%s: other attention with turned windows", scene->text);
    host_plan()->partition_destroy(partition);
}

static void check_table(struct scene *scene, uint64_t *seed)
{
    static struct cplayout_fragment list[RANKS_MOST * LIST_MOST];
    struct cplayout_partition *partition = NULL;
    uint64_t counts[RANKS_MOST] = {0};
    const uint64_t total = list_fragments(scene, list, counts);
    uint64_t at = 0;

    CHECK(create_table(scene, list, counts, &partition) == CPLAYOUT_OK &&
              identity_of(partition) == identity_of(scene->partition),
          "%s given back: %s", scene->text, scene->error.message);
    check_alike(scene, partition);
    check_turned(scene, list, counts);
    host_plan()->partition_destroy(partition);
    while (at < total && list[at].start < 0) {
        at++;
    }
    if (at < total && scene->rows > 1) {
        const struct cplayout_fragment kept = list[at];
        char row[48];

        list[at].start = -1;
        (void)snprintf(row, sizeof(row), "row %lld of %lld is held by no rank",
                       (long long)kept.start, (long long)scene->rows);
        check_refused(scene, list, counts, row);
        list[at] = kept;
        list[at].start = (kept.start + 1) % scene->rows;
        list[at].length = 1;
        check_refused(scene, list, counts, "partition holds every row once");
        list[at] = (struct cplayout_fragment){kept.start, scene->rows + 1};
        check_refused(scene, list, counts, "fragment");
    }
    (void)seed;
}

/* ---- Other P and T ----------------------------------------------------------------------------- */

/* Carries rows out along the moves of a route: what arrives is what the target holds. */
static void check_route(struct scene *source, struct scene *target)
{
    static struct cplayout_move moves[LIST_MOST];
    const struct cplayout_host record = host_record();
    struct cplayout_route *route = NULL;
    int64_t arrived = 0;

    CHECK(host_plan()->route_create(&record, source->partition, target->partition, &route,
                                    &source->error) == CPLAYOUT_OK,
          "%s to %s: %s", source->text, target->text, source->error.message);
    for (int32_t rank = 0; rank < target->cp * target->tp; rank++) {
        for (int32_t kind = CPLAYOUT_MOVES_KEPT; kind <= CPLAYOUT_MOVES_RECEIVED; kind += 2) {
            const struct cplayout_moves_args args = {sizeof(args), rank, kind};
            uint64_t count = 0;

            (void)host_plan()->moves(route, &args, moves, LIST_MOST, &count, &source->error);
            for (uint64_t i = 0; i < count; i++) {
                arrived += moves[i].rows;
                CHECK(memcmp(&source->held[moves[i].peer][moves[i].src],
                             &target->held[rank][moves[i].dst],
                             (size_t)moves[i].rows * sizeof(int64_t)) == 0,
                      "%s to %s: move %llu of rank %d", source->text, target->text,
                      (unsigned long long)i, rank);
            }
        }
    }
    CHECK(arrived == source->rows, "%s to %s: %lld rows arrive", source->text, target->text,
          (long long)arrived);
    host_plan()->route_destroy(route);
}

static void check_other_ranks(struct scene *scene, uint64_t *seed)
{
    static struct scene other;

    other = *scene;
    other.cp = scene->tp;
    other.tp = scene->cp;
    if (scene_open(&other, layouts[scene_draw(seed, LAYOUTS - 1)])) {
        check_route(scene, &other);
        check_route(&other, scene);
        scene_close(&other);
    }
}

/* ---- Columns ----------------------------------------------------------------------------------- */

enum { COLUMNS = 12 };

/*
 * The head-parallel exchange: from own rows of all heads to all rows of own heads. Every row and
 * column that a rank wants arrives there once.
 */
static void check_columns(struct scene *scene, uint64_t *seed)
{
    static struct cplayout_move moves[LIST_MOST];
    static int arrived[ROWS_MOST][COLUMNS];
    struct cplayout_fragment all[RANKS_MOST];
    struct cplayout_columns source[RANKS_MOST], target[RANKS_MOST], columns[LIST_MOST];
    uint64_t counts[RANKS_MOST];
    const int32_t ranks = scene->cp * scene->tp;
    const struct cplayout_table_args wanted = {sizeof(wanted), all, counts};
    const struct cplayout_host record = host_record();
    struct cplayout_partition *table = NULL;
    struct cplayout_route *route = NULL;

    (void)seed;
    if (scene->rows == 0) {
        return;
    }
    for (int32_t rank = 0; rank < ranks; rank++) {
        all[rank] = (struct cplayout_fragment){0, scene->rows};
        counts[rank] = 1;
        source[rank] = (struct cplayout_columns){0, COLUMNS};
        target[rank] =
            (struct cplayout_columns){COLUMNS * rank / ranks,
                                      COLUMNS * (rank + 1) / ranks - COLUMNS * rank / ranks};
    }
    CHECK(host_plan()->table_create(&record, scene->partition, &wanted, &table, &scene->error) ==
                  CPLAYOUT_OK &&
              host_plan()->route_create(&record, scene->partition, table, &route, &scene->error) ==
                  CPLAYOUT_OK,
          "%s: %s", scene->text, scene->error.message);
    for (int32_t rank = 0; rank < ranks && route != NULL; rank++) {
        memset(arrived, 0, sizeof(arrived));
        for (int32_t kind = CPLAYOUT_MOVES_KEPT; kind <= CPLAYOUT_MOVES_RECEIVED; kind += 2) {
            const struct cplayout_moves_args args = {sizeof(args), rank, kind};
            const struct cplayout_columns_args both = {sizeof(both), rank, kind, source, target};
            uint64_t count = 0;
            uint64_t same = 0;

            (void)host_plan()->moves(route, &args, moves, LIST_MOST, &count, &scene->error);
            CHECK(host_plan()->move_columns(route, &both, columns, LIST_MOST, &same,
                                            &scene->error) == CPLAYOUT_OK &&
                      same == count,
                  "%s: %s", scene->text, scene->error.message);
            for (uint64_t i = 0; i < count * COLUMNS; i++) {
                const struct cplayout_move *const move = &moves[i / COLUMNS];
                const int64_t column = (int64_t)(i % COLUMNS);
                const struct cplayout_columns *const range = &columns[i / COLUMNS];

                for (int64_t row = 0; row < move->rows; row++) {
                    arrived[move->dst + row][column] +=
                        column >= range->first && column < range->first + range->count;
                }
            }
        }
        for (int64_t i = 0; i < scene->rows * COLUMNS; i++) {
            const int64_t column = i % COLUMNS;
            const bool own =
                column >= target[rank].first && column < target[rank].first + target[rank].count;

            CHECK(arrived[i / COLUMNS][column] == own, "%s: row %lld, column %lld on rank %d",
                  scene->text, (long long)(i / COLUMNS), (long long)column, rank);
        }
    }
    host_plan()->route_destroy(route);
    host_plan()->partition_destroy(table);
}

/* ---- Break-even -------------------------------------------------------------------------------- */

static void test_break_even(void)
{
    struct cplayout_break_even_args args = {.size = sizeof(args),
                                            .cp = 8,
                                            .linear_layers = 24,
                                            .conversions = 8,
                                            .state_bytes = 4194304,
                                            .row_bytes = 8192,
                                            .share = 1};
    struct cplayout_error error = {.size = sizeof(error)};
    double length = 0;

    tap_test("the break-even of converting");
    /* 24 * 7 * 8 * 2^22 / (8 * 2^13) */
    CHECK(host_plan()->break_even(&args, &length, &error) == CPLAYOUT_OK && length > 86015.9 &&
              length < 86016.1,
          "%g: %s", length, error.message);
    args.share = 0.5;
    CHECK(host_plan()->break_even(&args, &length, &error) == CPLAYOUT_OK && length > 172031.9 &&
              length < 172032.1,
          "%g", length);
    args.cp = 1;
    CHECK(host_plan()->break_even(&args, &length, &error) == CPLAYOUT_OK && length < 0.1, "%g",
          length);
    for (int i = 0; i < 6; i++) {
        struct cplayout_break_even_args wrong = args;

        wrong.cp = i == 0 ? 0 : 8;
        wrong.conversions = i == 1 ? 0 : 8;
        wrong.row_bytes = i == 2 ? 0 : 8;
        wrong.share = i == 3 ? 0 : i == 4 ? (double)NAN : 1;
        wrong.linear_layers = i == 5 ? -1 : 1;
        CHECK(host_plan()->break_even(&wrong, &length, &error) == ARGUMENT, "wrong %d passes", i);
    }
}

/* ---- Wrong arguments --------------------------------------------------------------------------- */

static void check_wrong(struct scene *scene, uint64_t *seed)
{
    const struct cplayout_plan_interface *const plan = host_plan();
    const struct cplayout_host record = host_record();
    struct cplayout_error *const error = &scene->error;
    struct cplayout_partition *table = NULL;
    struct cplayout_partition *none = NULL;
    struct cplayout_attention attention[RANKS_MOST];
    struct cplayout_run run[LIST_MOST];
    struct cplayout_cost cost = {.size = sizeof(cost)};
    int64_t numbers[ROWS_MOST];
    uint64_t count = 0;

    (void)seed;
    CHECK(plan->halo_create(&record, scene->partition, 0, &none, error) == ARGUMENT, "width 0");
    CHECK(plan->halo_create(&record, NULL, 1, &none, error) == ARGUMENT, "NULL");
    CHECK(plan->shift_create(&record, scene->partition, INT64_MIN, &none, error) == ARGUMENT,
          "a shift by INT64_MIN");
    CHECK(plan->shift_create(&record, scene->partition, 1, &table, error) == CPLAYOUT_OK, "%s",
          error->message);
    CHECK(plan->shift_create(&record, table, 1, &none, error) == ARGUMENT && none == NULL,
          "a shift of a table");
    CHECK(plan->inverse(table, run, LIST_MOST, &count, error) == ARGUMENT, "inverse of a table");
    CHECK(plan->attention(table, attention, RANKS_MOST, &count, error) == ARGUMENT,
          "attention of a table");
    CHECK(plan->cost(table, &cost, error) == ARGUMENT, "cost of a table");
    cost.size = 8;
    CHECK(plan->cost(scene->partition, &cost, error) == ARGUMENT, "a small record");
    for (int32_t rank = -1; rank <= scene->cp * scene->tp; rank += scene->cp * scene->tp + 1) {
        CHECK(plan->fragment_tokens(scene->partition, rank, numbers, ROWS_MOST, &count, error) ==
                  ARGUMENT,
              "rank %d", rank);
    }
    if (scene->cp > 1) {
        CHECK(plan->attention(scene->partition, attention, 1, &count, error) ==
                      CPLAYOUT_ERROR_CAPACITY &&
                  count == (uint64_t)scene->cp,
              "a short list");
    }
    plan->partition_destroy(table);
}

int main(void)
{
    tap_test("halos are the rows before a part, inside its document");
    for_scenes(check_halo);
    tap_test("shifts stay inside documents");
    for_scenes(check_shift);
    tap_test("the host's own partition");
    for_scenes(check_table);
    tap_test("routes between other P and T");
    for_scenes(check_other_ranks);
    tap_test("columns of a head-parallel exchange");
    for_scenes(check_columns);
    tap_test("wrong arguments");
    for_scenes(check_wrong);
    test_break_even();
    return tap_end();
}
