/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shifted views: in every layout, for every distance, each row has what the field holds that many tokens
 * later in the same document. The oracle looks at every row on its own; examples from reports of other
 * systems are written out by hand.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "threads/deal.h"
#include "threads/party.h"

/* ---- Against the oracle ---------------------------------------------------------------------- */

/* What a row of the stream is. */
static bool is_token(const struct deal *deal, int64_t row)
{
    return row >= 0 && (!deal->packed || deal->packs[0].valid[row]);
}

static int64_t document_of(const struct deal *deal, int64_t row)
{
    return deal->packed ? deal->packs[0].document[row] : 0;
}

/* The row `by` tokens later in its document, -1 if there is none. */
static int64_t later(const struct deal *deal, int64_t row, int64_t by)
{
    const int64_t target = row + by;

    return is_token(deal, row) && target >= 0 && target < deal->stream && is_token(deal, target) &&
                   document_of(deal, target) == document_of(deal, row)
               ? target
               : -1;
}

struct look {
    const struct deal *deal;
    struct seat *seat;
    int32_t layout;
    int64_t count; /* rows of the context-parallel rank */
};

static int64_t row_of(const struct look *look, int64_t i)
{
    const int64_t count = deal_count(look->deal, look->layout);
    const int32_t first = look->seat->rank / look->deal->tp * look->deal->tp;

    return deal_rows(look->deal, look->layout, first + (int32_t)(i / count))[i % count];
}

static int32_t shift(const struct look *look, const struct cplayout_view_shift *wanted,
                     int32_t *values)
{
    int64_t shape[] = {1, look->count};
    const struct cplayout_tensor out = {.data = values,
                                        .device = {CPLAYOUT_DEVICE_CPU, 0},
                                        .ndim = 2,
                                        .dtype = {CPLAYOUT_TYPE_INT, 32, 1},
                                        .shape = shape};
    struct cplayout_view_shift args = *wanted;

    args.size = sizeof(args);
    args.layout = seat_layout(look->seat, deal_names[look->layout]);
    return host_views()->view_shift(look->seat->batch, &args, &out, &look->seat->error);
}

/* Labels hold 1000 + row; padding of labels is -100, here -5. */
static void check_shift(const struct look *look, int64_t by)
{
    static const int64_t fill = -5;
    const struct cplayout_view_shift own = {.field = "labels", .by = by};
    const struct cplayout_view_shift given = {.field = "labels", .by = by, .fill = &fill};
    int32_t *const values = malloc(((size_t)look->count + 1) * 2 * sizeof(*values));
    int32_t *const others = values + look->count;

    tap_require(values != NULL, "no memory");
    CHECK(shift(look, &own, values) == CPLAYOUT_OK && shift(look, &given, others) == CPLAYOUT_OK,
          "%s", look->seat->error.message);
    for (int64_t i = 0; i < look->count; i++) {
        const int64_t target = later(look->deal, row_of(look, i), by);

        CHECK(values[i] == (target >= 0 ? 1000 + target : -100) &&
                  others[i] == (target >= 0 ? 1000 + target : -5),
              "%s by %" PRId64 ": row %" PRId64 " is %d and %d, its target %" PRId64,
              deal_text(look->deal), by, i, values[i], others[i], target);
    }
    free(values);
}

/* Made positions move with the tokens. */
static void check_positions(const struct look *look, int64_t by)
{
    const struct cplayout_view_shift args = {.field = "position_ids", .by = by};
    int32_t *const values = malloc(((size_t)look->count + 1) * sizeof(*values));

    tap_require(values != NULL, "no memory");
    CHECK(shift(look, &args, values) == CPLAYOUT_OK, "%s", look->seat->error.message);
    for (int64_t i = 0; i < look->count; i++) {
        const int64_t target = later(look->deal, row_of(look, i), by);
        const int64_t position = target < 0           ? 0
                                 : look->deal->packed ? look->deal->packs[0].position[target]
                                                      : target;

        CHECK(values[i] == position, "%s by %" PRId64 ": position %d of row %" PRId64,
              deal_text(look->deal), by, values[i], i);
    }
    free(values);
}

