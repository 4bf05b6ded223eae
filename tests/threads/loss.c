/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Losses: sums that select, in every type, and means over ranks that weigh every token alike. Numbers of
 * reports from other systems are written out by hand; random ones are compared with a sum over the whole
 * sequence.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "threads/party.h"
#include "threads/wire.h"

enum { TOKENS_MOST = 64 };

/* Whether two numbers differ by rounding at most. */
static bool close_to(double a, double b)
{
    return fabs(a - b) <= 1e-12 * (1 + fabs(b));
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static struct cplayout_tensor tensor_of(void *data, struct cplayout_type type, int64_t *shape)
{
    return (struct cplayout_tensor){.data = data,
                                    .device = {CPLAYOUT_DEVICE_CPU, 0},
                                    .ndim = 2,
                                    .dtype = type,
                                    .shape = shape};
}

/* 1, -2, 0.5, infinity, NaN, the smallest, in every type; only what the mask lets count is added. */
static const struct {
    const char *name;
    struct cplayout_type type;
    uint64_t bits[4]; /* 1, -2, 0.5 and NaN */
    uint64_t small;   /* the smallest above 0, */
    double value;     /* which is this */
} types[] = {
    {"fp16", {CPLAYOUT_TYPE_FLOAT, 16, 1}, {0x3c00, 0xc000, 0x3800, 0x7e00}, 1, 0x1p-24},
    {"bf16", {CPLAYOUT_TYPE_BFLOAT, 16, 1}, {0x3f80, 0xc000, 0x3f00, 0x7fc0}, 1, 0x1p-133},
    {"fp32",
     {CPLAYOUT_TYPE_FLOAT, 32, 1},
     {0x3f800000, 0xc0000000, 0x3f000000, 0x7fc00000},
     1,
     0x1p-149},
    {"fp64",
     {CPLAYOUT_TYPE_FLOAT, 64, 1},
     {0x3ff0000000000000, 0xc000000000000000, 0x3fe0000000000000, 0x7ff8000000000000},
     1,
     0x1p-1074},
};

/* Writes the low bytes of a word as an element. */
static void write_element(unsigned char *memory, size_t index, uint8_t bits, uint64_t word)
{
    const uint8_t byte = (uint8_t)word;
    const uint16_t half = (uint16_t)word;
    const uint32_t single = (uint32_t)word;
    const void *const from = bits == 8    ? (const void *)&byte
                             : bits == 16 ? (const void *)&half
                             : bits == 32 ? (const void *)&single
                                          : (const void *)&word;

    memcpy(memory + index * bits / 8, from, bits / 8);
}

static struct cplayout_loss sum_of(const struct cplayout_tensor *values,
                                   const struct cplayout_tensor *mask)
{
    const struct cplayout_loss_sum_args args = {sizeof(args), values, mask};
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_loss loss = {0};

    CHECK(host_views()->loss_sum(&args, &loss, &error) == CPLAYOUT_OK, "%s", error.message);
    return loss;
}

static void test_types(void)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        unsigned char values[4 * 8];
        unsigned char masks[4] = {1, 1, 1, 0};
        int64_t shape[] = {1, 4};
        const struct cplayout_tensor value = tensor_of(values, types[i].type, shape);
        const struct cplayout_tensor mask =
            tensor_of(masks, (struct cplayout_type){CPLAYOUT_TYPE_BOOL, 8, 1}, shape);
        struct cplayout_loss loss;

        tap_test("losses in %s, and a NaN that does not count", types[i].name);
        for (size_t k = 0; k < 4; k++) {
            write_element(values, k, types[i].type.bits, types[i].bits[k]);
        }
        loss = sum_of(&value, &mask);
        CHECK(close_to(loss.sum, -0.5) && loss.count == 3, "%g of %d", loss.sum, (int)loss.count);
        CHECK(isnan(sum_of(&value, NULL).sum) && sum_of(&value, NULL).count == 4,
              "without a mask the NaN counts");
        write_element(values, 3, types[i].type.bits, types[i].small);
        masks[0] = masks[1] = masks[2] = 0;
        masks[3] = 1;
        loss = sum_of(&value, &mask);
        CHECK(memcmp(&loss.sum, &types[i].value, sizeof(loss.sum)) == 0, "the smallest is %g",
              loss.sum);
    }
}

