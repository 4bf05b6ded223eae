/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves what the layout `balanced` promises: every row once, equal slices and windows, attention work
 * within the tolerance on packs of real lengths and on dense sequences, few rows moved and never more
 * than by zigzag inside the documents, the same on every rank, memory as any table. Work and rows that
 * move are counted here, token by token. The lengths are those of bench/data.
 */
#include <criterion/criterion.h>

#include "oracle/oracle.h"
#include "unit/packs.h"

enum { CP_MOST = 16, LENGTHS_MOST = 4096 };

/* What is dealt: samples for the plugin, the same as documents for the counts below. */
struct input {
    const struct cpl_lengths *samples; /* NULL: dense */
    size_t sample_count;
    const struct packed_document *list;
    int64_t documents;
    int64_t rows;
};

/* And how it was. */
struct dealt {
    char text[300];
    const struct input *input;
    struct counted counted;
    struct cpl_arena arena;
    struct cpl_stream stream;
    struct cpl_table table;
    int32_t cp;
    int32_t *owner; /* [rows] context-parallel rank */
};

static struct input input_of(const struct pack *pack)
{
    return (struct input){pack->samples, pack->sample_count, pack->list, pack->documents,
                          pack->rows};
}

/* ---- Dealing ----------------------------------------------------------------------------------- */

static enum cpl_status build(struct cpl_table *table, struct cpl_stream *stream, const char *text,
                             const struct input *input, struct packed_ranks ranks,
                             struct cpl_arena *arena, struct cpl_error *error)
{
    struct cpl_shape shape = {.tokens = input->rows, .cp = ranks.cp, .tp = ranks.tp};
    enum cpl_status status = CPL_OK;
    struct cpl_layout layout;

    cr_assert_eq(cpl_layout_parse(text, &layout, error), CPL_OK, "%s", error->message);
    if (input->samples != NULL) {
        status = cpl_stream_packed(stream, input->samples, input->sample_count, arena, error);
        shape.stream = stream;
    }
    return status == CPL_OK ? cpl_table_build(table, &layout, &shape, arena, error) : status;
}

/*
 * Rows of a piece are the next ones of the stream and of their rank; `given` counts what each
 * context-parallel rank has. Returns how many they are.
 */
static int64_t read_piece(struct dealt *dealt, const struct cpl_piece *piece, int64_t row,
                          int64_t *given)
{
    const int32_t tp = dealt->table.tp;
    const int64_t window = dealt->input->rows / dealt->cp / tp;

    cr_assert(piece->rank >= 0 && piece->rank < dealt->cp * tp, "%s: rank %d", dealt->text,
              piece->rank);
    cr_assert_eq(piece->start, row, "%s: row %" PRId64, dealt->text, row);
    for (int64_t k = 0; k < piece->length; k++) {
        const int64_t place = given[piece->rank / tp]++;

        if (row + k >= dealt->input->rows || place / window != piece->rank % tp ||
            place % window != piece->local + k) {
            cr_assert_fail("%s: row %" PRId64 " is row %" PRId64 " of rank %d", dealt->text,
                           row + k, piece->local + k, piece->rank);
        }
        dealt->owner[row + k] = piece->rank / tp;
    }
    return piece->length;
}

static void read_table(struct dealt *dealt)
{
    const struct cpl_table *const table = &dealt->table;
    int64_t given[CP_MOST] = {0};
    int64_t row = 0;

    cr_assert(table->partition, "%s", dealt->text);
    cr_assert_eq(table->pads.count, 0, "%s: padding", dealt->text);
    for (size_t i = 0; i < table->rows.count; i++) {
        row += read_piece(dealt, &table->rows.list[i], row, given);
    }
    cr_assert_eq(row, dealt->input->rows, "%s: rows are missing", dealt->text);
    for (int32_t rank = 0; rank < dealt->cp; rank++) {
        cr_assert_eq(given[rank], dealt->input->rows / dealt->cp, "%s: rank %d has %" PRId64,
                     dealt->text, rank, given[rank]);
    }
    for (int32_t rank = 0; rank < table->ranks; rank++) {
        cr_assert_eq(cpl_table_rows(table, rank), dealt->input->rows / table->ranks, "%s: rank %d",
                     dealt->text, rank);
    }
}

