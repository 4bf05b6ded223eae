/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: all of it comes from the host's allocator and goes back to it, a training loop stops
 * allocating, and an allocation that fails is an error on every rank without a leak.
 */
#include <stdio.h>
#include <string.h>

#include "threads/block.h"
#include "threads/counter.h"
#include "threads/host.h"

enum { LAYERS = 6000, ROWS = 4, MEMORY = CPLAYOUT_ERROR_MEMORY };

/* ---- One rank's life ------------------------------------------------------------------------ */

/* Ranks with allocators of their own around a group of theirs. */
struct lives {
    struct host_config config;
    struct cplayout_local_group *group;
    struct counter group_counter;
    struct counter counters[TAP_RANKS_MOST];
    struct seat seats[TAP_RANKS_MOST];
    int32_t cycles; /* how often a batch is made and converted */
    long long calls_after_first[TAP_RANKS_MOST];
};

static char pattern[LAYERS + 1]; /* long: schedules need more than one block */

static void lives_init(struct lives *lives, int32_t ranks, int32_t cycles)
{
    *lives = (struct lives){.cycles = cycles};
    memset(pattern, 'M', LAYERS);
    pattern[1] = '*';
    lives->config = (struct host_config){
        .cp = ranks,
        .linear = "contiguous",
        .attention = "zigzag",
        .boundary = "mirror",
        .pattern = pattern,
        .timeout = "10",
    };
    for (int32_t rank = 0; rank < ranks; rank++) {
        lives->seats[rank].rank = rank;
        lives->seats[rank].error.size = sizeof(lives->seats[rank].error);
    }
}

static void register_seat(struct lives *lives, struct seat *seat)
{
    struct cplayout_host record = counter_record(&lives->counters[seat->rank]);

    record.local_group = lives->group;
    record.rank = seat->rank;
    record.ranks = lives->config.cp;
    seat->status = host_create(&record, &lives->config, &seat->context, &seat->error);
    if (seat->status == CPLAYOUT_OK) {
        seat->status = host_schedule(seat->context, &seat->schedule, &seat->error);
    }
}

/* Into the attention layer and out of it, forward and backward. */
static void convert(struct seat *seat, const struct cplayout_batch *batch, int64_t rows)
{
    struct block input;
    struct block output;

    block_init(&input, &forms[8], rows, PACKING_PADDED);
    block_init(&output, &forms[8], rows, PACKING_PADDED);
    for (int32_t i = 0; i < 4 && seat->status == CPLAYOUT_OK; i++) {
        const struct hook_step step = {PREPARE, 1 + i % 2, i / 2};
        struct cplayout_tensor out = output.tensor;

        (void)seat_hook(seat, &step, batch, &input.tensor, 1, &out);
    }
    block_fini(&input);
    block_fini(&output);
}

/* Two batches of different length live at a time, and one field is cut. */
static void run_cycle(struct lives *lives, struct seat *seat)
{
    const int64_t ranks = lives->config.cp;
    struct cplayout_batch *batches[2] = {NULL, NULL};

    for (int32_t i = 0; i < 2 && seat->status == CPLAYOUT_OK; i++) {
        (void)seat_batch(seat, (uint64_t)((1 + i) * ROWS * ranks), &batches[i]);
    }
    for (int32_t i = 0; i < 2 && seat->status == CPLAYOUT_OK; i++) {
        convert(seat, batches[i], (1 + i) * ROWS);
    }
    host_core()->batch_destroy(batches[0]);
    host_core()->batch_destroy(batches[1]);
}

/* From create to destroy; a rank that fails leaves at once. */
static void run_life(void *self, int32_t rank)
{
    struct lives *const lives = self;
    struct seat *const seat = &lives->seats[rank];

    register_seat(lives, seat);
    for (int32_t i = 0; i < lives->cycles && seat->status == CPLAYOUT_OK; i++) {
        run_cycle(lives, seat);
        if (i == 0) {
            lives->calls_after_first[rank] = atomic_load(&lives->counters[rank].calls);
        }
    }
    host_core()->destroy(seat->context);
    seat->context = NULL;
}

/* Makes the group and runs all lives around it. */
static void lives_run(struct lives *lives)
{
    const struct cplayout_host record = counter_record(&lives->group_counter);
    struct cplayout_error error = {.size = sizeof(error)};

    tap_require(host_core()->local_group_create(&record, lives->config.cp, &lives->group, &error) ==
                    CPLAYOUT_OK,
                "%s", error.message);
    tap_ranks(lives->config.cp, run_life, lives);
    host_core()->local_group_destroy(lives->group);
    counter_check(&lives->group_counter, "group");
    for (int32_t rank = 0; rank < lives->config.cp; rank++) {
        counter_check(&lives->counters[rank], "rank");
    }
}

