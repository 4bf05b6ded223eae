/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong samples: on all ranks each gets ARGUMENT and can go on; on one rank the others get MISMATCH
 * with its reason. Samples without qkv_format=thd and the other way round.
 */
#include <string.h>

#include "threads/deal.h"

enum { ARGUMENT = CPLAYOUT_ERROR_ARGUMENT, MISMATCH = CPLAYOUT_ERROR_MISMATCH, RANKS = 3 };

/* Two samples, [3/4 5/8] and [6/6], 18 rows; right until a test changes a part. */
struct attempt {
    struct cplayout_batch_args args;
    struct cplayout_lengths samples[2];
    int32_t cu[2][3];
    int32_t cu_padded[2][3];
    struct cplayout_field field;
    struct cplayout_tensor tensor;
    int64_t shape[2];
    int32_t memory[24];
};

static void attempt_init(struct attempt *attempt)
{
    *attempt = (struct attempt){
        .args = {.size = sizeof(attempt->args),
                 .samples = attempt->samples,
                 .sample_count = 2,
                 .fields = &attempt->field,
                 .field_count = 1},
        .samples = {{attempt->cu[0], attempt->cu_padded[0], 3}, {attempt->cu[1], NULL, 2}},
        .cu = {{0, 3, 8}, {0, 6}},
        .cu_padded = {{0, 4, 12}},
        .field = {"tokens", &attempt->tensor},
        .tensor = {.data = attempt->memory,
                   .device = {CPLAYOUT_DEVICE_CPU, 0},
                   .ndim = 2,
                   .dtype = {CPLAYOUT_TYPE_INT, 32, 1},
                   .shape = attempt->shape},
        .shape = {1, 18},
    };
}

/* ---- The ways to be wrong ------------------------------------------------------------------- */

struct wrong {
    const char *name;
    void (*change)(struct attempt *attempt);
    const char *text; /* in the message */
};

#define CHANGE(name, statement)               \
    static void name(struct attempt *attempt) \
    {                                         \
        statement;                            \
    }

CHANGE(first_not_zero, attempt->cu[0][0] = 1)
CHANGE(padded_not_zero, attempt->cu_padded[0][0] = 2)
CHANGE(decreasing, attempt->cu[0][2] = 2)
CHANGE(padded_decreasing, attempt->cu_padded[0][2] = 3)
CHANGE(negative, attempt->cu[1][1] = -6)
CHANGE(padded_short, attempt->cu_padded[0][1] = 2)
CHANGE(one_entry, attempt->samples[1].entries = 1)
CHANGE(no_entries, attempt->samples[0].entries = 0)
CHANGE(entries_absurd, attempt->samples[0].entries = UINT64_MAX)
CHANGE(no_offsets, attempt->samples[1].cu_seqlens = NULL)
CHANGE(samples_null, attempt->args.samples = NULL)
CHANGE(samples_none, attempt->args.samples = NULL; attempt->args.sample_count = 0)
CHANGE(samples_zero, attempt->args.sample_count = 0)
CHANGE(length_too, attempt->args.sequence_length = 18)
CHANGE(too_many_rows, attempt->cu[1][1] = INT32_MAX)
CHANGE(indivisible, attempt->cu_padded[0][2] = 13; attempt->shape[1] = 19)
CHANGE(field_short, attempt->shape[1] = 14)
CHANGE(field_unknown, attempt->field.name = "token_ids")
CHANGE(field_unsigned, attempt->field.name = "labels";
       attempt->tensor.dtype.code = CPLAYOUT_TYPE_UINT)

static const struct wrong wrongs[] = {
    {"offsets that begin with 1", first_not_zero, "sample 0"},
    {"padded offsets that begin with 2", padded_not_zero, "sample 0"},
    {"offsets that decrease", decreasing, "sample 0"},
    {"padded offsets that decrease", padded_decreasing, "sample 0"},
    {"a negative offset", negative, "sample 1"},
    {"a document longer than its rows", padded_short, "document 0 of sample 0"},
    {"offsets of one entry", one_entry, "sample 1"},
    {"offsets of no entries", no_entries, "sample 0"},
    {"2^64-1 offsets", entries_absurd, "sample"},
    {"no offsets", no_offsets, "sample"},
    {"2 samples at NULL", samples_null, "samples"},
    {"no samples", samples_none, "no samples"},
    {"0 samples", samples_zero, "sample"},
    {"samples and a sequence length", length_too, "sequence_length"},
    {"2^31 rows and more", too_many_rows, "rows"},
    {"19 rows for 3 ranks", indivisible, "19"},
    {"a field without its padding", field_short, "14 entries along axis 1"},
    {"an unknown field", field_unknown, "unknown field 'token_ids'"},
    {"labels that cannot hold -100", field_unsigned, "-100"},
};

