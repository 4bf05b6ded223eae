/* SPDX-License-Identifier: Apache-2.0 */
#include "threads/play.h"

#include <stdio.h>
#include <string.h>

/* A scenario with its ranks. */
struct performance {
    const struct scenario *scenario;
    const struct cast *cast;
    double seconds[TAP_RANKS_MOST]; /* that the call took */
};

const struct host_config play_config = {
    .linear = "contiguous",
    .attention = "zigzag",
    .pattern = "M*M",
};

const struct hook_step play_to_attention = {PREPARE, 1, CPLAYOUT_FORWARD};
const struct hook_step play_to_linear = {PREPARE, 2, CPLAYOUT_FORWARD};
const struct hook_step play_attention_back = {PREPARE, 1, CPLAYOUT_BACKWARD};

uint64_t play_tokens(const struct world *world)
{
    return (uint64_t)TOKENS_PER_RANK * (uint64_t)world->ranks;
}

void play_create_batch(struct seat *seat, const struct cplayout_batch_args *args)
{
    seat->status = host_core()->batch_create(seat->context, args, &seat->batch, &seat->error);
}

void play_register(struct world *world, struct seat *seat)
{
    (void)world_register(world, seat->rank, &world->config);
}

void play_batch(struct world *world, struct seat *seat)
{
    (void)seat_batch(seat, play_tokens(world), &seat->batch);
}

void play_hook_with(struct seat *seat, const struct hook_step *step,
                    const struct cplayout_batch *batch, const struct form *form)
{
    struct block input;
    struct block output;
    struct cplayout_tensor out;

    block_init(&input, form, TOKENS_PER_RANK, PACKING_PADDED);
    block_init(&output, form, TOKENS_PER_RANK, PACKING_COMPACT);
    out = output.tensor;
    (void)seat_hook(seat, step, batch, &input.tensor, form->row_axis, &out);
    block_fini(&input);
    block_fini(&output);
}

void play_hook(struct seat *seat)
{
    play_hook_with(seat, &play_to_attention, seat->batch, &forms[2]);
}

static void run_act(struct world *world, struct seat *seat)
{
    struct performance *const performance = world->self;
    const bool odd = seat->rank == performance->cast->odd;
    double start;

    world_meet(world);
    if (performance->scenario->stage == STAGE_BATCH) {
        play_batch(world, seat);
        CHECK(seat->status == CPLAYOUT_OK, "set-up: %s", seat->error.message);
        world_meet(world);
    }
    seat->status = NOT_CALLED;
    start = host_seconds();
    performance->scenario->act(world, seat, odd);
    performance->seconds[seat->rank] = host_seconds() - start;
}

static void check_odd(const struct performance *performance, const struct seat *seat)
{
    const int32_t expected = performance->scenario->odd_status;
    const bool told = seat->status == CPLAYOUT_ERROR_PEER &&
                      (expected == CPLAYOUT_ERROR_MISMATCH || expected == CPLAYOUT_ERROR_TIMEOUT);

    CHECK(seat->status == expected || told, "rank %d, the odd one, gets %d, not %d: %s", seat->rank,
          seat->status, expected, seat->error.message);
}

/* Or says that the rank it names may wait itself. */
static bool names_odd(const struct scenario *scenario, const char *message, const char *odd)
{
    return strstr(message, odd) != NULL ||
           (scenario->vague && strstr(message, "it may wait for another rank") != NULL);
}

/* Counts ranks that found out themselves. */
static int32_t check_other(const struct performance *performance, const struct seat *seat)
{
    const struct scenario *const scenario = performance->scenario;
    char odd[24];

    if (seat->status == CPLAYOUT_OK && scenario->others_may_pass) {
        return 0;
    }
    (void)snprintf(odd, sizeof(odd), "rank %d ", performance->cast->odd);
    CHECK(seat->status == scenario->status || seat->status == CPLAYOUT_ERROR_PEER,
          "rank %d gets %d, not %d: %s", seat->rank, seat->status, scenario->status,
          seat->error.message);
    CHECK(seat->error.status == seat->status && names_odd(scenario, seat->error.message, odd) &&
              strstr(seat->error.message, scenario->word) != NULL,
          "rank %d: '%s' or '%s' is not in '%s'", seat->rank, odd, scenario->word,
          seat->error.message);
    CHECK(performance->seconds[seat->rank] < 4, "rank %d needed %g s", seat->rank,
          performance->seconds[seat->rank]);
    return seat->status == scenario->status;
}

static void check_outcome(const struct performance *performance, const struct world *world)
{
    int32_t found = 0;

    for (int32_t rank = 0; rank < performance->cast->ranks; rank++) {
        if (rank == performance->cast->odd) {
            check_odd(performance, &world->seats[rank]);
        } else {
            found += check_other(performance, &world->seats[rank]);
        }
    }
    found += world->seats[performance->cast->odd].status == performance->scenario->status;
    CHECK(found > 0, "nobody gets status %d", performance->scenario->status);
}

/* Once more: the same error where there was one, and some error everywhere. */
static void run_again(struct world *world, struct seat *seat)
{
    const struct seat before = *seat;
    struct cplayout_batch *batch = NULL;

    if (seat->context == NULL) {
        return;
    }
    (void)seat_batch(seat, play_tokens(world), &batch);
    CHECK(seat->status != CPLAYOUT_OK && batch == NULL, "rank %d can go on", seat->rank);
    if (before.status == CPLAYOUT_ERROR_TIMEOUT || before.status == CPLAYOUT_ERROR_PEER ||
        before.status == CPLAYOUT_ERROR_MISMATCH) {
        CHECK(seat->status == before.status &&
                  strcmp(seat->error.message, before.error.message) == 0,
              "rank %d: first '%s', then '%s'", seat->rank, before.error.message,
              seat->error.message);
    }
    if (seat->batch != NULL) {
        const struct seat first = *seat;

        play_hook(seat);
        CHECK(seat->status == first.status && strcmp(seat->error.message, first.error.message) == 0,
              "rank %d: a hook says '%s' after '%s'", seat->rank, seat->error.message,
              first.error.message);
    }
}

void play(const struct scenario *scenario, const struct cast *cast)
{
    struct performance performance = {.scenario = scenario, .cast = cast};
    struct host_config config = play_config;
    struct world world;

    tap_test("of %d ranks on a %s, rank %d %s", cast->ranks, transport_names[cast->transport],
             cast->odd, scenario->name);
    config.cp = cast->ranks;
    config.timeout = scenario->timeout;
    config.transport = cast->transport;
    (scenario->stage == STAGE_EMPTY ? world_open_empty : world_open)(&world, &config);
    world.self = &performance;
    world_run(&world, run_act);
    check_outcome(&performance, &world);
    world_run(&world, run_again);
    world_close(&world);
}

void play_all(const struct scenario *scenarios, size_t count, enum transport transport)
{
    const struct cast casts[] = {{transport, 2, 1}, {transport, 4, 0}, {transport, 5, 2}};

    for (size_t i = 0; i < count * 3; i++) {
        play(&scenarios[i / 3], &casts[i % 3]);
    }
}
