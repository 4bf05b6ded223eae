/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of a batch by kind: masks, positions of three axes, metadata, declared fields, joined samples,
 * and what is refused: names, shapes, types, lengths that disagree. Numbers are written out by hand.
 */
#include <string.h>

#include "threads/party.h"

static int64_t rows[64] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                           16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                           32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                           48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};

#define USUAL                            \
    {"context_parallel_size", "2"},      \
    {                                    \
        "linear_cp_layout", "contiguous" \
    }
#define PACKED                    \
    USUAL, {"qkv_format", "thd"}, \
    {                             \
        "pad_token_id", "-7"      \
    }

/* ---- Shapes of every kind -------------------------------------------------------------------- */

/* The mask [1, 1, 8, 8] holds 8 q + k: rank 0 has the query rows 0, 1, 6, 7. */
static void mask(struct guest *guest)
{
    static const struct party_batch batch = {
        .fields = {{"tokens", rows, 2, {2, 8}}, {"attention_mask", rows, 4, {1, 1, 8, 8}}}};
    static const int64_t queries[2][4] = {{0, 1, 6, 7}, {2, 3, 4, 5}};
    int64_t values[PARTY_ROWS_MOST];

    if (!guest_batch_made(guest, &batch)) {
        return;
    }
    CHECK(guest_view(guest, "attention", "attention_mask", values) == 4 * 8, "shape of the mask");
    for (int i = 0; i < 32; i++) {
        CHECK(values[i] == 8 * queries[guest->rank][i / 8] + i % 8, "rank %d: entry %d is %d",
              guest->rank, i, (int)values[i]);
    }
    guest_refused(guest, "boundary", "attention_mask", "exists in the attention view alone");
}

/* [3, 1, 8] holds 8 axis + row. */
static void axes(struct guest *guest)
{
    static const struct party_batch batch = {.fields = {{"position_ids", rows, 3, {3, 1, 8}}}};
    static const int64_t held[2][12] = {{0, 1, 6, 7, 8, 9, 14, 15, 16, 17, 22, 23},
                                        {2, 3, 4, 5, 10, 11, 12, 13, 18, 19, 20, 21}};
    static const int64_t slices[2][12] = {{0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19},
                                          {4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23}};

    if (guest_batch_made(guest, &batch)) {
        guest_expects(guest, "attention", "position_ids", held[guest->rank], 12);
        guest_expects(guest, "boundary", "position_ids", slices[guest->rank], 12);
    }
}

/* Metadata has any shape and is the same everywhere. */
static void metadata(struct guest *guest)
{
    static const struct party_batch batch = {.sequence_length = 8,
                                             .fields = {{"cu_seqlens", rows, 2, {1, 5}},
                                                        {"cu_seqlens_padded", rows, 1, {5}},
                                                        {"cu_seqlens_argmin", rows, 1, {1}},
                                                        {"max_seqlen", rows + 9, 1, {1}},
                                                        {"local_cp_size", rows + 2, 1, {1}},
                                                        {"dataset_id", rows, 1, {3}}}};
    struct cplayout_view view = {.size = sizeof(view)};

    if (!guest_batch_made(guest, &batch)) {
        return;
    }
    guest_expects(guest, "boundary", "cu_seqlens", rows, 5);
    guest_expects(guest, "attention", "dataset_id", rows, 3);
    guest_expects(guest, "attention", "max_seqlen", rows + 9, 1);
    CHECK(host_views()->view_describe(guest->batch, guest_layout(guest, "attention"), "cu_seqlens",
                                      &view, &guest->error) == CPLAYOUT_OK &&
              view.tensor.data == rows && view.row_axis == -1 && view.identity == 0 &&
              view.shape[0] == 1 && view.shape[1] == 5,
          "metadata is the input itself");
}

/* ---- Declared fields ------------------------------------------------------------------------- */

static const struct cplayout_field_declaration declared[] = {
    {"rewards", -3, 1, 0},
    {"image_rows", 5, 0, CPLAYOUT_FIELD_SCATTER},
};