static void write_text(struct dealt *dealt, const char *text, struct packed_ranks ranks)
{
    const struct input *const input = dealt->input;
    size_t used =
        (size_t)snprintf(dealt->text, sizeof(dealt->text), "%s S=%" PRId64 " P=%d T=%d of", text,
                         input->rows, ranks.cp, ranks.tp);

    for (int64_t i = 0; i < input->documents && used < sizeof(dealt->text); i++) {
        used +=
            (size_t)snprintf(dealt->text + used, sizeof(dealt->text) - used,
                             " %" PRId64 "/%" PRId64, input->list[i].tokens, input->list[i].rows);
    }
}

static void dealt_init(struct dealt *dealt, const char *text, const struct input *input,
                       struct packed_ranks ranks)
{
    struct cpl_error error = {0};
    struct cpl_allocator allocator;

    *dealt = (struct dealt){.input = input, .cp = ranks.cp};
    write_text(dealt, text, ranks);
    allocator = counted_allocator(&dealt->counted);
    cpl_arena_init(&dealt->arena, &allocator);
    dealt->owner = malloc((size_t)input->rows * sizeof(*dealt->owner) + 1);
    cr_assert_not_null(dealt->owner);
    cr_assert_eq(build(&dealt->table, &dealt->stream, text, input, ranks, &dealt->arena, &error),
                 CPL_OK, "%s: %s", dealt->text, error.message);
    read_table(dealt);
}

static void dealt_fini(struct dealt *dealt)
{
    cpl_arena_fini(&dealt->arena);
    free(dealt->owner);
    cr_assert_eq(dealt->counted.live, 0, "%s: leaks", dealt->text);
    cr_assert_eq(dealt->counted.wrong, 0, "%s: released with another size", dealt->text);
}

/* ---- Counting ---------------------------------------------------------------------------------- */

/* The rank that has the row in `contiguous`. */
static int32_t home(const struct input *input, int64_t row, int32_t cp)
{
    return (int32_t)(row / (input->rows / cp));
}

/* Work of the busiest rank over the mean; a token attends to itself and all before it in its document. */
static double busiest(const struct input *input, const int32_t *owner, int32_t cp)
{
    int64_t work[CP_MOST] = {0};
    int64_t total = 0;
    int64_t most = 0;
    int64_t row = 0;

    for (int64_t i = 0; i < input->documents; i++) {
        for (int64_t k = 0; k < input->list[i].tokens; k++) {
            const int32_t rank = owner != NULL ? owner[row + k] : home(input, row + k, cp);

            work[rank] += k + 1;
        }
        row += input->list[i].rows;
    }
    for (int32_t rank = 0; rank < cp; rank++) {
        total += work[rank];
        most = work[rank] > most ? work[rank] : most;
    }
    return total > 0 ? (double)most * cp / (double)total : 1;
}

static int64_t moved(const struct dealt *dealt)
{
    int64_t count = 0;

    for (int64_t row = 0; row < dealt->input->rows; row++) {
        count += dealt->owner[row] != home(dealt->input, row, dealt->cp);
    }
    return count;
}

/* Rows that zigzag inside every document, padded to divide, takes from their slices. */
static int64_t moved_by_zigzag(const struct input *input, int32_t cp)
{
    int64_t count = 0;
    int64_t row = 0;

    for (int64_t i = 0; i < input->documents; i++) {
        const int64_t padded = (input->list[i].rows + 2 * cp - 1) / (2 * cp) * (2 * cp);

        for (int64_t k = 0; k < input->list[i].rows; k++, row++) {
            count += oracle_owner("zigzag", k, padded, cp) != home(input, row, cp);
        }
    }
    return count;
}

static void check_bounds(const struct dealt *dealt)
{
    const double ratio = busiest(dealt->input, dealt->owner, dealt->cp);
    const double before = busiest(dealt->input, NULL, dealt->cp);
    const int64_t rows = moved(dealt);
    const int64_t zigzag = moved_by_zigzag(dealt->input, dealt->cp);

    cr_assert_leq(rows, zigzag, "%s: moves %" PRId64 " rows, zigzag %" PRId64, dealt->text, rows,
                  zigzag);
    cr_assert_leq(ratio, before + 1e-9, "%s: %g, contiguous has %g", dealt->text, ratio, before);
}

