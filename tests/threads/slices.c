/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views of two chunks as slices of the input, [B, 2, h], and layouts that a host names for views beside
 * those of its layers.
 */
#include <inttypes.h>
#include <string.h>

#include "threads/party.h"

static int64_t rows[96];

static void number_rows(void)
{
    for (int i = 0; i < 96; i++) {
        rows[i] = i;
    }
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

static int32_t describe(struct guest *guest, const char *layout, const char *field,
                        struct cplayout_view *view)
{
    *view = (struct cplayout_view){.size = sizeof(*view)};
    return host_views()->view_chunks(guest->batch, guest_layout(guest, layout), field, view,
                                     &guest->error);
}

/* [B, 2, h] or [2, h, B, H]: every number is the one of its place in the input. */
static void check_tokens(struct guest *guest, int64_t samples, int64_t length, int64_t cp)
{
    const int64_t h = length / (2 * cp);
    struct cplayout_view view;

    if (!CHECK(describe(guest, "zigzag", "tokens", &view) == CPLAYOUT_OK, "%s",
               guest->error.message)) {
        return;
    }
    CHECK(view.tensor.ndim == 3 && view.row_axis == 1 && view.shape[0] == samples &&
              view.shape[1] == 2 && view.shape[2] == h && view.tensor.data == rows,
          "shape [%d, %d, %d]", (int)view.shape[0], (int)view.shape[1], (int)view.shape[2]);
    for (int64_t i = 0; i < samples * 2 * h; i++) {
        const int64_t b = i / (2 * h);
        const int64_t chunk = i / h % 2 == 0 ? guest->rank : 2 * cp - 1 - guest->rank;
        const int64_t at = (int64_t)(view.tensor.byte_offset / 8) + b * view.strides[0] +
                           i / h % 2 * view.strides[1] + i % h * view.strides[2];

        CHECK(rows[at] == b * length + chunk * h + i % h, "rank %d: entry %" PRId64 " is %" PRId64,
              guest->rank, i, rows[at]);
    }
}

static void check_hidden(struct guest *guest)
{
    struct cplayout_view view;

    CHECK(describe(guest, "zigzag", "hidden", &view) == CPLAYOUT_OK && view.tensor.ndim == 4 &&
              view.row_axis == 0 && view.shape[0] == 2 && view.shape[1] == 2 &&
              view.shape[2] == 2 && view.shape[3] == 3 &&
              view.strides[0] == (7 - 2 * guest->rank) * 2 * 6 && view.strides[1] == 6 &&
              view.tensor.byte_offset == (uint64_t)(8 * guest->rank * 2 * 6),
          "rank %d: %s", guest->rank, guest->error.message);
}

/* P = 4, 16 tokens, 2 samples. */
static void chunks(struct guest *guest)
{
    static const struct party_batch batch = {.fields = {{"tokens", rows, 2, {2, 16}},
                                                        {"hidden", rows, 3, {16, 2, 3}},
                                                        {"max_seqlen", rows, 1, {1}}}};
    struct cplayout_view view;

    (void)guest_layout(guest, "striped:1");
    if (!guest_batch_made(guest, &batch)) {
        return;
    }
    check_tokens(guest, 2, 16, 4);
    check_hidden(guest);
    CHECK(describe(guest, "contiguous", "tokens", &view) == CPLAYOUT_OK && view.shape[1] == 2 &&
              view.strides[1] == 2 && view.tensor.byte_offset == (uint64_t)(32 * guest->rank),
          "%s", guest->error.message);
    CHECK(describe(guest, "striped:1", "tokens", &view) == CPLAYOUT_ERROR_ARGUMENT &&
              strstr(guest->error.message, "4 runs") != NULL,
          "%s", guest->error.message);
    CHECK(describe(guest, "zigzag", "position_ids", &view) == CPLAYOUT_ERROR_ARGUMENT &&
              strstr(guest->error.message, "the plugin makes it") != NULL,
          "%s", guest->error.message);
    CHECK(describe(guest, "zigzag", "max_seqlen", &view) == CPLAYOUT_ERROR_ARGUMENT &&
              strstr(guest->error.message, "it is metadata") != NULL,
          "%s", guest->error.message);
    CHECK(describe(guest, "zigzag", "labels", &view) == CPLAYOUT_ERROR_ARGUMENT, "labels");
}

/* Documents of 3 and 5: on some rank zigzag adds padding. */
static void padded(struct guest *guest)
{
    static const int32_t cu[] = {0, 3, 8};
    static const struct cplayout_lengths sample = {cu, NULL, 3};
    static const struct party_batch batch = {.samples = &sample,
                                             .sample_count = 1,
                                             .fields = {{"tokens", rows, 2, {1, 8}}}};
    struct cplayout_view view;

    if (guest_batch_made(guest, &batch)) {
        CHECK(describe(guest, "zigzag", "tokens", &view) == CPLAYOUT_ERROR_ARGUMENT, "rank %d: %s",
              guest->rank, guest->error.message);
    }
}

/* ---- Layouts on demand ------------------------------------------------------------------------ */

static void on_demand(struct guest *guest)
{
    static const struct party_batch batch = {.fields = {{"tokens", rows, 2, {1, 16}}}};
    static const int64_t striped[4][4] = {{0, 1, 8, 9},
                                          {2, 3, 10, 11},
                                          {4, 5, 12, 13},
                                          {6, 7, 14, 15}};
    struct cplayout_view view = {.size = sizeof(view)};
    struct cplayout_batch *older;
    int32_t layout;

    if (!guest_batch_made(guest, &batch)) {
        return;
    }
    older = guest->batch;
    guest->batch = NULL;
    layout = guest_layout(guest, "striped:2");
    CHECK(layout == 2 && guest_layout(guest, "striped:2") == 2, "handle %d", layout);
    CHECK(host_views()->view_describe(older, layout, "tokens", &view, &guest->error) ==
                  CPLAYOUT_ERROR_ARGUMENT &&
              strstr(guest->error.message, "2 is no layout handle of this batch") != NULL,
          "an older batch: %s", guest->error.message);
    host_core()->batch_destroy(older);
    if (guest_batch_made(guest, &batch)) {
        guest_expects(guest, "striped:2", "tokens", striped[guest->rank], 4);
    }
}

/* Hidden states convert between any two layouts that have a name. */
static void convert(struct guest *guest)
{
    static const struct party_batch batch = {.sequence_length = 16};
    const int32_t striped = guest_layout(guest, "striped:2");
    int64_t input[4];
    int64_t output[4];
    int64_t shape[] = {4};
    const struct cplayout_tensor in = {.data = input,
                                       .device = {CPLAYOUT_DEVICE_CPU, 0},
                                       .ndim = 1,
                                       .dtype = {CPLAYOUT_TYPE_INT, 64, 1},
                                       .shape = shape};
    struct cplayout_tensor out = in;
    struct cplayout_convert_call call = {.size = sizeof(call),
                                         .input = &in,
                                         .from_layout = guest_layout(guest, "contiguous"),
                                         .to_layout = striped};

    for (int i = 0; i < 4; i++) {
        input[i] = 4 * guest->rank + i;
    }
    out.data = output;
    if (!guest_batch_made(guest, &batch)) {
        return;
    }
    call.batch = guest->batch;
    CHECK(host_core()->convert(guest->context, &call, &out, &guest->error) == CPLAYOUT_OK, "%s",
          guest->error.message);
    for (int i = 0; i < 4; i++) {
        CHECK(output[i] == 2 * guest->rank + i / 2 * 8 + i % 2, "rank %d: row %d is %" PRId64,
              guest->rank, i, output[i]);
    }
}

static void limits(struct guest *guest)
{
    static const char *const names[] = {"mirror",    "zigzag-stream", "striped:1",
                                        "striped:2", "striped:4",     "balanced:0.1"};
    static const struct party_batch odd = {.sequence_length = 16};
    int32_t layout = -1;

    for (int32_t i = 0; i < 6; i++) {
        CHECK(guest_layout(guest, names[i]) == 2 + i, "%s", names[i]);
    }
    CHECK(host_core()->layout(guest->context, "striped:8", &layout, &guest->error) ==
                  CPLAYOUT_ERROR_ARGUMENT &&
              layout == -1 && strstr(guest->error.message, "at most 8") != NULL,
          "a ninth: %s", guest->error.message);
    CHECK(host_core()->layout(guest->context, "ring", &layout, &guest->error) ==
                  CPLAYOUT_ERROR_ARGUMENT &&
              strstr(guest->error.message, "nor is it 'linear'") != NULL,
          "none: %s", guest->error.message);
    CHECK(guest_batch(guest, &odd) == CPLAYOUT_OK, "%s", guest->error.message);
}

static void wrong_length(struct guest *guest)
{
    static const struct party_batch batch = {.sequence_length = 24};

    (void)guest_layout(guest, "striped:4");
    CHECK(guest_batch(guest, &batch) == CPLAYOUT_ERROR_ARGUMENT &&
              strstr(guest->error.message, "24 is not a multiple of 16") != NULL,
          "%s", guest->error.message);
}

static void disagree(struct guest *guest)
{
    static const struct party_batch batch = {.sequence_length = 16};

    (void)guest_layout(guest, guest->rank == 1 ? "mirror" : "striped:1");
    CHECK(guest_batch(guest, &batch) == CPLAYOUT_ERROR_MISMATCH &&
              strstr(guest->error.message, "layouts") != NULL,
          "rank %d: %s", guest->rank, guest->error.message);
}

/* Of any shape, with rows first. */
static const struct cplayout_field_declaration hidden = {"hidden", 0, 0, 0};

static void test(const char *name, bool packed, void (*body)(struct guest *guest))
{
    const struct party party = {.ranks = 4,
                                .options = {{"context_parallel_size", "4"},
                                            {"linear_cp_layout", "contiguous"},
                                            {"timeout_seconds", "20"},
                                            {"qkv_format", packed ? "thd" : "sbhd"}},
                                .declared = &hidden,
                                .declared_count = 1,
                                .body = body};

    tap_test("%s", name);
    party_run(&party);
}

int main(void)
{
    number_rows();
    test("zigzag of a dense batch as [B, 2, h]", false, chunks);
    test("two chunks with padding are no slice", true, padded);
    test("a layout that is named for views", false, on_demand);
    test("a conversion to it", false, convert);
    test("eight layouts and no more", false, limits);
    test("a length that a named layout cannot take", false, wrong_length);
    test("ranks that name different layouts", false, disagree);
    return tap_end();
}