/* Half precision against a value made of its parts. */
static void test_halves(void)
{
    tap_test("every number in fp16");
    for (uint32_t bits = 0; bits < 0x7c00; bits++) {
        const double expected =
            bits < 1024 ? ldexp(bits, -24) : ldexp(1024 + bits % 1024, (int)(bits / 1024) - 25);
        uint16_t half = (uint16_t)(bits | 0x8000);
        int64_t shape[] = {1, 1};
        const struct cplayout_tensor value =
            tensor_of(&half, (struct cplayout_type){CPLAYOUT_TYPE_FLOAT, 16, 1}, shape);

        CHECK(close_to(sum_of(&value, NULL).sum, -expected), "0x%04x", half);
    }
}

static void test_masks(void)
{
    static const struct cplayout_type mask_types[] = {
        {CPLAYOUT_TYPE_BOOL, 8, 1},    {CPLAYOUT_TYPE_UINT, 8, 1},   {CPLAYOUT_TYPE_INT, 16, 1},
        {CPLAYOUT_TYPE_INT, 32, 1},    {CPLAYOUT_TYPE_INT, 64, 1},   {CPLAYOUT_TYPE_FLOAT, 16, 1},
        {CPLAYOUT_TYPE_BFLOAT, 16, 1}, {CPLAYOUT_TYPE_FLOAT, 32, 1}, {CPLAYOUT_TYPE_FLOAT, 64, 1},
    };
    static const uint64_t ones[] =
        {1, 1, 256, 65536, UINT64_C(1) << 40, 0x3c00, 0x3f80, 0x3f800000, 0x3ff0000000000000};
    double values[6] = {1, 2, 4, 8, 16, 32};
    int64_t shape[] = {2, 3};
    const struct cplayout_tensor value =
        tensor_of(values, (struct cplayout_type){CPLAYOUT_TYPE_FLOAT, 64, 1}, shape);

    tap_test("masks of every type, with strides of their own");
    for (size_t i = 0; i < sizeof(mask_types) / sizeof(mask_types[0]); i++) {
        const uint8_t bits = mask_types[i].bits;
        unsigned char memory[2 * 8 * 8] = {0};
        int64_t strides[] = {8, 2};
        struct cplayout_tensor mask = tensor_of(memory, mask_types[i], shape);
        struct cplayout_loss loss;

        mask.strides = strides;
        write_element(memory, 2, bits, ones[i]);  /* [0, 1] */
        write_element(memory, 12, bits, ones[i]); /* [1, 2] */
        write_element(memory, 1, bits, ones[i]);  /* between */
        if (mask_types[i].code == CPLAYOUT_TYPE_FLOAT && bits == 32) {
            write_element(memory, 0, bits, 0x80000000); /* -0 is 0 */
        }
        loss = sum_of(&value, &mask);
        CHECK(close_to(loss.sum, 34) && loss.count == 2, "type %d of %d bits: %g of %d",
              mask_types[i].code, bits, loss.sum, (int)loss.count);
    }
}

static void refuse_sum(const struct cplayout_tensor *values, const struct cplayout_tensor *mask,
                       const char *text)
{
    const struct cplayout_loss_sum_args args = {sizeof(args), values, mask};
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_loss loss = {7, 7};
    const int32_t status = host_views()->loss_sum(&args, &loss, &error);

    CHECK(status == CPLAYOUT_ERROR_ARGUMENT && strstr(error.message, text) != NULL &&
              loss.count == 7,
          "'%s': status %d: %s", text, status, error.message);
}

