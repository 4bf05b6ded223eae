/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A communicator that breaks: each function fails at each of its calls, with each status, on one rank
 * of three. That rank gets an error with the host's reason and keeps it, tells the others once, and
 * they get an error too; nobody calls a function after that (which the wire checks), none hangs.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "threads/block.h"
#include "threads/host.h"

enum { RANKS = 3, TOKENS = 18, ROWS = TOKENS / RANKS, VICTIM = 1, STEPS = 6, NEVER = 99 };

static const struct host_config usual = {
    .cp = RANKS,
    .linear = "contiguous",
    .attention = "zigzag",
    .pattern = "M*M",
    .timeout = "3",
    .transport = COMMUNICATOR,
};

/* What a rank has come to. */
struct fate {
    int32_t step; /* the one that failed; STEPS: none did */
    int32_t status;
    struct cplayout_error error;
};

/* What is played. */
struct trouble {
    struct wire_fault fault;
    struct wire_traits traits;
    const char *timeout;
    struct fate fates[RANKS];
};

/* ---- A life in steps -------------------------------------------------------------------------- */

static void convert(struct seat *seat, const struct hook_step *step)
{
    struct block input;
    struct block output;
    struct cplayout_tensor out;

    block_init(&input, &forms[8], ROWS, PACKING_PADDED);
    block_init(&output, &forms[8], ROWS, PACKING_PADDED);
    out = output.tensor;
    (void)seat_hook(seat, step, seat->batch, &input.tensor, 1, &out);
    block_fini(&input);
    block_fini(&output);
}

static void make_batch(struct seat *seat)
{
    struct cplayout_batch *batch = NULL;

    (void)seat_batch(seat, TOKENS, &batch);
    CHECK((batch != NULL) == (seat->status == CPLAYOUT_OK), "status %d and batch %p", seat->status,
          (void *)batch);
    host_core()->batch_destroy(seat->batch);
    seat->batch = batch;
}

/* Register, batch, there, back, another batch, there. */
static void run_step(struct world *world, struct seat *seat, int32_t step)
{
    static const struct hook_step there = {PREPARE, 1, CPLAYOUT_FORWARD};
    static const struct hook_step back = {PREPARE, 2, CPLAYOUT_FORWARD};

    if (step == 0) {
        (void)world_register(world, seat->rank, &world->config);
    } else if (step == 1 || step == 4) {
        make_batch(seat);
    } else {
        convert(seat, step == 3 ? &back : &there);
    }
}

/* The error stays, whatever is called. */
static void check_stays(struct seat *seat, const struct fate *fate)
{
    static const struct hook_step there = {PREPARE, 1, CPLAYOUT_FORWARD};
    struct cplayout_batch *batch = NULL;

    (void)seat_batch(seat, TOKENS, &batch);
    CHECK(seat->status == fate->status && batch == NULL &&
              strcmp(seat->error.message, fate->error.message) == 0,
          "rank %d: first '%s', then '%s'", seat->rank, fate->error.message, seat->error.message);
    if (seat->batch != NULL) {
        convert(seat, &there);
        CHECK(seat->status == fate->status && strcmp(seat->error.message, fate->error.message) == 0,
              "rank %d: first '%s', then in a hook '%s'", seat->rank, fate->error.message,
              seat->error.message);
    }
}

static void run_life(struct world *world, struct seat *seat)
{
    struct trouble *const trouble = world->self;
    struct fate *const fate = &trouble->fates[seat->rank];

    while (fate->step < STEPS && fate->status == CPLAYOUT_OK) {
        run_step(world, seat, fate->step);
        fate->status = seat->status;
        fate->step += seat->status == CPLAYOUT_OK;
    }
    fate->error = seat->error;
    if (fate->status != CPLAYOUT_OK && seat->context != NULL) {
        check_stays(seat, fate);
    }
}

static const char *const point_names[WIRE_POINTS] = {"start", "wait", "allgather"};

