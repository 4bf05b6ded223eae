/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hooks promise beyond moving rows: calls may be repeated and interleaved over live batches,
 * backward is exactly the adjoint of forward, and equal partitions need no conversion.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "threads/block.h"
#include "threads/host.h"

enum { LAYERS = 5, BATCHES = 2, HOOKS = 2 * LAYERS };

static const char pattern[] = "*M-*M";

/* The hooks of a forward pass in order. */
static struct hook_step step_at(int32_t index, int32_t direction)
{
    return (struct hook_step){index % 2 == 0 ? PREPARE : FINALIZE, index / 2, direction};
}

/* Runs a hook from `input` into `output`; `due` says whether rows were moved. */
static bool run_hook(struct seat *seat, const struct cplayout_batch *batch,
                     const struct hook_step *step, const struct block *input, struct block *output,
                     bool *due)
{
    struct cplayout_tensor out = output->tensor;

    block_clear(output);
    (void)seat_hook(seat, step, batch, &input->tensor, input->form->row_axis, &out);
    *due = out.data == output->tensor.data;
    return CHECK(seat->status == CPLAYOUT_OK, "rank %d, layer %d: %s", seat->rank, step->layer,
                 seat->error.message);
}

/* ---- Repeated and interleaved --------------------------------------------------------------- */

static const uint64_t batch_tokens[BATCHES] = {48, 96};
static const struct form *const batch_forms[BATCHES] = {&forms[8], &forms[5]};

/* A live batch with an input, its first result per hook, and room for another. */
struct live {
    struct cplayout_batch *batch;
    struct block input;
    struct block first;
    struct block again;
};

static bool live_open(struct live *live, struct seat *seat, int32_t ranks, int32_t index)
{
    const int64_t rows = (int64_t)batch_tokens[index] / ranks;
    const struct form *const form = batch_forms[index];

    *live = (struct live){NULL};
    block_init(&live->input, form, rows, PACKING_PADDED);
    block_init(&live->first, form, rows, PACKING_PADDED);
    block_init(&live->again, form, rows, PACKING_PADDED);
    block_noise(&live->input, (uint64_t)(seat->rank * BATCHES + index));
    return CHECK(seat_batch(seat, batch_tokens[index], &live->batch) == CPLAYOUT_OK,
                 "rank %d: batch: %s", seat->rank, seat->error.message);
}

static void live_close(struct live *live)
{
    block_fini(&live->input);
    block_fini(&live->first);
    block_fini(&live->again);
    host_core()->batch_destroy(live->batch);
}

static bool check_repeated(struct seat *seat, struct live *live, const struct hook_step *step)
{
    bool due;

    if (!run_hook(seat, live->batch, step, &live->input, &live->again, &due)) {
        return false;
    }
    return CHECK(memcmp(live->first.tensor.data, live->again.tensor.data, live->first.bytes) == 0,
                 "rank %d, layer %d: repeated, the result is another", seat->rank, step->layer);
}

/* The same hook on both batches in turn, three times over. */
static bool check_interleaved(struct seat *seat, struct live *lives, const struct hook_step *step)
{
    bool good = true;
    bool due;

    for (int32_t i = 0; i < BATCHES && good; i++) {
        good = run_hook(seat, lives[i].batch, step, &lives[i].input, &lives[i].first, &due);
    }
    for (int32_t i = 0; i < 2 * BATCHES && good; i++) {
        good = check_repeated(seat, &lives[i % BATCHES], step);
    }
    return good;
}

static void run_interleaved(struct world *world, struct seat *seat)
{
    struct live lives[BATCHES];
    bool good = true;

    for (int32_t i = 0; i < BATCHES; i++) {
        good = live_open(&lives[i], seat, world->ranks, i) && good;
    }
    for (int32_t i = 0; i < 2 * HOOKS && good; i++) {
        const struct hook_step step = step_at(i % HOOKS, i / HOOKS);

        good = check_interleaved(seat, lives, &step);
    }
    for (int32_t i = 0; i < BATCHES; i++) {
        live_close(&lives[i]);
    }
}

