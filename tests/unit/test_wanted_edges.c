/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves what wanted tables do at their edges: halo and shift tables with the numbers written out, a
 * message that overlaps itself, identities, there and back between partitions with padding, refusals
 * that name rank and index, a table that is no source, and memory that runs out at any moment.
 */
#include <cplayout/plan.h>

#include "entry/entry.h"
#include "plan/route.h"
#include "plan/wanted.h"
#include "unit/packs.h"

enum { ANSWERS_MOST = 8, RANDOM_PACKS = 300 };

/* Documents of 5 and 7 rows, the last of which is padding. */
static void small_pack(struct pack *pack)
{
    memset(pack, 0, sizeof(*pack));
    pack_sample(pack);
    pack_add(pack, 5, 5);
    pack_add(pack, 6, 7);
    pack_finish(pack);
}

static void build(struct subject *subject, const struct cpl_fragment *fragments,
                  const size_t *counts, struct cpl_table *table)
{
    const struct cpl_wanted wanted = {fragments, counts};
    struct cpl_error error = {0};

    cr_assert_eq(cpl_wanted_build(table, &subject->table, &wanted, &subject->arena, &error), CPL_OK,
                 "%s", error.message);
}

/* ---- Written out ------------------------------------------------------------------------------- */

static void check_moves(const struct cpl_moves *moves, const struct cpl_move *expected,
                        size_t count)
{
    cr_assert_eq(moves->count, count, "%zu moves, not %zu", moves->count, count);
    for (size_t i = 0; i < count; i++) {
        const struct cpl_move *const move = &moves->list[i];

        cr_assert(move->src == expected[i].src && move->dst == expected[i].dst &&
                      move->rows == expected[i].rows && move->peer == expected[i].peer,
                  "move %zu: %" PRId64 " rows from %" PRId64 " to %" PRId64 ", peer %d", i,
                  move->rows, move->src, move->dst, move->peer);
    }
}

/*
 * Contiguous on two ranks: 0 .. 5 and 6 .. 11; the second document begins at 5. Two rows of halo
 * before rows 0, 5 and 6 are none, none and row 5.
 */
Test(wanted_edges, halo_written_out)
{
    static const struct cpl_fragment fragments[] = {{5, 1}};
    static const size_t counts[] = {0, 1};
    static const struct cpl_move sent[] = {{5, 0, 1, 1}};
    static const struct cpl_move received[] = {{5, 0, 1, 0}};
    static struct pack pack;
    struct cpl_error error = {0};
    struct cpl_route routes[2];
    struct subject subject;
    struct cpl_table table;

    small_pack(&pack);
    subject_init(&subject, &pack, "contiguous", (struct packed_ranks){2, 1});
    build(&subject, fragments, counts, &table);
    for (int32_t rank = 0; rank < 2; rank++) {
        cr_assert_eq(cpl_route_build(&routes[rank], &subject.table, &table, rank, &subject.arena,
                                     &error),
                     CPL_OK);
        cr_assert_eq(routes[rank].kept.count, 0);
        cr_assert_eq(routes[rank].target_rows, rank);
    }
    check_moves(&routes[0].sent, sent, 1);
    check_moves(&routes[0].received, NULL, 0);
    check_moves(&routes[1].sent, NULL, 0);
    check_moves(&routes[1].received, received, 1);
    subject_fini(&subject);
}

/* Labels are the next row of the document: 1 2 3 4 - 6 on rank 0, 7 8 9 10 11 - on rank 1. */
Test(wanted_edges, shift_written_out)
{
    static const struct cpl_fragment fragments[] = {{1, 4}, {-1, 1}, {6, 1}, {7, 5}, {-1, 1}};
    static const size_t counts[] = {3, 2};
    static const struct cpl_move kept[] = {{1, 0, 4, 0}};
    static const struct cpl_move received[] = {{0, 5, 1, 1}};
    static const struct cpl_move pads[] = {{-1, 4, 1, 0}};
    static struct pack pack;
    struct cpl_error error = {0};
    struct cpl_route route;
    struct subject subject;
    struct cpl_table table;

    small_pack(&pack);
    subject_init(&subject, &pack, "contiguous", (struct packed_ranks){2, 1});
    build(&subject, fragments, counts, &table);
    cr_assert_eq(cpl_route_build(&route, &subject.table, &table, 0, &subject.arena, &error),
                 CPL_OK);
    check_moves(&route.kept, kept, 1);
    check_moves(&route.received, received, 1);
    check_moves(&route.pads, pads, 1);
    check_moves(&route.sent, NULL, 0);
    subject_fini(&subject);
}