/* ---- What must come of it ----------------------------------------------------------------------- */

static bool is_collective(int32_t status)
{
    return status == CPLAYOUT_ERROR_TIMEOUT || status == CPLAYOUT_ERROR_PEER ||
           status == CPLAYOUT_ERROR_MISMATCH;
}

/* What the messages must hold of a reason. */
static const char *reason_of(const struct trouble *trouble)
{
    return trouble->fault.silent ? point_names[trouble->fault.point] : WIRE_FAULT_TEXT;
}

static void check_victim(const struct trouble *trouble, struct wire *wire)
{
    const struct fate *const fate = &trouble->fates[VICTIM];
    char blamed[24];

    CHECK(fate->status != CPLAYOUT_OK && fate->error.status == fate->status, "status %d",
          fate->status);
    CHECK(!is_collective(trouble->fault.status) || fate->status == trouble->fault.status,
          "the function returns %d, the plugin %d: %s", trouble->fault.status, fate->status,
          fate->error.message);
    CHECK(strstr(fate->error.message, reason_of(trouble)) != NULL, "no reason: '%s'",
          fate->error.message);
    (void)snprintf(blamed, sizeof(blamed), "rank %d", trouble->fault.peer);
    CHECK(!trouble->fault.blames || trouble->fault.peer < 0 ||
              strstr(fate->error.message, blamed) != NULL,
          "'%s' is not in '%s'", blamed, fate->error.message);
    CHECK(wire_counts(wire, VICTIM).aborts == !trouble->traits.no_abort, "%d aborts",
          (int)wire_counts(wire, VICTIM).aborts);
}

static void check_other(const struct trouble *trouble, int32_t rank)
{
    const struct fate *const fate = &trouble->fates[rank];
    const bool told = strstr(fate->error.message, "rank 1 failed: ") != NULL &&
                      strstr(fate->error.message, reason_of(trouble)) != NULL;

    CHECK(is_collective(fate->status) && fate->error.status == fate->status,
          "rank %d: status %d: %s", rank, fate->status, fate->error.message);
    CHECK(trouble->traits.no_abort || (fate->status == CPLAYOUT_ERROR_PEER && told),
          "rank %d: status %d: '%s'", rank, fate->status, fate->error.message);
}

/* Returns whether the fault came at all. */
static bool play(struct trouble *trouble)
{
    struct host_config config = usual;
    struct world world;
    bool came;

    config.timeout = trouble->timeout != NULL ? trouble->timeout : usual.timeout;
    config.traits = trouble->traits;
    memset(trouble->fates, 0, sizeof(trouble->fates));
    world_open_empty(&world, &config);
    wire_arm(world.wire, &trouble->fault);
    world.self = trouble;
    world_run(&world, run_life);
    came = wire_counts(world.wire, VICTIM).calls[trouble->fault.point] >= trouble->fault.call;
    for (int32_t rank = 0; rank < RANKS && came; rank++) {
        if (rank == VICTIM) {
            check_victim(trouble, world.wire);
        } else if (trouble->fates[rank].step < STEPS) {
            check_other(trouble, rank);
        }
    }
    CHECK(came || trouble->fates[0].step == STEPS, "no fault, but rank 0 fails: %s",
          trouble->fates[0].error.message);
    world_close(&world);
    return came;
}

/* At every call there is. */
static void test_everywhere(struct trouble *trouble)
{
    trouble->fault.rank = VICTIM;
    trouble->fault.call = 1;
    while (trouble->fault.call < NEVER && !tap_failed() && play(trouble)) {
        trouble->fault.call++;
    }
    CHECK(trouble->fault.call > 3 && trouble->fault.call < NEVER, "%d calls",
          (int)trouble->fault.call);
}

static void test_failing(enum wire_point point, int32_t status, bool blames)
{
    struct trouble trouble = {
        .fault = {.point = point, .deed = WIRE_FAIL, .status = status, .blames = blames, .peer = 2},
    };

    tap_test("%s returns %d%s", point_names[point], status, blames ? " and blames rank 2" : "");
    trouble.traits.mode = status % 2 == 0 ? WIRE_EAGER : WIRE_RENDEZVOUS;
    test_everywhere(&trouble);
}

