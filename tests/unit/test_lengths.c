/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves what is special about packed lengths: worked examples with the numbers written out, samples
 * that are joined, packs of no tokens, one rank, and refusals. Wrong offsets get a message of their
 * own that names sample, index and values; memory that runs out at any moment is reported and nothing
 * leaks.
 */
#include "entry/entry.h"
#include "plan/counts.h"
#include "plan/route.h"
#include "unit/packs.h"

enum { OFFSETS_MOST = 8, ROWS_MOST = 16, EXAMPLE_RANKS = 4 };

static const int32_t int32_most = INT32_MAX;

/* One sample's offsets. */
struct lengths {
    size_t entries;
    int32_t real[OFFSETS_MOST];
    int32_t padded[OFFSETS_MOST]; /* read if has_padded */
    bool has_padded;
};

static struct cpl_lengths lengths_of(const struct lengths *lengths)
{
    return (struct cpl_lengths){
        .cu_seqlens = lengths->real,
        .cu_seqlens_padded = lengths->has_padded ? lengths->padded : NULL,
        .entries = lengths->entries,
    };
}

/* Tables of one test. */
struct bench {
    struct counted counted;
    struct cpl_arena arena;
    struct cpl_stream stream;
    struct cpl_error error;
};

static void bench_init(struct bench *bench)
{
    struct cpl_allocator allocator;

    *bench = (struct bench){.counted = {0}};
    allocator = counted_allocator(&bench->counted);
    cpl_arena_init(&bench->arena, &allocator);
}

static void bench_fini(struct bench *bench)
{
    cpl_arena_fini(&bench->arena);
    cr_assert_eq(bench->counted.live, 0);
    cr_assert_eq(bench->counted.wrong, 0);
}

static void bench_stream(struct bench *bench, const struct lengths *lengths)
{
    const struct cpl_lengths sample = lengths_of(lengths);

    cr_assert_eq(cpl_stream_packed(&bench->stream, &sample, 1, &bench->arena, &bench->error),
                 CPL_OK, "%s", bench->error.message);
}

static enum cpl_status bench_table(struct bench *bench, const char *layout,
                                   struct packed_ranks ranks, struct cpl_table *table)
{
    const struct cpl_shape shape = {.cp = ranks.cp, .tp = ranks.tp, .stream = &bench->stream};

    return cpl_table_build(table, cpl_layout_find(layout), &shape, &bench->arena, &bench->error);
}

/* ---- Worked examples --------------------------------------------------------------------------- */

struct example {
    struct lengths lengths;
    struct packed_ranks ranks;
    int64_t padded[OFFSETS_MOST];
    int64_t rows[EXAMPLE_RANKS][ROWS_MOST]; /* of context-parallel ranks */
    int64_t count;                          /* rows of each; 0: not written out */
};

static const struct example examples[] = {
    {{3, {0, 3, 8}, {0}, false},
     {2, 1},
     {0, 4, 12},
     {{0, -1, 3, 4, -1, -1}, {1, 2, 5, 6, 7, -1}},
     6},
    {{3, {0, 3, 7}, {0, 4, 8}, true}, {2, 1}, {0, 4, 8}, {{0, 3, 4, 7}, {1, 2, 5, 6}}, 4},
    {{4, {0, 3, 10, 16}, {0}, false},
     {4, 1},
     {0, 8, 16, 24},
     {{0, -1, 3, -1, 10, -1}, {1, -1, 4, 9, 11, -1}, {2, -1, 5, 8, 12, 15}, {-1, -1, 6, 7, 13, 14}},
     6},
    {{3, {0, 5, 11}, {0, 8, 16}, true},
     {4, 1},
     {0, 8, 16},
     {{0, 7, 8, 15}, {1, 6, 9, 14}, {2, 5, 10, 13}, {3, 4, 11, 12}},
     4},
    {{3, {0, 7, 16}, {0}, false},
     {2, 2},
     {0, 8, 20},
     {{0, 1, 6, -1, 7, 8, 9, -1, -1, -1}, {2, 3, 4, 5, 10, 11, 12, 13, 14, 15}},
     10},
    {{3, {0, 7, 16}, {0}, false}, {4, 2}, {0, 8, 24}, {{0}}, 0},
    {{3, {0, 3, 13}, {0, 4, 16}, true},
     {4, 4},
     {0, 8, 32},
     {{0, -1, 4, 5, 6, -1, -1, -1},
      {1, -1, 7, 8, 9, -1, -1, -1},
      {2, -1, 10, 11, 12, -1, -1, -1},
      {3, -1, 13, 14, 15, -1, -1, -1}},
     8},
    /* Odd T: whole units of 2P rows are added until it divides. */
    {{5, {0, 3, 6, 9, 12}, {0}, false},
     {2, 3},
     {0, 4, 8, 12, 24},
     {{0, -1, 3, -1, 6, -1, 9, 10, 11, -1, -1, -1}, {1, 2, 4, 5, 7, 8, -1, -1, -1, -1, -1, -1}},
     12},
    {{5, {0, 3, 6, 9, 12}, {0}, false},
     {4, 3},
     {0, 8, 16, 24, 48},
     {{0, -1, 3, -1, 6, -1, 9, 10, 11, -1, -1, -1},
      {1, -1, 4, -1, 7, -1, -1, -1, -1, -1, -1, -1},
      {2, -1, 5, -1, 8, -1, -1, -1, -1, -1, -1, -1},
      {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}},
     12},
    /* The last document takes the units even if it is empty. */
    {{3, {0, 4, 4}, {0}, false},
     {2, 3},
     {0, 4, 12},
     {{0, 3, -1, -1, -1, -1}, {1, 2, -1, -1, -1, -1}},
     6},
};