/* ---- Adjoint -------------------------------------------------------------------------------- */

enum { ADJOINT_WIDTH = 4, ADJOINT_TOKENS = 48 };

static const struct form adjoint_form = {"[rows, 4] of 8 bytes",
                                         2,
                                         0,
                                         {0, ADJOINT_WIDTH},
                                         {CPLAYOUT_TYPE_INT, 64, 1}};

/* Sums over this rank: <A x, y> and <x, A' y>, modulo 2^64. */
struct products {
    uint64_t forward[HOOKS];
    uint64_t backward[HOOKS];
    bool due[HOOKS];
};

static bool multiply(struct seat *seat, int32_t index, struct block *blocks,
                     struct products *products)
{
    const struct hook_step forward = step_at(index, CPLAYOUT_FORWARD);
    const struct hook_step backward = step_at(index, CPLAYOUT_BACKWARD);
    struct block *const x = &blocks[0];
    struct block *const y = &blocks[1];
    struct block *const moved = &blocks[2];
    bool due = false;
    bool due_back = false;

    block_noise(x, (uint64_t)(2 * (seat->rank * HOOKS + index)));
    block_noise(y, (uint64_t)(2 * (seat->rank * HOOKS + index) + 1));
    if (!run_hook(seat, seat->batch, &forward, x, moved, &due)) {
        return false;
    }
    products->due[index] = due;
    products->forward[index] = block_dot(due ? moved : x, y);
    if (!run_hook(seat, seat->batch, &backward, y, moved, &due_back)) {
        return false;
    }
    products->backward[index] = block_dot(x, due_back ? moved : y);
    return CHECK(due == due_back, "layer %d: due in one direction only", forward.layer);
}

static void run_products(struct world *world, struct seat *seat)
{
    struct products *const products = (struct products *)world->self + seat->rank;
    struct block blocks[3];
    bool good;

    for (int32_t i = 0; i < 3; i++) {
        block_init(&blocks[i], &adjoint_form, ADJOINT_TOKENS / world->ranks, PACKING_PADDED);
    }
    good = CHECK(seat_batch(seat, ADJOINT_TOKENS, &seat->batch) == CPLAYOUT_OK,
                 "rank %d: batch: %s", seat->rank, seat->error.message);
    for (int32_t i = 0; i < HOOKS && good; i++) {
        good = multiply(seat, i, blocks, products);
    }
    for (int32_t i = 0; i < 3; i++) {
        block_fini(&blocks[i]);
    }
}

static void check_products(const struct products *products, int32_t ranks)
{
    int32_t moves = 0;

    for (int32_t i = 0; i < HOOKS; i++) {
        uint64_t forward = 0;
        uint64_t backward = 0;

        for (int32_t rank = 0; rank < ranks; rank++) {
            forward += products[rank].forward[i];
            backward += products[rank].backward[i];
        }
        moves += products[0].due[i];
        CHECK(forward == backward, "layer %d: <Ax, y> = %" PRIu64 ", <x, A'y> = %" PRIu64, i / 2,
              forward, backward);
    }
    CHECK(moves == 4, "%d hooks move rows, not 4", moves);
}

/* ---- Equal partitions ----------------------------------------------------------------------- */

static bool is_ever_due(struct seat *seat, int32_t ranks, bool *ever)
{
    struct block blocks[2];
    bool good = true;
    bool due;

    *ever = false;
    block_init(&blocks[0], &forms[2], (int64_t)batch_tokens[0] / ranks, PACKING_COMPACT);
    block_init(&blocks[1], &forms[2], (int64_t)batch_tokens[0] / ranks, PACKING_COMPACT);
    for (int32_t i = 0; i < 2 * HOOKS && good; i++) {
        const struct hook_step step = step_at(i % HOOKS, i / HOOKS);

        good = run_hook(seat, seat->batch, &step, &blocks[0], &blocks[1], &due);
        *ever = *ever || due;
    }
    block_fini(&blocks[0]);
    block_fini(&blocks[1]);
    return good;
}

