/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that disagree: about lengths, fields, configurations, widths, batches, layers, or the call
 * itself; and wrong arguments on one rank only. Every rank gets an error, none hangs.
 */
#include <stdio.h>
#include <string.h>

#include "threads/play.h"

/* ---- Batches that differ -------------------------------------------------------------------- */

static void other_length(struct world *world, struct seat *seat, bool odd)
{
    const struct cplayout_batch_args args = {.size = sizeof(args),
                                             .sequence_length = play_tokens(world) * (odd ? 2 : 1)};

    play_create_batch(seat, &args);
}

/* One [1, S] field. */
static void with_field(struct world *world, struct seat *seat, const char *name, uint8_t code)
{
    static int32_t memory[TOKENS_PER_RANK * TAP_RANKS_MOST];
    int64_t shape[] = {1, (int64_t)play_tokens(world)};
    const struct cplayout_tensor tensor = {
        .data = memory,
        .device = {CPLAYOUT_DEVICE_CPU, 0},
        .ndim = 2,
        .dtype = {code, 32, 1},
        .shape = shape,
    };
    const struct cplayout_field field = {name, &tensor};
    const struct cplayout_batch_args args = {.size = sizeof(args),
                                             .sequence_length = play_tokens(world),
                                             .fields = &field,
                                             .field_count = 1};

    play_create_batch(seat, &args);
}

static void other_field(struct world *world, struct seat *seat, bool odd)
{
    with_field(world, seat, odd ? "labels" : "tokens", CPLAYOUT_TYPE_INT);
}

/* ---- Wrong arguments on one rank ------------------------------------------------------------ */

static void unknown_field(struct world *world, struct seat *seat, bool odd)
{
    with_field(world, seat, odd ? "token" : "tokens", CPLAYOUT_TYPE_INT);
}

static void field_of_floats(struct world *world, struct seat *seat, bool odd)
{
    with_field(world, seat, "tokens", odd ? CPLAYOUT_TYPE_FLOAT : CPLAYOUT_TYPE_INT);
}

static void null_field(struct world *world, struct seat *seat, bool odd)
{
    const struct cplayout_batch_args args = {.size = sizeof(args),
                                             .sequence_length = play_tokens(world),
                                             .field_count = odd ? 1 : 0};

    play_create_batch(seat, &args);
}

static void indivisible_length(struct world *world, struct seat *seat, bool odd)
{
    const struct cplayout_batch_args args = {.size = sizeof(args),
                                             .sequence_length = play_tokens(world) - (odd ? 1 : 0)};

    play_create_batch(seat, &args);
}

static void no_length(struct world *world, struct seat *seat, bool odd)
{
    const struct cplayout_batch_args args = {.size = sizeof(args),
                                             .sequence_length = odd ? 0 : play_tokens(world)};

    play_create_batch(seat, &args);
}

static void small_args(struct world *world, struct seat *seat, bool odd)
{
    const struct cplayout_batch_args args = {.size = sizeof(args) - (odd ? 8 : 0),
                                             .sequence_length = play_tokens(world)};

    play_create_batch(seat, &args);
}

static void null_args(struct world *world, struct seat *seat, bool odd)
{
    const struct cplayout_batch_args args = {.size = sizeof(args),
                                             .sequence_length = play_tokens(world)};

    play_create_batch(seat, odd ? NULL : &args);
}

/* Every rank registers, the odd one with a configuration of its own. */
static void other_configuration(struct world *world, struct seat *seat,
                                const struct host_config *config)
{
    (void)world_register(world, seat->rank, config);
    CHECK(seat->context == NULL, "rank %d has a context all the same", seat->rank);
}

static void other_layouts(struct world *world, struct seat *seat, bool odd)
{
    struct host_config config = world->config;

    config.attention = odd ? "mirror" : config.attention;
    other_configuration(world, seat, &config);
}

/* Alike in the six digits that a title has. */
static void other_tolerance(struct world *world, struct seat *seat, bool odd)
{
    struct host_config config = world->config;

    config.attention = odd ? "balanced:0.0500000001" : "balanced:0.0500000002";
    other_configuration(world, seat, &config);
}

static void other_pattern(struct world *world, struct seat *seat, bool odd)
{
    struct host_config config = world->config;

    config.pattern = odd ? "M*M*" : config.pattern;
    other_configuration(world, seat, &config);
}

static void other_padding(struct world *world, struct seat *seat, bool odd)
{
    struct host_config config = world->config;

    config.pad_label = odd ? "-1" : config.pad_label;
    other_configuration(world, seat, &config);
}