/* ---- Real lengths ------------------------------------------------------------------------------ */

/* A file of lengths, and the pack that was cut from it last. */
struct lengths {
    FILE *file;
    int32_t offsets[LENGTHS_MOST + 1];
    struct packed_document list[LENGTHS_MOST];
    struct cpl_lengths sample;
    struct input pack;
};

static void lengths_open(struct lengths *lengths, const char *name)
{
    const char *const folder = getenv("top_srcdir");
    char path[4096];

    memset(lengths, 0, sizeof(*lengths));
    (void)snprintf(path, sizeof(path), "%s/bench/data/document-lengths-%s.txt",
                   folder != NULL ? folder : ".", name);
    lengths->file = fopen(path, "r");
    cr_assert_not_null(lengths->file, "cannot read %s", path);
}

/* The next full pack: lengths in order until there are S rows, of the last one only what fits. */
static bool lengths_next(struct lengths *lengths, int64_t rows)
{
    struct input *const pack = &lengths->pack;
    int64_t length;

    *pack = (struct input){.samples = &lengths->sample, .sample_count = 1, .list = lengths->list};
    while (pack->rows < rows && fscanf(lengths->file, "%" SCNd64, &length) == 1) {
        length = length < rows - pack->rows ? length : rows - pack->rows;
        pack->rows += length;
        lengths->list[pack->documents++] = (struct packed_document){length, length};
        lengths->offsets[pack->documents] = (int32_t)pack->rows;
    }
    lengths->sample = (struct cpl_lengths){.cu_seqlens = lengths->offsets,
                                           .entries = (size_t)pack->documents + 1};
    return pack->rows == rows;
}

struct target {
    const char *text;
    int64_t rows;
    struct packed_ranks ranks;
    int packs; /* at most */
    double ratio;
};

/* All packs of a file: how many rows each of them moves, as a part of all. */
static void check_file(const char *name, const struct target *target, double *parts, int *packs)
{
    struct lengths *const lengths = malloc(sizeof(*lengths));
    struct dealt dealt;

    cr_assert_not_null(lengths);
    lengths_open(lengths, name);
    for (int i = 0; i < target->packs && lengths_next(lengths, target->rows); i++) {
        double ratio;
        double part;

        dealt_init(&dealt, target->text, &lengths->pack, target->ranks);
        ratio = busiest(&lengths->pack, dealt.owner, dealt.cp);
        part = (double)moved(&dealt) / (double)target->rows;
        cr_assert_leq(ratio, target->ratio + 1e-9, "%s pack %d: busiest over mean is %g: %s", name,
                      i, ratio, dealt.text);
        cr_assert_leq(part, 0.4, "%s pack %d: moves %g of the rows: %s", name, i, part, dealt.text);
        *parts += part;
        (*packs)++;
        dealt_fini(&dealt);
    }
    (void)fclose(lengths->file);
    free(lengths);
}

/* Both files: enough packs, and not all of them balanced as they are. */
static void check_files(const struct target *target, int packs_least)
{
    static const char *const names[] = {"wlbllm", "prolong"};

    for (int i = 0; i < 2; i++) {
        double parts = 0;
        int packs = 0;

        check_file(names[i], target, &parts, &packs);
        cr_assert_geq(packs, packs_least, "%s: %d packs", names[i], packs);
        cr_assert_gt(parts, 0, "%s: nothing moves", names[i]);
        cr_assert_leq(parts / packs, 0.18, "%s: moves %g of the rows in the mean", names[i],
                      parts / packs);
    }
}

Test(real, packs_of_131072_on_8_ranks_are_balanced_by_few_rows)
{
    check_files(&(struct target){"balanced", 131072, {8, 1}, LENGTHS_MOST, 1.05}, 50);
}

Test(real, packs_of_131072_in_4_windows_are_balanced_by_few_rows)
{
    check_files(&(struct target){"balanced", 131072, {8, 4}, 10, 1.05}, 10);
}

Test(real, packs_of_524288_on_16_ranks_are_balanced_by_few_rows)
{
    check_files(&(struct target){"balanced", 524288, {16, 1}, LENGTHS_MOST, 1.05}, 20);
}