static void declare(struct guest *guest)
{
    static const int32_t cu[] = {0, 3, 7};
    static const int32_t cu_padded[] = {0, 4, 8};
    static const struct cplayout_lengths sample = {cu, cu_padded, 3};
    static const struct party_batch batch = {.samples = &sample,
                                             .sample_count = 1,
                                             .fields = {{"rewards", rows, 3, {1, 8, 1}},
                                                        {"image_rows", rows, 2, {8, 1}}}};
    static const int64_t held[2][4] = {{0, -3, 4, 7}, {1, 2, 5, 6}};
    static const int64_t windows[4][2] = {{0, 5}, {4, 7}, {1, 2}, {5, 6}};

    if (guest_batch_made(guest, &batch)) {
        guest_expects(guest, "attention", "rewards", held[guest->rank / 2], 4);
        guest_expects(guest, "attention", "image_rows", windows[guest->rank], 2);
    }
}

static void test_declared(void)
{
    const struct party party = {.ranks = 4,
                                .options = {PACKED,
                                            {"tensor_model_parallel_size", "2"},
                                            {"sequence_parallel", "true"}},
                                .declared = declared,
                                .declared_count = 2,
                                .body = declare};

    tap_test("declared fields: axis, fill value, scatter");
    party_run(&party);
}

/* Declarations of one rank that are refused. */
static const struct {
    const char *name;
    struct cplayout_field_declaration list[2];
    uint64_t count;
    const char *text;
} wrong_declarations[] = {
    {"no name", {{NULL, 0, 0, 0}}, 1, "fields[0] has no name"},
    {"an empty name", {{"", 0, 0, 0}}, 1, "empty or too long"},
    {"a name of 64 bytes",
     {{"0123456789012345678901234567890123456789012345678901234567890123", 0, 0, 0}},
     1,
     "empty or too long"},
    {"a known name", {{"tokens", 0, 0, 0}}, 1, "'tokens' is a known field"},
    {"a name twice", {{"a", 0, 0, 0}, {"a", 0, 0, 0}}, 2, "fields[1]: 'a' is declared already"},
    {"row axis -1", {{"a", 0, -1, 0}}, 1, "row axis -1 is not 0 ... 7"},
    {"row axis 8", {{"a", 0, 8, 0}}, 1, "row axis 8"},
    {"unknown flags", {{"a", 0, 0, 6}}, 1, "unknown flags 0x6"},
    {"65 of them", {{"a", 0, 0, 0}}, 65, "65 fields are declared, 64 at most"},
    {"2^64 - 1 of them", {{"a", 0, 0, 0}}, UINT64_MAX, "64 at most"},
};

