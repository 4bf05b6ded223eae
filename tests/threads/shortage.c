/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory runs out on one rank at work: each of its allocations after registration fails once, over
 * packed batches and conversions of ever other sizes. It gets MEMORY, the others hear of it at once,
 * and nothing is lost.
 */
#include <string.h>

#include "threads/block.h"
#include "threads/counter.h"
#include "threads/deal.h"

enum { VICTIM = 0, BATCHES = 2, CALLS_MOST = 400, MEMORY = CPLAYOUT_ERROR_MEMORY };

/* One life of all ranks. */
struct life {
    struct deal deals[BATCHES];
    struct counter counter; /* the victim's */
    long long fail_at;      /* counted from its registration */
    int32_t statuses[TAP_RANKS_MOST];
};

static void register_victim(struct world *world, struct seat *seat, struct life *life)
{
    struct cplayout_host record = counter_record(&life->counter);
    const struct cplayout_host place = world_record(world, seat->rank);

    record.rank = place.rank;
    record.ranks = place.ranks;
    record.local_group = place.local_group;
    record.communicator = place.communicator;
    record.communicator_ranks = place.communicator_ranks;
    tap_require(host_create(&record, &world->config, &seat->context, &seat->error) == CPLAYOUT_OK,
                "%s", seat->error.message);
    life->counter.fail_at = atomic_load(&life->counter.calls) + life->fail_at;
}

/* There and back between two layouts; stops at the first error. */
static void convert(struct seat *seat, const struct deal *deal, const struct form *form)
{
    for (int32_t i = 0; i < 2 && seat->status == CPLAYOUT_OK; i++) {
        const int32_t from = i == 0 ? 0 : 2;
        const int32_t to = 2 - from;
        struct cplayout_convert_call call = {
            .size = sizeof(call),
            .batch = seat->batch,
            .from_layout = seat_layout(seat, deal_names[from]),
            .to_layout = seat_layout(seat, deal_names[to]),
            .row_axis = form->row_axis,
        };
        struct block input;
        struct block output;
        struct cplayout_tensor out;

        block_init(&input, form, deal_count(deal, from), PACKING_PADDED);
        block_init(&output, form, deal_count(deal, to), PACKING_PADDED);
        call.input = &input.tensor;
        out = output.tensor;
        (void)seat_convert(seat, &call, &out);
        block_fini(&input);
        block_fini(&output);
    }
}

static void run_batch(struct seat *seat, const struct deal *deal)
{
    const struct cplayout_batch_args args = deal_args(deal);

    seat->status = host_core()->batch_create(seat->context, &args, &seat->batch, &seat->error);
    CHECK((seat->batch != NULL) == (seat->status == CPLAYOUT_OK), "rank %d: status %d and %p",
          seat->rank, seat->status, (void *)seat->batch);
    for (int32_t form = 3; form < 9; form++) {
        if (seat->status == CPLAYOUT_OK) {
            convert(seat, deal, &forms[form]);
        }
    }
    host_core()->batch_destroy(seat->batch);
    seat->batch = NULL;
}

static void run_life(struct world *world, struct seat *seat)
{
    struct life *const life = world->self;

    if (seat->rank == VICTIM) {
        register_victim(world, seat, life);
    } else {
        world_seat(world, seat->rank, &world->config);
    }
    for (int32_t i = 0; i < BATCHES && seat->status == CPLAYOUT_OK; i++) {
        run_batch(seat, &life->deals[i]);
    }
    life->statuses[seat->rank] = seat->status;
    world_leave(seat);
}

/* A rank that does not meet the victim may get through its last call, but only that. */
static int32_t check_other(const struct life *life, const struct seat *seat)
{
    const int32_t status = life->statuses[seat->rank];

    CHECK(status == CPLAYOUT_OK ||
              ((status == CPLAYOUT_ERROR_PEER || status == CPLAYOUT_ERROR_MISMATCH) &&
               strstr(seat->error.message, "rank 0") != NULL),
          "allocation %lld fails: rank %d gets %d: %s", life->fail_at, seat->rank, status,
          seat->error.message);
    return status != CPLAYOUT_OK;
}

/* Returns whether an allocation has failed. */
static bool play(struct life *life, const struct host_config *config)
{
    struct world world;
    int32_t told = 0;
    bool failed;

    atomic_store(&life->counter.calls, 0);
    life->counter.fail_at = 0;
    world_open_empty(&world, config);
    world.self = life;
    world_run(&world, run_life);
    failed = life->statuses[VICTIM] != CPLAYOUT_OK;
    CHECK(!failed || (life->statuses[VICTIM] == MEMORY &&
                      strstr(world.seats[VICTIM].error.message, "memory") != NULL),
          "allocation %lld fails: status %d: %s", life->fail_at, life->statuses[VICTIM],
          world.seats[VICTIM].error.message);
    for (int32_t rank = VICTIM + 1; rank < world.ranks; rank++) {
        told += check_other(life, &world.seats[rank]);
    }
    CHECK((told > 0) == failed, "allocation %lld: %d ranks hear of it", life->fail_at, told);
    world_close(&world);
    counter_check(&life->counter, "the victim");
    return failed;
}

static void test_shortage(struct packed_ranks ranks, enum transport transport)
{
    const struct host_config config = {
        .cp = ranks.cp,
        .tp = ranks.tp,
        .packed = true,
        .linear = "contiguous",
        .attention = "zigzag",
        .timeout = "10",
        .transport = transport,
    };
    static struct life life;

    tap_test("memory runs out on rank 0, P = %d, T = %d, %s", ranks.cp, ranks.tp,
             transport_names[transport]);
    for (int32_t i = 0; i < BATCHES; i++) {
        deal_pack(&life.deals[i], ranks, (enum deal_kind)i, 11 * i);
    }
    life.fail_at = 1;
    while (life.fail_at < CALLS_MOST && !tap_failed() && play(&life, &config)) {
        life.fail_at++;
    }
    CHECK(life.fail_at > 2 && life.fail_at < CALLS_MOST, "%lld allocations", life.fail_at);
    for (int32_t i = 0; i < BATCHES; i++) {
        deal_fini(&life.deals[i]);
    }
}

int main(void)
{
    static const struct packed_ranks sizes[] = {{2, 1}, {3, 1}, {2, 2}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        test_shortage(sizes[i], LOCAL);
        test_shortage(sizes[i], COMMUNICATOR);
    }
    return tap_end();
}
