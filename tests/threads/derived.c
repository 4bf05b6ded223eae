/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What plan/1 derives from a partition, over many random packs and layouts: documents and offsets of a
 * rank, tokens of fragments, padding masks, the inverse order, keys and attention work, halos, shifts.
 * Everything expected is worked out here row by row, from the fragments of the ranks (which other tests
 * hold to the oracle) and the documents.
 */
#include <string.h>

#include "threads/scene.h"

enum { CASES = 600 };

/* ---- What a rank holds ------------------------------------------------------------------------ */

static void check_fragments(struct scene *scene, int32_t rank)
{
    static struct cplayout_fragment fragments[LIST_MOST];
    static int64_t tokens[LIST_MOST];
    uint64_t count = 0;
    uint64_t counted = 0;
    int64_t row = 0;

    (void)host_plan()->fragments(scene->partition, rank, fragments, LIST_MOST, &count,
                                 &scene->error);
    CHECK(host_plan()->fragment_tokens(scene->partition, rank, tokens, LIST_MOST, &counted,
                                       &scene->error) == CPLAYOUT_OK &&
              counted == count,
          "%s: %llu tokens of %llu fragments", scene->text, (unsigned long long)counted,
          (unsigned long long)count);
    for (uint64_t i = 0; i < count; i++) {
        int64_t expected = 0;

        for (int64_t k = 0; k < fragments[i].length; k++, row++) {
            expected += scene_is_token(scene, scene->held[rank][row]);
        }
        CHECK(tokens[i] == expected, "%s: fragment %llu of rank %d has %lld tokens", scene->text,
              (unsigned long long)i, rank, (long long)tokens[i]);
    }
}

static void check_mask(struct scene *scene, int32_t rank)
{
    static uint8_t mask[ROWS_MOST];
    uint64_t count = 0;

    CHECK(host_plan()->padding_mask(scene->partition, rank, mask, ROWS_MOST, &count,
                                    &scene->error) == CPLAYOUT_OK &&
              count == scene->held_rows[rank],
          "%s: mask of rank %d", scene->text, rank);
    for (uint64_t i = 0; i < count; i++) {
        CHECK(mask[i] == !scene_is_token(scene, scene->held[rank][i]),
              "%s: mask of rank %d at %llu", scene->text, rank, (unsigned long long)i);
    }
}

/*
 * A row's document; of padding that zigzag adds, the one whose share of the context-parallel rank it
 * lies in: shares are the padded lengths over P, one after the other.
 */
static int64_t document_of(struct scene *scene, int32_t rank, int64_t local)
{
    const int64_t row = scene->held[rank][local];
    int64_t padded[DOCUMENTS_MOST + 1];
    int64_t place = local;
    int64_t document = 0;
    uint64_t count = 0;

    if (row >= 0) {
        return scene->stream[row].document;
    }
    (void)host_plan()->padded_offsets(scene->partition, padded, DOCUMENTS_MOST + 1, &count,
                                      &scene->error);
    for (int32_t before = rank / scene->tp * scene->tp; before < rank; before++) {
        place += (int64_t)scene->held_rows[before];
    }
    while (padded[document + 1] / scene->cp <= place) {
        document++;
    }
    return document;
}

static void check_offsets(struct scene *scene, int32_t rank, int32_t kind,
                          const struct cplayout_local_document *documents, uint64_t count)
{
    const struct cplayout_offsets_args args = {.size = sizeof(args), .rank = rank, .kind = kind};
    int64_t offsets[LIST_MOST + 1];
    uint64_t entries = 0;

    CHECK(host_plan()->local_offsets(scene->partition, &args, offsets, LIST_MOST + 1, &entries,
                                     &scene->error) == CPLAYOUT_OK &&
              entries == count + 1 && offsets[0] == 0,
          "%s: offsets of rank %d", scene->text, rank);
    for (uint64_t i = 0; i < count; i++) {
        const int64_t step =
            kind == CPLAYOUT_OFFSETS_LOGICAL ? documents[i].tokens : documents[i].rows;

        CHECK(offsets[i + 1] - offsets[i] == step, "%s: offset %llu of rank %d", scene->text,
              (unsigned long long)i, rank);
    }
}

