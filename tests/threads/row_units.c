/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_unit: the rows of every context-parallel rank are a multiple of it and of T. Dense lengths that
 * do not allow that are refused; packed zigzag adds rows to the last document until they do.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "threads/host.h"

enum { DOCUMENTS = 4, LENGTH_MOST = 90 };

/* One way to cut. */
struct cut {
    const char *layout;
    int64_t chunks; /* per rank, what the layout deals; stripes of B rows: B */
    int32_t cp;
    int32_t tp;
    uint64_t unit;
};

static struct cplayout_partition_args args_of(const struct cut *cut)
{
    return (struct cplayout_partition_args){
        .size = sizeof(struct cplayout_partition_args),
        .layout = cut->layout,
        .cp = cut->cp,
        .tp = cut->tp,
        .row_unit = cut->unit,
    };
}

/* ---- Dense ----------------------------------------------------------------------------------- */

/* From the rule's text: P ranks of equal rows, which divide by all three. */
static bool fits(const struct cut *cut, int64_t length)
{
    const int64_t rows = length / cut->cp;

    return length % cut->cp == 0 && (cut->cp == 1 || rows % cut->chunks == 0) &&
           rows % cut->tp == 0 && rows % (int64_t)(cut->unit > 0 ? cut->unit : 1) == 0;
}

static void check_length(const struct cut *cut, int64_t length)
{
    struct cplayout_partition_args args = args_of(cut);
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_partition *partition = NULL;
    int32_t status;

    args.sequence = (uint64_t)length;
    status = host_plan()->partition_create(NULL, &args, &partition, &error);
    CHECK(status == (fits(cut, length) ? CPLAYOUT_OK : CPLAYOUT_ERROR_ARGUMENT),
          "%s P=%d T=%d unit %" PRIu64 ", %" PRId64 " rows: status %d: %s", cut->layout, cut->cp,
          cut->tp, cut->unit, length, status, error.message);
    host_plan()->partition_destroy(partition);
}

static const struct cut dense_cuts[] = {
    {"contiguous", 1, 2, 1, 3},   {"contiguous", 1, 4, 2, 3},    {"zigzag", 2, 2, 1, 3},
    {"zigzag", 2, 3, 2, 4},       {"zigzag", 2, 1, 1, 5},        {"zigzag", 2, 1, 2, 3},
    {"mirror", 1, 4, 1, 2},       {"zigzag-stream", 2, 2, 3, 0}, {"striped:3", 3, 2, 1, 4},
    {"balanced:0.1", 1, 2, 2, 3}, {"zigzag", 2, 2, 1, 1},
};

static void test_dense(void)
{
    tap_test("dense lengths: exactly those whose rows divide by row_unit are taken");
    for (size_t i = 0; i < sizeof(dense_cuts) / sizeof(dense_cuts[0]); i++) {
        for (int64_t length = 1; length <= LENGTH_MOST; length++) {
            check_length(&dense_cuts[i], length);
        }
    }
}

/* ---- Packed ---------------------------------------------------------------------------------- */

/* Rows by rows, as the design tells it. */
static void pad_by_hand(const struct cut *cut, const int32_t *cu, int64_t *padded)
{
    const int64_t unit = 2 * (int64_t)cut->cp;

    padded[0] = 0;
    for (int32_t i = 0; i < DOCUMENTS; i++) {
        padded[i + 1] = padded[i] + cu[i + 1] - cu[i];
        while ((padded[i + 1] - padded[i]) % unit != 0) {
            padded[i + 1]++;
        }
    }
    while (padded[DOCUMENTS] / cut->cp % cut->tp != 0 ||
           padded[DOCUMENTS] / cut->cp % (int64_t)cut->unit != 0) {
        padded[DOCUMENTS] += unit;
    }
}

static void check_pack(const struct cut *cut, const int32_t *cu)
{
    const struct cplayout_lengths sample = {cu, NULL, DOCUMENTS + 1};
    struct cplayout_partition_args args = args_of(cut);
    struct cplayout_partition *partition = NULL;
    struct cplayout_error error = {.size = sizeof(error)};
    int64_t expected[DOCUMENTS + 1];
    int64_t offsets[DOCUMENTS + 1] = {0};
    uint64_t count = 0;

    args.samples = &sample;
    args.sample_count = 1;
    pad_by_hand(cut, cu, expected);
    if (!CHECK(host_plan()->partition_create(NULL, &args, &partition, &error) == CPLAYOUT_OK, "%s",
               error.message)) {
        return;
    }
    CHECK(host_plan()->padded_offsets(partition, offsets, DOCUMENTS + 1, &count, &error) ==
                  CPLAYOUT_OK &&
              count == DOCUMENTS + 1 && memcmp(offsets, expected, sizeof(expected)) == 0,
          "P=%d T=%d unit %" PRIu64 " [%d %d %d %d]: the last ends at %" PRId64 ", not at %" PRId64,
          cut->cp, cut->tp, cut->unit, cu[1], cu[2], cu[3], cu[4], offsets[DOCUMENTS],
          expected[DOCUMENTS]);
    host_plan()->partition_destroy(partition);
}