/* The rows of one context-parallel rank, its windows one behind the other. */
static void check_rows(const struct cpl_table *table, int32_t cp_rank,
                       const struct example *example)
{
    const int64_t window = example->count / table->tp;
    int64_t positions[ROWS_MOST];

    for (int32_t tp_rank = 0; tp_rank < table->tp; tp_rank++) {
        const int32_t rank = cp_rank * table->tp + tp_rank;

        cr_assert_eq(cpl_table_rows(table, rank), window);
        cpl_positions(table, rank, CPL_POSITION_GLOBAL, positions + tp_rank * window);
    }
    for (int64_t i = 0; i < example->count; i++) {
        cr_assert_eq(positions[i], example->rows[cp_rank][i],
                     "P=%d T=%d: row %" PRId64 " of rank %d is %" PRId64, table->cp, table->tp, i,
                     cp_rank, positions[i]);
    }
}

static void check_example(const struct example *example)
{
    struct cpl_table table;
    struct bench bench;

    bench_init(&bench);
    bench_stream(&bench, &example->lengths);
    cr_assert_eq(bench_table(&bench, "zigzag", example->ranks, &table), CPL_OK, "%s",
                 bench.error.message);
    for (size_t i = 0; i < example->lengths.entries; i++) {
        cr_assert_eq(table.padded[i], example->padded[i],
                     "P=%d T=%d: padded offset %zu is %" PRId64, table.cp, table.tp, i,
                     table.padded[i]);
    }
    for (int32_t rank = 0; rank < table.cp && example->count > 0; rank++) {
        check_rows(&table, rank, example);
    }
    bench_fini(&bench);
}

Test(lengths, worked_examples)
{
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        check_example(&examples[i]);
    }
}

/* The first example as an exchange. */
Test(lengths, worked_exchange)
{
    static const int64_t rows[2][4] = {{2, 2, 1, 3}, {3, 1, 2, 1}}; /* kept, sent, received, pads */
    struct cpl_table source;
    struct cpl_table target;
    struct cpl_route route;
    struct bench bench;

    bench_init(&bench);
    bench_stream(&bench, &examples[0].lengths);
    cr_assert_eq(bench_table(&bench, "contiguous", examples[0].ranks, &source), CPL_OK);
    cr_assert_eq(bench_table(&bench, "zigzag", examples[0].ranks, &target), CPL_OK);
    for (int32_t rank = 0; rank < 2; rank++) {
        cr_assert_eq(cpl_route_build(&route, &source, &target, rank, &bench.arena, &bench.error),
                     CPL_OK);
        cr_assert_eq(cpl_moves_rows(&route.kept), rows[rank][0]);
        cr_assert_eq(cpl_moves_rows(&route.sent), rows[rank][1]);
        cr_assert_eq(cpl_moves_rows(&route.received), rows[rank][2]);
        cr_assert_eq(cpl_moves_rows(&route.pads), rows[rank][3]);
    }
    bench_fini(&bench);
}

/* ---- Samples ----------------------------------------------------------------------------------- */

