/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training loop stops allocating: packed batches whose lengths come again, several alive at a time,
 * through hooks, `convert` and views, on both transports.
 */
#include "threads/block.h"
#include "threads/counter.h"
#include "threads/deal.h"

enum { ALIVE = 3, WARM_UP = 3, CYCLES = 6, FORMS = 2 };

/* The batches of every cycle, and how many cycles to run. */
struct loop {
    struct deal deals[ALIVE];
    int32_t cycles;
};

static const struct form *const form_of[FORMS] = {&forms[8], &forms[5]};

/* A conversion there and back, with memory of the test's own. */
static void convert_pair(struct seat *seat, const struct deal *deal, int32_t from, int32_t to,
                         const struct form *form)
{
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
    block_init(&output, form, deal_count(deal, to), PACKING_COMPACT);
    call.input = &input.tensor;
    out = output.tensor;
    CHECK(seat_convert(seat, &call, &out) == CPLAYOUT_OK, "rank %d: %s", seat->rank,
          seat->error.message);
    block_fini(&input);
    block_fini(&output);
}

/* Into the attention layer and out of it, forward and backward. */
static void run_hooks(struct seat *seat, const struct deal *deal, const struct form *form)
{
    for (int32_t i = 0; i < 4; i++) {
        const struct hook_step step = {PREPARE, 1 + i % 2, i / 2};
        const bool into = i == 0 || i == 3; /* contiguous to zigzag */
        struct block input;
        struct block output;
        struct cplayout_tensor out;

        block_init(&input, form, deal_count(deal, into ? 0 : 2), PACKING_COMPACT);
        block_init(&output, form, deal_count(deal, into ? 2 : 0), PACKING_PADDED);
        out = output.tensor;
        CHECK(seat_hook(seat, &step, seat->batch, &input.tensor, form->row_axis, &out) ==
                  CPLAYOUT_OK,
              "rank %d, hook %d: %s", seat->rank, i, seat->error.message);
        block_fini(&input);
        block_fini(&output);
    }
}

static void look(const struct seat *seat)
{
    const int32_t layout = seat_layout(seat, "attention");
    struct cplayout_view view = {.size = sizeof(view)};
    struct cplayout_view_metadata metadata = {.size = sizeof(metadata)};
    const struct cplayout_partition *partition;

    CHECK(host_views()->view_describe(seat->batch, layout, "position_ids", &view, NULL) ==
                  CPLAYOUT_OK &&
              host_views()->view_metadata(seat->batch, layout, &metadata, NULL) == CPLAYOUT_OK &&
              host_views()->view_partition(seat->batch, layout, &partition, NULL) == CPLAYOUT_OK,
          "rank %d: a view", seat->rank);
}

static void use_batch(struct seat *seat, const struct deal *deal)
{
    for (int32_t i = 0; i < FORMS; i++) {
        run_hooks(seat, deal, form_of[i]);
        convert_pair(seat, deal, 1, 2, form_of[i]);
        convert_pair(seat, deal, 2, 1, form_of[i]);
    }
    look(seat);
}

/* All batches are made, then used, then destroyed in another order. */
static void run_cycle(const struct loop *loop, struct seat *seat)
{
    struct cplayout_batch *batches[ALIVE] = {NULL};

    for (int32_t i = 0; i < ALIVE; i++) {
        const struct cplayout_batch_args args = deal_args(&loop->deals[i]);

        CHECK(host_core()->batch_create(seat->context, &args, &batches[i], &seat->error) ==
                  CPLAYOUT_OK,
              "rank %d: %s", seat->rank, seat->error.message);
    }
    for (int32_t i = 0; i < ALIVE && batches[i] != NULL; i++) {
        seat->batch = batches[i];
        use_batch(seat, &loop->deals[i]);
    }
    seat->batch = NULL;
    for (int32_t i = 0; i < ALIVE; i++) {
        host_core()->batch_destroy(batches[(i + 1) % ALIVE]);
    }
}

static void run_loop(struct world *world, struct seat *seat)
{
    const struct loop *const loop = world->self;

    for (int32_t i = 0; i < loop->cycles && !tap_failed(); i++) {
        run_cycle(loop, seat);
    }
}

static void test_loop(struct loop *loop, const struct host_config *config)
{
    struct counter *const counter = config->counter;
    struct world world;
    long long before;

    world_open(&world, config);
    world.self = loop;
    loop->cycles = WARM_UP;
    world_run(&world, run_loop);
    before = atomic_load(&counter->calls);
    loop->cycles = CYCLES;
    world_run(&world, run_loop);
    CHECK(before > 0 && atomic_load(&counter->calls) == before,
          "%lld allocations in %d cycles, %lld more in %d others", before, WARM_UP,
          atomic_load(&counter->calls) - before, CYCLES);
    world_close(&world);
    counter_check(counter, "the loop");
}

static void test_steady(struct packed_ranks ranks, enum transport transport, enum wire_mode mode)
{
    struct counter counter = {0};
    const struct host_config config = {
        .cp = ranks.cp,
        .tp = ranks.tp,
        .packed = true,
        .linear = "contiguous",
        .attention = "zigzag",
        .boundary = "mirror",
        .pattern = "M*M",
        .timeout = "20",
        .transport = transport,
        .traits = {.mode = mode},
        .counter = &counter,
    };
    struct loop loop = {.cycles = 0};

    tap_test("no allocation in steady state, P = %d, T = %d, %s, mode %d", ranks.cp, ranks.tp,
             transport_names[transport], mode);
    for (int32_t i = 0; i < ALIVE; i++) {
        deal_pack(&loop.deals[i], ranks, (enum deal_kind)(i % 2), 5 * i);
    }
    test_loop(&loop, &config);
    for (int32_t i = 0; i < ALIVE; i++) {
        deal_fini(&loop.deals[i]);
    }
}

int main(void)
{
    static const struct packed_ranks sizes[] = {{1, 1}, {2, 1}, {2, 2}, {3, 1}, {4, 3}, {8, 1}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        test_steady(sizes[i], LOCAL, WIRE_EAGER);
        test_steady(sizes[i], COMMUNICATOR, WIRE_EAGER);
        test_steady(sizes[i], COMMUNICATOR, WIRE_RENDEZVOUS);
    }
    return tap_end();
}
