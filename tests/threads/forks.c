/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After a fork, what was made before belongs to the parent: in the child every call returns FORKED
 * and destroying does nothing, also while other threads of the parent were in the plugin; the parent
 * goes on unharmed.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "threads/block.h"
#include "threads/host.h"

enum { FORKED = CPLAYOUT_ERROR_FORKED, TOKENS = 16, CHILD_SECONDS = 20, FORKS = 20 };

/* What a child tries. A child must not print: it counts, and its exit status is the first failure. */
struct child {
    struct world *world;
    struct seat *seat;
    int32_t step;
    int32_t failed; /* the first step that went wrong */
};

static void expect(struct child *child, int32_t status, int32_t expected)
{
    child->step++;
    if (status != expected && child->failed == 0) {
        child->failed = child->step;
    }
}

/* ---- In the child ---------------------------------------------------------------------------- */

static void try_context(struct child *child)
{
    const struct cplayout_core *const core = host_core();
    const struct cplayout_batch_args args = {.size = sizeof(args), .sequence_length = TOKENS};
    const struct cplayout_schedule_args chunk = {.size = sizeof(chunk)};
    struct cplayout_context *const context = child->seat->context;
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_schedule *schedule = NULL;
    struct cplayout_batch *batch = NULL;
    int32_t layout;

    expect(child, core->batch_create(context, &args, &batch, &error), FORKED); /* 1 */
    expect(child, error.status == FORKED && error.message[0] != '\0', true);
    expect(child, core->layout(context, "linear", &layout, NULL), FORKED);
    expect(child, core->schedule(context, &chunk, &schedule, NULL), FORKED); /* 4 */
    expect(child, batch == NULL && schedule == NULL, true);
}

static void try_hooks(struct child *child)
{
    static const struct hook_step step = {PREPARE, 1, CPLAYOUT_FORWARD};
    const struct cplayout_core *const core = host_core();
    struct seat *const seat = child->seat;
    int32_t rows[2][TOKENS] = {{0}};
    int64_t shape[] = {TOKENS / 2};
    const struct cplayout_tensor in = {rows[0], {CPLAYOUT_DEVICE_CPU, 0},
                                       1,       {CPLAYOUT_TYPE_INT, 32, 1},
                                       shape,   NULL,
                                       0};
    struct cplayout_tensor out = in;
    const struct cplayout_call call = seat_call(seat, &step, seat->batch, &in, 0);
    const struct cplayout_convert_call convert = {.size = sizeof(convert),
                                                  .batch = seat->batch,
                                                  .input = &in,
                                                  .to_layout = 1};
    struct cplayout_conversion told = {.size = sizeof(told)};

    out.data = rows[1];
    expect(child, core->prepare_layer(seat->context, &call, &out, NULL), FORKED); /* 6 */
    expect(child, core->finalize_layer(seat->context, &call, &out, NULL), FORKED);
    expect(child, core->conversion(seat->context, CPLAYOUT_HOOK_PREPARE, &call, &told, NULL),
           FORKED);
    expect(child, core->convert(seat->context, &convert, &out, NULL), FORKED);
    expect(child, core->convert_describe(seat->context, &convert, &told, NULL), FORKED); /* 10 */
    expect(child, out.data == rows[1], true);
}

static void try_views(struct child *child)
{
    const struct cplayout_batch_interface *const views = host_views();
    struct cplayout_view view = {.size = sizeof(view)};
    struct cplayout_view_metadata metadata = {.size = sizeof(metadata)};
    const struct cplayout_partition *partition = NULL;
    int64_t positions[TOKENS];
    int64_t shape[] = {1, TOKENS / 2};
    const struct cplayout_tensor out = {positions, {CPLAYOUT_DEVICE_CPU, 0},
                                        2,         {CPLAYOUT_TYPE_INT, 64, 1},
                                        shape,     NULL,
                                        0};
    const struct cplayout_batch *const batch = child->seat->batch;

    expect(child, views->view_describe(batch, 0, "position_ids", &view, NULL), FORKED); /* 12 */
    expect(child, views->view_fill(batch, 0, "position_ids", &out, NULL), FORKED);
    expect(child, views->view_partition(batch, 0, &partition, NULL), FORKED);
    expect(child, views->view_metadata(batch, 0, &metadata, NULL), FORKED); /* 15 */
}

/* A group of the parent is nothing to join. */
static void try_group(struct child *child)
{
    struct cplayout_host record = world_record(child->world, 0);
    struct cplayout_context *context = NULL;

    if (child->world->group != NULL) {
        expect(child, host_create(&record, &child->world->config, &context, NULL), FORKED);
    }
}

static void try_destroying(struct child *child)
{
    for (int32_t rank = 0; rank < child->world->ranks; rank++) {
        host_core()->batch_destroy(child->world->seats[rank].batch);
        host_core()->destroy(child->world->seats[rank].context);
    }
    host_core()->local_group_destroy(child->world->group);
}

/* What the child makes itself is its own. */
static void try_afresh(struct child *child)
{
    const struct host_config config = {.cp = 1, .pattern = "M*"};
    const struct cplayout_host record = host_record();
    const struct cplayout_batch_args args = {.size = sizeof(args), .sequence_length = TOKENS};
    struct cplayout_context *context = NULL;
    struct cplayout_batch *batch = NULL;

    child->step = 20;
    expect(child, host_create(&record, &config, &context, NULL), CPLAYOUT_OK);
    expect(child, host_core()->batch_create(context, &args, &batch, NULL), CPLAYOUT_OK);
    host_core()->batch_destroy(batch);
    host_core()->destroy(context);
}