/* What one world plays. */
struct play {
    const struct wrong *wrong;
    int32_t odd; /* the rank that is wrong; -1: all */
};

static int32_t create(struct seat *seat, const struct attempt *attempt,
                      struct cplayout_batch **batch)
{
    seat->status = host_core()->batch_create(seat->context, &attempt->args, batch, &seat->error);
    return seat->status;
}

static void check_refused(const struct seat *seat, const struct play *play)
{
    CHECK(seat->status == ARGUMENT && seat->error.status == ARGUMENT, "rank %d: status %d: %s",
          seat->rank, seat->status, seat->error.message);
    CHECK(strstr(seat->error.message, play->wrong->text) != NULL, "rank %d: '%s' is not in '%s'",
          seat->rank, play->wrong->text, seat->error.message);
}

static void check_told(const struct seat *seat, const struct play *play)
{
    CHECK(seat->status == MISMATCH || seat->status == CPLAYOUT_ERROR_PEER, "rank %d: status %d: %s",
          seat->rank, seat->status, seat->error.message);
    CHECK(strstr(seat->error.message, "rank 1 could not create the batch: ") != NULL &&
              strstr(seat->error.message, play->wrong->text) != NULL,
          "rank %d: '%s'", seat->rank, seat->error.message);
}

static void check_next(struct seat *seat, bool good)
{
    struct attempt attempt;
    struct cplayout_batch *batch = NULL;

    attempt_init(&attempt);
    CHECK((create(seat, &attempt, &batch) == CPLAYOUT_OK) == good && (batch != NULL) == good,
          "rank %d, afterwards: status %d: %s", seat->rank, seat->status, seat->error.message);
    host_core()->batch_destroy(batch);
}

static void run_wrong(struct world *world, struct seat *seat)
{
    const struct play *const play = world->self;
    const bool is_wrong = play->odd < 0 || play->odd == seat->rank;
    struct attempt attempt;
    struct cplayout_batch *batch = NULL;

    attempt_init(&attempt);
    if (is_wrong) {
        play->wrong->change(&attempt);
    }
    (void)create(seat, &attempt, &batch);
    (is_wrong ? check_refused : check_told)(seat, play);
    CHECK(batch == NULL, "rank %d: a batch all the same", seat->rank);
    world_meet(world);
    check_next(seat, play->odd < 0);
}

static const struct host_config usual = {
    .cp = RANKS,
    .packed = true,
    .linear = "contiguous",
    .attention = "zigzag",
    .timeout = "5",
};

static void test_wrong(const struct wrong *wrong, int32_t odd, enum transport transport)
{
    struct host_config config = usual;
    struct play play = {wrong, odd};
    struct world world;

    tap_test("%s on %s, %s", wrong->name, odd < 0 ? "all ranks" : "one rank",
             transport_names[transport]);
    config.transport = transport;
    world_open(&world, &config);
    world.self = &play;
    world_run(&world, run_wrong);
    world_close(&world);
}

/* ---- Samples and the format ----------------------------------------------------------------- */

static void run_samples(struct world *world, struct seat *seat)
{
    struct cplayout_batch *batch = NULL;
    struct attempt attempt;

    attempt_init(&attempt);
    CHECK(create(seat, &attempt, &batch) == ARGUMENT && batch == NULL &&
              strstr(seat->error.message, "qkv_format") != NULL,
          "rank %d: status %d: %s", seat->rank, seat->status, seat->error.message);
    CHECK(seat_batch(seat, 24, &batch) == CPLAYOUT_OK, "rank %d cannot go on: %s", seat->rank,
          seat->error.message);
    host_core()->batch_destroy(batch);
    (void)world;
}

static void run_length(struct world *world, struct seat *seat)
{
    struct cplayout_batch *batch = NULL;

    CHECK(seat_batch(seat, 24, &batch) == ARGUMENT && batch == NULL &&
              strstr(seat->error.message, "qkv_format") != NULL,
          "rank %d: status %d: %s", seat->rank, seat->status, seat->error.message);
    check_next(seat, true);
    (void)world;
}

static void test_formats(void)
{
    struct host_config config = usual;
    struct world world;

    tap_test("a sequence length with qkv_format=thd");
    world_open(&world, &config);
    world_run(&world, run_length);
    world_close(&world);
    tap_test("samples with qkv_format=sbhd");
    config.packed = false;
    world_open(&world, &config);
    world_run(&world, run_samples);
    world_close(&world);
}

int main(void)
{
    for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
        test_wrong(&wrongs[i], -1, LOCAL);
        test_wrong(&wrongs[i], -1, COMMUNICATOR);
        test_wrong(&wrongs[i], 1, LOCAL);
        test_wrong(&wrongs[i], 1, COMMUNICATOR);
    }
    test_formats();
    return tap_end();
}