/*
 * Rank 0 of zigzag holds rows 0, 1 and 6, 7 of one document of 8. Rank 1 wants all rows, and all but
 * the first again: one message in which both runs come twice, in global order on both ends.
 */
Test(wanted_edges, message_that_overlaps_itself)
{
    static const struct cpl_fragment fragments[] = {{0, 8}, {1, 7}};
    static const size_t counts[] = {0, 2};
    static const struct cpl_move expected[] = {{0, 0, 2, 0},
                                               {1, 8, 1, 0},
                                               {2, 6, 2, 0},
                                               {2, 13, 2, 0}};
    static struct pack pack;
    struct cpl_move sent[4];
    struct cpl_error error = {0};
    struct cpl_route route;
    struct subject subject;
    struct cpl_table table;

    pack_sample(&pack);
    pack_add(&pack, 8, 8);
    subject_init(&subject, &pack, "zigzag", (struct packed_ranks){2, 1});
    build(&subject, fragments, counts, &table);
    memcpy(sent, expected, sizeof(sent));
    for (int i = 0; i < 4; i++) {
        sent[i].peer = 1;
    }
    cr_assert_eq(cpl_route_build(&route, &subject.table, &table, 0, &subject.arena, &error),
                 CPL_OK);
    check_moves(&route.sent, sent, 4);
    cr_assert_eq(cpl_route_build(&route, &subject.table, &table, 1, &subject.arena, &error),
                 CPL_OK);
    check_moves(&route.received, expected, 4);
    subject_fini(&subject);
}

/* Fragments come back in the order asked, whatever order they are kept in. */
Test(wanted_edges, fragments_are_told_in_the_order_asked)
{
    static const struct cpl_fragment asked[] = {{9, 2}, {-1, 1}, {-1, 2}, {0, 3}, {3, 2},
                                                {3, 2}, {5, 1},  {2, 10}, {0, 1}};
    static const struct cpl_fragment told[] = {{9, 2}, {-1, 3}, {0, 5}, {3, 3}, {2, 10}, {0, 1}};
    static const size_t counts[] = {8, 1};
    static struct pack pack;
    struct cpl_fragment fragments[ANSWERS_MOST];
    struct subject subject;
    struct cpl_table table;

    small_pack(&pack);
    subject_init(&subject, &pack, "contiguous", (struct packed_ranks){2, 1});
    build(&subject, asked, counts, &table);
    cr_assert_eq(cpl_table_fragments(&table, 0, fragments, ANSWERS_MOST), 5);
    cr_assert_eq(cpl_table_fragments(&table, 1, fragments + 5, 1), 1);
    for (int i = 0; i < 6; i++) {
        cr_assert(fragments[i].start == told[i].start && fragments[i].length == told[i].length,
                  "fragment %d is %" PRId64 ", %" PRId64, i, fragments[i].start,
                  fragments[i].length);
    }
    subject_fini(&subject);
}

/* ---- Identity ---------------------------------------------------------------------------------- */

Test(wanted_edges, identity_differs_where_the_content_does)
{
    static const struct cpl_fragment fragments[][2] = {{{0, 4}, {4, 2}},
                                                       {{4, 2}, {0, 4}},
                                                       {{0, 4}, {5, 2}},
                                                       {{0, 4}, {-1, 2}},
                                                       {{0, 5}, {4, 2}}};
    static const size_t counts[][2] = {{2, 0}, {1, 1}, {0, 2}};
    static struct pack pack;
    uint64_t identities[15];
    struct subject subject;
    struct cpl_table table;

    small_pack(&pack);
    subject_init(&subject, &pack, "contiguous", (struct packed_ranks){2, 1});
    for (int i = 0; i < 15; i++) {
        build(&subject, fragments[i / 3], counts[i % 3], &table);
        identities[i] = table.identity;
        for (int k = 0; k < i; k++) {
            cr_assert_neq(identities[i], identities[k], "tables %d and %d", i, k);
        }
    }
    subject_fini(&subject);
}

/* A fragment may be asked for in parts; fragments that touch are one. */
Test(wanted_edges, identity_does_not_depend_on_how_rows_are_asked_for)
{
    static const struct cpl_fragment whole[] = {{2, 4}, {-1, 3}, {0, 1}};
    static const struct cpl_fragment parts[] = {{2, 1}, {3, 3}, {-1, 1}, {-1, 2}, {0, 1}};
    static const size_t whole_counts[] = {2, 1};
    static const size_t part_counts[] = {4, 1};
    static struct pack pack;
    struct subject subject;
    struct cpl_table a;
    struct cpl_table b;

    small_pack(&pack);
    subject_init(&subject, &pack, "contiguous", (struct packed_ranks){2, 1});
    build(&subject, whole, whole_counts, &a);
    build(&subject, parts, part_counts, &b);
    cr_assert_eq(a.identity, b.identity);
    subject_fini(&subject);
}

