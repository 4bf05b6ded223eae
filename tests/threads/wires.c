/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the plugin does with a communicator: how much it sends, which records it accepts, and how it
 * gets along without a control channel, without abort and with slow ranks. That it keeps its side of
 * communicator.h is checked by the wire in every test.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "threads/block.h"
#include "threads/chunk.h"

enum { ARGUMENT = CPLAYOUT_ERROR_ARGUMENT, FRAME_BYTES_MOST = 64 };

static const struct host_config usual = {
    .cp = 3,
    .linear = "contiguous",
    .attention = "zigzag",
    .boundary = "mirror",
    .pattern = "M*M",
    .timeout = "20",
    .transport = COMMUNICATOR,
};

/* ---- How much is sent ------------------------------------------------------------------------ */

static const struct form form = {"[2, rows, 7] of 2 bytes",
                                 3,
                                 1,
                                 {2, 0, 7},
                                 {CPLAYOUT_TYPE_BFLOAT, 16, 1}};

static void convert(struct seat *seat, const struct deal *deal, int32_t from, int32_t to)
{
    struct cplayout_convert_call call = {
        .size = sizeof(call),
        .batch = seat->batch,
        .from_layout = seat_layout(seat, deal_names[from]),
        .to_layout = seat_layout(seat, deal_names[to]),
        .row_axis = form.row_axis,
    };
    struct block input;
    struct block output;
    struct cplayout_tensor out;

    block_init(&input, &form, deal_count(deal, from), PACKING_PADDED);
    block_init(&output, &form, deal_count(deal, to), PACKING_PADDED);
    call.input = &input.tensor;
    out = output.tensor;
    CHECK(seat_convert(seat, &call, &out) == CPLAYOUT_OK, "rank %d: %s", seat->rank,
          seat->error.message);
    block_fini(&input);
    block_fini(&output);
}

/* Rows go out once, one message to each rank that wants some; beside them only small frames. */
static void check_sent(struct world *world, const struct seat *seat,
                       const struct wire_counts *before, const int32_t pair[2])
{
    const struct deal *const deal = world->self;
    const struct wire_counts after = wire_counts(world->wire, seat->rank);
    const int64_t bytes = after.bytes - before->bytes;
    const int64_t messages = after.messages - before->messages;
    const int64_t rows = (int64_t)deal_sent(deal, pair[0], pair[1], seat->rank) * 2 * 7 * 2;
    const int64_t to = deal_peers(deal, pair[0], pair[1], seat->rank);
    const int64_t from = deal_peers(deal, pair[1], pair[0], seat->rank);

    CHECK(bytes >= rows && bytes <= rows + FRAME_BYTES_MOST * (to + from),
          "rank %d, %s: %" PRId64 " bytes for %" PRId64 " of rows", seat->rank, deal_text(deal),
          bytes, rows);
    CHECK(messages >= to && messages <= 2 * to + from,
          "rank %d, %s: %" PRId64 " messages to %" PRId64 " ranks", seat->rank, deal_text(deal),
          messages, to);
    CHECK(to + from > 0 || after.calls[WIRE_START] == before->calls[WIRE_START],
          "rank %d meets nobody and calls all the same", seat->rank);
    CHECK(after.calls[WIRE_START] == after.calls[WIRE_WAIT] &&
              after.calls[WIRE_ALLGATHER] == before->calls[WIRE_ALLGATHER],
          "rank %d: waits and starts, or a gathering in a conversion", seat->rank);
}

static void run_counted(struct world *world, struct seat *seat)
{
    const struct deal *const deal = world->self;
    const struct cplayout_batch_args args = deal_args(deal);

    CHECK(host_core()->batch_create(seat->context, &args, &seat->batch, &seat->error) ==
              CPLAYOUT_OK,
          "rank %d: %s", seat->rank, seat->error.message);
    for (int32_t i = 0; i < DEAL_LAYOUTS * DEAL_LAYOUTS && !tap_failed(); i++) {
        const int32_t pair[] = {i / DEAL_LAYOUTS, i % DEAL_LAYOUTS};
        const struct wire_counts before = wire_counts(world->wire, seat->rank);

        convert(seat, deal, pair[0], pair[1]);
        check_sent(world, seat, &before, pair);
    }
}

static void test_counted(struct packed_ranks ranks, bool packed)
{
    struct host_config config = usual;
    struct deal deal;
    struct world world;

    tap_test("what is sent, %s, P = %d, T = %d", packed ? "packed" : "dense", ranks.cp, ranks.tp);
    config.cp = ranks.cp;
    config.tp = ranks.tp;
    config.packed = packed;
    if (packed) {
        deal_pack(&deal, ranks, DEAL_MIXED, ranks.cp);
    } else {
        deal_dense(&deal, ranks, 2);
    }
    world_open(&world, &config);
    world.self = &deal;
    world_run(&world, run_counted);
    world_close(&world);
    deal_fini(&deal);
}

/* ---- Records ---------------------------------------------------------------------------------- */

struct wrong {
    const char *name;
    void (*change)(struct cplayout_host *record, struct cplayout_communicator *communicator,
                   int32_t *map);
    int32_t status;
    const char *text;
};

