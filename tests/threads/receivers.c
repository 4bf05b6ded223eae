/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two receivers get of a batch: gpt one view in the attention layout, hybrid the boundary view
 * and an attention view. Padding, windows of sequence parallelism, one rank alone, and stages without
 * fields. All numbers are written out by hand.
 */
#include <string.h>

#include "threads/party.h"

/* Memory of fields that hold the number of the row, and tens of it. */
static int64_t rows[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static int64_t tens[16] = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150};

/* One sequence of 8 tokens with all that a language model's first and last stage need. */
static const struct party_batch dense = {
    .sequence_length = 8,
    .fields = {{"embeddings", rows, 3, {8, 1, 1}},
               {"tokens", rows, 2, {1, 8}},
               {"labels", tens, 2, {1, 8}},
               {"loss_mask", rows, 2, {1, 8}},
               {"position_ids", rows, 2, {1, 8}},
               {"mtp_mask", tens, 2, {1, 8}},
               {"mtp_tokens", rows, 2, {1, 8}},
               {"mtp_labels", tens, 2, {1, 8}}},
};

/* ---- gpt ------------------------------------------------------------------------------------- */

static void gpt(struct guest *guest)
{
    static const int64_t held[2][4] = {{0, 1, 6, 7}, {2, 3, 4, 5}};
    static const char *const fields[] = {"embeddings", "tokens", "loss_mask", "position_ids",
                                         "mtp_tokens"};
    const int64_t *const mine = held[guest->rank];
    int64_t labels[4];

    for (int i = 0; i < 4; i++) {
        labels[i] = 10 * mine[i];
    }
    if (!guest_batch_made(guest, &dense)) {
        return;
    }
    CHECK(guest_layout(guest, "boundary") == guest_layout(guest, "attention") &&
              guest_layout(guest, "linear") == guest_layout(guest, "attention"),
          "more than one view");
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        guest_expects(guest, "boundary", fields[i], mine, 4);
    }
    guest_expects(guest, "attention", "labels", labels, 4);
    guest_expects(guest, "linear", "mtp_mask", labels, 4);
}

static void test_gpt(void)
{
    const struct party party = {
        .ranks = 2,
        .options = {{"context_parallel_size", "2"},
                    {"linear_cp_layout", "contiguous"},
                    {"attention_cp_layout", "zigzag"},
                    {"receiver", "gpt"}},
        .body = gpt,
    };

    tap_test("gpt, P = 2: one view, in zigzag");
    party_run(&party);
}

/* ---- hybrid ---------------------------------------------------------------------------------- */

static void hybrid(struct guest *guest)
{
    static const int64_t slices[2][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}};
    static const int64_t chunks[2][4] = {{0, 1, 6, 7}, {2, 3, 4, 5}};
    static const int64_t masks[2][4] = {{0, 10, 60, 70}, {20, 30, 40, 50}};

    if (!guest_batch_made(guest, &dense)) {
        return;
    }
    guest_expects(guest, "boundary", "embeddings", slices[guest->rank], 4);
    guest_expects(guest, "boundary", "tokens", slices[guest->rank], 4);
    guest_expects(guest, "boundary", "position_ids", slices[guest->rank], 4);
    guest_expects(guest, "attention", "tokens", chunks[guest->rank], 4);
    guest_expects(guest, "attention", "loss_mask", chunks[guest->rank], 4);
    guest_expects(guest, "attention", "mtp_mask", masks[guest->rank], 4);
    guest_expects(guest, "attention", "mtp_labels", masks[guest->rank], 4);
    guest_refused(guest, "attention", "embeddings", "exists in the boundary view alone");
    guest_refused(guest, "boundary", "mtp_mask", "exists in the attention view alone");
    guest_refused(guest, "boundary", "mtp_tokens", "'zigzag'");
}

static void test_hybrid(void)
{
    const struct party party = {
        .ranks = 2,
        .options = {{"context_parallel_size", "2"}, {"linear_cp_layout", "contiguous"}},
        .body = hybrid,
    };

    tap_test("hybrid, P = 2: boundary view and attention view");
    party_run(&party);
}

