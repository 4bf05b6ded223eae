/* SPDX-License-Identifier: Apache-2.0 */
#include "threads/host.h"

#include <cplayout/loader.h>
#include <stdlib.h>
#include <time.h>

#include "threads/counter.h"

static struct cplayout_library library;
static pthread_once_t loaded = PTHREAD_ONCE_INIT;

const char *const transport_names[] = {"local group", "communicator"};

static void check_line(void *self, int32_t level, const char *message)
{
    (void)self;
    CHECK(level >= CPLAYOUT_LOG_ERROR && level <= CPLAYOUT_LOG_TRACE, "log level %d", level);
    CHECK(message[0] != '\0' && strchr(message, '\n') == NULL, "no finished log line: '%s'",
          message);
}

struct cplayout_host host_record(void)
{
    return (struct cplayout_host){
        .size = sizeof(struct cplayout_host),
        .abi_minor = CPLAYOUT_ABI_MINOR,
        .draft = CPLAYOUT_ABI_DRAFT,
        .name = "test",
        .log = check_line,
        .log_level = CPLAYOUT_LOG_TRACE,
    };
}

static void load(void)
{
    const char *const path = getenv("TEST_PLUGIN");
    const struct cplayout_host record = host_record();
    struct cplayout_error error = {.size = sizeof(error)};

    tap_require(path != NULL, "TEST_PLUGIN is not set");
    tap_require(cplayout_load(&library, path, &record, &error) == CPLAYOUT_OK, "%s", error.message);
}

static _Thread_local const struct cplayout_core *used;

void host_use(const struct cplayout_core *core)
{
    used = core;
}

const struct cplayout_core *host_core(void)
{
    (void)pthread_once(&loaded, load);
    return used != NULL ? used : library.core;
}

const struct cplayout_batch_interface *host_views(void)
{
    const struct cplayout_batch_interface *const views =
        host_core()->get_interface(CPLAYOUT_BATCH_INTERFACE);

    tap_require(views != NULL, "the plugin has no " CPLAYOUT_BATCH_INTERFACE);
    return views;
}

const struct cplayout_plan_interface *host_plan(void)
{
    const struct cplayout_plan_interface *const plan =
        host_core()->get_interface(CPLAYOUT_PLAN_INTERFACE);

    tap_require(plan != NULL, "the plugin has no " CPLAYOUT_PLAN_INTERFACE);
    return plan;
}

double host_seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int32_t host_ranks(const struct host_config *config)
{
    return config->cp * (config->tp > 1 ? config->tp : 1);
}

int32_t host_create(const struct cplayout_host *record, const struct host_config *config,
                    struct cplayout_context **context, struct cplayout_error *error)
{
    char cp[16];
    char tp[16];
    const struct cplayout_option wanted[] = {
        {"context_parallel_size", cp},
        {"tensor_model_parallel_size", config->tp > 1 ? tp : NULL},
        {"sequence_parallel", config->tp > 1 ? "true" : NULL},
        {"qkv_format", config->packed ? "thd" : NULL},
        {"attention_accepts", "any"},
        {"linear_chain", "table"},
        {"linear_cp_layout", config->linear},
        {"attention_cp_layout", config->attention},
        {"boundary_cp_layout", config->boundary},
        {"hybrid_layer_pattern", config->pattern},
        {"seq_length", config->seq_length},
        {"timeout_seconds", config->timeout},
        {"pad_token_id", config->pad_token},
        {"pad_label", config->pad_label},
    };
    struct cplayout_option options[sizeof(wanted) / sizeof(wanted[0])];
    struct cplayout_create_args args = {.size = sizeof(args), .host = record, .options = options};

    (void)snprintf(cp, sizeof(cp), "%d", config->cp);
    (void)snprintf(tp, sizeof(tp), "%d", config->tp);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (wanted[i].value != NULL) {
            options[args.option_count++] = wanted[i];
        }
    }
    return host_core()->create(&args, context, error);
}

int32_t host_schedule(struct cplayout_context *context, struct cplayout_schedule **schedule,
                      struct cplayout_error *error)
{
    const struct cplayout_schedule_args args = {.size = sizeof(args)};

    return host_core()->schedule(context, &args, schedule, error);
}

static struct cplayout_host record_of(const struct host_config *config)
{
    return config->counter != NULL ? counter_record(config->counter) : host_record();
}

/* Makes the way to move data. */
static void open_transport(struct world *world)
{
    const struct cplayout_host record = record_of(&world->config);
    struct cplayout_error error = {.size = sizeof(error)};
    int32_t status;

    if (world->config.transport == COMMUNICATOR) {
        world->wire = wire_create(world->ranks, &world->config.traits);
        return;
    }
    status = host_core()->local_group_create(&record, world->ranks, &world->group, &error);
    tap_require(status == CPLAYOUT_OK, "%s", error.message);
}