Test(real, packs_keep_to_a_wider_tolerance)
{
    check_files(&(struct target){"balanced:0.2", 131072, {8, 1}, 20, 1.2}, 20);
}

Test(real, packs_keep_to_a_narrower_tolerance_by_smaller_chunks)
{
    check_files(&(struct target){"balanced:0.02:128", 131072, {8, 1}, 20, 1.02}, 20);
}

/* ---- Dense sequences --------------------------------------------------------------------------- */

static void check_dense(int64_t rows, struct packed_ranks ranks, double ratio_most)
{
    const struct packed_document document = {rows, rows};
    const struct input input = {.list = &document, .documents = 1, .rows = rows};
    struct dealt dealt;
    double ratio;

    dealt_init(&dealt, "balanced", &input, ranks);
    check_bounds(&dealt);
    ratio = busiest(&input, dealt.owner, ranks.cp);
    cr_assert_leq(ratio, ratio_most + 1e-9, "%s: busiest over mean is %g", dealt.text, ratio);
    dealt_fini(&dealt);
}

static const int32_t dense_cp[] = {2, 3, 8};

Test(dense, sequences_are_balanced)
{
    for (int64_t rows = 4096; rows <= 131072; rows *= 2) {
        for (int i = 0; i < 3; i++) {
            const int32_t cp = dense_cp[i];

            check_dense((rows + cp - 1) / cp * cp, (struct packed_ranks){cp, 1}, 1.05);
            check_dense(rows / cp / 4 * cp * 4, (struct packed_ranks){cp, 4}, 1.05);
        }
    }
}

/* Slices that no chunk divides. */
Test(dense, sequences_of_odd_slices_are_balanced)
{
    for (int i = 0; i < 3; i++) {
        const int32_t cp = dense_cp[i];

        check_dense(cp * INT64_C(4099), (struct packed_ranks){cp, 1}, 1.05);
        check_dense(cp * INT64_C(4099) * 3, (struct packed_ranks){cp, 3}, 1.05);
        check_dense(cp * INT64_C(1537), (struct packed_ranks){cp, 1}, 1.05);
        check_dense(cp * INT64_C(16111), (struct packed_ranks){cp, 1}, 1.05);
    }
}

/* Short ones cannot be balanced well; slices of fewer than 8 rows have chunks of one. */
Test(dense, sequences_that_are_short_are_whole)
{
    for (int32_t i = 0; i < 8 * 3 * 40; i++) {
        const struct packed_ranks ranks = {1 + i % 8, 1 + i / 8 % 3};

        check_dense((int64_t)ranks.cp * ranks.tp * (1 + i / 8 / 3), ranks, ranks.cp);
    }
}

Test(dense, sequences_on_one_rank_stay_as_they_are)
{
    const struct packed_document document = {4096, 4096};
    const struct input input = {.list = &document, .documents = 1, .rows = 4096};
    struct dealt dealt;

    dealt_init(&dealt, "balanced", &input, (struct packed_ranks){1, 2});
    cr_assert_eq(dealt.table.rows.count, 2);
    dealt_fini(&dealt);
}

/* ---- Small packs ------------------------------------------------------------------------------- */

static const char *const texts[] = {"balanced", "balanced:0.001", "balanced:0.05:1",
                                    "balanced:0.3:2"};

static bool fits(const struct pack *pack, struct packed_ranks ranks)
{
    return pack->rows > 0 && pack->rows % ((int64_t)ranks.cp * ranks.tp) == 0;
}

/* The next pack that can be cut; most can. */
static struct packed_ranks draw_fitting(struct pack *pack, uint64_t *seed)
{
    struct packed_ranks ranks;

    do {
        ranks = draw_ranks(seed);
        pack_draw(pack, seed, ranks);
    } while (!fits(pack, ranks));
    return ranks;
}

Test(packs, move_no_more_rows_than_zigzag_and_get_no_worse)
{
    uint64_t seed = 20240612;
    struct pack pack;
    struct input input;
    struct dealt dealt;
    int changed = 0;

    for (int i = 0; i < 6000; i++) {
        const struct packed_ranks ranks = draw_fitting(&pack, &seed);

        input = input_of(&pack);
        dealt_init(&dealt, texts[i % 4], &input, ranks);
        check_bounds(&dealt);
        changed += moved(&dealt) > 0;
        dealt_fini(&dealt);
    }
    cr_assert_gt(changed, 1000, "only %d packs are changed at all", changed);
}

