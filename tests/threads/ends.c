/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends: a rank's objects are destroyed between any two calls, on another thread, in any order, while
 * the others go on until they hear of it; and once a call has failed, the plugin leaves the caller's
 * memory alone for good.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "threads/block.h"
#include "threads/host.h"

enum { RANKS = 3, TOKENS = 18, ROWS = TOKENS / RANKS, LEAVER = 1, STEPS = 7 };

static const struct host_config usual = {
    .cp = RANKS,
    .linear = "contiguous",
    .attention = "zigzag",
    .pattern = "M*M",
    .timeout = "0.3",
};

static const struct hook_step to_attention = {PREPARE, 1, CPLAYOUT_FORWARD};
static const struct hook_step to_linear = {PREPARE, 2, CPLAYOUT_FORWARD};

/* ---- Between any two calls ---------------------------------------------------------------------- */

/* How a rank ends. */
struct end {
    int32_t step;      /* after so many calls */
    bool batches_last; /* batches outlive the context */
};

/* One rank's objects. */
struct belongings {
    struct seat *seat;
    struct cplayout_batch *batches[2];
    bool batches_last;
};

static void convert(struct seat *seat, const struct cplayout_batch *batch,
                    const struct hook_step *step)
{
    struct block input;
    struct block output;
    struct cplayout_tensor out;

    block_init(&input, &forms[2], ROWS, PACKING_PADDED);
    block_init(&output, &forms[2], ROWS, PACKING_PADDED);
    out = output.tensor;
    (void)seat_hook(seat, step, batch, &input.tensor, 0, &out);
    block_fini(&input);
    block_fini(&output);
}

/* Batch, there, back, a second batch, both there, and the second back. */
static void run_step(struct belongings *belongings, int32_t step)
{
    static const int32_t batch_of[STEPS] = {0, 0, 0, 1, 1, 0, 1};
    struct seat *const seat = belongings->seat;
    struct cplayout_batch **const batch = &belongings->batches[batch_of[step]];

    if (step == 0 || step == 3) {
        (void)seat_batch(seat, TOKENS, batch);
    } else {
        convert(seat, *batch, step == 2 || step == 6 ? &to_linear : &to_attention);
    }
}

static void destroy_batches(struct belongings *belongings)
{
    host_core()->batch_destroy(belongings->batches[0]);
    host_core()->batch_destroy(belongings->batches[1]);
}

static void *destroy_all(void *self)
{
    struct belongings *const belongings = self;

    if (!belongings->batches_last) {
        destroy_batches(belongings);
    }
    host_core()->destroy(belongings->seat->context);
    if (belongings->batches_last) {
        destroy_batches(belongings);
    }
    return NULL;
}

static void destroy_elsewhere(struct belongings *belongings)
{
    pthread_t thread;

    tap_require(pthread_create(&thread, NULL, destroy_all, belongings) == 0, "no thread");
    (void)pthread_join(thread, NULL);
    belongings->seat->context = NULL;
}

static bool is_telling(int32_t status)
{
    return status == CPLAYOUT_ERROR_PEER || status == CPLAYOUT_ERROR_TIMEOUT;
}

static void run_ends(struct world *world, struct seat *seat)
{
    const struct end *const end = world->self;
    const int32_t last = seat->rank == LEAVER ? end->step : STEPS;
    struct belongings belongings = {.seat = seat, .batches_last = end->batches_last};
    int32_t step = 0;

    for (; step < last && seat->status == CPLAYOUT_OK; step++) {
        run_step(&belongings, step);
    }
    CHECK(seat->status == CPLAYOUT_OK || (seat->rank != LEAVER && is_telling(seat->status)),
          "rank %d, step %d: status %d: %s", seat->rank, step, seat->status, seat->error.message);
    CHECK(seat->rank == LEAVER || end->step == STEPS || seat->status != CPLAYOUT_OK,
          "rank %d has not noticed", seat->rank);
    destroy_elsewhere(&belongings);
}

static void test_end(enum transport transport, const struct end *end)
{
    struct host_config config = usual;
    struct end played = *end;
    struct world world;

    tap_test("rank 1 ends after %d calls, its batches %s, %s", end->step,
             end->batches_last ? "last" : "first", transport_names[transport]);
    config.transport = transport;
    world_open(&world, &config);
    host_core()->local_group_destroy(world.group); /* the contexts hold it */
    world.group = NULL;
    world.self = &played;
    world_run(&world, run_ends);
    world_close(&world);
}