static void run_child(struct world *world)
{
    struct child child = {.world = world, .seat = &world->seats[0]};

    (void)alarm(CHILD_SECONDS); /* ends a child that hangs */
    try_context(&child);
    try_hooks(&child);
    try_views(&child);
    try_group(&child);
    try_destroying(&child);
    try_afresh(&child);
    _exit(child.failed);
}

/* ---- In the parent --------------------------------------------------------------------------- */

static void fork_once(struct world *world)
{
    const pid_t child = fork();
    int status = 0;

    tap_require(child >= 0, "no child");
    if (child == 0) {
        run_child(world);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status),
          "the child hangs or crashes: signal %d", WTERMSIG(status));
    CHECK(WEXITSTATUS(status) == 0, "the child's step %d went wrong", WEXITSTATUS(status));
}

static void run_batch(struct world *world, struct seat *seat)
{
    (void)world;
    CHECK(seat_batch(seat, TOKENS, &seat->batch) == CPLAYOUT_OK, "rank %d: %s", seat->rank,
          seat->error.message);
}

/* The parent's batch converts as if nothing had been. */
static void run_unharmed(struct world *world, struct seat *seat)
{
    static const struct hook_step step = {PREPARE, 1, CPLAYOUT_FORWARD};
    struct oracle before;
    struct oracle after;
    struct content content;
    struct block blocks[2];
    struct cplayout_tensor out;

    oracle_init(&before, "contiguous", TOKENS, world->ranks, 1);
    oracle_init(&after, "zigzag", TOKENS, world->ranks, 1);
    block_init(&blocks[0], &forms[3], before.rows, PACKING_PADDED);
    block_init(&blocks[1], &forms[3], after.rows, PACKING_PADDED);
    content = content_of(&before, seat->rank, 5);
    block_fill(&blocks[0], &content);
    out = blocks[1].tensor;
    CHECK(seat_hook(seat, &step, seat->batch, &blocks[0].tensor, 0, &out) == CPLAYOUT_OK,
          "rank %d: %s", seat->rank, seat->error.message);
    content = content_of(&after, seat->rank, 5);
    (void)block_holds(&blocks[1], &content, "after a fork");
    block_fini(&blocks[0]);
    block_fini(&blocks[1]);
    oracle_fini(&before);
    oracle_fini(&after);
}

static void open_world(struct world *world, enum transport transport)
{
    const struct host_config config = {
        .cp = 2,
        .linear = "contiguous",
        .attention = "zigzag",
        .pattern = "M*M",
        .timeout = "20",
        .transport = transport,
    };

    world_open(world, &config);
    world_run(world, run_batch);
}

static void test_fork(enum transport transport)
{
    struct world world;

    tap_test("a child of a process at rest, %s", transport_names[transport]);
    open_world(&world, transport);
    fork_once(&world);
    world_run(&world, run_unharmed);
    world_close(&world);
}

/* Threads that are in the plugin, in its locks too, while the process forks. */
struct traffic {
    struct world *world;
    atomic_bool over;
    bool stop; /* what rank 0 has seen of it */
};

static void run_traffic(struct world *world, struct seat *seat)
{
    struct traffic *const traffic = world->self;

    while (!traffic->stop) {
        struct cplayout_batch *batch = NULL;

        CHECK(seat_batch(seat, TOKENS, &batch) == CPLAYOUT_OK, "rank %d: %s", seat->rank,
              seat->error.message);
        host_core()->batch_destroy(batch);
        run_unharmed(world, seat);
        world_meet(world);
        if (seat->rank == 0) {
            traffic->stop = atomic_load(&traffic->over);
        }
        world_meet(world); /* all ranks see the same, and stop together */
    }
}

static void *drive(void *self)
{
    struct traffic *const traffic = self;

    world_run(traffic->world, run_traffic);
    return NULL;
}

static void test_busy(enum transport transport)
{
    struct world world;
    struct traffic traffic = {.world = &world};
    pthread_t driver;

    tap_test("children of a process that is busy in the plugin, %s", transport_names[transport]);
    open_world(&world, transport);
    world.self = &traffic;
    tap_require(pthread_create(&driver, NULL, drive, &traffic) == 0, "no thread");
    for (int32_t i = 0; i < FORKS; i++) {
        (void)usleep(2000);
        fork_once(&world);
    }
    atomic_store(&traffic.over, true);
    (void)pthread_join(driver, NULL);
    world_close(&world);
}

/* TSan does not follow threads into a child. */
static bool is_tsan(void)
{
    const char *const sanitizers = getenv("TEST_SANITIZERS");

    return sanitizers != NULL && strstr(sanitizers, "thread") != NULL;
}

int main(void)
{
    if (is_tsan()) {
        tap_test("no forks under TSan # SKIP");
        return tap_end();
    }
    test_fork(LOCAL);
    test_fork(COMMUNICATOR);
    test_busy(LOCAL);
    test_busy(COMMUNICATOR);
    return tap_end();
}