static void other_format(struct world *world, struct seat *seat, bool odd)
{
    struct host_config config = world->config;

    config.packed = odd;
    other_configuration(world, seat, &config);
}

/* The odd rank's options are wrong. */
static void unknown_layout(struct world *world, struct seat *seat, bool odd)
{
    struct host_config config = world->config;

    config.attention = odd ? "ring" : config.attention;
    other_configuration(world, seat, &config);
}

static void other_schedules(struct world *world, struct seat *seat, bool odd)
{
    struct cplayout_schedule *second;

    if (odd) {
        CHECK(host_schedule(seat->context, &second, &seat->error) == CPLAYOUT_OK, "schedule: %s",
              seat->error.message);
    }
    play_batch(world, seat);
}

/* ---- Hooks that differ ---------------------------------------------------------------------- */

static void other_width(struct world *world, struct seat *seat, bool odd)
{
    (void)world;
    play_hook_with(seat, &play_to_attention, seat->batch, &forms[odd ? 1 : 2]);
}

static void other_outer(struct world *world, struct seat *seat, bool odd)
{
    static const struct form twice = {"[2, rows, 7]", 3, 1, {2, 0, 7}, {CPLAYOUT_TYPE_UINT, 8, 1}};

    (void)world;
    play_hook_with(seat, &play_to_attention, seat->batch, odd ? &twice : &forms[2]);
}

static void other_element(struct world *world, struct seat *seat, bool odd)
{
    static const struct form wide = {"[rows, 7] of 2 bytes",
                                     2,
                                     0,
                                     {0, 7},
                                     {CPLAYOUT_TYPE_FLOAT, 16, 1}};

    (void)world;
    play_hook_with(seat, &play_to_attention, seat->batch, odd ? &wide : &forms[2]);
}

static void other_batch(struct world *world, struct seat *seat, bool odd)
{
    struct cplayout_batch *second = NULL;
    const bool made = CHECK(seat_batch(seat, play_tokens(world), &second) == CPLAYOUT_OK,
                            "second batch: %s", seat->error.message);

    world_meet(world); /* or one rank's error would end another's batch_create */
    if (made) {
        play_hook_with(seat, &play_to_attention, odd ? second : seat->batch, &forms[2]);
        host_core()->batch_destroy(second);
    }
}

static void other_direction(struct world *world, struct seat *seat, bool odd)
{
    (void)world;
    play_hook_with(seat, odd ? &play_attention_back : &play_to_attention, seat->batch, &forms[2]);
}

static void skipped_layer(struct world *world, struct seat *seat, bool odd)
{
    (void)world;
    play_hook_with(seat, odd ? &play_to_linear : &play_to_attention, seat->batch, &forms[2]);
}

static void batch_during_hook(struct world *world, struct seat *seat, bool odd)
{
    struct cplayout_batch *second = NULL;

    if (odd) {
        (void)seat_batch(seat, play_tokens(world), &second);
    } else {
        play_hook(seat);
    }
}

static void hook_during_batch(struct world *world, struct seat *seat, bool odd)
{
    batch_during_hook(world, seat, !odd);
}

static void wrong_layer(struct world *world, struct seat *seat, bool odd)
{
    const struct hook_step step = {PREPARE, odd ? 9 : 1, CPLAYOUT_FORWARD};

    (void)world;
    play_hook_with(seat, &step, seat->batch, &forms[2]);
}

enum {
    ARGUMENT = CPLAYOUT_ERROR_ARGUMENT,
    CONFIGURATION = CPLAYOUT_ERROR_CONFIGURATION,
    TIMEOUT = CPLAYOUT_ERROR_TIMEOUT,
    PEER = CPLAYOUT_ERROR_PEER,
    MISMATCH = CPLAYOUT_ERROR_MISMATCH,
};

#define UNMADE "could not create the batch: "

