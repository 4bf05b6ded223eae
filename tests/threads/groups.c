/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may join a group, who hears of it when one cannot, and how long things live: contexts, groups
 * and batches end in any order and on any thread.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "threads/block.h"
#include "threads/host.h"

enum { ARGUMENT = CPLAYOUT_ERROR_ARGUMENT, CONFIGURATION = CPLAYOUT_ERROR_CONFIGURATION };

static const struct host_config usual = {
    .cp = 2,
    .linear = "contiguous",
    .attention = "zigzag",
    .pattern = "M*M",
    .timeout = "20",
};

static const struct hook_step to_attention = {PREPARE, 1, CPLAYOUT_FORWARD};

/* ---- Groups --------------------------------------------------------------------------------- */

static void refuse_group(const struct cplayout_host *record, int32_t ranks, int32_t status,
                         const char *text)
{
    struct cplayout_local_group *group = NULL;
    struct cplayout_error error = {.size = sizeof(error)};
    const int32_t refused = host_core()->local_group_create(record, ranks, &group, &error);

    CHECK(refused == status && group == NULL, "a group of %d ranks: status %d", ranks, refused);
    CHECK(strstr(error.message, text) != NULL, "'%s' is not in '%s'", text, error.message);
}

static void release_nothing(void *self, void *memory, uint64_t bytes)
{
    (void)self;
    (void)memory;
    (void)bytes;
}

static void test_groups(void)
{
    const struct cplayout_host good = host_record();
    struct cplayout_host other_draft = good;
    struct cplayout_host half = good;
    struct cplayout_host small = good;
    struct cplayout_error error = {.size = sizeof(error)};

    tap_test("wrong arguments of local_group_create");
    other_draft.draft++;
    half.release = release_nothing;
    small.size -= 8;
    refuse_group(&good, 0, ARGUMENT, "not 0");
    refuse_group(&good, -3, ARGUMENT, "not -3");
    refuse_group(&other_draft, 2, CPLAYOUT_ERROR_VERSION, "draft");
    refuse_group(&half, 2, ARGUMENT, "host.release");
    refuse_group(&small, 2, ARGUMENT, "host.size is");
    CHECK(host_core()->local_group_create(&good, 2, NULL, &error) == ARGUMENT &&
              strstr(error.message, "group") != NULL,
          "'%s'", error.message);
    host_core()->local_group_destroy(NULL);
    host_core()->batch_destroy(NULL);
    host_core()->destroy(NULL);
}

/* ---- Places --------------------------------------------------------------------------------- */

/* A place in a group of two, and what create says to it. */
struct place {
    const char *name;
    int32_t cp;
    int32_t rank;
    int32_t ranks;
    bool grouped;
    int32_t status;
    const char *text;
};

static const struct place places[] = {
    {"rank 2 of a group of 2", 2, 2, 2, true, ARGUMENT, "rank 2 is not in a local group of 2"},
    {"rank -2 of a group of 2", 2, -2, 2, true, ARGUMENT, "rank -2 is not in a local group of 2"},
    {"a rank outside the language model", 2, CPLAYOUT_RANK_OUTSIDE, 2, true, ARGUMENT,
     "outside the language model"},
    {"3 ranks and a group of 2", 2, 1, 3, true, ARGUMENT, "says 3 ranks, its local group has 2"},
    {"P = 2 without a group", 2, 0, 0, false, CONFIGURATION, "context_parallel_size is 2"},
    {"rank 1 of 2 without a group", 2, 1, 2, false, ARGUMENT, "rank 1 of 2 without"},
    {"P = 1, 3 ranks, without a group", 1, 0, 3, false, ARGUMENT, "rank 0 of 3 without"},
    {"rank 1 without a group", 1, 1, 0, false, ARGUMENT, "rank 1 of 0 without"},
};

static void check_refused(const struct cplayout_host *record, const struct host_config *config,
                          int32_t expected, const char *text)
{
    struct cplayout_context *context = NULL;
    struct cplayout_error error = {.size = sizeof(error)};
    const int32_t status = host_create(record, config, &context, &error);

    CHECK(status == expected && error.status == status && context == NULL, "status %d: %s", status,
          error.message);
    CHECK(strstr(error.message, text) != NULL, "'%s' is not in '%s'", text, error.message);
}

/* Nobody else is there: who cannot take a place does not wait for others. */
static void test_place(const struct place *place)
{
    struct cplayout_host record = host_record();
    struct host_config config = usual;
    struct world world;

    tap_test("create as %s", place->name);
    world_open_empty(&world, &usual);
    config.cp = place->cp;
    record.rank = place->rank;
    record.ranks = place->ranks;
    record.local_group = place->grouped ? world.group : NULL;
    check_refused(&record, &config, place->status, place->text);
    world_close(&world);
}