static void check_documents(struct scene *scene, int32_t rank)
{
    static struct cplayout_local_document list[LIST_MOST];
    uint64_t count = 0;
    int64_t local = 0;

    CHECK(host_plan()->local_documents(scene->partition, rank, list, LIST_MOST, &count,
                                       &scene->error) == CPLAYOUT_OK,
          "%s: %s", scene->text, scene->error.message);
    for (uint64_t i = 0; i < count; i++) {
        int64_t tokens = 0;

        CHECK(list[i].local == local && list[i].rows > 0 &&
                  (i == 0 || list[i].document != list[i - 1].document),
              "%s: document %llu of rank %d begins at %lld", scene->text, (unsigned long long)i,
              rank, (long long)list[i].local);
        for (int64_t end = local + list[i].rows; local < end; local++) {
            CHECK(document_of(scene, rank, local) == list[i].document, "%s: row %lld of rank %d",
                  scene->text, (long long)local, rank);
            tokens += scene_is_token(scene, scene->held[rank][local]);
        }
        CHECK(list[i].tokens == tokens, "%s: tokens of document %llu on rank %d", scene->text,
              (unsigned long long)i, rank);
    }
    CHECK(local == (int64_t)scene->held_rows[rank], "%s: rank %d ends early", scene->text, rank);
    check_offsets(scene, rank, CPLAYOUT_OFFSETS_LOGICAL, list, count);
    check_offsets(scene, rank, CPLAYOUT_OFFSETS_PHYSICAL, list, count);
}

/* ---- The way back ------------------------------------------------------------------------------ */

static void check_inverse(struct scene *scene)
{
    static struct cplayout_run runs[LIST_MOST];
    static int64_t all[RANKS_MOST * ROWS_MOST];
    uint64_t count = 0;
    int64_t rows = 0;
    int64_t next = 0;

    for (int32_t rank = 0; rank < scene->cp * scene->tp; rank++) {
        memcpy(all + rows, scene->held[rank], scene->held_rows[rank] * sizeof(*all));
        rows += (int64_t)scene->held_rows[rank];
    }
    CHECK(host_plan()->inverse(scene->partition, runs, LIST_MOST, &count, &scene->error) ==
              CPLAYOUT_OK,
          "%s: %s", scene->text, scene->error.message);
    for (uint64_t i = 0; i < count; i++) {
        CHECK(runs[i].start == next && runs[i].at >= 0 && runs[i].at + runs[i].rows <= rows,
              "%s: run %llu", scene->text, (unsigned long long)i);
        for (int64_t k = 0; k < runs[i].rows; k++, next++) {
            CHECK(all[runs[i].at + k] == next, "%s: row %lld is not there", scene->text,
                  (long long)next);
        }
    }
    CHECK(next == scene->rows, "%s: the inverse ends at %lld", scene->text, (long long)next);
}

/* ---- Attention --------------------------------------------------------------------------------- */

/* Every token is a query once, and sees its document from the beginning. */
static void check_extents(struct scene *scene, int32_t rank)
{
    static struct cplayout_key_extent list[LIST_MOST];
    uint64_t count = 0;
    int64_t queries = 0;
    int64_t tokens = 0;

    CHECK(host_plan()->key_extents(scene->partition, rank, list, LIST_MOST, &count,
                                   &scene->error) == CPLAYOUT_OK,
          "%s: %s", scene->text, scene->error.message);
    for (uint64_t i = 0; i < count; i++) {
        for (int64_t k = 0; k < list[i].queries; k++) {
            const int64_t row = scene->held[rank][list[i].local + k];

            CHECK(scene_is_token(scene, row) && list[i].first_key == scene->stream[row].start &&
                      list[i].position + k == scene->stream[row].position,
                  "%s: query %lld of extent %llu on rank %d", scene->text, (long long)k,
                  (unsigned long long)i, rank);
        }
        queries += list[i].queries;
    }
    for (uint64_t i = 0; i < scene->held_rows[rank]; i++) {
        tokens += scene_is_token(scene, scene->held[rank][i]);
    }
    CHECK(queries == tokens, "%s: rank %d has %lld queries", scene->text, rank, (long long)queries);
}

/* Pairs and missing keys of a context-parallel rank, by marking keys one by one. */
static struct cplayout_attention count_attention(const struct scene *scene, int32_t cp_rank)
{
    static bool own[ROWS_MOST];
    static bool needed[ROWS_MOST];
    struct cplayout_attention expected = {0};

