/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that layouts of packed documents are what the design says: all packs of up to 3 documents of
 * up to 6 tokens on up to 4 x 3 ranks, all of up to 4 documents of up to 9 tokens on some of these, the
 * small ones with padding of the source as well, and thousands of random larger ones are compared with
 * the oracle, row by row: who holds what, padding, positions, counts, chain, and the routes between
 * all layouts that fit.
 */
#include "plan/chain.h"
#include "plan/counts.h"
#include "plan/route.h"
#include "unit/packs.h"

enum { RANDOM_PACKS = 8000, RANKS_MOST = 32 };

/* ---- The table --------------------------------------------------------------------------------- */

static void check_stream(const struct subject *subject)
{
    const struct cpl_stream *const stream = &subject->table.stream;
    const struct packed *const oracle = &subject->oracle;
    int64_t start = 0;

    require((int64_t)stream->count == oracle->documents, oracle, "documents", 0);
    require(stream->rows == oracle->rows, oracle, "rows of the stream", stream->rows);
    require(stream->tokens == oracle->tokens, oracle, "tokens of the stream", stream->tokens);
    for (int64_t i = 0; i < oracle->documents; i++) {
        const struct cpl_document *const document = &stream->documents[i];

        require(document->start == start && document->length == oracle->list[i].rows &&
                    document->valid == oracle->list[i].tokens,
                oracle, "document", i);
        start += document->length;
    }
}

static void check_cover(const struct subject *subject)
{
    const struct cpl_table *const table = &subject->table;
    const struct packed *const oracle = &subject->oracle;
    int64_t row = 0;

    for (size_t i = 0; i < table->rows.count; i++) {
        const struct cpl_piece *const piece = &table->rows.list[i];

        require(piece->start == row && piece->length > 0, oracle, "start of piece", (int64_t)i);
        for (int64_t k = 0; k < piece->length; k++, row++) {
            require(row < oracle->rows && piece->rank == oracle->owner[row], oracle, "owner", row);
            require(piece->local + k == oracle->local[row], oracle, "local row", row);
        }
    }
    require(row == oracle->rows, oracle, "rows that are held", row);
}

static void check_padded(const struct subject *subject)
{
    const struct packed *const oracle = &subject->oracle;

    for (int64_t i = 0; i <= oracle->documents; i++) {
        require(subject->table.padded[i] == oracle->padded[i], oracle, "padded offset", i);
    }
    require(subject->table.identity != 0, oracle, "identity", 0);
}

static void check_find(const struct subject *subject)
{
    const struct cpl_pieces *const rows = &subject->table.rows;

    for (int64_t row = 0; row < subject->oracle.rows; row++) {
        const size_t index = cpl_table_find(&subject->table, row);

        require(index < rows->count && rows->list[index].start <= row &&
                    row < rows->list[index].start + rows->list[index].length,
                &subject->oracle, "piece of row", row);
    }
    require(cpl_table_find(&subject->table, subject->oracle.rows) == rows->count, &subject->oracle,
            "piece behind the stream", subject->oracle.rows);
}

/* ---- Ranks ------------------------------------------------------------------------------------- */

static bool continues(const struct cpl_fragment *before, const struct cpl_fragment *after)
{
    return before->start == -1 ? after->start == -1
                               : before->start + before->length == after->start;
}

