/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option verify_plans: what is compared when, by the number of gatherings and by ranks that
 * disagree. What is not compared is found out where ranks meet in a conversion, and never hangs.
 */
#include <string.h>

#include "threads/block.h"
#include "threads/host.h"

enum { RANKS = 3, TOKENS = 18, BATCHES = 4, ROWS = TOKENS / RANKS };

/* A value, and how many gatherings it makes of a registration and four batches. */
struct mode {
    const char *value;
    int64_t gatherings;
};

static const struct mode modes[] = {{"always", 1 + BATCHES}, {"first", 2}, {"never", 1}};

/* What one world does. */
struct plan {
    const char *values[RANKS]; /* of verify_plans on each rank */
    int32_t odd_batch;         /* the batch that is longer on rank 1; BATCHES: none is */
};

static int32_t create(struct world *world, struct seat *seat, const char *value)
{
    const struct cplayout_host record = world_record(world, seat->rank);
    const struct cplayout_option options[] = {{"context_parallel_size", "3"},
                                              {"linear_cp_layout", "contiguous"},
                                              {"hybrid_layer_pattern", "M*"},
                                              {"timeout_seconds", "5"},
                                              {"verify_plans", value}};
    const struct cplayout_create_args args = {.size = sizeof(args),
                                              .host = &record,
                                              .options = options,
                                              .option_count = sizeof(options) / sizeof(options[0])};

    seat->status = host_core()->create(&args, &seat->context, &seat->error);
    return seat->status;
}

static void convert(struct seat *seat, int64_t rows)
{
    struct cplayout_convert_call call = {
        .size = sizeof(call),
        .batch = seat->batch,
        .from_layout = seat_layout(seat, "linear"),
        .to_layout = seat_layout(seat, "attention"),
    };
    struct block input;
    struct block output;
    struct cplayout_tensor out;

    block_init(&input, &forms[3], rows, PACKING_COMPACT);
    block_init(&output, &forms[3], rows, PACKING_COMPACT);
    call.input = &input.tensor;
    out = output.tensor;
    (void)seat_convert(seat, &call, &out);
    block_fini(&input);
    block_fini(&output);
}

/* Batches, each converted once; ends with the first error. */
static void run_batches(struct world *world, struct seat *seat)
{
    const struct plan *const plan = world->self;

    (void)create(world, seat, plan->values[seat->rank]);
    for (int32_t i = 0; i < BATCHES && seat->status == CPLAYOUT_OK; i++) {
        const int64_t times = i == plan->odd_batch && seat->rank == 1 ? 2 : 1;

        (void)seat_batch(seat, (uint64_t)(times * TOKENS), &seat->batch);
        if (seat->status == CPLAYOUT_OK) {
            convert(seat, times * ROWS);
        }
        host_core()->batch_destroy(seat->batch);
        seat->batch = NULL;
    }
}

static void play(const struct plan *plan, struct world *world, enum transport transport)
{
    const struct host_config config = {.cp = RANKS, .transport = transport};

    world_open_empty(world, &config);
    world->self = (void *)(uintptr_t)plan;
    world_run(world, run_batches);
}

static void test_gatherings(const struct mode *mode)
{
    const struct plan plan = {{mode->value, mode->value, mode->value}, BATCHES};
    struct world world;

    tap_test("verify_plans=%s gathers %d times", mode->value, (int)mode->gatherings);
    play(&plan, &world, COMMUNICATOR);
    for (int32_t rank = 0; rank < RANKS; rank++) {
        const int64_t calls = wire_counts(world.wire, rank).calls[WIRE_ALLGATHER];

        CHECK(world.seats[rank].status == CPLAYOUT_OK, "rank %d: %s", rank,
              world.seats[rank].error.message);
        CHECK(calls == mode->gatherings, "rank %d gathers %d times", rank, (int)calls);
    }
    world_close(&world);
}

/* The third batch differs. */
static void test_differing(const struct mode *mode, enum transport transport)
{
    const struct plan plan = {{mode->value, mode->value, mode->value}, 2};
    const bool compared = mode->gatherings > 2;
    struct world world;

    tap_test("verify_plans=%s, and a later batch differs, %s", mode->value,
             transport_names[transport]);
    play(&plan, &world, transport);
    for (int32_t rank = 0; rank < RANKS; rank++) {
        const struct seat *const seat = &world.seats[rank];

        CHECK(seat->status == CPLAYOUT_ERROR_MISMATCH || seat->status == CPLAYOUT_ERROR_PEER,
              "rank %d: status %d: %s", rank, seat->status, seat->error.message);
        CHECK(!compared || strstr(seat->error.message, "disagree in the sequence length") != NULL,
              "rank %d: %s", rank, seat->error.message);
    }
    world_close(&world);
}

static void test_disagreeing(enum transport transport)
{
    const struct plan plan = {{"always", "never", "always"}, BATCHES};
    struct world world;

    tap_test("ranks that disagree in verify_plans, %s", transport_names[transport]);
    play(&plan, &world, transport);
    for (int32_t rank = 0; rank < RANKS; rank++) {
        const struct seat *const seat = &world.seats[rank];

        CHECK(seat->status == CPLAYOUT_ERROR_MISMATCH && seat->context == NULL &&
                  strstr(seat->error.message, "disagree in option verify_plans") != NULL,
              "rank %d: status %d: %s", rank, seat->status, seat->error.message);
    }
    world_close(&world);
}

int main(void)
{
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        test_gatherings(&modes[i]);
        test_differing(&modes[i], LOCAL);
        test_differing(&modes[i], COMMUNICATOR);
    }
    test_disagreeing(LOCAL);
    test_disagreeing(COMMUNICATOR);
    return tap_end();
}