static void test_wrong_declarations(void)
{
    const struct cplayout_host record = host_record();

    for (size_t i = 0; i < sizeof(wrong_declarations) / sizeof(wrong_declarations[0]); i++) {
        struct cplayout_create_args args = {.size = sizeof(args),
                                            .host = &record,
                                            .fields = wrong_declarations[i].list,
                                            .field_count = wrong_declarations[i].count};
        struct cplayout_error error = {.size = sizeof(error)};
        struct cplayout_context *context = NULL;
        int32_t status;

        tap_test("a declaration with %s", wrong_declarations[i].name);
        status = host_core()->create(&args, &context, &error);
        CHECK(status == CPLAYOUT_ERROR_ARGUMENT && context == NULL &&
                  strstr(error.message, wrong_declarations[i].text) != NULL,
              "status %d: %s", status, error.message);
        args.fields = NULL;
        status = host_core()->create(&args, &context, &error);
        CHECK(status == CPLAYOUT_ERROR_ARGUMENT && strcmp(error.field, "fields") == 0,
              "no list: status %d: %s", status, error.message);
    }
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* Two rows of 16 with offsets [0,3,13] and [0,5,11]: their documents must not swallow the gaps. */
static void samples(struct guest *guest)
{
    static const int32_t cu[2][3] = {{0, 3, 13}, {0, 5, 11}};
    static const int32_t cu_padded[2][3] = {{0, 4, 16}, {0, 8, 16}};
    static const struct cplayout_lengths list[] = {{cu[0], cu_padded[0], 3},
                                                   {cu[1], cu_padded[1], 3}};
    static const struct party_batch batch = {.samples = list,
                                             .sample_count = 2,
                                             .fields = {{"tokens", rows, 2, {2, 16}},
                                                        {"position_ids", rows, 3, {1, 2, 16}}}};
    static const int32_t real[] = {0, 3, 13, 18, 24};
    static const int32_t physical[] = {0, 4, 16, 24, 32};
    static const int64_t slices[2][16] = {{0, 1, 2, -7, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, -7, -7},
                                          {16, 17, 18, 19, 20, -7, -7, -7, 24, 25, 26, 27, 28, 29,
                                           -7, -7}};
    struct cplayout_view_metadata metadata = {.size = sizeof(metadata)};

    if (!guest_batch_made(guest, &batch)) {
        return;
    }
    if (!CHECK(host_views()->view_metadata(guest->batch, guest_layout(guest, "boundary"), &metadata,
                                           &guest->error) == CPLAYOUT_OK,
               "no metadata")) {
        return;
    }
    CHECK(metadata.entries == 5 && memcmp(metadata.cu_seqlens, real, sizeof(real)) == 0 &&
              memcmp(metadata.cu_seqlens_padded, physical, sizeof(physical)) == 0 &&
              metadata.max_seqlen == 10,
          "third document: %d ... %d", metadata.cu_seqlens[2], metadata.cu_seqlens[3]);
    guest_expects(guest, "boundary", "tokens", slices[guest->rank], 16);
}

/* Rows of samples that cannot be joined in place. */
static void gaps(struct guest *guest)
{
    static const int32_t cu[] = {0, 8};
    static const struct cplayout_lengths list[] = {{cu, NULL, 2}, {cu, NULL, 2}};
    static int64_t memory[32];
    int64_t shape[] = {2, 8};
    int64_t strides[] = {16, 1};
    const struct cplayout_tensor tensor = {.data = memory,
                                           .device = {CPLAYOUT_DEVICE_CPU, 0},
                                           .ndim = 2,
                                           .dtype = {CPLAYOUT_TYPE_INT, 64, 1},
                                           .shape = shape,
                                           .strides = strides};
    const struct cplayout_field field = {"tokens", &tensor};
    const struct cplayout_batch_args args = {.size = sizeof(args),
                                             .fields = &field,
                                             .field_count = 1,
                                             .samples = list,
                                             .sample_count = 2};
    const int32_t status =
        host_core()->batch_create(guest->context, &args, &guest->batch, &guest->error);

    CHECK(status == CPLAYOUT_ERROR_ARGUMENT &&
              strstr(guest->error.message, "gaps between its 2 samples") != NULL,
          "status %d: %s", status, guest->error.message);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

struct refusal {
    const char *name;
    struct party_batch batch;
    bool packed; /* a pack of 8 rows */
    const char *field;
    const char *text;
};

static const struct refusal refusals[] = {
    {"a near miss",
     {.fields = {{"token", rows, 2, {1, 8}}}},
     false,
     "token",
     "unknown field 'token'; did you mean 'tokens'?"},
    {"a name that is nothing",
     {.fields = {{"zzzzzz", rows, 2, {1, 8}}}},
     false,
     "zzzzzz",
     "was not declared"},
    {"a field twice",
     {.fields = {{"labels", rows, 2, {1, 8}}, {"labels", rows, 2, {1, 8}}}},
     false,
     "labels",
     "labels is given twice"},
    {"lengths that disagree, by the first field",
     {.fields = {{"tokens", rows, 2, {1, 8}}, {"labels", rows, 2, {1, 12}}}},
     false,
     "labels",
     "field labels has 12 entries along axis 1, the sequence has 8 (tokens)"},
    {"lengths that disagree, by sequence_length",
     {.sequence_length = 8, .fields = {{"embeddings", rows, 3, {12, 1, 1}}}},
     false,
     "embeddings",
     "field embeddings has 12 entries along axis 0, the sequence has 8 (sequence_length)"},
    {"lengths that disagree, by samples",
     {.fields = {{"tokens", rows, 2, {1, 12}}}},
     true,
     "tokens",
     "field tokens has 12 entries along axis 1, the sequence has 8 (samples)"},
    {"numbers of samples that disagree",
     {.fields = {{"tokens", rows, 2, {2, 8}}, {"embeddings", rows, 3, {8, 3, 1}}}},
     false,
     "embeddings",
     "field embeddings has 3 entries along axis 1, field tokens has 2"},
    {"a mask of one dimension",
     {.sequence_length = 8, .fields = {{"attention_mask", rows, 1, {1}}}},
     false,
     "attention_mask",
     "must be [B, 1, S, S], it has 1 dimension"},
    {"a mask whose keys are cut",
     {.fields = {{"attention_mask", rows, 4, {1, 1, 8, 4}}}},
     false,
     "attention_mask",
     "must be [B, 1, S, S] with S = 8, it is [1, 1, 8, 4]"},
    {"a mask of two heads",
     {.fields = {{"attention_mask", rows, 4, {1, 2, 4, 4}}}},
     false,
     "attention_mask",
     "it is [1, 2, 4, 4]"},
    {"a mask of packed documents",
     {.fields = {{"attention_mask", rows, 4, {1, 1, 8, 8}}}},
     true,
     "attention_mask",
     "mask.packed"},
    {"positions of four dimensions",
     {.sequence_length = 8, .fields = {{"position_ids", rows, 4, {1, 1, 1, 8}}}},
     false,
     "position_ids",
     "must be [B, S] or [axes, B, S], it has 4 dimensions"},
    {"no length at all",
     {.fields = {{"max_seqlen", rows, 1, {1}}}},
     false,
     "sequence_length",
     "neither a sequence length nor a field"},
    {"a field of no rows",
     {.fields = {{"tokens", rows, 2, {1, 0}}}},
     false,
     "sequence_length",
     "neither a sequence length"},
    {"a length that does not divide",
     {.fields = {{"tokens", rows, 2, {1, 10}}}},
     false,
     "sequence_length",
     "10 is not a multiple of 4"},
};

static void refused(struct guest *guest)
{
    static const int32_t cu[] = {0, 3, 8};
    static const struct cplayout_lengths sample = {cu, NULL, 3};
    const struct refusal *const refusal = guest->self;
    struct party_batch batch = refusal->batch;
    int32_t status;

    batch.samples = refusal->packed ? &sample : NULL;
    batch.sample_count = refusal->packed;
    status = guest_batch(guest, &batch);
    CHECK(status == CPLAYOUT_ERROR_ARGUMENT && strcmp(guest->error.field, refusal->field) == 0 &&
              strstr(guest->error.message, refusal->text) != NULL,
          "status %d, field '%s': %s", status, guest->error.field, guest->error.message);
}

static void test_refusals(void)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct refusal refusal = refusals[i];
        const struct party dense = {.ranks = 2,
                                    .options = {USUAL},
                                    .body = refused,
                                    .self = &refusal};
        const struct party packed = {.ranks = 2,
                                     .options = {PACKED},
                                     .body = refused,
                                     .self = &refusal};

        tap_test("refused: %s", refusal.name);
        party_run(refusal.packed ? &packed : &dense);
    }
}

static void test(const char *name, bool packed, void (*body)(struct guest *guest))
{
    const struct party dense = {.ranks = 2, .options = {USUAL}, .body = body};
    const struct party pack = {.ranks = 2, .options = {PACKED}, .body = body};

    tap_test("%s", name);
    party_run(packed ? &pack : &dense);
}

int main(void)
{
    test("a mask of pairs: query rows are cut, keys are whole", false, mask);
    test("positions of three axes", false, axes);
    test("metadata is never cut", false, metadata);
    test_declared();
    test_wrong_declarations();
    test("samples are joined by physical offsets", true, samples);
    test("samples with gaps between them", true, gaps);
    test_refusals();
    return tap_end();
}