/* What the fragments hold, row by row; no two that touch. */
static void check_fragments(const struct subject *subject, int32_t rank)
{
    const struct packed *const oracle = &subject->oracle;
    const int64_t *const held = oracle->held.row + oracle->held.first[rank];
    const size_t count = cpl_table_fragments(&subject->table, rank, NULL, 0);
    struct cpl_fragment *const list = calloc(count + 1, sizeof(*list));
    int64_t row = 0;

    cr_assert_not_null(list);
    list[count].start = -7;
    require(cpl_table_fragments(&subject->table, rank, list, count) == count, oracle, "count",
            rank);
    for (size_t i = 0; i < count; i++) {
        require(i == 0 || !continues(&list[i - 1], &list[i]), oracle, "split fragment", rank);
        require(list[i].length > 0, oracle, "empty fragment", rank);
        for (int64_t k = 0; k < list[i].length; k++, row++) {
            require(row < oracle->window &&
                        held[row] == (list[i].start == -1 ? -1 : list[i].start + k),
                    oracle, "row of a fragment", row);
        }
    }
    require(row == oracle->window, oracle, "rows of the fragments", rank);
    require(list[count].start == -7, oracle, "fragments behind the capacity", rank);
    free(list);
}

static int64_t expected_position(const struct packed *oracle, int64_t row,
                                 enum cpl_position_kind kind)
{
    if (row < 0) {
        return -1;
    }
    return kind == CPL_POSITION_GLOBAL ? row : oracle->position[row];
}

static void check_positions(const struct subject *subject, int32_t rank,
                            enum cpl_position_kind kind)
{
    const struct packed *const oracle = &subject->oracle;
    const int64_t *const held = oracle->held.row + oracle->held.first[rank];
    int64_t *const positions = malloc((size_t)(oracle->window + 1) * sizeof(*positions));

    cr_assert_not_null(positions);
    for (int64_t i = 0; i <= oracle->window; i++) {
        positions[i] = -7;
    }
    cpl_positions(&subject->table, rank, kind, positions);
    for (int64_t i = 0; i < oracle->window; i++) {
        require(positions[i] == expected_position(oracle, held[i], kind), oracle,
                kind == CPL_POSITION_GLOBAL ? "global position" : "position in the document", i);
    }
    require(positions[oracle->window] == -7, oracle, "positions behind the rows", rank);
    free(positions);
}

static void check_ranks(const struct subject *subject)
{
    const struct packed *const oracle = &subject->oracle;

    require(subject->table.ranks == oracle->held.ranks, oracle, "ranks", subject->table.ranks);
    for (int32_t rank = 0; rank < oracle->held.ranks; rank++) {
        const struct cpl_counts counts = cpl_count_rank(&subject->table, rank);

        require(cpl_table_rows(&subject->table, rank) == oracle->window, oracle, "rows of rank",
                rank);
        require(counts.valid_rows == packed_valid(oracle, &oracle->held, rank), oracle,
                "valid rows of rank", rank);
        require(counts.attention_pairs == packed_pairs(oracle, &oracle->held, rank), oracle,
                "attention pairs of rank", rank);
        check_fragments(subject, rank);
        check_positions(subject, rank, CPL_POSITION_GLOBAL);
        check_positions(subject, rank, CPL_POSITION_DOCUMENT);
    }
}

/* ---- The chain --------------------------------------------------------------------------------- */

static void check_part(const struct packed *oracle, const struct cpl_part *part,
                       const struct packed_part *expected)
{
    require(part->start == expected->start && part->length == expected->length, oracle,
            "rows of a part of the chain", part->start);
    require(part->local == expected->local && part->rank == expected->rank, oracle,
            "place of a part of the chain", part->start);
    require(part->position == expected->position, oracle, "position of a part", part->start);
    require(part->valid == expected->valid, oracle, "valid rows of a part", part->start);
    require((int64_t)part->document == expected->document, oracle, "document of a part",
            part->start);
}

static void check_chain(const struct subject *subject)
{
    const struct packed *const oracle = &subject->oracle;
    struct packed_part *const parts = calloc((size_t)oracle->rows + 1, sizeof(*parts));
    const int64_t count = packed_parts(oracle, parts);
    struct cpl_chain_reader reader = cpl_chain_reader(&subject->table);
    struct cpl_part part;

    require((int64_t)cpl_chain_parts(&subject->table) == count, oracle, "parts of the chain",
            count);
    for (int64_t i = 0; i < count; i++) {
        require(cpl_chain_next(&reader, &part), oracle, "the chain ends early", i);
        check_part(oracle, &part, &parts[i]);
    }
    require(!cpl_chain_next(&reader, &part), oracle, "the chain goes on", count);
    free(parts);
}