/* ---- Padding and windows --------------------------------------------------------------------- */

static void check_metadata(struct guest *guest, const char *layout, const int32_t *padded,
                           int32_t longest)
{
    static const int32_t real[] = {0, 3, 13};
    struct cplayout_view_metadata metadata = {.size = sizeof(metadata)};

    if (!CHECK(host_views()->view_metadata(guest->batch, guest_layout(guest, layout), &metadata,
                                           &guest->error) == CPLAYOUT_OK,
               "no metadata")) {
        return;
    }
    CHECK(metadata.entries == 3 && memcmp(metadata.cu_seqlens, real, sizeof(real)) == 0 &&
              memcmp(metadata.cu_seqlens_padded, padded, sizeof(real)) == 0,
          "%s: offsets 0, %d, %d", layout, metadata.cu_seqlens_padded[1],
          metadata.cu_seqlens_padded[2]);
    CHECK(metadata.max_seqlen == 10 && metadata.max_seqlen_padded == longest &&
              metadata.padding_between == 1 && metadata.cu_seqlens_q == metadata.cu_seqlens &&
              metadata.cp_rows == 4 * metadata.local_rows,
          "%s: longest %d, padding %d", layout, metadata.max_seqlen_padded,
          metadata.padding_between);
}

/* Documents 0,3,13 in rows 0,4,16; source rows 3, 14 and 15 are padding. */
static void padded(struct guest *guest)
{
    static const int32_t cu[] = {0, 3, 13};
    static const int32_t cu_padded[] = {0, 4, 16};
    static const int32_t zigzag[] = {0, 8, 32};
    static const struct cplayout_lengths sample = {cu, cu_padded, 3};
    static const struct party_batch batch = {
        .samples = &sample,
        .sample_count = 1,
        .fields = {{"tokens", rows, 2, {1, 16}},
                   {"labels", tens, 2, {1, 16}},
                   {"loss_mask", rows, 2, {1, 16}},
                   {"padding_mask", rows, 2, {1, 16}},
                   {"embeddings", rows, 3, {16, 1, 1}}},
    };
    /* Chunks of 1 and 3 rows: those of rank r of 8, r and 7 - r. Row 4 begins the second document. */
    static const int64_t tokens[4][8] = {{0, -7, 4, 5, 6, -7, -7, -7},
                                         {1, -7, 7, 8, 9, -7, -7, -7},
                                         {2, -7, 10, 11, 12, -7, -7, -7},
                                         {-7, -7, 13, -7, -7, -7, -7, -7}};
    static const int64_t labels[4][8] = {{0, -9, 40, 50, 60, -9, -9, -9},
                                         {10, -9, 70, 80, 90, -9, -9, -9},
                                         {20, -9, 100, 110, 120, -9, -9, -9},
                                         {-9, -9, 130, -9, -9, -9, -9, -9}};
    static const int64_t documents[8] = {0, 0, 1, 1, 1, 1, 1, 1};
    static const int64_t slices[4][4] = {{0, 1, 2, -7},
                                         {4, 5, 6, 7},
                                         {8, 9, 10, 11},
                                         {12, 13, -7, -7}};
    const int32_t cp_rank = guest->rank / 4;
    int64_t masks[8];

    if (!guest_batch_made(guest, &batch)) {
        return;
    }
    check_metadata(guest, "attention", zigzag, 24);
    check_metadata(guest, "boundary", cu_padded, 12);
    guest_expects(guest, "attention", "tokens", tokens[cp_rank], 8);
    guest_expects(guest, "attention", "labels", labels[cp_rank], 8);
    guest_expects(guest, "boundary", "tokens", slices[cp_rank], 4);
    guest_expects(guest, "attention", "document_ids", documents, 8);
    for (int i = 0; i < 8; i++) {
        masks[i] = tokens[cp_rank][i] == -7 ? 0 : tokens[cp_rank][i];
    }
    guest_expects(guest, "attention", "loss_mask", masks, 8);
    for (int i = 0; i < 8; i++) {
        masks[i] = tokens[cp_rank][i] == -7 ? 1 : tokens[cp_rank][i];
    }
    guest_expects(guest, "attention", "padding_mask", masks, 8);
    masks[0] = slices[cp_rank][guest->rank % 4] == -7 ? 0 : slices[cp_rank][guest->rank % 4];
    guest_expects(guest, "boundary", "embeddings", masks, 1);
}