/* ---- Tests ---------------------------------------------------------------------------------- */

static void test_steady(int32_t ranks)
{
    struct lives lives;

    tap_test("%d ranks allocate in the first cycle only, and give everything back", ranks);
    lives_init(&lives, ranks, 20);
    lives_run(&lives);
    for (int32_t rank = 0; rank < ranks; rank++) {
        const long long calls = atomic_load(&lives.counters[rank].calls);

        CHECK(lives.seats[rank].status == CPLAYOUT_OK, "rank %d: %s", rank,
              lives.seats[rank].error.message);
        CHECK(calls > 0, "rank %d does not use the allocator", rank);
        CHECK(calls == lives.calls_after_first[rank],
              "rank %d: %lld calls after the first cycle, %lld in the end", rank,
              lives.calls_after_first[rank], calls);
    }
}

/* Rank 0 gets MEMORY; whoever waits for it hears of it and does not time out. */
static void check_failed(const struct lives *lives, long long call)
{
    const struct seat *const first = &lives->seats[0];

    CHECK(first->status == MEMORY && first->error.status == MEMORY &&
              strstr(first->error.message, "memory") != NULL,
          "call %lld fails: status %d: %s", call, first->status, first->error.message);
    for (int32_t rank = 1; rank < lives->config.cp; rank++) {
        const struct seat *const seat = &lives->seats[rank];

        CHECK(seat->status == CPLAYOUT_ERROR_PEER || seat->status == CPLAYOUT_ERROR_MISMATCH,
              "call %lld of rank 0 fails: rank %d gets %d: %s", call, rank, seat->status,
              seat->error.message);
        CHECK(strstr(seat->error.message, "rank 0") != NULL,
              "call %lld of rank 0 fails: rank %d does not name it: %s", call, rank,
              seat->error.message);
    }
}

static void test_failing(int32_t ranks)
{
    struct lives lives;
    long long call = 0;

    tap_test("%d ranks, and each allocation of rank 0 fails once", ranks);
    do {
        lives_init(&lives, ranks, 1);
        lives.counters[0].fail_at = ++call;
        lives_run(&lives);
        if (lives.seats[0].status != CPLAYOUT_OK) {
            check_failed(&lives, call);
        }
    } while (lives.seats[0].status != CPLAYOUT_OK && call < 1000);
    CHECK(call > 4, "%lld allocations: nothing was tested", call);
    CHECK(atomic_load(&lives.counters[0].calls) < call, "a failed allocation was not noticed");
}

/* A batch fails alike on all ranks: afterwards all go on. */
static void run_retry(void *self, int32_t rank)
{
    struct lives *const lives = self;
    struct seat *const seat = &lives->seats[rank];
    struct counter *const counter = &lives->counters[rank];

    register_seat(lives, seat);
    CHECK(seat->status == CPLAYOUT_OK, "rank %d: %s", rank, seat->error.message);
    counter->fail_at = atomic_load(&counter->calls) + 1;
    CHECK(seat_batch(seat, (uint64_t)(ROWS * lives->config.cp), &seat->batch) == MEMORY &&
              seat->batch == NULL,
          "rank %d: status %d", rank, seat->status);
    seat->status = CPLAYOUT_OK;
    run_cycle(lives, seat);
    CHECK(seat->status == CPLAYOUT_OK, "rank %d cannot go on: %s", rank, seat->error.message);
    host_core()->destroy(seat->context);
}

static void test_retry(int32_t ranks)
{
    const struct cplayout_host record = host_record();
    struct lives lives;

    tap_test("a batch that lacks memory on all %d ranks can be made later", ranks);
    lives_init(&lives, ranks, 1);
    tap_require(host_core()->local_group_create(&record, ranks, &lives.group, NULL) == CPLAYOUT_OK,
                "no group");
    tap_ranks(ranks, run_retry, &lives);
    host_core()->local_group_destroy(lives.group);
    for (int32_t rank = 0; rank < ranks; rank++) {
        counter_check(&lives.counters[rank], "rank");
    }
}

static void test_group(void)
{
    struct counter counter = {.fail_at = 1};
    const struct cplayout_host record = counter_record(&counter);
    struct cplayout_local_group *group = NULL;
    struct cplayout_error error = {.size = sizeof(error)};

    tap_test("a group that lacks memory");
    CHECK(host_core()->local_group_create(&record, 2, &group, &error) == MEMORY && group == NULL &&
              strstr(error.message, "memory") != NULL,
          "'%s'", error.message);
    counter_check(&counter, "group");
}

int main(void)
{
    for (int32_t ranks = 1; ranks <= 5; ranks++) {
        test_steady(ranks);
    }
    for (int32_t ranks = 1; ranks <= 3; ranks++) {
        test_failing(ranks);
        test_retry(ranks);
    }
    test_group();
    return tap_end();
}