Test(lengths, samples_are_joined_by_their_physical_offsets)
{
    static const struct lengths samples[] = {{3, {0, 3, 13}, {0, 4, 16}, true},
                                             {3, {0, 5, 11}, {0, 8, 16}, true}};
    static const struct cpl_document documents[] = {{0, 4, 3}, {4, 12, 10}, {16, 8, 5}, {24, 8, 6}};
    const struct cpl_lengths given[] = {lengths_of(&samples[0]), lengths_of(&samples[1])};
    struct bench bench;

    bench_init(&bench);
    cr_assert_eq(cpl_stream_packed(&bench.stream, given, 2, &bench.arena, &bench.error), CPL_OK);
    cr_assert_eq(bench.stream.count, 4);
    cr_assert_eq(bench.stream.rows, 32);
    cr_assert_eq(bench.stream.tokens, 24);
    cr_assert(bench.stream.packed);
    for (size_t i = 0; i < 4; i++) {
        const struct cpl_document *const document = &bench.stream.documents[i];

        cr_assert_eq(document->start, documents[i].start, "start of document %zu", i);
        cr_assert_eq(document->length, documents[i].length, "rows of document %zu", i);
        cr_assert_eq(document->valid, documents[i].valid, "tokens of document %zu", i);
    }
    bench_fini(&bench);
}

Test(lengths, a_pack_of_no_tokens_is_legal)
{
    static const struct lengths lengths = {4, {0, 0, 0, 0}, {0}, false};
    struct cpl_table table;
    struct bench bench;

    bench_init(&bench);
    bench_stream(&bench, &lengths);
    for (int i = 0; i < LAYOUTS * 8 * 4; i++) {
        const struct packed_ranks ranks = {1 + i / LAYOUTS % 8, 1 + i / LAYOUTS / 8};

        cr_assert_eq(bench_table(&bench, layouts[i % LAYOUTS], ranks, &table), CPL_OK, "%s",
                     bench.error.message);
        cr_assert_neq(table.identity, 0);
        cr_assert_eq(table.padded[3], 0);
        for (int32_t rank = 0; rank < table.ranks; rank++) {
            cr_assert_eq(cpl_table_rows(&table, rank), 0);
            cr_assert_eq(cpl_table_fragments(&table, rank, NULL, 0), 0);
            cr_assert_eq(cpl_count_rank(&table, rank).attention_pairs, 0);
        }
    }
    bench_fini(&bench);
}

Test(lengths, one_rank_has_one_partition_without_padding)
{
    static const struct lengths lengths = {4, {0, 3, 3, 9}, {0, 4, 4, 12}, true};
    struct cpl_table tables[LAYOUTS];
    struct bench bench;

    bench_init(&bench);
    bench_stream(&bench, &lengths);
    for (int32_t tp = 1; tp <= 4; tp++) {
        for (int i = 0; i < LAYOUTS; i++) {
            cr_assert_eq(bench_table(&bench, layouts[i], (struct packed_ranks){1, tp}, &tables[i]),
                         CPL_OK, "%s", bench.error.message);
            cr_assert_eq(tables[i].identity, tables[0].identity, "%s T=%d", layouts[i], tp);
            cr_assert_eq(tables[i].pads.count, 0);
            cr_assert_eq(tables[i].padded[3], 12);
        }
    }
    cr_assert_eq(bench_table(&bench, "zigzag", (struct packed_ranks){1, 5}, &tables[0]),
                 CPL_ERROR_ARGUMENT, "12 rows in 5 windows");
    bench_fini(&bench);
}

/* ---- Refusals ---------------------------------------------------------------------------------- */

/* Up to two samples that must be refused. */
struct wrong {
    struct lengths samples[2];
    size_t count;
    const char *field;
    const char *text; /* in the message of this mistake alone */
    int64_t named[4]; /* sample, index, values */
    size_t names;
};

static const struct wrong wrongs[] = {
    {{{3, {1, 3, 5}, {0}, false}}, 1, "cu_seqlens", "must be 0", {0, 1}, 2},
    {{{2, {0, 4}, {0}, false}, {3, {-7, 3, 5}, {0}, false}},
     2,
     "cu_seqlens",
     "must be 0",
     {1, 0, -7},
     3},
    {{{3, {0, 3, 5}, {2, 4, 8}, true}}, 1, "cu_seqlens_padded", "must be 0", {0, 2}, 2},
    {{{2, {0, 4}, {0}, false}, {5, {0, 8, 9, 6, 7}, {0}, false}},
     2,
     "cu_seqlens",
     "entry before it",
     {1, 3, 6, 9},
     4},
    {{{4, {0, 8, 9, 9}, {0, 8, 24, 16}, true}},
     1,
     "cu_seqlens_padded",
     "entry before it",
     {0, 3, 16, 24},
     4},
    {{{2, {0, 4}, {0}, false}, {1, {0}, {0}, false}},
     2,
     "cu_seqlens",
     "at least 2 entries",
     {1, 2},
     2},
    {{{2, {0, 4}, {0}, false}, {4, {0, 3, 10, 12}, {0, 4, 9, 20}, true}},
     2,
     "cu_seqlens_padded",
     "tokens but only",
     {1, 7, 5},
     3},
    {{{2, {0, INT32_MAX}, {0}, false}, {2, {0, 1}, {0}, false}},
     2,
     "cu_seqlens",
     "rows together",
     {1, INT64_C(2147483648), INT32_MAX},
     3},
};