static void test_refusals(void)
{
    double memory[8] = {0};
    int64_t shape[] = {1, 4};
    int64_t other[] = {1, 3};
    struct cplayout_tensor values =
        tensor_of(memory, (struct cplayout_type){CPLAYOUT_TYPE_FLOAT, 64, 1}, shape);
    struct cplayout_tensor mask =
        tensor_of(memory, (struct cplayout_type){CPLAYOUT_TYPE_BOOL, 8, 1}, other);
    struct cplayout_error error = {.size = sizeof(error)};
    const struct cplayout_loss_sum_args args = {sizeof(args), &values, NULL};

    tap_test("sums that are refused");
    refuse_sum(NULL, NULL, "values must not be NULL");
    refuse_sum(&values, &mask, "mask has 3 entries along axis 1 instead of 4");
    mask.dtype.lanes = 2;
    refuse_sum(&values, &mask, "a mask is of booleans, integers or floats");
    values.dtype.code = CPLAYOUT_TYPE_INT;
    refuse_sum(&values, NULL, "losses are fp16, bf16, fp32 or fp64");
    values.dtype = (struct cplayout_type){CPLAYOUT_TYPE_FLOAT, 8, 1};
    refuse_sum(&values, NULL, "8 bits");
    values.ndim = 0;
    refuse_sum(&values, NULL, "ndim 0");
    CHECK(host_views()->loss_sum(NULL, &(struct cplayout_loss){0}, &error) ==
                  CPLAYOUT_ERROR_ARGUMENT &&
              host_views()->loss_sum(&args, NULL, &error) == CPLAYOUT_ERROR_ARGUMENT,
          "NULL");
}

/* ---- Means over ranks ------------------------------------------------------------------------ */

/* What each context-parallel rank has, and what must come of it. */
struct averaging {
    const char *name;
    int32_t cp;
    int32_t tp;
    int32_t averaging_ranks;
    struct cplayout_loss local[4];
    double mean;
    uint64_t count;
};

static const struct averaging averagings[] = {
    {"losses 1, 1 and 4, two of them on rank 0: no mean of means", 2, 1, 2, {{2, 2}, {4, 1}}, 2, 3},
    {"sums and counts (2, 2) and (4, 1) are 2, not 2.5", 2, 1, 0, {{2, 2}, {4, 1}}, 2, 3},
    {"a rank without a token that counts", 2, 1, 2, {{0, 0}, {12, 4}}, 3, 4},
    {"no rank with one", 2, 1, 2, {{0, 0}, {0, 0}}, 0, 0},
    {"half of four ranks are padding", 4, 1, 4, {{8, 4}, {4, 4}, {0, 0}, {0, 0}}, 1.5, 8},
    {"one token in all", 4, 1, 4, {{0, 0}, {0, 0}, {5, 1}, {0, 0}}, 5, 1},
    {"local counts 1, 4, 4, 5: 14 tokens, not 14/3",
     4,
     1,
     1,
     {{4, 1}, {16, 4}, {16, 4}, {20, 5}},
     4,
     14},
    {"replicas of tensor parallelism count once", 2, 2, 2, {{-28.43, 2}, {0, 1}}, -28.43 / 3, 3},
    {"one rank alone", 1, 1, 1, {{9, 3}}, 3, 3},
};

static void average(struct guest *guest)
{
    const struct averaging *const averaging = guest->self;
    struct cplayout_loss_mean_args args = {
        .size = sizeof(args),
        .local = &averaging->local[guest->rank / averaging->tp],
        .terms = 1,
        .averaging_ranks = averaging->averaging_ranks,
    };
    const double ranks = averaging->averaging_ranks > 0 ? averaging->averaging_ranks : 1;
    struct cplayout_loss_mean mean;

    CHECK(host_views()->loss_mean(guest->context, &args, &mean, &guest->error) == CPLAYOUT_OK, "%s",
          guest->error.message);
    CHECK(close_to(mean.mean, averaging->mean) && mean.count == averaging->count &&
              close_to(mean.sum, averaging->mean * (double)averaging->count) &&
              close_to(mean.factor, averaging->count > 0 ? ranks / (double)averaging->count : 0),
          "rank %d: mean %g of %d, factor %g", guest->rank, mean.mean, (int)mean.count,
          mean.factor);
}

/* A party of P x T ranks. */
static struct party party_of(int32_t cp, int32_t tp, char sizes[2][16])
{
    struct party party = {.ranks = cp * tp,
                          .options = {{"context_parallel_size", sizes[0]},
                                      {"tensor_model_parallel_size", sizes[1]},
                                      {"sequence_parallel", tp > 1 ? "true" : "false"},
                                      {"timeout_seconds", "20"}}};