static void test_padded(void)
{
    const struct party party = {
        .ranks = 16,
        .options = {{"context_parallel_size", "4"},
                    {"tensor_model_parallel_size", "4"},
                    {"sequence_parallel", "true"},
                    {"linear_cp_layout", "contiguous"},
                    {"qkv_format", "thd"},
                    {"pad_token_id", "-7"},
                    {"pad_label", "-9"}},
        .body = padded,
    };

    tap_test("P = 4, T = 4, documents 0,3,13 in rows 0,4,16");
    party_run(&party);
}

/* ---- One rank -------------------------------------------------------------------------------- */

static void check_same(struct guest *guest, const char *layout, const char *field,
                       const int64_t *memory)
{
    struct cplayout_view view = {.size = sizeof(view)};

    CHECK(host_views()->view_describe(guest->batch, guest_layout(guest, layout), field, &view,
                                      &guest->error) == CPLAYOUT_OK &&
              (const char *)view.tensor.data + view.tensor.byte_offset == (const char *)memory,
          "%s in %s is no passthrough: %s", field, layout, guest->error.message);
}

static void alone(struct guest *guest)
{
    static const char *const layouts[] = {"boundary", "attention", "zigzag", "striped:2"};

    if (!guest_batch_made(guest, &dense)) {
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        check_same(guest, layouts[i], "tokens", rows);
        check_same(guest, layouts[i], "labels", tens);
    }
    check_same(guest, "boundary", "embeddings", rows + 4 * guest->rank);
    check_same(guest, "attention", "mtp_mask", tens);
}

static void test_alone(void)
{
    struct party party = {.ranks = 1,
                          .options = {{"linear_cp_layout", "contiguous"}},
                          .body = alone};

    tap_test("P = 1 passes the inputs through");
    party_run(&party);
    tap_test("P = 1, T = 2: embeddings are windows, the rest passes through");
    party.ranks = 2;
    party.options[1] = (struct cplayout_option){"tensor_model_parallel_size", "2"};
    party.options[2] = (struct cplayout_option){"sequence_parallel", "true"};
    party_run(&party);
}

/* ---- Middle stages --------------------------------------------------------------------------- */

static void middle(struct guest *guest)
{
    static const int32_t cu[] = {0, 3, 8};
    static const struct cplayout_lengths sample = {cu, NULL, 3};
    static const struct party_batch batch = {.samples = &sample, .sample_count = 1};
    static const char *const layouts[] = {"boundary", "attention"};
    static const int64_t positions[2][4] = {{0, 1, 2, 0}, {1, 2, 3, 4}};

    if (!guest_batch_made(guest, &batch)) {
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        struct cplayout_view_metadata metadata = {.size = sizeof(metadata)};
        const int32_t layout = guest_layout(guest, layouts[i]);

        CHECK(host_views()->view_metadata(guest->batch, layout, &metadata, &guest->error) ==
                      CPLAYOUT_OK &&
                  metadata.entries == 3 && metadata.tokens == 8 && metadata.layout == layout &&
                  metadata.rows == (i == 0 ? 8 : 12),
              "%s: %s", layouts[i], guest->error.message);
    }
    guest_expects(guest, "boundary", "position_ids", positions[guest->rank], 4);
    guest_refused(guest, "boundary", "tokens", "created without field tokens");
}

static void test_middle(void)
{
    const struct party party = {
        .ranks = 2,
        .options = {{"context_parallel_size", "2"},
                    {"linear_cp_layout", "contiguous"},
                    {"qkv_format", "thd"}},
        .body = middle,
    };

    tap_test("a stage without fields has metadata of every view");
    party_run(&party);
}

int main(void)
{
    test_gpt();
    test_hybrid();
    test_padded();
    test_alone();
    test_middle();
    return tap_end();
}