/* A table that asks for what a partition holds has the partition's content. */
Test(wanted_edges, a_partition_asked_for_has_its_identity)
{
    for (int32_t i = 0; i < LAYOUTS * 4; i++) {
        static struct pack pack;
        const struct packed_ranks ranks = {2, 1 + i / LAYOUTS};
        struct cpl_fragment fragments[64];
        size_t counts[ANSWERS_MOST];
        struct subject subject;
        struct cpl_table table;
        size_t total = 0;

        memset(&pack, 0, sizeof(pack));
        pack_sample(&pack);
        pack_add(&pack, 5, 6);
        pack_add(&pack, 18, 18);
        subject_init(&subject, &pack, layouts[i % LAYOUTS], ranks);
        for (int32_t rank = 0; rank < subject.table.ranks; rank++) {
            counts[rank] = cpl_table_fragments(&subject.table, rank, fragments + total, 64 - total);
            total += counts[rank];
        }
        build(&subject, fragments, counts, &table);
        cr_assert_eq(table.identity, subject.table.identity, "%s", subject.oracle.text);
        subject_fini(&subject);
    }
}

/* Partitions with equal identity are the same, so a route between them must exist. */
Test(wanted_edges, equal_identities_have_a_route)
{
    const struct cpl_shape shape = {.tokens = 8, .cp = 2, .tp = 1};
    static struct pack pack;
    struct cpl_error error = {0};
    struct cpl_route route;
    struct subject subject;
    struct cpl_table dense;

    pack_sample(&pack);
    pack_add(&pack, 8, 8);
    subject_init(&subject, &pack, "zigzag", (struct packed_ranks){2, 1});
    cr_assert_eq(cpl_table_build(&dense, cpl_layout_find("zigzag"), &shape, &subject.arena, &error),
                 CPL_OK);
    if (dense.identity == subject.table.identity) {
        cr_assert_eq(cpl_route_build(&route, &dense, &subject.table, 0, &subject.arena, &error),
                     CPL_OK, "%s", error.message);
    }
    subject_fini(&subject);
}

/* ---- There and back ---------------------------------------------------------------------------- */

/* Applies the routes of all ranks to rows that lie rank after rank; what no row reaches is 0. */
static void apply(const struct subject *from, const struct subject *to, const int64_t *source,
                  int64_t *target)
{
    const struct cpl_allocator allocator = cpl_allocator_default();
    struct cpl_error error = {0};
    struct cpl_route route;
    struct cpl_arena arena;

    cpl_arena_init(&arena, &allocator);
    for (int32_t rank = 0; rank < to->table.ranks; rank++) {
        int64_t *const own = target + rank * to->oracle.window;

        cr_assert_eq(cpl_route_build(&route, &from->table, &to->table, rank, &arena, &error),
                     CPL_OK, "%s", error.message);
        for (size_t i = 0; i < route.kept.count + route.received.count; i++) {
            const struct cpl_move *const move = i < route.kept.count
                                                    ? &route.kept.list[i]
                                                    : &route.received.list[i - route.kept.count];

            for (int64_t k = 0; k < move->rows; k++) {
                own[move->dst + k] = source[move->peer * from->oracle.window + move->src + k];
            }
        }
    }
    cpl_arena_fini(&arena);
}

/* Every row of the stream comes back; added padding comes back as 0, whatever was in it. */
static void there_and_back(const struct subject *a, const struct subject *b)
{
    const int64_t rows = a->oracle.held.first[a->oracle.held.ranks];
    int64_t *const start = calloc((size_t)rows + 1, sizeof(*start));
    int64_t *const back = calloc((size_t)rows + 1, sizeof(*back));
    int64_t *const there =
        calloc((size_t)b->oracle.held.first[b->oracle.held.ranks] + 1, sizeof(*there));

    for (int64_t i = 0; i < rows; i++) {
        start[i] = 1000 + i;
    }
    apply(a, b, start, there);
    apply(b, a, there, back);
    for (int64_t i = 0; i < rows; i++) {
        require(back[i] == (a->oracle.held.row[i] >= 0 ? start[i] : 0), &a->oracle,
                "row that comes back", i);
    }
    free(start);
    free(back);
    free(there);
}

