/* SPDX-License-Identifier: Apache-2.0 */
#include "seat.h"

#include <cplayout/loader.h>

#include "rounds.h"

const struct cplayout_core *seat_core;
const struct cplayout_plan_interface *seat_plan;

void seat_need(int32_t status, const struct cplayout_error *error)
{
    if (status != CPLAYOUT_OK) {
        bench_die("the plugin refuses", error->message);
    }
}

void seat_load(void)
{
    static struct cplayout_library library;
    struct cplayout_error error = {.size = sizeof(error)};

    seat_need(cplayout_load(&library, CPLAYOUT_BUILD_PLUGIN, NULL, &error), &error);
    seat_core = library.core;
    seat_plan = seat_core->get_interface(CPLAYOUT_PLAN_INTERFACE);
    if (seat_plan == NULL) {
        bench_die(CPLAYOUT_PLAN_INTERFACE, "the plugin does not offer it");
    }
}

static void drop_line(void *self, int32_t level, const char *message)
{
    (void)self;
    (void)level;
    (void)message;
}

static void open_context(struct seat *seat, const struct cplayout_host *host, bool packed)
{
    char ranks[16];
    const struct cplayout_option options[] = {
        {"context_parallel_size", ranks},        {"linear_cp_layout", "contiguous"},
        {"attention_cp_layout", "zigzag"},       {"hybrid_layer_pattern", "MM*"},
        {"qkv_format", packed ? "thd" : "sbhd"},
    };
    const struct cplayout_create_args args = {
        .size = sizeof(args),
        .host = host,
        .options = options,
        .option_count = sizeof(options) / sizeof(options[0]),
    };

    (void)snprintf(ranks, sizeof(ranks), "%d", host->ranks);
    seat_need(seat_core->create(&args, &seat->context, &seat->error), &seat->error);
}

void seat_open(struct seat *seat, const struct cplayout_host *place, bool packed)
{
    const struct cplayout_schedule_args args = {.size = sizeof(args)};
    struct cplayout_host host = *place;

    host.size = sizeof(host);
    host.abi_minor = CPLAYOUT_ABI_MINOR;
    host.draft = CPLAYOUT_ABI_DRAFT;
    host.log = drop_line;
    host.log_level = CPLAYOUT_LOG_NONE;
    *seat = (struct seat){.error = {.size = sizeof(seat->error)}};
    open_context(seat, &host, packed);
    seat_need(seat_core->schedule(seat->context, &args, &seat->schedule, &seat->error),
              &seat->error);
}

void seat_close(struct seat *seat)
{
    seat_core->destroy(seat->context);
}

struct cplayout_batch *seat_batch(struct seat *seat, const struct cplayout_batch_args *args)
{
    struct cplayout_batch *batch;

    seat_need(seat_core->batch_create(seat->context, args, &batch, &seat->error), &seat->error);
    return batch;
}

void rows_init(struct rows *rows, void *data, int64_t count, int64_t bytes)
{
    *rows = (struct rows){
        .shape = {count, bytes},
        .tensor = {.data = data,
                   .device = {CPLAYOUT_DEVICE_CPU, 0},
                   .ndim = 2,
                   .dtype = {CPLAYOUT_TYPE_UINT, 8, 1}},
    };
    rows->tensor.shape = rows->shape;
}

struct cplayout_call seat_call(const struct seat *seat, const struct cplayout_batch *batch,
                               int32_t layer, const struct rows *input)
{
    return (struct cplayout_call){
        .size = sizeof(struct cplayout_call),
        .batch = batch,
        .schedule = seat->schedule,
        .layer = layer,
        .direction = CPLAYOUT_FORWARD,
        .input = &input->tensor,
    };
}

void seat_prepare(struct seat *seat, const struct cplayout_call *call, struct cplayout_tensor *out)
{
    seat_need(seat_core->prepare_layer(seat->context, call, out, &seat->error), &seat->error);
}