/* Documents of one row in the first slice, of three in the second: zigzag moves one row in six. */
static void check_favourable(int64_t threes, const char *text)
{
    const struct packed_ranks ranks = {2, 1};
    struct pack pack = {0};
    struct input input;
    struct dealt dealt;

    pack_sample(&pack);
    for (int64_t i = 0; i < 3 * threes; i++) {
        pack_add(&pack, 1, 1);
    }
    for (int64_t i = 0; i < threes; i++) {
        pack_add(&pack, 3, 3);
    }
    pack_finish(&pack);
    input = input_of(&pack);
    cr_assert_eq(6 * moved_by_zigzag(&input, 2), input.rows);
    dealt_init(&dealt, text, &input, ranks);
    check_bounds(&dealt);
    dealt_fini(&dealt);
}

Test(packs, that_zigzag_hardly_moves_are_hardly_moved)
{
    for (int64_t threes = 2; threes <= PACK_DOCUMENTS / 4; threes++) {
        for (int i = 0; i < 4; i++) {
            check_favourable(threes, texts[i]);
        }
    }
}

/* Padding is no work, and where there is none nothing needs to move. */
Test(packs, without_work_or_within_the_tolerance_stay_as_they_are)
{
    static const struct packed_document list[] = {{0, 16}, {0, 16}, {0, 0}, {0, 32}};
    struct pack pack = {0};
    struct input input;
    struct dealt dealt;
    uint64_t seed = 20240613;

    pack_sample(&pack);
    for (int i = 0; i < 4; i++) {
        pack_add(&pack, list[i].tokens, list[i].rows);
    }
    pack_finish(&pack);
    input = input_of(&pack);
    dealt_init(&dealt, "balanced", &input, (struct packed_ranks){4, 2});
    cr_assert_eq(moved(&dealt), 0);
    dealt_fini(&dealt);
    for (int i = 0; i < 500; i++) {
        const struct packed_ranks ranks = draw_fitting(&pack, &seed);

        input = input_of(&pack);
        dealt_init(&dealt, "balanced:8", &input, ranks);
        cr_assert_eq(moved(&dealt), 0, "%s", dealt.text);
        dealt_fini(&dealt);
    }
}

/* Other memory, other addresses: the same table. */
Test(packs, are_dealt_alike_on_every_rank)
{
    uint64_t seed = 20240614;
    struct pack pack;
    struct input input;
    struct dealt here;
    struct dealt there;

    for (int i = 0; i < 500; i++) {
        const struct packed_ranks ranks = draw_fitting(&pack, &seed);

        input = input_of(&pack);
        dealt_init(&here, texts[i % 4], &input, ranks);
        dealt_init(&there, texts[i % 4], &input, ranks);
        cr_assert_neq(here.table.identity, 0);
        cr_assert_eq(here.table.identity, there.table.identity, "%s", here.text);
        cr_assert_eq(memcmp(here.owner, there.owner, (size_t)input.rows * sizeof(*here.owner)), 0,
                     "%s", here.text);
        dealt_fini(&here);
        dealt_fini(&there);
    }
}

/* ---- Memory ------------------------------------------------------------------------------------ */

/* So that the rows that zigzag moves must be counted too: dense, two ranks, next to no tolerance. */
static const char *const strict = "balanced:0.0001:8";
static const struct packed_document long_document = {65536, 65536};
static const struct input long_input = {.list = &long_document, .documents = 1, .rows = 65536};

/* More than a quarter of the rows goes elsewhere. */
static void check_moves_much(const struct input *input, struct packed_ranks ranks)
{
    struct dealt dealt;

    dealt_init(&dealt, strict, input, ranks);
    cr_assert_gt(4 * moved(&dealt), input->rows, "%s", dealt.text);
    dealt_fini(&dealt);
}