Test(wanted_edges, there_and_back_is_the_identity)
{
    static struct pack pack;
    uint64_t seed = 5;

    for (int i = 0; i < RANDOM_PACKS; i++) {
        const struct packed_ranks ranks = draw_ranks(&seed);
        const char *const other = layouts[i % 2];
        struct subject a;
        struct subject b;

        pack_draw(&pack, &seed, ranks);
        if (packed_fits(other, pack.rows, ranks.cp, ranks.tp)) {
            subject_init(&a, &pack, other, ranks);
            subject_init(&b, &pack, "zigzag", ranks);
            there_and_back(&a, &b);
            there_and_back(&b, &a);
            subject_fini(&a);
            subject_fini(&b);
        }
    }
}

/* ---- Refusals ---------------------------------------------------------------------------------- */

struct wrong {
    struct cpl_fragment fragments[3];
    size_t counts[2];
    int64_t named[2]; /* rank and index */
};

static const struct wrong wrongs[] = {
    {{{12, 1}}, {1, 0}, {0, 0}},
    {{{0, 12}, {7, 6}}, {1, 1}, {1, 0}},
    {{{0, 1}, {3, 0}}, {2, 0}, {0, 1}},
    {{{0, 1}, {-1, 2}, {-1, 0}}, {0, 3}, {1, 2}},
    {{{0, 1}, {3, -2}}, {1, 1}, {1, 0}},
    {{{0, 1}, {-2, 1}}, {0, 2}, {1, 1}},
    {{{0, 1}, {INT64_MIN, 1}}, {0, 2}, {1, 1}},
    {{{0, 1}, {1, INT64_MAX}}, {0, 2}, {1, 1}},
    {{{0, 1}, {1, INT64_MIN}}, {0, 2}, {1, 1}},
    {{{INT64_MAX, INT64_MAX}}, {0, 1}, {1, 0}},
    {{{0, 2}, {-1, INT64_MAX - 1}}, {0, 2}, {1, 1}},
};

enum { WRONGS = sizeof(wrongs) / sizeof(wrongs[0]) };

static enum cpl_status refuse(const struct subject *subject, const struct cpl_wanted *wanted,
                              struct cpl_error *error)
{
    const struct cpl_allocator allocator = cpl_allocator_default();
    struct cpl_table table = {.ranks = -9};
    struct cpl_arena arena;
    enum cpl_status status;

    cpl_arena_init(&arena, &allocator);
    status = cpl_wanted_build(&table, &subject->table, wanted, &arena, error);
    cr_assert_eq(status == CPL_OK, table.ranks != -9, "the table was changed");
    cpl_arena_fini(&arena);
    return status;
}

Test(wanted_edges, refusals_name_rank_and_index)
{
    static struct pack pack;
    struct subject subject;

    small_pack(&pack);
    subject_init(&subject, &pack, "contiguous", (struct packed_ranks){2, 1});
    for (int i = 0; i < WRONGS; i++) {
        const struct cpl_wanted wanted = {wrongs[i].fragments, wrongs[i].counts};
        struct cpl_error error = {0};

        cr_assert_eq(refuse(&subject, &wanted, &error), CPL_ERROR_ARGUMENT, "table %d", i);
        cr_assert_str_eq(error.field, "fragments");
        for (int k = 0; k < 2; k++) {
            cr_assert(message_names(error.message, wrongs[i].named[k]), "%d: no %" PRId64 ": %s", i,
                      wrongs[i].named[k], error.message);
        }
    }
    subject_fini(&subject);
}

Test(wanted_edges, too_many_fragments_are_refused_before_they_are_read)
{
    static const size_t counts[][2] = {{UINT32_MAX, 1}, {1, SIZE_MAX}, {SIZE_MAX, SIZE_MAX}};
    static const int64_t ranks[] = {1, 1, 0};
    static const struct cpl_fragment fragment = {0, 1};
    static struct pack pack;
    struct subject subject;

    small_pack(&pack);
    subject_init(&subject, &pack, "contiguous", (struct packed_ranks){2, 1});
    for (int i = 0; i < 3; i++) {
        const struct cpl_wanted wanted = {&fragment, counts[i]};
        struct cpl_error error = {0};

        cr_assert_eq(refuse(&subject, &wanted, &error), CPL_ERROR_ARGUMENT);
        cr_assert(message_names(error.message, ranks[i]), "%s", error.message);
    }
    subject_fini(&subject);
}