/* The host says nothing of use: neither why, nor a rank that there is. */
static void test_mute(enum wire_point point)
{
    struct trouble trouble = {
        .fault = {.point = point,
                  .deed = WIRE_FAIL,
                  .status = CPLAYOUT_ERROR_TIMEOUT,
                  .blames = true,
                  .peer = -1,
                  .silent = true},
    };

    tap_test("%s fails without a reason, and blames nobody that is known", point_names[point]);
    test_everywhere(&trouble);
}

/* Nobody can be told: the others wait until their time is up. */
static void test_untold(enum wire_point point)
{
    struct trouble trouble = {
        .fault = {.point = point, .deed = WIRE_FAIL, .status = CPLAYOUT_ERROR_PEER},
        .traits = {.no_abort = true},
        .timeout = "0.2",
    };

    tap_test("%s fails, without abort", point_names[point]);
    test_everywhere(&trouble);
}

/* ---- Lost messages ------------------------------------------------------------------------------ */

static void run_lost(struct world *world, struct seat *seat)
{
    struct trouble *const trouble = world->self;

    run_life(world, seat);
    CHECK(trouble->fates[seat->rank].status == CPLAYOUT_OK ||
              is_collective(trouble->fates[seat->rank].status),
          "rank %d: status %d: %s", seat->rank, seat->status, seat->error.message);
}

/*
 * Somebody times out, or meets the message that was to come after the lost one; who is left hears of
 * it or goes on until the next call.
 */
static void test_lost(enum wire_point point, int64_t call, enum wire_mode mode)
{
    struct host_config config = usual;
    struct trouble trouble = {.traits = {.mode = mode}};
    const struct wire_fault fault = {.rank = VICTIM,
                                     .point = point,
                                     .deed = WIRE_DROP,
                                     .call = call};
    struct world world;
    int32_t found = 0;

    tap_test("what rank 1 sends in %s number %d is lost, mode %d", point_names[point], (int)call,
             mode);
    config.timeout = "0.3";
    config.traits = trouble.traits;
    world_open_empty(&world, &config);
    wire_arm(world.wire, &fault);
    world.self = &trouble;
    world_run(&world, run_lost);
    for (int32_t rank = 0; rank < RANKS; rank++) {
        found += trouble.fates[rank].status == CPLAYOUT_ERROR_TIMEOUT ||
                 trouble.fates[rank].status == CPLAYOUT_ERROR_MISMATCH;
        CHECK(trouble.fates[rank].status != CPLAYOUT_OK, "rank %d has not noticed", rank);
    }
    CHECK(found > 0, "nobody finds it out");
    world_close(&world);
}

int main(void)
{
    static const int32_t statuses[] = {CPLAYOUT_ERROR_TIMEOUT,
                                       CPLAYOUT_ERROR_PEER,
                                       CPLAYOUT_ERROR_MISMATCH,
                                       CPLAYOUT_ERROR_MEMORY,
                                       4711,
                                       -1};

    for (int32_t point = 0; point < WIRE_POINTS; point++) {
        for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
            test_failing((enum wire_point)point, statuses[i], false);
        }
        if (point != WIRE_START) {
            test_failing((enum wire_point)point, CPLAYOUT_ERROR_PEER, true);
        }
        test_mute((enum wire_point)point);
        test_untold((enum wire_point)point);
    }
    for (int64_t call = 1; call <= 4; call++) {
        test_lost(WIRE_START, call, WIRE_EAGER);
        test_lost(WIRE_START, call, WIRE_RENDEZVOUS);
    }
    test_lost(WIRE_ALLGATHER, 1, WIRE_EAGER);
    test_lost(WIRE_ALLGATHER, 2, WIRE_EAGER);
    return tap_end();
}