#define CHANGE(name, statement)                                                                \
    static void name(struct cplayout_host *record, struct cplayout_communicator *communicator, \
                     int32_t *map)                                                             \
    {                                                                                          \
        (void)record;                                                                          \
        (void)communicator;                                                                    \
        (void)map;                                                                             \
        statement;                                                                             \
    }

CHANGE(size_zero, communicator->size = 0)
CHANGE(size_small, communicator->size -= 8)
CHANGE(no_start, communicator->start = NULL)
CHANGE(no_wait, communicator->wait = NULL)
CHANGE(map_twice, map[2] = map[1])
CHANGE(map_negative, map[0] = -4)
CHANGE(rank_beyond, record->rank = 3)
CHANGE(rank_negative, record->rank = -1)
CHANGE(ranks_none, record->ranks = 0)

static const struct wrong wrongs[] = {
    {"a communicator of size 0", size_zero, ARGUMENT, "communicator.size is 0"},
    {"a communicator that is too small", size_small, ARGUMENT, "communicator.size is"},
    {"no start", no_start, ARGUMENT, "start"},
    {"no wait", no_wait, ARGUMENT, "wait"},
    {"a map with a negative rank", map_negative, ARGUMENT, "communicator_ranks"},
    {"a map that names a rank twice", map_twice, CPLAYOUT_ERROR_CONFIGURATION,
     "group.not_cartesian: the TP and CP ranks form no grid: logical ranks 1 and 2"},
    {"rank 3 of 3", rank_beyond, ARGUMENT, "rank 3"},
    {"rank -1", rank_negative, ARGUMENT, "rank -1"},
    {"no number of ranks", ranks_none, ARGUMENT, "rank"},
};

static void refuse(const struct cplayout_host *record, const struct wrong *wrong)
{
    struct cplayout_context *context = NULL;
    struct cplayout_error error = {.size = sizeof(error)};
    const int32_t status = host_create(record, &usual, &context, &error);

    CHECK(status == wrong->status && context == NULL, "status %d: %s", status, error.message);
    CHECK(strstr(error.message, wrong->text) != NULL, "'%s' is not in '%s'", wrong->text,
          error.message);
}

static void test_wrong(const struct wrong *wrong)
{
    struct cplayout_communicator communicator;
    struct cplayout_host record;
    int32_t map[3];
    struct world world;

    tap_test("create with %s", wrong->name);
    world_open_empty(&world, &usual);
    record = world_record(&world, 0);
    communicator = *record.communicator;
    memcpy(map, record.communicator_ranks, sizeof(map));
    record.communicator = &communicator;
    record.communicator_ranks = map;
    wrong->change(&record, &communicator, map);
    refuse(&record, wrong);
    CHECK(wire_counts(world.wire, 0).calls[WIRE_ALLGATHER] == 0, "it takes part all the same");
    world_close(&world);
}

static void test_both_ways(void)
{
    static const struct wrong both = {.status = ARGUMENT, .text = "communicator"};
    struct host_config config = usual;
    struct cplayout_host record;
    struct world local;
    struct world remote;

    tap_test("create with a local group and a communicator");
    world_open_empty(&remote, &config);
    config.transport = LOCAL;
    world_open_empty(&local, &config);
    record = world_record(&remote, 0);
    record.local_group = local.group;
    refuse(&record, &both);
    world_close(&local);
    world_close(&remote);
}

/* Two processes take themselves for the same rank. */
static void run_twins(struct world *world, struct seat *seat)
{
    struct cplayout_host record = world_record(world, seat->rank);

    record.rank = seat->rank == 2 ? 1 : seat->rank;
    seat->status = host_create(&record, &world->config, &seat->context, &seat->error);
    CHECK(seat->status == CPLAYOUT_ERROR_MISMATCH && seat->context == NULL &&
              strstr(seat->error.message, "rank 2") != NULL,
          "rank %d: status %d: %s", seat->rank, seat->status, seat->error.message);
}

static void test_twins(void)
{
    struct world world;

    tap_test("two ranks of one number");
    world_open_empty(&world, &usual);
    world_run(&world, run_twins);
    world_close(&world);
}

/* ---- Without a control channel ---------------------------------------------------------------- */

/* Findings of all ranks. */
static atomic_int warnings;

static void see(void *self, const struct cplayout_diagnostic *diagnostic)
{
    (void)self;
    CHECK(diagnostic->severity == CPLAYOUT_SEVERITY_WARNING &&
              strcmp(diagnostic->code, "verify.no_channel") == 0,
          "%s: %s", diagnostic->code, diagnostic->message);
    (void)atomic_fetch_add(&warnings, 1);
}

static void run_mute(struct world *world, struct seat *seat)
{
    static const struct cplayout_option options[] = {{"context_parallel_size", "3"},
                                                     {"linear_cp_layout", "contiguous"},
                                                     {"hybrid_layer_pattern", "M*M"}};
    const struct cplayout_host record = world_record(world, seat->rank);
    const struct cplayout_create_args args = {.size = sizeof(args),
                                              .host = &record,
                                              .options = options,
                                              .option_count = 3,
                                              .diagnose = see};

    CHECK(host_core()->create(&args, &seat->context, &seat->error) == CPLAYOUT_OK, "rank %d: %s",
          seat->rank, seat->error.message);
}