/* A place is not given again, whether its rank is there or has left. */
static void test_used_places(void)
{
    struct cplayout_host record;
    struct world world;

    tap_test("create as a rank that is taken, and as one that has left");
    world_open(&world, &usual);
    record = world_record(&world, 0);
    check_refused(&record, &usual, ARGUMENT, "rank 0 of the local group is taken");
    world_leave(&world.seats[1]);
    record = world_record(&world, 1);
    check_refused(&record, &usual, ARGUMENT, "rank 1");
    world_close(&world);
}

/* ---- A rank that cannot register ------------------------------------------------------------ */

enum { MISFIT = 3, MISFITS_RANKS = 5 };

/* How one rank fails. */
struct misfit {
    const char *name;
    struct cplayout_option option;
    int32_t status;
    const char *text;
    enum transport transport;
};

static const struct misfit misfits[] = {
    {"names a layout that is none", {"linear_cp_layout", "ring"}, CONFIGURATION, "ring", LOCAL},
    {"gives an option without a value", {"linear_cp_layout", NULL}, ARGUMENT, "options[0]", LOCAL},
    {"names a layout that is none",
     {"linear_cp_layout", "ring"},
     CONFIGURATION,
     "ring",
     COMMUNICATOR},
    {"gives an option without a value",
     {"linear_cp_layout", NULL},
     ARGUMENT,
     "options[0]",
     COMMUNICATOR},
    {"has a timeout that is none", {"timeout_seconds", "0"}, CONFIGURATION, "option.type", LOCAL},
    {"has a timeout that is none",
     {"timeout_seconds", "0"},
     CONFIGURATION,
     "option.type",
     COMMUNICATOR},
    {"has another number of ranks in mind",
     {"context_parallel_size", "4"},
     CONFIGURATION,
     "group.size",
     LOCAL},
    {"has another number of ranks in mind",
     {"context_parallel_size", "4"},
     CONFIGURATION,
     "group.size",
     COMMUNICATOR},
};

/* The last rank comes late, when the misfit has come and been found out. */
static void run_misfit(struct world *world, struct seat *seat)
{
    const struct misfit *const misfit = world->self;
    const struct cplayout_host record = world_record(world, seat->rank);
    const struct cplayout_create_args args = {.size = sizeof(args),
                                              .host = &record,
                                              .options = &misfit->option,
                                              .option_count = 1};

    if (seat->rank == MISFITS_RANKS - 1) {
        (void)usleep(50000);
    }
    if (seat->rank == MISFIT) {
        seat->status = host_core()->create(&args, &seat->context, &seat->error);
    } else {
        (void)world_register(world, seat->rank, &world->config);
    }
}

static void check_misfit(const struct misfit *misfit, const struct seat *seat)
{
    const bool failed_itself = seat->rank == MISFIT;
    const char *const told = failed_itself ? misfit->text : "rank 3 could not register: ";
    const int32_t status = failed_itself ? misfit->status : CPLAYOUT_ERROR_MISMATCH;

    CHECK(seat->context == NULL, "rank %d has a context", seat->rank);
    CHECK(seat->status == status || (!failed_itself && seat->status == CPLAYOUT_ERROR_PEER),
          "rank %d: status %d: %s", seat->rank, seat->status, seat->error.message);
    CHECK(strstr(seat->error.message, told) != NULL &&
              strstr(seat->error.message, misfit->text) != NULL,
          "rank %d: '%s'", seat->rank, seat->error.message);
}

static void test_misfit(struct misfit misfit)
{
    struct host_config config = usual;
    struct world world;

    tap_test("on a %s, all ranks hear of a rank that %s", transport_names[misfit.transport],
             misfit.name);
    config.cp = MISFITS_RANKS;
    config.transport = misfit.transport;
    world_open_empty(&world, &config);
    world.self = &misfit;
    world_run(&world, run_misfit);
    for (int32_t rank = 0; rank < MISFITS_RANKS; rank++) {
        check_misfit(&misfit, &world.seats[rank]);
    }
    world_close(&world);
}

static void run_badly(struct world *world, struct seat *seat)
{
    struct host_config config = world->config;

    config.attention = seat->rank == 0 ? "ring" : "star";
    CHECK(world_register(world, seat->rank, &config) == CONFIGURATION && seat->context == NULL,
          "rank %d: status %d: %s", seat->rank, seat->status, seat->error.message);
}

static void run_used(struct world *world, struct seat *seat)
{
    CHECK(world_register(world, seat->rank, &world->config) != CPLAYOUT_OK &&
              seat->context == NULL && seat->error.message[0] != '\0',
          "rank %d has joined a group that is used up", seat->rank);
}

/* Each has a finding of its own, and the group is of no use any more. */
static void test_all_misfits(void)
{
    struct world world;

    tap_test("ranks that all have findings, and their group afterwards");
    world_open_empty(&world, &usual);
    world_run(&world, run_badly);
    world_run(&world, run_used);
    world_close(&world);
}

/* ---- Life times ----------------------------------------------------------------------------- */