Test(memory, is_not_asked_for_in_a_steady_state)
{
    const struct packed_ranks ranks = {2, 1};
    struct counted counted = {0};
    const struct cpl_allocator allocator = counted_allocator(&counted);
    struct cpl_error error = {0};
    struct cpl_stream stream;
    struct cpl_table table;
    struct cpl_arena arena;
    uint64_t calls = 0;

    cpl_arena_init(&arena, &allocator);
    for (int i = 0; i < 10; i++) {
        cr_assert_eq(build(&table, &stream, strict, &long_input, ranks, &arena, &error), CPL_OK);
        cpl_arena_reset(&arena);
        cr_assert(i < 2 || counted.calls == calls, "round %d asks for memory", i);
        calls = counted.calls;
    }
    cpl_arena_fini(&arena);
    cr_assert_eq(counted.live, 0);
}

/* One try, in which the arena's call number `at` for memory fails. */
static enum cpl_status build_failing(uint64_t at, const struct input *input,
                                     struct packed_ranks ranks)
{
    struct counted counted = {.fail_at = at};
    const struct cpl_allocator allocator = counted_allocator(&counted);
    struct cpl_error error = {0};
    struct cpl_table table = {.ranks = -9};
    struct cpl_stream stream;
    struct cpl_arena arena;
    enum cpl_status status;

    cpl_arena_init(&arena, &allocator);
    status = build(&table, &stream, strict, input, ranks, &arena, &error);
    cpl_arena_fini(&arena);
    cr_assert_eq(counted.live, 0, "%" PRId64 " blocks leak", counted.live);
    cr_assert_eq(counted.wrong, 0, "released with another size");
    cr_assert_eq(status, error.status);
    cr_assert(status == CPL_OK || strlen(error.message) > 0);
    cr_assert_eq(status == CPL_OK, table.ranks != -9, "the table was changed");
    return status;
}

Test(memory, that_runs_out_call_by_call_is_reported)
{
    enum cpl_status status;
    uint64_t at = 1;

    check_moves_much(&long_input, (struct packed_ranks){2, 1});
    while ((status = build_failing(at, &long_input, (struct packed_ranks){2, 1})) ==
           CPL_ERROR_MEMORY) {
        at++;
    }
    cr_assert_eq(status, CPL_OK);
    cr_assert_gt(at, 2, "only %" PRIu64 " calls", at - 1);
}

/* The same byte by byte, in an arena that has less and less to spare: every taking fails once. */
static enum cpl_status build_short(size_t spare, const struct input *input,
                                   struct packed_ranks ranks)
{
    struct counted counted = {0};
    struct cpl_error error = {0};
    struct cpl_table table = {.ranks = -9};
    struct cpl_stream stream;
    struct cpl_arena arena;
    enum cpl_status status;

    arena_begin_short(&arena, &counted, spare);
    status = build(&table, &stream, strict, input, ranks, &arena, &error);
    cpl_arena_fini(&arena);
    cr_assert_eq(counted.live, 0, "%" PRId64 " blocks leak", counted.live);
    cr_assert_eq(counted.wrong, 0, "released with another size");
    cr_assert_eq(status, error.status);
    cr_assert_eq(status == CPL_OK, table.ranks != -9, "the table was changed");
    return status;
}

static void check_short(const struct input *input, struct packed_ranks ranks)
{
    enum cpl_status status;
    size_t spare = 0;

    while ((status = build_short(spare, input, ranks)) == CPL_ERROR_MEMORY) {
        spare += 16;
    }
    cr_assert_eq(status, CPL_OK);
    cr_assert_gt(spare, 256, "%zu bytes are enough", spare);
}

Test(memory, that_runs_out_bit_by_bit_is_reported)
{
    const struct packed_document document = {48, 48};
    const struct input dense = {.list = &document, .documents = 1, .rows = 48};
    struct pack pack = {0};
    struct input packed;

    pack_sample(&pack);
    pack_add(&pack, 5, 6);
    pack_add(&pack, 0, 0);
    pack_add(&pack, 30, 34);
    pack_finish(&pack);
    packed = input_of(&pack);
    check_moves_much(&dense, (struct packed_ranks){2, 1});
    check_short(&dense, (struct packed_ranks){2, 1});
    check_short(&dense, (struct packed_ranks){3, 2});
    check_short(&packed, (struct packed_ranks){4, 1});
}