    (void)snprintf(sizes[0], 16, "%d", cp);
    (void)snprintf(sizes[1], 16, "%d", tp);
    return party;
}

static void test_averages(void)
{
    for (size_t i = 0; i < sizeof(averagings) / sizeof(averagings[0]); i++) {
        struct averaging averaging = averagings[i];
        char sizes[2][16];
        struct party party = party_of(averaging.cp, averaging.tp, sizes);

        tap_test("mean: %s", averaging.name);
        party.body = average;
        party.self = &averaging;
        party_run(&party);
    }
}

/* ---- Data-parallel ranks, several losses, and the order of sums ------------------------------- */

/* As if another replica had the same sums and counts once more. */
static int32_t twice(void *self, double *values, uint64_t count)
{
    *(uint64_t *)self = count;
    for (uint64_t i = 0; i < count; i++) {
        values[i] *= 2;
    }
    return 0;
}

static void several(struct guest *guest)
{
    const struct cplayout_loss local[3] = {{1.0 + guest->rank, 2},
                                           {0.1, 1},
                                           {guest->rank == 1 ? 8 : 0, guest->rank == 1}};
    uint64_t reduced = 0;
    const struct cplayout_loss_mean_args args = {.size = sizeof(args),
                                                 .local = local,
                                                 .terms = 3,
                                                 .reduce = twice,
                                                 .reduce_self = &reduced,
                                                 .averaging_ranks = 6};
    struct cplayout_loss_mean means[3];
    const double tenths = 0.1 + 0.1 + 0.1;

    CHECK(host_views()->loss_mean(guest->context, &args, means, &guest->error) == CPLAYOUT_OK, "%s",
          guest->error.message);
    CHECK(reduced == 6 && close_to(means[0].mean, 1) && means[0].count == 12 &&
              close_to(means[0].factor, 0.5),
          "%g of %d", means[0].mean, (int)means[0].count);
    CHECK(means[1].count == 6 && means[2].count == 2 && close_to(means[2].mean, 8), "%g",
          means[2].mean);
    CHECK(fabs(means[1].sum - 2 * tenths) <= 0, "sums are added in the order of the ranks");
}

static int32_t fail(void *self, double *values, uint64_t count)
{
    (void)self;
    (void)values;
    (void)count;
    return 42;
}

/* The host's sum fails on rank 1: its context has failed, and the next collective of all does. */
static void failing(struct guest *guest)
{
    const struct cplayout_loss local = {1, 1};
    struct cplayout_loss_mean_args args = {.size = sizeof(args),
                                           .local = &local,
                                           .terms = 1,
                                           .reduce = guest->rank == 1 ? fail : NULL};
    struct cplayout_loss_mean mean;
    const int32_t status = host_views()->loss_mean(guest->context, &args, &mean, &guest->error);

    CHECK(guest->rank == 1
              ? status == CPLAYOUT_ERROR_PEER && strstr(guest->error.message, "status 42") != NULL
              : status == CPLAYOUT_OK || status == CPLAYOUT_ERROR_PEER,
          "rank %d: status %d: %s", guest->rank, status, guest->error.message);
    args.reduce = NULL;
    CHECK(host_views()->loss_mean(guest->context, &args, &mean, &guest->error) ==
              CPLAYOUT_ERROR_PEER,
          "rank %d goes on", guest->rank);
}

/* ---- Ranks that disagree ---------------------------------------------------------------------- */

static void expect(struct guest *guest, const struct cplayout_loss_mean_args *args, int32_t status,
                   const char *text)
{
    struct cplayout_loss_mean means[CPLAYOUT_LOSS_TERMS_MOST];
    const int32_t got = host_views()->loss_mean(guest->context, args, means, &guest->error);

    CHECK(got == status && strstr(guest->error.message, text) != NULL, "rank %d: status %d: %s",
          guest->rank, got, guest->error.message);
}

static const struct cplayout_loss nothing[CPLAYOUT_LOSS_TERMS_MOST];

static void other_terms(struct guest *guest)
{
    const struct cplayout_loss_mean_args args = {.size = sizeof(args),
                                                 .local = nothing,
                                                 .terms = guest->rank == 1 ? 2 : 1};

    expect(guest, &args, CPLAYOUT_ERROR_MISMATCH, "number of losses");
}