/* ---- Routes ------------------------------------------------------------------------------------ */

/* Two partitions of one pack and the route of one rank between them. */
struct passage {
    const struct packed *from;
    const struct packed *to;
    const struct cpl_route *route;
};

static int64_t held_at(const struct packed *oracle, int32_t rank, int64_t row)
{
    return row >= 0 && row < oracle->window ? oracle->held.row[rank * oracle->window + row] : -2;
}

static bool follows(const struct cpl_move *before, const struct cpl_move *after)
{
    return before->src + before->rows == after->src && before->dst + before->rows == after->dst;
}

/*
 * Every row of the moves is where both partitions have it; per peer in global order, so none comes
 * twice. Returns how many rows there are.
 */
static int64_t check_moves(const struct passage *passage, const struct cpl_moves *moves,
                           bool incoming)
{
    const int32_t rank = passage->route->rank;
    int64_t last = -1;
    int64_t count = 0;

    for (size_t i = 0; i < moves->count; i++) {
        const struct cpl_move *const move = &moves->list[i];
        const bool next = i == 0 || move->peer != moves->list[i - 1].peer;

        require(i == 0 || move->peer >= moves->list[i - 1].peer, passage->to, "order of peers",
                rank);
        require(move->rows > 0 && (next || !follows(move - 1, move)), passage->to, "split move",
                rank);
        for (int64_t k = 0; k < move->rows; k++, count++) {
            const int64_t row = held_at(passage->from, incoming ? move->peer : rank, move->src + k);

            require(row >= 0 &&
                        row == held_at(passage->to, incoming ? rank : move->peer, move->dst + k),
                    passage->to, "row of a move", move->src + k);
            require((next && k == 0) || row > last, passage->to, "order of a message", row);
            last = row;
        }
    }
    return count;
}

static void check_pads(const struct passage *passage)
{
    const struct cpl_moves *const pads = &passage->route->pads;
    const int32_t rank = passage->route->rank;
    int64_t row = 0;

    for (size_t i = 0; i < pads->count; i++) {
        require(pads->list[i].src == -1 && pads->list[i].peer == rank && pads->list[i].rows > 0,
                passage->to, "padding of rank", rank);
        require(i == 0 || pads->list[i].dst > row, passage->to, "split padding", row);
        for (; row < pads->list[i].dst; row++) {
            require(held_at(passage->to, rank, row) >= 0, passage->to, "padding left out", row);
        }
        for (int64_t k = 0; k < pads->list[i].rows; k++, row++) {
            require(held_at(passage->to, rank, row) == -1, passage->to, "padding over a row", row);
        }
    }
    for (; row < passage->to->window; row++) {
        require(held_at(passage->to, rank, row) >= 0, passage->to, "padding left out", row);
    }
}

static int64_t rows_of_stream(const struct packed *oracle, int32_t rank)
{
    int64_t rows = 0;

    for (int64_t row = 0; row < oracle->window; row++) {
        rows += held_at(oracle, rank, row) >= 0;
    }
    return rows;
}

static void check_route(const struct subject *from, const struct subject *to, int32_t rank,
                        struct cpl_arena *arena)
{
    struct cpl_error error = {0};
    struct cpl_route route;
    const struct passage passage = {&from->oracle, &to->oracle, &route};
    int64_t kept;