    memset(own, 0, sizeof(own));
    memset(needed, 0, sizeof(needed));
    for (int32_t rank = cp_rank * scene->tp; rank < (cp_rank + 1) * scene->tp; rank++) {
        for (uint64_t i = 0; i < scene->held_rows[rank]; i++) {
            const int64_t row = scene->held[rank][i];

            for (int64_t key = row; scene_is_token(scene, row) && key >= scene->stream[row].start;
                 key--) {
                expected.pairs++;
                needed[key] = true;
            }
            own[row < 0 ? ROWS_MOST - 1 : row] = true;
        }
    }
    for (int64_t row = 0; row < scene->rows; row++) {
        expected.key_rows += needed[row] && !own[row];
    }
    return expected;
}

static void check_attention(struct scene *scene)
{
    struct cplayout_attention got[RANKS_MOST];
    struct cplayout_cost cost = {.size = sizeof(cost)};
    uint64_t count = 0;
    double most = 0;
    double sum = 0;
    int64_t keys = 0;

    CHECK(host_plan()->attention(scene->partition, got, RANKS_MOST, &count, &scene->error) ==
                  CPLAYOUT_OK &&
              count == (uint64_t)scene->cp &&
              host_plan()->cost(scene->partition, &cost, &scene->error) == CPLAYOUT_OK,
          "%s: %s", scene->text, scene->error.message);
    for (int32_t i = 0; i < scene->cp; i++) {
        const struct cplayout_attention expected = count_attention(scene, i);

        CHECK(got[i].pairs == expected.pairs && got[i].key_rows == expected.key_rows,
              "%s: cp rank %d has %lld pairs and lacks %lld keys, not %lld and %lld", scene->text,
              i, (long long)got[i].pairs, (long long)got[i].key_rows, (long long)expected.pairs,
              (long long)expected.key_rows);
        most = (double)expected.pairs > most ? (double)expected.pairs : most;
        sum += (double)expected.pairs;
        keys += expected.key_rows;
    }
    CHECK(cost.key_rows == (uint64_t)keys &&
              (sum > 0 ? cost.max_over_mean * sum > 0.999999 * most * scene->cp &&
                             cost.max_over_mean * sum < 1.000001 * most * scene->cp
                       : cost.max_over_mean > 0.999999 && cost.max_over_mean < 1.000001),
          "%s: cost", scene->text);
}

/* Pairs of rows that are held twice do not fit 63 bits. */
static void test_overlap(void)
{
    const int64_t rows = 4294967295;
    const struct cplayout_host record = host_record();
    const struct cplayout_fragment twice[] = {{0, rows}, {0, rows}};
    const struct cplayout_partition_args args = {.size = sizeof(args),
                                                 .layout = "contiguous",
                                                 .cp = 1,
                                                 .tp = 1,
                                                 .sequence = (uint64_t)rows};
    const struct cplayout_table_args wanted = {sizeof(wanted), twice, (const uint64_t[]){2}};
    struct cplayout_rank_info info = {.size = sizeof(info)};
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_partition *partition = NULL;
    struct cplayout_partition *table = NULL;

    tap_test("pairs of a table that holds rows twice");
    CHECK(host_plan()->partition_create(&record, &args, &partition, &error) == CPLAYOUT_OK &&
              host_plan()->table_create(&record, partition, &wanted, &table, &error) ==
                  CPLAYOUT_OK &&
              host_plan()->rank_describe(table, 0, &info, &error) == CPLAYOUT_OK &&
              info.attention_pairs == (uint64_t)INT64_MAX,
          "%llu: %s", (unsigned long long)info.attention_pairs, error.message);
    host_plan()->partition_destroy(table);
    host_plan()->partition_destroy(partition);
}

/* ---- All of it --------------------------------------------------------------------------------- */

static void check_scene(struct scene *scene)
{
    for (int32_t rank = 0; rank < scene->cp * scene->tp; rank++) {
        check_fragments(scene, rank);
        check_mask(scene, rank);
        check_documents(scene, rank);
        check_extents(scene, rank);
    }
    check_inverse(scene);
    check_attention(scene);
}

int main(void)
{
    static const char *const layouts[] = {"contiguous", "mirror",   "zigzag",
                                          "striped:1",  "balanced", "zigzag-stream"};
    static struct scene scene;
    uint64_t seed = 2026;

    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        int checked = 0;

        tap_test("what %s packs are made of, rank by rank", layouts[i]);
        for (int k = 0; k < CASES; k++) {
            scene_init(&scene, &seed);
            if (scene_open(&scene, layouts[i])) {
                check_scene(&scene);
                scene_close(&scene);
                checked++;
            }
        }
        CHECK(checked > CASES / 2, "only %d packs", checked);
    }
    test_overlap();
    return tap_end();
}
