/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way back is the adjoint of the way there: <A x, y> = <x, A' y> in whole numbers, for every two
 * layouts, also where padding comes and goes, on both transports.
 */
#include <inttypes.h>

#include "threads/block.h"
#include "threads/deal.h"

enum { PAIRS = DEAL_LAYOUTS * DEAL_LAYOUTS };

static const struct form form = {"[2, rows, 3] of 8 bytes",
                                 3,
                                 1,
                                 {2, 0, 3},
                                 {CPLAYOUT_TYPE_INT, 64, 1}};

/* One rank's share of both sides, modulo 2^64. */
struct share {
    uint64_t there[PAIRS];
    uint64_t back[PAIRS];
};

struct stage {
    struct deal deal;
    struct share shares[TAP_RANKS_MOST];
};

/* Converts, and returns where the rows are now: nothing moves where nothing is due. */
static const struct block *convert(struct seat *seat, const int32_t pair[2],
                                   const struct block *input, const struct block *output)
{
    const struct cplayout_convert_call call = {
        .size = sizeof(call),
        .batch = seat->batch,
        .input = &input->tensor,
        .from_layout = pair[0],
        .to_layout = pair[1],
        .row_axis = form.row_axis,
    };
    struct cplayout_tensor out = output->tensor;

    CHECK(seat_convert(seat, &call, &out) == CPLAYOUT_OK, "rank %d: %s", seat->rank,
          seat->error.message);
    return out.data == output->tensor.data ? output : input;
}

static void run_pair(struct stage *stage, struct seat *seat, int32_t pair)
{
    const int32_t layouts[] = {pair / DEAL_LAYOUTS, pair % DEAL_LAYOUTS};
    const int32_t handles[] = {seat_layout(seat, deal_names[layouts[0]]),
                               seat_layout(seat, deal_names[layouts[1]])};
    const int32_t reverse[] = {handles[1], handles[0]};
    struct share *const share = &stage->shares[seat->rank];
    struct block x[2];
    struct block y[2];

    for (int32_t i = 0; i < 2; i++) {
        block_init(&x[i], &form, deal_count(&stage->deal, layouts[0]), PACKING_PADDED);
        block_init(&y[i], &form, deal_count(&stage->deal, layouts[1]), PACKING_INTERLEAVED);
    }
    block_noise(&x[0], (uint64_t)(seat->rank * PAIRS + pair));
    block_noise(&y[0], (uint64_t)(seat->rank * PAIRS + pair) + 7919);
    share->there[pair] = block_dot(convert(seat, handles, &x[0], &y[1]), &y[0]);
    share->back[pair] = block_dot(&x[0], convert(seat, reverse, &y[0], &x[1]));
    for (int32_t i = 0; i < 2; i++) {
        block_fini(&x[i]);
        block_fini(&y[i]);
    }
}

static void run_stage(struct world *world, struct seat *seat)
{
    struct stage *const stage = world->self;
    const struct cplayout_batch_args args = deal_args(&stage->deal);

    if (!CHECK(host_core()->batch_create(seat->context, &args, &seat->batch, &seat->error) ==
                   CPLAYOUT_OK,
               "rank %d: %s", seat->rank, seat->error.message)) {
        return;
    }
    for (int32_t pair = 0; pair < PAIRS && seat->status == CPLAYOUT_OK; pair++) {
        run_pair(stage, seat, pair);
    }
}

static void check_sums(const struct stage *stage)
{
    for (int32_t pair = 0; pair < PAIRS; pair++) {
        uint64_t there = 0;
        uint64_t back = 0;

        for (int32_t rank = 0; rank < stage->deal.ranks; rank++) {
            there += stage->shares[rank].there[pair];
            back += stage->shares[rank].back[pair];
        }
        CHECK(there == back && (there != 0 || stage->deal.stream == 0),
              "%s, pair %d: <Ax, y> = %" PRIu64 ", <x, A'y> = %" PRIu64, deal_text(&stage->deal),
              pair, there, back);
    }
}

static void test_stage(struct stage *stage, enum transport transport)
{
    const struct host_config config = {
        .cp = stage->deal.cp,
        .tp = stage->deal.tp,
        .packed = stage->deal.packed,
        .linear = "contiguous",
        .attention = "zigzag",
        .boundary = "mirror",
        .timeout = "20",
        .transport = transport,
    };
    struct world world;

    world_open(&world, &config);
    world.self = stage;
    world_run(&world, run_stage);
    world_close(&world);
    check_sums(stage);
    deal_fini(&stage->deal);
}

int main(void)
{
    static const struct packed_ranks sizes[] = {{1, 1}, {2, 1}, {2, 3}, {3, 2}, {4, 1}, {8, 2}};

    for (int32_t i = 0; i < 4 * (int32_t)(sizeof(sizes) / sizeof(sizes[0])); i++) {
        const struct packed_ranks ranks = sizes[i / 4];
        const enum transport transport = i % 2 == 0 ? LOCAL : COMMUNICATOR;
        static struct stage stage;

        tap_test("adjoint, %s, P = %d, T = %d, %s", i % 4 < 2 ? "dense" : "packed", ranks.cp,
                 ranks.tp, transport_names[transport]);
        if (i % 4 < 2) {
            deal_dense(&stage.deal, ranks, 2);
        } else {
            deal_pack(&stage.deal, ranks, DEAL_MIXED, i);
        }
        test_stage(&stage, transport);
    }
    return tap_end();
}