static void other_ranks(struct guest *guest)
{
    const struct cplayout_loss_mean_args args = {.size = sizeof(args),
                                                 .local = nothing,
                                                 .terms = 1,
                                                 .averaging_ranks = guest->rank + 1};

    expect(guest, &args, CPLAYOUT_ERROR_MISMATCH, "averaging_ranks");
}

/* Rank 0 creates a batch meanwhile. */
static void other_call(struct guest *guest)
{
    static const struct party_batch batch = {.sequence_length = 12};
    const struct cplayout_loss_mean_args args = {.size = sizeof(args),
                                                 .local = nothing,
                                                 .terms = 1};
    struct cplayout_loss_mean mean;
    const int32_t status =
        guest->rank == 0 ? guest_batch(guest, &batch)
                         : host_views()->loss_mean(guest->context, &args, &mean, &guest->error);

    CHECK((status == CPLAYOUT_ERROR_MISMATCH || status == CPLAYOUT_ERROR_PEER) &&
              strstr(guest->error.message, "averages losses") != NULL &&
              strstr(guest->error.message, "creates a batch") != NULL,
          "rank %d: status %d: %s", guest->rank, status, guest->error.message);
}

/* All ranks alike: their contexts live on. */
static void wrong(struct guest *guest)
{
    const struct cplayout_loss large = {0, (UINT64_C(1) << 53) + 1};
    struct cplayout_loss_mean_args args = {.size = sizeof(args), .local = nothing};

    expect(guest, &args, CPLAYOUT_ERROR_ARGUMENT, "1 to 8 losses, not 0");
    args.terms = 9;
    expect(guest, &args, CPLAYOUT_ERROR_ARGUMENT, "1 to 8 losses, not 9");
    args.terms = 1;
    args.local = NULL;
    expect(guest, &args, CPLAYOUT_ERROR_ARGUMENT, "args.local must not be NULL");
    args.local = &large;
    expect(guest, &args, CPLAYOUT_ERROR_ARGUMENT, "above 2^53");
    args.local = nothing;
    args.averaging_ranks = -1;
    expect(guest, &args, CPLAYOUT_ERROR_ARGUMENT, "averaging_ranks is -1");
    args.averaging_ranks = 0;
    CHECK(host_views()->loss_mean(guest->context, &args, NULL, &guest->error) ==
              CPLAYOUT_ERROR_ARGUMENT,
          "no place for the result");
    expect(guest, NULL, CPLAYOUT_ERROR_ARGUMENT, "args must not be NULL");
}

static void test(const char *name, void (*body)(struct guest *guest))
{
    char sizes[2][16];
    struct party party = party_of(3, 1, sizes);

    tap_test("%s", name);
    party.body = body;
    party_run(&party);
}

/* ---- Without a control channel ---------------------------------------------------------------- */

static void run_mute(struct world *world, struct seat *seat)
{
    const struct cplayout_loss_mean_args args = {.size = sizeof(args),
                                                 .local = nothing,
                                                 .terms = 1};
    struct cplayout_loss_mean mean;

    (void)world;
    seat->status = host_views()->loss_mean(seat->context, &args, &mean, &seat->error);
    CHECK(seat->status == CPLAYOUT_ERROR_UNSUPPORTED &&
              strstr(seat->error.message, "allgather") != NULL,
          "status %d: %s", seat->status, seat->error.message);
}

static void test_mute(void)
{
    const struct host_config config = {.cp = 2,
                                       .transport = COMMUNICATOR,
                                       .timeout = "5",
                                       .traits = {.no_allgather = true}};
    struct world world;

    tap_test("a communicator without allgather");
    world_open(&world, &config);
    world_run(&world, run_mute);
    world_close(&world);
}

int main(void)
{
    test_types();
    test_halves();
    test_masks();
    test_refusals();
    test_averages();
    test("several losses over data-parallel ranks", several);
    test("a sum over data-parallel ranks that fails", failing);
    test("another number of losses", other_terms);
    test("other averaging ranks", other_ranks);
    test("another call", other_call);
    test("wrong arguments of loss_mean", wrong);
    test_mute();
    return tap_end();
}