static void refuse(const struct cpl_lengths *samples, size_t count, struct cpl_error *error)
{
    struct cpl_stream stream;
    struct cpl_stream before;
    struct bench bench;

    memset(&stream, 0x5a, sizeof(stream));
    before = stream;
    bench_init(&bench);
    cr_assert_eq(cpl_stream_packed(&stream, samples, count, &bench.arena, &bench.error),
                 CPL_ERROR_ARGUMENT);
    cr_assert_eq(memcmp(&before, &stream, sizeof(stream)), 0, "the stream was changed");
    *error = bench.error;
    bench_fini(&bench);
}

Test(refusal, of_offsets_names_sample_index_and_values)
{
    for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
        const struct wrong *const wrong = &wrongs[i];
        const struct cpl_lengths samples[] = {lengths_of(&wrong->samples[0]),
                                              lengths_of(&wrong->samples[1])};
        struct cpl_error error;

        refuse(samples, wrong->count, &error);
        cr_assert_str_eq(error.field, wrong->field, "%zu: %s", i, error.message);
        cr_assert_not_null(strstr(error.message, wrong->text), "%zu: %s", i, error.message);
        for (size_t k = 0; k < sizeof(wrongs) / sizeof(wrongs[0]); k++) {
            cr_assert(strcmp(wrongs[k].text, wrong->text) == 0 ||
                          strstr(error.message, wrongs[k].text) == NULL,
                      "%zu: '%s' in '%s'", i, wrongs[k].text, error.message);
        }
        for (size_t k = 0; k < wrong->names; k++) {
            cr_assert(message_names(error.message, wrong->named[k]), "%zu: no %" PRId64 ": %s", i,
                      wrong->named[k], error.message);
        }
    }
}

Test(refusal, of_missing_offsets_names_the_sample)
{
    const struct cpl_lengths samples[] = {lengths_of(&examples[0].lengths), {NULL, NULL, 3}};
    struct cpl_error error;

    refuse(samples, 2, &error);
    cr_assert_str_eq(error.field, "cu_seqlens");
    cr_assert(message_names(error.message, 1), "%s", error.message);
}

Test(refusal, of_lengths_that_padding_takes_beyond_int32)
{
    const int32_t offsets[] = {0, int32_most};
    const struct cpl_lengths sample = {offsets, NULL, 2};
    struct cpl_table table;
    struct bench bench;

    bench_init(&bench);
    cr_assert_eq(cpl_stream_packed(&bench.stream, &sample, 1, &bench.arena, &bench.error), CPL_OK);
    cr_assert_eq(bench_table(&bench, "contiguous", (struct packed_ranks){1, 1}, &table), CPL_OK);
    cr_assert_eq(bench_table(&bench, "zigzag", (struct packed_ranks){2, 1}, &table),
                 CPL_ERROR_ARGUMENT);
    cr_assert_str_eq(bench.error.field, "cu_seqlens");
    cr_assert(message_names(bench.error.message, INT64_C(2147483648)), "%s", bench.error.message);
    cr_assert(message_names(bench.error.message, int32_most), "%s", bench.error.message);
    cr_assert_not_null(strstr(bench.error.message, "zigzag"), "%s", bench.error.message);
    bench_fini(&bench);
}

Test(refusal, of_a_pack_that_does_not_divide_names_length_and_unit)
{
    for (int i = 0; i < 2 * 8 * 4 * 40; i++) {
        const struct packed_ranks ranks = {1 + i / 2 % 8, 1 + i / 2 / 8 % 4};
        const int64_t unit = (int64_t)ranks.cp * ranks.tp;
        const struct lengths lengths = {3, {0, 1, 1 + i / 64}, {0}, false};
        struct cpl_table table = {.ranks = -9};
        struct bench bench;

        bench_init(&bench);
        bench_stream(&bench, &lengths);
        if (bench.stream.rows % unit != 0) {
            cr_assert_eq(bench_table(&bench, layouts[i % 2], ranks, &table), CPL_ERROR_ARGUMENT);
            cr_assert(message_names(bench.error.message, bench.stream.rows) &&
                          message_names(bench.error.message, unit) &&
                          strstr(bench.error.message, layouts[i % 2]) != NULL &&
                          strstr(bench.error.message, "pack") != NULL,
                      "%s", bench.error.message);
            cr_assert_eq(table.ranks, -9, "the table was changed");
        }
        bench_fini(&bench);
    }
}