/* Rows of all ranks are counted in 64 bits by the contract: no sum may run over unseen. */
Test(wanted_edges, rows_of_all_ranks_do_not_overflow)
{
    static const struct cplayout_fragment fragments[] = {{-1, INT64_MAX},
                                                         {-1, INT64_MAX},
                                                         {-1, INT64_MAX}};
    static const uint64_t counts[] = {1, 1, 1};
    const struct cplayout_partition_args args = {.size = sizeof(args),
                                                 .layout = "contiguous",
                                                 .sequence = 12,
                                                 .cp = 3,
                                                 .tp = 1};
    const struct cplayout_table_args wanted = {sizeof(wanted), fragments, counts};
    struct cplayout_partition_info info = {.size = sizeof(info)};
    struct cplayout_partition *partition = NULL;
    struct cplayout_partition *table = NULL;

    cr_assert_eq(cpl_plan_v1.partition_create(NULL, &args, &partition, NULL), CPLAYOUT_OK);
    if (cpl_plan_v1.table_create(NULL, partition, &wanted, &table, NULL) == CPLAYOUT_OK) {
        cpl_plan_v1.partition_describe(table, &info);
        cr_assert_geq(info.rows, (uint64_t)INT64_MAX, "%" PRIu64 " rows", info.rows);
    }
    cpl_plan_v1.partition_destroy(table);
    cpl_plan_v1.partition_destroy(partition);
}

Test(wanted_edges, a_table_is_no_source)
{
    static const struct cpl_fragment fragments[] = {{0, 6}, {6, 6}};
    static const size_t counts[] = {1, 1};
    static struct pack pack;
    struct cpl_route route = {.rank = -9};
    struct cpl_error error = {0};
    struct subject subject;
    struct cpl_table table;

    small_pack(&pack);
    subject_init(&subject, &pack, "contiguous", (struct packed_ranks){2, 1});
    build(&subject, fragments, counts, &table);
    cr_assert_eq(cpl_route_build(&route, &table, &subject.table, 0, &subject.arena, &error),
                 CPL_ERROR_ARGUMENT);
    cr_assert_str_eq(error.field, "source");
    cr_assert_not_null(strstr(error.message, "partition"), "%s", error.message);
    cr_assert_eq(route.rank, -9, "the route was changed");
    subject_fini(&subject);
}

/* The same rows in other documents are another stream. */
Test(wanted_edges, other_documents_are_another_stream)
{
    static struct pack packs[2];
    struct cpl_error error = {0};
    struct cpl_route route;
    struct subject a;
    struct subject b;

    small_pack(&packs[0]);
    pack_sample(&packs[1]);
    pack_add(&packs[1], 5, 5);
    pack_add(&packs[1], 7, 7);
    subject_init(&a, &packs[0], "contiguous", (struct packed_ranks){2, 1});
    subject_init(&b, &packs[1], "zigzag", (struct packed_ranks){2, 1});
    cr_assert_eq(cpl_route_build(&route, &a.table, &b.table, 0, &a.arena, &error),
                 CPL_ERROR_ARGUMENT);
    cr_assert_str_eq(error.field, "target");
    cr_assert_not_null(strstr(error.message, "documents"), "%s", error.message);
    subject_fini(&a);
    subject_fini(&b);
}

/* ---- Memory ------------------------------------------------------------------------------------ */

static enum cpl_status build_short(const struct subject *subject, size_t spare)
{
    static const struct cpl_fragment fragments[] = {{9, 2}, {-1, 3}, {0, 12}, {0, 12}};
    static const size_t counts[] = {3, 1};
    const struct cpl_wanted wanted = {fragments, counts};
    struct counted counted = {0};
    struct cpl_table table = {.ranks = -9};
    struct cpl_error error = {0};
    struct cpl_arena arena;
    enum cpl_status status;

    arena_begin_short(&arena, &counted, spare);
    status = cpl_wanted_build(&table, &subject->table, &wanted, &arena, &error);
    cpl_arena_fini(&arena);
    cr_assert_eq(status == CPL_OK, table.ranks != -9, "the table was changed");
    cr_assert_eq(counted.live, 0);
    cr_assert_eq(counted.wrong, 0);
    cr_assert(status == CPL_OK || (status == CPL_ERROR_MEMORY && error.message[0] != '\0'));
    return status;
}

Test(wanted_edges, memory_that_is_short_by_any_amount_is_reported)
{
    static struct pack pack;
    struct subject subject;
    size_t spare = 0;

    small_pack(&pack);
    subject_init(&subject, &pack, "contiguous", (struct packed_ranks){2, 1});
    while (build_short(&subject, spare) != CPL_OK) {
        spare += 16;
    }
    cr_assert_gt(spare, 8 * sizeof(struct cpl_piece), "%zu bytes are enough", spare);
    subject_fini(&subject);
}