/* What is compared on the control channel. */
static const struct scenario scenarios[] = {
    {"has another layout", NO_TIMEOUT, STAGE_EMPTY, other_layouts, MISMATCH, MISMATCH, false,
     "disagree in option attention_cp_layout", false},
    {"has a slightly other tolerance", NO_TIMEOUT, STAGE_EMPTY, other_tolerance, MISMATCH, MISMATCH,
     false, "disagree in option attention_cp_layout", false},
    {"has another pattern", NO_TIMEOUT, STAGE_EMPTY, other_pattern, MISMATCH, MISMATCH, false,
     "disagree in option hybrid_layer_pattern", false},
    {"has another padding", NO_TIMEOUT, STAGE_EMPTY, other_padding, MISMATCH, MISMATCH, false,
     "disagree in option pad_label", false},
    {"has another format", NO_TIMEOUT, STAGE_EMPTY, other_format, MISMATCH, MISMATCH, false,
     "disagree in option qkv_format", false},
    {"names a layout that is none", NO_TIMEOUT, STAGE_EMPTY, unknown_layout, CONFIGURATION,
     MISMATCH, false, "could not register: layout.unknown", false},
    {"has another sequence length", NO_TIMEOUT, STAGE_CONTEXT, other_length, MISMATCH, MISMATCH,
     false, "disagree in the sequence length or documents", false},
    {"has another field", NO_TIMEOUT, STAGE_CONTEXT, other_field, MISMATCH, MISMATCH, false,
     "disagree in the fields", false},
    {"has another number of schedules", NO_TIMEOUT, STAGE_CONTEXT, other_schedules, MISMATCH,
     MISMATCH, false, "disagree in the schedules", false},
    {"gives an unknown field", NO_TIMEOUT, STAGE_CONTEXT, unknown_field, ARGUMENT, MISMATCH, false,
     UNMADE "unknown field 'token'", false},
    {"gives a field of floats", NO_TIMEOUT, STAGE_CONTEXT, field_of_floats, ARGUMENT, MISMATCH,
     false, UNMADE, false},
    {"gives NULL as fields", NO_TIMEOUT, STAGE_CONTEXT, null_field, ARGUMENT, MISMATCH, false,
     UNMADE, false},
    {"gives a length that does not divide", NO_TIMEOUT, STAGE_CONTEXT, indivisible_length, ARGUMENT,
     MISMATCH, false, UNMADE, false},
    {"gives no length", NO_TIMEOUT, STAGE_CONTEXT, no_length, ARGUMENT, MISMATCH, false, UNMADE,
     false},
    {"gives too small batch arguments", NO_TIMEOUT, STAGE_CONTEXT, small_args, ARGUMENT, MISMATCH,
     false, UNMADE, false},
    {"gives NULL batch arguments", NO_TIMEOUT, STAGE_CONTEXT, null_args, ARGUMENT, MISMATCH, false,
     UNMADE, false},
};

/* What is found where ranks meet in a hook. */
static const struct scenario hooks[] = {
    {"has another hidden width", NO_TIMEOUT, STAGE_BATCH, other_width, MISMATCH, MISMATCH, true, "",
     false},
    {"has another outer count", NO_TIMEOUT, STAGE_BATCH, other_outer, MISMATCH, MISMATCH, true, "",
     false},
    {"has another data type", NO_TIMEOUT, STAGE_BATCH, other_element, MISMATCH, MISMATCH, true, "",
     false},
    {"passes another live batch", NO_TIMEOUT, STAGE_BATCH, other_batch, MISMATCH, MISMATCH, true,
     "", false},
    {"goes in the other direction", NO_TIMEOUT, STAGE_BATCH, other_direction, MISMATCH, MISMATCH,
     true, "", false},
    {"skips a layer", NO_TIMEOUT, STAGE_BATCH, skipped_layer, MISMATCH, MISMATCH, true, "", false},
};

/* Calls that do not meet. */
static const struct scenario strangers[] = {
    {"creates a batch while others convert", NO_TIMEOUT, STAGE_BATCH, batch_during_hook, MISMATCH,
     MISMATCH, true, "", false},
    {"converts while others create a batch", NO_TIMEOUT, STAGE_BATCH, hook_during_batch, MISMATCH,
     MISMATCH, false, "", false},
    {"calls a layer that is not there", "0.3", STAGE_BATCH, wrong_layer, ARGUMENT, TIMEOUT, true,
     "did not come within 0.3 s", false},
};

/* On a communicator they just wait for each other. */
static const struct scenario remote[] = {
    {"creates a batch while others convert", "0.3", STAGE_BATCH, batch_during_hook, TIMEOUT,
     TIMEOUT, true, "0.3 s", true},
    {"converts while others create a batch", "0.3", STAGE_BATCH, hook_during_batch, TIMEOUT,
     TIMEOUT, false, "0.3 s", true},
    {"calls a layer that is not there", "0.3", STAGE_BATCH, wrong_layer, ARGUMENT, TIMEOUT, true,
     "did not come within 0.3 s", true},
};

#define PLAY_ALL(list, transport) play_all(list, sizeof(list) / sizeof((list)[0]), transport)

int main(void)
{
    PLAY_ALL(scenarios, LOCAL);
    PLAY_ALL(scenarios, COMMUNICATOR);
    PLAY_ALL(hooks, LOCAL);
    PLAY_ALL(hooks, COMMUNICATOR);
    PLAY_ALL(strangers, LOCAL);
    PLAY_ALL(remote, COMMUNICATOR);
    return tap_end();
}