/* ---- Memory ------------------------------------------------------------------------------------ */

static enum cpl_status build_short(const struct pack *pack, size_t spare)
{
    struct counted counted = {0};
    struct cpl_stream stream = {.rows = -9};
    const struct cpl_shape shape = {.cp = 3, .tp = 2, .stream = &stream};
    struct cpl_table table = {.ranks = -9};
    struct cpl_error error = {0};
    struct cpl_arena arena;
    enum cpl_status status;

    arena_begin_short(&arena, &counted, spare);
    status = cpl_stream_packed(&stream, pack->samples, pack->sample_count, &arena, &error);
    cr_assert_eq(status == CPL_OK, stream.rows != -9);
    if (status == CPL_OK) {
        status = cpl_table_build(&table, cpl_layout_find("zigzag"), &shape, &arena, &error);
        cr_assert_eq(status == CPL_OK, table.ranks != -9);
    }
    cpl_arena_fini(&arena);
    cr_assert_eq(counted.live, 0);
    cr_assert_eq(counted.wrong, 0);
    cr_assert(status == CPL_OK || (status == CPL_ERROR_MEMORY && error.message[0] != '\0'));
    return status;
}

Test(memory, that_is_short_by_any_amount_is_reported)
{
    static struct pack pack;
    size_t spare = 0;

    pack_sample(&pack);
    pack_add(&pack, 5, 7);
    pack_add(&pack, 0, 0);
    pack_add(&pack, 9, 9);
    while (build_short(&pack, spare) != CPL_OK) {
        spare += 16;
    }
    cr_assert_gt(spare, 10 * sizeof(struct cpl_piece), "%zu bytes are enough", spare);
}

static void drop(void *self, int32_t level, const char *message)
{
    (void)self;
    (void)level;
    (void)message;
}

/* Partition, table and route through the contract, with the n-th allocation failing. */
static int32_t plan_short(const struct cplayout_partition_args *args, struct counted *counted)
{
    static const uint64_t counts[6] = {1, 1};
    static const struct cplayout_fragment fragments[] = {{2, 5}, {-1, 3}};
    const struct cplayout_table_args wanted = {sizeof(wanted), fragments, counts};
    const struct cplayout_host host = {
        .size = sizeof(host),
        .draft = CPLAYOUT_ABI_DRAFT,
        .log = drop,
        .allocate = counted_allocate,
        .release = counted_release,
        .allocator_self = counted,
    };
    struct cplayout_partition *partition = NULL;
    struct cplayout_partition *table = NULL;
    struct cplayout_route *route = NULL;
    int32_t status = cpl_plan_v1.partition_create(&host, args, &partition, NULL);

    if (status == CPLAYOUT_OK) {
        status = cpl_plan_v1.table_create(&host, partition, &wanted, &table, NULL);
    }
    if (status == CPLAYOUT_OK) {
        status = cpl_plan_v1.route_create(&host, partition, table, &route, NULL);
    }
    cpl_plan_v1.partition_destroy(partition);
    cpl_plan_v1.partition_destroy(table);
    cpl_plan_v1.route_destroy(route);
    cr_assert_eq(counted->live, 0, "%" PRId64 " blocks leak", counted->live);
    cr_assert_eq(counted->wrong, 0);
    return status;
}

Test(memory, that_fails_at_any_allocation_is_reported)
{
    static int32_t offsets[4000];
    const struct cplayout_lengths sample = {offsets, NULL, 4000};
    const struct cplayout_partition_args args = {
        .size = sizeof(args),
        .layout = "zigzag",
        .cp = 3,
        .tp = 2,
        .samples = &sample,
        .sample_count = 1,
    };
    uint64_t n = 0;
    int32_t status;

    for (int32_t i = 0; i < 4000; i++) {
        offsets[i] = 7 * i;
    }
    do {
        struct counted counted = {.fail_at = ++n};

        status = plan_short(&args, &counted);
        cr_assert(status == CPLAYOUT_OK || status == CPLAYOUT_ERROR_MEMORY, "status %d", status);
    } while (status != CPLAYOUT_OK);
    cr_assert_gt(n, 12, "only %" PRIu64 " allocations could fail", n - 1);
}