/* One conversion, then leave at once, while others may still be in it. */
static void run_shortly(struct world *world, struct seat *seat)
{
    const int64_t rows = 4;
    struct block blocks[2];
    struct cplayout_tensor out;

    block_init(&blocks[0], &forms[2], rows, PACKING_PADDED);
    block_init(&blocks[1], &forms[2], rows, PACKING_PADDED);
    out = blocks[1].tensor;
    CHECK(seat_batch(seat, (uint64_t)(rows * world->ranks), &seat->batch) == CPLAYOUT_OK &&
              seat_hook(seat, &to_attention, seat->batch, &blocks[0].tensor, 0, &out) ==
                  CPLAYOUT_OK,
          "rank %d: %s", seat->rank, seat->error.message);
    world_leave(seat);
    block_fini(&blocks[0]);
    block_fini(&blocks[1]);
}

static void test_short_lives(enum transport transport, int32_t rounds)
{
    struct host_config config = usual;

    tap_test("ranks that leave when they are done disturb nobody, %s", transport_names[transport]);
    config.transport = transport;
    for (int32_t round = 0; round < rounds; round++) {
        struct world world;

        config.cp = 2 + round % 4;
        config.traits.mode = round / 4 % 2 == 0 ? WIRE_EAGER : WIRE_RENDEZVOUS;
        world_open(&world, &config);
        host_core()->local_group_destroy(world.group); /* the contexts hold it */
        world.group = NULL;
        world_run(&world, run_shortly);
        world_close(&world);
    }
}

/* Batches of one context on their way to another thread. */
struct handover {
    struct seat *seat;
    pthread_barrier_t barrier;
    struct cplayout_batch *batch;
};

enum { HANDOVERS = 200 };

/* Thread 0 creates, thread 1 destroys what was created before. */
static void run_handover(void *self, int32_t thread)
{
    struct handover *const handover = self;

    for (int32_t i = 0; i < HANDOVERS; i++) {
        struct cplayout_batch *const before = handover->batch;
        struct cplayout_batch *created = NULL;

        (void)pthread_barrier_wait(&handover->barrier); /* both have read it */
        if (thread == 1) {
            host_core()->batch_destroy(before);
        } else {
            CHECK(seat_batch(handover->seat, 8, &created) == CPLAYOUT_OK, "%s",
                  handover->seat->error.message);
            handover->batch = created;
        }
        (void)pthread_barrier_wait(&handover->barrier);
    }
}

static void test_handover(void)
{
    struct host_config config = usual;
    struct handover handover = {NULL};
    struct world world;

    tap_test("batches are destroyed on another thread while new ones are made");
    config.cp = 1;
    world_open(&world, &config);
    handover.seat = &world.seats[0];
    (void)pthread_barrier_init(&handover.barrier, NULL, 2);
    tap_ranks(2, run_handover, &handover);
    (void)pthread_barrier_destroy(&handover.barrier);
    world.seats[0].batch = handover.batch;
    world_close(&world);
}

static void run_batches(struct world *world, struct seat *seat)
{
    struct cplayout_batch **const batches = (struct cplayout_batch **)world->self + 2 * seat->rank;

    CHECK(seat_batch(seat, 8, &batches[0]) == CPLAYOUT_OK &&
              seat_batch(seat, 16, &batches[1]) == CPLAYOUT_OK,
          "rank %d: %s", seat->rank, seat->error.message);
}

static void run_destroy(void *self, int32_t thread)
{
    struct cplayout_batch **const batches = self;

    host_core()->batch_destroy(batches[thread]);
}

/* The batches of both ranks outlive the contexts and end on four other threads. */
static void test_outlived(void)
{
    struct cplayout_batch *batches[4] = {NULL};
    struct world world;

    tap_test("batches outlive their contexts and end on other threads");
    world_open(&world, &usual);
    world.self = batches;
    world_run(&world, run_batches);
    world_close(&world);
    tap_ranks(4, run_destroy, batches);
}

/* A failed group is no matter of another one. */
static void test_neighbours(void)
{
    struct host_config config = usual;
    struct cplayout_batch *batches[4] = {NULL};
    struct world failed;
    struct world healthy;

    tap_test("a group that has failed does not disturb another");
    config.timeout = "0.3";
    world_open(&failed, &config);
    world_open(&healthy, &usual);
    world_leave(&failed.seats[1]);
    CHECK(seat_batch(&failed.seats[0], 8, &batches[0]) == CPLAYOUT_ERROR_PEER, "status %d",
          failed.seats[0].status);
    healthy.self = batches;
    world_run(&healthy, run_batches);
    for (size_t i = 0; i < 4; i++) {
        host_core()->batch_destroy(batches[i]);
    }
    world_close(&healthy);
    world_close(&failed);
}

int main(void)
{
    test_groups();
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        test_place(&places[i]);
    }
    test_used_places();
    for (size_t i = 0; i < sizeof(misfits) / sizeof(misfits[0]); i++) {
        test_misfit(misfits[i]);
    }
    test_all_misfits();
    test_short_lives(LOCAL, 200);
    test_short_lives(COMMUNICATOR, 60);
    test_handover();
    test_outlived();
    test_neighbours();
    return tap_end();
}