void world_open_empty(struct world *world, const struct host_config *config)
{
    *world = (struct world){.config = *config, .ranks = host_ranks(config)};
    tap_require(world->ranks <= TAP_RANKS_MOST, "%d ranks", world->ranks);
    host_use(config->core);
    for (int32_t rank = 0; rank < world->ranks; rank++) {
        world->seats[rank].rank = rank;
        world->seats[rank].error.size = sizeof(world->seats[rank].error);
    }
    open_transport(world);
    host_use(NULL);
    (void)pthread_barrier_init(&world->barrier, NULL, (unsigned)world->ranks);
}

struct cplayout_host world_record(const struct world *world, int32_t rank)
{
    struct cplayout_host record = record_of(&world->config);

    record.rank = rank;
    record.ranks = world->ranks;
    record.local_group = world->group;
    if (world->wire != NULL) {
        record.communicator = wire_communicator(world->wire, rank);
        record.communicator_ranks = wire_map(world->wire);
    }
    return record;
}

int32_t world_register(struct world *world, int32_t rank, const struct host_config *config)
{
    struct seat *const seat = &world->seats[rank];
    const struct cplayout_host record = world_record(world, rank);

    seat->status = host_create(&record, config, &seat->context, &seat->error);
    if (seat->status == CPLAYOUT_OK && config->pattern != NULL) {
        seat->status = host_schedule(seat->context, &seat->schedule, &seat->error);
    }
    return seat->status;
}

void world_seat(struct world *world, int32_t rank, const struct host_config *config)
{
    tap_require(world_register(world, rank, config) == CPLAYOUT_OK, "rank %d: %s", rank,
                world->seats[rank].error.message);
}

static void run_seat(struct world *world, struct seat *seat)
{
    world_seat(world, seat->rank, &world->config);
}

void world_open(struct world *world, const struct host_config *config)
{
    world_open_empty(world, config);
    world_run(world, run_seat);
}

struct job {
    struct world *world;
    void (*body)(struct world *world, struct seat *seat);
};

static void run_job(void *self, int32_t rank)
{
    const struct job *const job = self;

    host_use(job->world->config.core);
    job->body(job->world, &job->world->seats[rank]);
}

void world_run(struct world *world, void (*body)(struct world *world, struct seat *seat))
{
    struct job job = {world, body};

    tap_ranks(world->ranks, run_job, &job);
}

void world_meet(struct world *world)
{
    (void)pthread_barrier_wait(&world->barrier);
}

void world_leave(struct seat *seat)
{
    host_core()->batch_destroy(seat->batch);
    seat->batch = NULL;
    host_core()->destroy(seat->context);
    seat->context = NULL;
}

void world_close(struct world *world)
{
    host_use(world->config.core);
    for (int32_t rank = 0; rank < world->ranks; rank++) {
        world_leave(&world->seats[rank]);
    }
    host_core()->local_group_destroy(world->group);
    wire_destroy(world->wire);
    (void)pthread_barrier_destroy(&world->barrier);
    host_use(NULL);
}

int32_t seat_batch(struct seat *seat, uint64_t tokens, struct cplayout_batch **batch)
{
    const struct cplayout_batch_args args = {.size = sizeof(args), .sequence_length = tokens};

    seat->status = host_core()->batch_create(seat->context, &args, batch, &seat->error);
    return seat->status;
}

int32_t seat_layout(const struct seat *seat, const char *name)
{
    struct cplayout_error error = {.size = sizeof(error)};
    int32_t handle = -1;

    CHECK(host_core()->layout(seat->context, name, &handle, &error) == CPLAYOUT_OK, "%s",
          error.message);
    return handle;
}

int32_t seat_convert(struct seat *seat, const struct cplayout_convert_call *call,
                     struct cplayout_tensor *out)
{
    seat->status = host_core()->convert(seat->context, call, out, &seat->error);
    return seat->status;
}

struct cplayout_call seat_call(const struct seat *seat, const struct hook_step *step,
                               const struct cplayout_batch *batch,
                               const struct cplayout_tensor *input, int32_t row_axis)
{
    return (struct cplayout_call){
        .size = sizeof(struct cplayout_call),
        .batch = batch,
        .schedule = seat->schedule,
        .layer = step->layer,
        .direction = step->direction,
        .input = input,
        .row_axis = row_axis,
    };
}

int32_t seat_hook(struct seat *seat, const struct hook_step *step,
                  const struct cplayout_batch *batch, const struct cplayout_tensor *input,
                  int32_t row_axis, struct cplayout_tensor *out)
{
    const struct cplayout_core *const core = host_core();
    const struct cplayout_call call = seat_call(seat, step, batch, input, row_axis);

    seat->status = step->hook == PREPARE
                       ? core->prepare_layer(seat->context, &call, out, &seat->error)
                       : core->finalize_layer(seat->context, &call, out, &seat->error);
    return seat->status;
}