static void run(struct world *world, struct seat *seat)
{
    static const int64_t distances[] = {-7, -3, -2, -1, 0, 1, 2, 3, 5, 100};
    const struct deal *const deal = world->self;
    int32_t *const labels = malloc(((size_t)deal->stream + 1) * sizeof(*labels));
    int64_t shape[] = {1, deal->stream};
    const struct cplayout_tensor tensor = {.data = labels,
                                           .device = {CPLAYOUT_DEVICE_CPU, 0},
                                           .ndim = 2,
                                           .dtype = {CPLAYOUT_TYPE_INT, 32, 1},
                                           .shape = shape};
    const struct cplayout_field field = {"labels", &tensor};
    struct cplayout_batch_args args = deal_args(deal);

    tap_require(labels != NULL, "no memory");
    for (int64_t row = 0; row < deal->stream; row++) {
        labels[row] = (int32_t)(1000 + row);
    }
    args.fields = &field;
    args.field_count = 1;
    if (CHECK(host_core()->batch_create(seat->context, &args, &seat->batch, &seat->error) ==
                  CPLAYOUT_OK,
              "%s", seat->error.message)) {
        for (int32_t i = 0; i < DEAL_LAYOUTS * 10; i++) {
            const struct look look = {deal, seat, i / 10, deal_count(deal, i / 10) * deal->tp};

            check_shift(&look, distances[i % 10]);
            check_positions(&look, distances[i % 10]);
        }
    }
    world_meet(world);
    host_core()->batch_destroy(seat->batch);
    seat->batch = NULL;
    free(labels);
}

static void test_deal(struct deal *deal)
{
    const struct host_config config = {.cp = deal->cp,
                                       .tp = deal->tp,
                                       .packed = deal->packed,
                                       .linear = "contiguous",
                                       .attention = "zigzag",
                                       .boundary = "mirror",
                                       .timeout = "20"};
    struct world world;

    world_open(&world, &config);
    world.self = deal;
    world_run(&world, run);
    world_close(&world);
    deal_fini(deal);
}

static void test_oracle(void)
{
    static const struct packed_ranks sizes[] = {{1, 1}, {2, 1}, {2, 3}, {3, 2}, {4, 1}, {8, 1}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct deal deal;

        tap_test("shifts against the oracle, P = %d, T = %d", sizes[i].cp, sizes[i].tp);
        deal_dense(&deal, sizes[i], 3);
        test_deal(&deal);
        for (int32_t kind = 0; kind < DEAL_KINDS; kind++) {
            deal_pack(&deal, sizes[i], (enum deal_kind)kind, (int64_t)i + kind);
            test_deal(&deal);
        }
    }
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static int64_t rows[64];

static void refuse(struct guest *guest, const struct cplayout_view_shift *args, uint8_t bits,
                   const char *text)
{
    int64_t memory[8];
    int64_t shape[] = {1, 4};
    const struct cplayout_tensor out = {.data = memory,
                                        .device = {CPLAYOUT_DEVICE_CPU, 0},
                                        .ndim = 2,
                                        .dtype = {CPLAYOUT_TYPE_INT, bits, 1},
                                        .shape = shape};
    const int32_t status = host_views()->view_shift(guest->batch, args, &out, &guest->error);

    CHECK(status == CPLAYOUT_ERROR_ARGUMENT && strstr(guest->error.message, text) != NULL,
          "'%s': status %d: %s", text, status, guest->error.message);
}

static void refusals(struct guest *guest)
{
    static const struct party_batch batch = {.fields = {{"tokens", rows, 2, {1, 8}},
                                                        {"max_seqlen", rows, 1, {1}},
                                                        {"attention_mask", rows, 4, {1, 1, 8, 8}}}};
    static const int64_t large = INT64_C(1) << 40;
    struct cplayout_view_shift args = {.size = sizeof(args), .field = "tokens", .by = 1};

    if (!guest_batch_made(guest, &batch)) {
        return;
    }
    refuse(guest, NULL, 64, "args must not be NULL");
    args.by = INT64_MIN;
    refuse(guest, &args, 64, "beyond any sequence");
    args.by = INT64_MAX;
    refuse(guest, &args, 64, "beyond any sequence");
    args.by = 1;
    args.field = NULL;
    refuse(guest, &args, 64, "args.field must not be NULL");
    args.field = "labels";
    refuse(guest, &args, 64, "without field labels");
    args.field = "max_seqlen";
    refuse(guest, &args, 64, "it is metadata");
    args.field = "attention_mask";
    args.layout = guest_layout(guest, "attention");
    refuse(guest, &args, 64, "a mask of pairs");
    args.field = "tokens";
    refuse(guest, &args, 32, "32 bits");
    args.layout = 7;
    refuse(guest, &args, 64, "7 is no layout handle");
    args.layout = 0;
    args.reserved = 1;
    refuse(guest, &args, 64, "args.reserved must be 0");
    args.reserved = 0;
    args.field = "position_ids";
    args.fill = &large;
    refuse(guest, &args, 32, "the fill value 1099511627776 does not fit");
    args.size = 8;
    refuse(guest, &args, 64, "args.size");
}

static void test_refusals(void)
{
    const struct party party = {.ranks = 2,
                                .options = {{"context_parallel_size", "2"},
                                            {"linear_cp_layout", "contiguous"}},
                                .body = refusals};

    tap_test("shifts that are refused");
    party_run(&party);
}

int main(void)
{
    test_oracle();
    test_refusals();
    return tap_end();
}