/* ---- Memory of the caller after an error --------------------------------------------------------- */

enum { PAUSE_MICROSECONDS = 250000, LATE_MICROSECONDS = 450000 };

/* What a rank keeps of a call that has failed. */
struct remains {
    struct block output[RANKS];
};

/* The input goes at once, so that reading it later is found by ASan; the output is watched. */
static void fail_call(struct seat *seat, struct block *output)
{
    struct block input;
    struct cplayout_tensor out;

    block_init(&input, &forms[4], ROWS, PACKING_PADDED);
    block_init(output, &forms[4], ROWS, PACKING_COMPACT);
    out = output->tensor;
    (void)seat_hook(seat, &to_attention, seat->batch, &input.tensor, 0, &out);
    block_noise(&input, 99);
    block_fini(&input);
    block_clear(output);
}

/* One rank comes when the others have given up. */
static void run_late(struct world *world, struct seat *seat)
{
    struct remains *const remains = world->self;
    struct block *const output = &remains->output[seat->rank];

    CHECK(seat_batch(seat, TOKENS, &seat->batch) == CPLAYOUT_OK, "rank %d: %s", seat->rank,
          seat->error.message);
    world_meet(world);
    if (seat->rank == LEAVER) {
        (void)usleep(LATE_MICROSECONDS);
    }
    fail_call(seat, output);
    CHECK(seat->status != CPLAYOUT_OK, "rank %d: the call succeeds", seat->rank);
    world_meet(world);
    (void)usleep(PAUSE_MICROSECONDS);
    (void)block_is_clear(output, "output of a call that has failed");
    block_fini(output);
}

static void test_late(enum transport transport, enum wire_mode mode)
{
    struct host_config config = usual;
    struct remains remains;
    struct world world;

    tap_test("a rank that comes late writes nowhere, %s, mode %d", transport_names[transport],
             mode);
    config.transport = transport;
    config.traits.mode = mode;
    world_open(&world, &config);
    world.self = &remains;
    world_run(&world, run_late);
    world_close(&world);
}

/* A field's memory is the batch's no more once the batch is destroyed, also after a failure. */
static void run_fields(struct world *world, struct seat *seat)
{
    int64_t shape[] = {1, TOKENS};
    int32_t *const memory = calloc(TOKENS, sizeof(*memory));
    const struct cplayout_tensor tensor = {memory, {CPLAYOUT_DEVICE_CPU, 0},
                                           2,      {CPLAYOUT_TYPE_INT, 32, 1},
                                           shape,  NULL,
                                           0};
    const struct cplayout_field field = {"tokens", &tensor};
    const struct cplayout_batch_args args = {.size = sizeof(args),
                                             .sequence_length = TOKENS,
                                             .fields = &field,
                                             .field_count = 1};
    struct block output;

    CHECK(host_core()->batch_create(seat->context, &args, &seat->batch, &seat->error) ==
              CPLAYOUT_OK,
          "rank %d: %s", seat->rank, seat->error.message);
    world_meet(world);
    if (seat->rank != LEAVER) {
        fail_call(seat, &output);
        block_fini(&output);
    }
    host_core()->batch_destroy(seat->batch);
    seat->batch = NULL;
    free(memory);
}

static void test_fields(enum transport transport)
{
    struct host_config config = usual;
    struct world world;

    tap_test("batches with fields end after a failure, %s", transport_names[transport]);
    config.transport = transport;
    world_open(&world, &config);
    world_run(&world, run_fields);
    world_close(&world);
}

int main(void)
{
    for (int32_t i = 0; i < 4 * (STEPS + 1); i++) {
        const struct end end = {i / 4, i % 2 == 1};

        test_end(i / 2 % 2 == 0 ? LOCAL : COMMUNICATOR, &end);
    }
    test_late(LOCAL, WIRE_EAGER);
    test_late(COMMUNICATOR, WIRE_EAGER);
    test_late(COMMUNICATOR, WIRE_RENDEZVOUS);
    test_fields(LOCAL);
    test_fields(COMMUNICATOR);
    return tap_end();
}