static void test_packed(void)
{
    static const struct cut cuts[] = {
        {"zigzag", 2, 2, 1, 1}, {"zigzag", 2, 2, 1, 32}, {"zigzag", 2, 2, 3, 1},
        {"zigzag", 2, 3, 2, 5}, {"zigzag", 2, 4, 4, 6},  {"zigzag", 2, 5, 3, 7},
    };
    static const int32_t packs[][DOCUMENTS + 1] = {
        {0, 3, 6, 9, 12},  {0, 8, 16, 24, 32},  {0, 0, 0, 0, 0},     {0, 1, 1, 1, 1},
        {0, 5, 5, 11, 11}, {0, 7, 38, 39, 100}, {0, 64, 64, 64, 64},
    };

    tap_test("packed zigzag adds 2P rows at a time to the last entry");
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        for (size_t k = 0; k < sizeof(packs) / sizeof(packs[0]); k++) {
            check_pack(&cuts[i], packs[k]);
        }
    }
}

/* ---- Refusals and batches -------------------------------------------------------------------- */

static void refuse(const struct cplayout_partition_args *args, const char *text)
{
    struct cplayout_partition *partition = NULL;
    struct cplayout_error error = {.size = sizeof(error)};
    const int32_t status = host_plan()->partition_create(NULL, args, &partition, &error);

    CHECK(status == CPLAYOUT_ERROR_ARGUMENT && partition == NULL &&
              strcmp(error.field, "row_unit") == 0 && strstr(error.message, text) != NULL,
          "status %d, field '%s': %s", status, error.field, error.message);
}

static void test_refusals(void)
{
    static const struct cplayout_fragment whole = {0, 8};
    static const uint64_t one = 1;
    const struct cplayout_table_args table = {sizeof(table), &whole, &one};
    const struct cut cut = {"contiguous", 1, 1, 1, UINT64_C(1) << 31};
    struct cplayout_partition_args args = args_of(&cut);

    tap_test("row units that are refused");
    args.sequence = 8;
    refuse(&args, "above 2147483647");
    args.row_unit = UINT64_MAX;
    refuse(&args, "above 2147483647");
    args.layout = "table";
    args.table = &table;
    args.row_unit = 2;
    refuse(&args, "table");
}

/* The option reaches the batch: 12 tokens in 2 x 2 x 3 rows or 32 more. */
static void run_batch(void *self, int32_t rank)
{
    const struct cplayout_option options[] = {{"context_parallel_size", "2"},
                                              {"qkv_format", "thd"},
                                              {"row_unit", "16"}};
    static const int32_t cu[] = {0, 3, 12};
    const struct cplayout_lengths sample = {cu, NULL, 3};
    struct cplayout_host record = host_record();
    const struct cplayout_create_args args = {.size = sizeof(args),
                                              .host = &record,
                                              .options = options,
                                              .option_count = 3};
    const struct cplayout_batch_args batch_args = {.size = sizeof(batch_args),
                                                   .samples = &sample,
                                                   .sample_count = 1};
    struct cplayout_view_metadata metadata = {.size = sizeof(metadata)};
    struct cplayout_context *context = NULL;
    struct cplayout_batch *batch = NULL;
    int32_t layout = -1;

    record.local_group = self;
    record.rank = rank;
    CHECK(host_core()->create(&args, &context, NULL) == CPLAYOUT_OK &&
              host_core()->batch_create(context, &batch_args, &batch, NULL) == CPLAYOUT_OK &&
              host_core()->layout(context, "zigzag", &layout, NULL) == CPLAYOUT_OK &&
              host_views()->view_metadata(batch, layout, &metadata, NULL) == CPLAYOUT_OK,
          "no batch");
    CHECK(metadata.local_rows == 16 && metadata.rows == 32, "%" PRIu64 " of %" PRIu64 " rows",
          metadata.local_rows, metadata.rows);
    host_core()->batch_destroy(batch);
    host_core()->destroy(context);
}

static void test_batch(void)
{
    struct cplayout_local_group *group = NULL;

    tap_test("the option row_unit pads batches");
    tap_require(host_core()->local_group_create(NULL, 2, &group, NULL) == CPLAYOUT_OK, "no group");
    tap_ranks(2, run_batch, group);
    host_core()->local_group_destroy(group);
}

int main(void)
{
    test_dense();
    test_packed();
    test_refusals();
    test_batch();
    return tap_end();
}