static uint64_t identity_of(const struct seat *seat, const char *role)
{
    const struct cplayout_partition *partition = NULL;
    struct cplayout_partition_info info = {.size = sizeof(info)};
    int32_t layout = -1;

    if (CHECK(host_core()->layout(seat->context, role, &layout, NULL) == CPLAYOUT_OK &&
                  host_views()->view_partition(seat->batch, layout, &partition, NULL) ==
                      CPLAYOUT_OK,
              "no partition for %s", role)) {
        host_plan()->partition_describe(partition, &info);
    }
    return info.identity;
}

/* `self`: whether linear and attention layout are expected to differ. */
static void run_identities(struct world *world, struct seat *seat)
{
    const bool expected = *(const bool *)world->self;
    bool due;

    if (!CHECK(seat_batch(seat, batch_tokens[0], &seat->batch) == CPLAYOUT_OK, "rank %d: batch: %s",
               seat->rank, seat->error.message) ||
        !is_ever_due(seat, world->ranks, &due)) {
        return;
    }
    CHECK(due == expected, "rank %d: rows %s", seat->rank, due ? "move" : "do not move");
    CHECK((identity_of(seat, "linear") != identity_of(seat, "attention")) == expected,
          "rank %d: identities do not tell whether rows move", seat->rank);
    CHECK(identity_of(seat, "linear") == identity_of(seat, "boundary"),
          "the boundary layout is not the linear layout");
}

/* ---- Tests ---------------------------------------------------------------------------------- */

struct layouts {
    int32_t ranks;
    const char *linear;
    const char *attention;
    bool differ;
};

static void with_world(const struct layouts *layouts, void *self,
                       void (*body)(struct world *world, struct seat *seat))
{
    const struct host_config config = {
        .cp = layouts->ranks,
        .linear = layouts->linear,
        .attention = layouts->attention,
        .pattern = pattern,
        .timeout = "10",
    };
    struct world world;

    world_open(&world, &config);
    world.self = self;
    world_run(&world, body);
    world_close(&world);
}

static const struct layouts moving[] = {
    {2, "contiguous", "zigzag", true}, {3, "contiguous", "mirror", true},
    {3, "zigzag", "mirror", true},     {4, "contiguous", "zigzag", true},
    {4, "mirror", "zigzag", true},     {6, "mirror", "contiguous", true},
    {8, "contiguous", "zigzag", true},
};

static const struct layouts still[] = {
    {1, "contiguous", "zigzag", false},     {1, "mirror", "contiguous", false},
    {1, "zigzag", "mirror", false},         {2, "mirror", "contiguous", false},
    {2, "contiguous", "mirror", false},     {3, "zigzag", "zigzag", false},
    {4, "contiguous", "contiguous", false},
};

static void test_identities(const struct layouts *layouts)
{
    bool differ = layouts->differ;

    tap_test("%s and %s at P = %d are %s", layouts->linear, layouts->attention, layouts->ranks,
             differ ? "two partitions" : "one partition and need no conversion");
    with_world(layouts, &differ, run_identities);
}

int main(void)
{
    for (size_t i = 0; i < sizeof(moving) / sizeof(moving[0]); i++) {
        struct products products[TAP_RANKS_MOST] = {0};

        tap_test("%s to %s, P = %d: repeated and interleaved hooks agree", moving[i].linear,
                 moving[i].attention, moving[i].ranks);
        with_world(&moving[i], NULL, run_interleaved);
        tap_test("%s to %s, P = %d: backward is the adjoint", moving[i].linear, moving[i].attention,
                 moving[i].ranks);
        with_world(&moving[i], products, run_products);
        check_products(products, moving[i].ranks);
        test_identities(&moving[i]);
    }
    for (size_t i = 0; i < sizeof(still) / sizeof(still[0]); i++) {
        test_identities(&still[i]);
    }
    return tap_end();
}