static void test_mute(void)
{
    struct host_config config = usual;
    struct world world;

    tap_test("a communicator without allgather is a warning on every rank");
    config.traits.no_allgather = true;
    atomic_store(&warnings, 0);
    world_open_empty(&world, &config);
    world_run(&world, run_mute);
    CHECK(atomic_load(&warnings) == 3, "%d warnings", atomic_load(&warnings));
    world_close(&world);
}

/* Rank 1 is wrong: the others hear of it in their next call that moves rows. */
static void run_mute_batch(struct world *world, struct seat *seat)
{
    static const struct hook_step step = {PREPARE, 1, CPLAYOUT_FORWARD};
    const uint64_t tokens = seat->rank == 1 ? 17 : 18;
    struct block blocks[2];
    struct cplayout_tensor out;

    (void)seat_batch(seat, tokens, &seat->batch);
    world_meet(world);
    if (seat->rank == 1) {
        CHECK(seat->status == ARGUMENT, "status %d: %s", seat->status, seat->error.message);
        return;
    }
    block_init(&blocks[0], &forms[0], 6, PACKING_PADDED);
    block_init(&blocks[1], &forms[0], 6, PACKING_PADDED);
    out = blocks[1].tensor;
    (void)seat_hook(seat, &step, seat->batch, &blocks[0].tensor, 0, &out);
    CHECK(seat->status == CPLAYOUT_ERROR_PEER && strstr(seat->error.message, "rank 1 ") != NULL &&
              strstr(seat->error.message, "could not create the batch") != NULL,
          "rank %d: status %d: %s", seat->rank, seat->status, seat->error.message);
    block_fini(&blocks[0]);
    block_fini(&blocks[1]);
}

static void test_mute_batch(void)
{
    struct host_config config = usual;
    struct world world;

    tap_test("without allgather, a rank whose batch is wrong aborts");
    config.traits.no_allgather = true;
    world_open(&world, &config);
    world_run(&world, run_mute_batch);
    CHECK(wire_counts(world.wire, 1).aborts == 1, "rank 1 aborts %d times",
          (int)wire_counts(world.wire, 1).aborts);
    world_close(&world);
}

/* ---- All kinds of communicators ---------------------------------------------------------------- */

static void run_chunk(struct world *world, struct seat *seat)
{
    chunk_run(world->self, seat);
}

static void arm_delays(struct world *world)
{
    for (int32_t i = 0; i < 3; i++) {
        const struct wire_fault slow = {
            .rank = i % world->ranks,
            .point = (enum wire_point)i,
            .deed = WIRE_DELAY,
            .call = 2 + i,
            .delay_microsec = 60000,
        };

        wire_arm(world->wire, &slow);
    }
}

static void test_traits(const char *name, struct wire_traits traits, bool slow)
{
    struct host_config config = usual;
    struct deal deal;
    struct chunk chunk = {0, 2, 1, "M*M", &deal, 0, FORM_COUNT};
    struct world world;

    tap_test("conversions on a communicator %s", name);
    config.traits = traits;
    deal_dense(&deal, (struct packed_ranks){config.cp, 1}, 3);
    world_open(&world, &config);
    if (slow) {
        arm_delays(&world);
    }
    world.self = &chunk;
    world_run(&world, run_chunk);
    world_close(&world);
    deal_fini(&deal);
}

static void test_alone(void)
{
    struct deal deal;
    const struct chunk chunk = {0, 2, 1, "M*M", &deal, 0, 2};

    tap_test("a communicator of one rank");
    deal_dense(&deal, (struct packed_ranks){1, 1}, 5);
    chunk_test(&chunk, COMMUNICATOR);
    deal_fini(&deal);
}

int main(void)
{
    static const struct packed_ranks sizes[] = {{1, 2}, {2, 1}, {3, 1}, {2, 3}, {4, 2}, {8, 1}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        test_counted(sizes[i], false);
        test_counted(sizes[i], true);
    }
    for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
        test_wrong(&wrongs[i]);
    }
    test_both_ways();
    test_twins();
    test_mute();
    test_mute_batch();
    test_traits("that copies", (struct wire_traits){.mode = WIRE_EAGER}, false);
    test_traits("that waits", (struct wire_traits){.mode = WIRE_RENDEZVOUS}, false);
    test_traits("without a map", (struct wire_traits){.plain_map = true}, false);
    test_traits("without abort", (struct wire_traits){.no_abort = true}, false);
    test_traits("without allgather", (struct wire_traits){.no_allgather = true}, false);
    test_traits("with slow ranks that copies", (struct wire_traits){.mode = WIRE_EAGER}, true);
    test_traits("with slow ranks that waits", (struct wire_traits){.mode = WIRE_RENDEZVOUS}, true);
    test_alone();
    return tap_end();
}