    cr_assert_eq(cpl_route_build(&route, &from->table, &to->table, rank, arena, &error), CPL_OK,
                 "%s to %s: %s", from->oracle.text, to->layout, error.message);
    kept = check_moves(&passage, &route.kept, true);
    require(route.kept.count == 0 || route.kept.list[route.kept.count - 1].peer == rank, passage.to,
            "peer of kept rows", rank);
    require(check_moves(&passage, &route.received, true) ==
                packed_wanted(passage.from, &passage.to->held, rank),
            passage.to, "rows received", rank);
    require(check_moves(&passage, &route.sent, false) ==
                packed_lent(passage.from, &passage.to->held, rank),
            passage.to, "rows sent", rank);
    require(kept + cpl_moves_rows(&route.received) == rows_of_stream(passage.to, rank), passage.to,
            "rows kept", kept);
    check_pads(&passage);
    require(route.source_rows == passage.from->window && route.target_rows == passage.to->window &&
                route.source == from->table.identity && route.target == to->table.identity,
            passage.to, "sides of the route", rank);
}

/* The rank's own rows out of the whole stream. */
static void check_from_stream(const struct subject *to, int32_t rank, struct cpl_arena *arena)
{
    struct cpl_error error = {0};
    struct cpl_route route;
    const struct passage passage = {&to->oracle, &to->oracle, &route};
    int64_t rows = 0;

    cr_assert_eq(cpl_route_from_stream(&route, &to->table, (struct cpl_ranks){rank, 1}, arena,
                                       &error),
                 CPL_OK, "%s: %s", to->oracle.text, error.message);
    for (size_t i = 0; i < route.kept.count; i++) {
        const struct cpl_move *const move = &route.kept.list[i];

        for (int64_t k = 0; k < move->rows; k++, rows++) {
            require(held_at(&to->oracle, rank, move->dst + k) == move->src + k, &to->oracle,
                    "row from the stream", move->src + k);
        }
    }
    require(rows == rows_of_stream(&to->oracle, rank), &to->oracle, "rows from the stream", rank);
    require(route.source_rows == to->oracle.rows && route.target_rows == to->oracle.window &&
                route.sent.count == 0 && route.received.count == 0,
            &to->oracle, "sides of the route from the stream", rank);
    check_pads(&passage);
}

/* ---- Everything of a pack ---------------------------------------------------------------------- */

static void check_table(const struct subject *subject)
{
    check_stream(subject);
    check_padded(subject);
    check_cover(subject);
    check_find(subject);
    check_ranks(subject);
    check_chain(subject);
}

static void check_routes(const struct subject *subjects, int count)
{
    const struct cpl_allocator allocator = cpl_allocator_default();
    struct cpl_arena arena;

    cpl_arena_init(&arena, &allocator);
    for (int i = 0; i < count * count; i++) {
        for (int32_t rank = 0; rank < subjects[0].table.ranks; rank++) {
            check_route(&subjects[i / count], &subjects[i % count], rank, &arena);
            cpl_arena_reset(&arena);
        }
    }
    for (int i = 0; i < count * subjects[0].table.ranks; i++) {
        check_from_stream(&subjects[i % count], i / count, &arena);
        cpl_arena_reset(&arena);
    }
    cpl_arena_fini(&arena);
}

/* Identity and content of every table that was made. */
struct known {
    uint64_t identity;
    uint64_t content;
    struct packed_ranks ranks;
    char text[80];
};

static struct known known[1 << 17];
static size_t known_count;

static void remember(const struct subject *subject)
{
    struct known *const entry = &known[known_count++];

    cr_assert_lt(known_count, sizeof(known) / sizeof(known[0]));
    entry->identity = subject->table.identity;
    entry->ranks = (struct packed_ranks){subject->oracle.cp, subject->oracle.tp};
    entry->content = packed_content(&subject->oracle, &subject->oracle.held);
    (void)snprintf(entry->text, sizeof(entry->text), "%.79s", subject->oracle.text);
}

/* Checks a pack in every layout that holds it; returns how many did. */
static int check_pack(const struct pack *pack, struct packed_ranks ranks)
{
    struct subject subjects[LAYOUTS];
    int count = 0;

    for (int i = 0; i < LAYOUTS; i++) {
        if (packed_fits(layouts[i], pack->rows, ranks.cp, ranks.tp)) {
            subject_init(&subjects[count], pack, layouts[i], ranks);
            check_table(&subjects[count]);
            remember(&subjects[count]);
            count++;
        }
    }
    if (count > 0) {
        check_routes(subjects, count);
    }
    for (int i = 0; i < count; i++) {
        subject_fini(&subjects[i]);
    }
    return count;
}

static int by_identity(const void *left, const void *right)
{
    const struct known *const a = left;
    const struct known *const b = right;

    return (a->identity > b->identity) - (a->identity < b->identity);
}

static int by_content(const void *left, const void *right)
{
    const struct known *const a = left;
    const struct known *const b = right;

    if (a->content != b->content) {
        return a->content > b->content ? 1 : -1;
    }
    return a->ranks.cp != b->ranks.cp ? a->ranks.cp - b->ranks.cp : a->ranks.tp - b->ranks.tp;
}

/* Equal identities have equal content, and the other way round on the same ranks. */
static void check_identities(void)
{
    qsort(known, known_count, sizeof(known[0]), by_identity);
    for (size_t i = 1; i < known_count; i++) {
        cr_assert(known[i].identity != known[i - 1].identity ||
                      known[i].content == known[i - 1].content,
                  "one identity for %s and %s", known[i - 1].text, known[i].text);
    }
    qsort(known, known_count, sizeof(known[0]), by_content);
    for (size_t i = 1; i < known_count; i++) {
        cr_assert(by_content(&known[i - 1], &known[i]) != 0 ||
                      known[i].identity == known[i - 1].identity,
                  "two identities for %s and %s", known[i - 1].text, known[i].text);
    }
}

/* ---- All and many ------------------------------------------------------------------------------ */

static struct packed_document unpadded(int64_t number)
{
    return (struct packed_document){number, number};
}

/* 0 to 4 tokens and 0 to 2 rows of padding. */
static struct packed_document loosely(int64_t number)
{
    return (struct packed_document){number / 3, number / 3 + number % 3};
}

static void check_small(int documents, int64_t kinds, struct packed_document (*kind)(int64_t))
{
    static struct pack pack;
    int checked = 0;

    for (int64_t i = 0; pack_small(&pack, i, documents, kinds, kind); i++) {
        for (int32_t k = 0; k < 12; k++) {
            checked += check_pack(&pack, (struct packed_ranks){1 + k % 4, 1 + k / 4});
        }
    }
    cr_assert_gt(checked, 3000, "only %d tables", checked);
    check_identities();
}

Test(packed, all_small_packs_are_what_the_oracle_says)
{
    check_small(3, 7, unpadded);
}

Test(packed, all_small_packs_with_source_padding_are_too)
{
    check_small(2, 15, loosely);
}

/* Lengths up to 9 leave remainders of every kind. Which ranks a pack meets follows from its number. */
Test(packed, all_packs_of_four_documents_are_too)
{
    static const struct packed_ranks ranks[] = {{2, 1}, {3, 2}, {4, 1}, {2, 3},
                                                {5, 1}, {1, 2}, {3, 1}};
    static struct pack pack;
    int64_t packs = 0;

    for (; pack_small(&pack, packs, 4, 10, unpadded); packs++) {
        known_count = 0; /* other tests compare identities */
        (void)check_pack(&pack, ranks[packs % 7]);
    }
    cr_assert_eq(packs, 11110);
}

Test(packed, random_packs_are_too)
{
    static struct pack pack;
    uint64_t seed = 20240;
    int checked = 0;

    for (int i = 0; i < RANDOM_PACKS; i++) {
        const struct packed_ranks ranks = draw_ranks(&seed);

        pack_draw(&pack, &seed, ranks);
        checked += check_pack(&pack, ranks);
    }
    cr_assert_gt(checked, 2 * RANDOM_PACKS, "only %d tables", checked);
    check_identities();
}
