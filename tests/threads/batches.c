/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong arguments of batch_create on all ranks at once: ARGUMENT everywhere, and the contexts stay
 * usable. Wrong arguments of schedules, layouts and views.
 */
#include <stdio.h>
#include <string.h>

#include "threads/block.h"
#include "threads/host.h"

enum { RANKS = 3, TOKENS = 12, FIELDS_MOST = 18 };
enum { ARGUMENT = CPLAYOUT_ERROR_ARGUMENT, UNSUPPORTED = CPLAYOUT_ERROR_UNSUPPORTED };

/* ---- Batches -------------------------------------------------------------------------------- */

/* The arguments of one rank; right until a test changes a part. */
struct attempt {
    struct {
        struct cplayout_batch_args args;
        uint64_t tail; /* members of a newer contract */
    } grown;
    struct cplayout_batch_args *args; /* the ones above */
    struct cplayout_batch *batch;
    struct cplayout_batch **out;
    struct cplayout_field fields[FIELDS_MOST];
    struct cplayout_tensor tensor;
    int64_t shape[3];
    int64_t strides[3];
    int32_t memory[2 * TOKENS + 2];
};

static void attempt_init(struct attempt *attempt)
{
    *attempt = (struct attempt){
        .args = &attempt->grown.args,
        .out = &attempt->batch,
        .fields = {{"tokens", &attempt->tensor}, {"labels", &attempt->tensor}},
        .shape = {2, TOKENS},
        .strides = {TOKENS, 1},
        .tensor = {.data = attempt->memory,
                   .device = {CPLAYOUT_DEVICE_CPU, 0},
                   .ndim = 2,
                   .dtype = {CPLAYOUT_TYPE_INT, 32, 1},
                   .shape = attempt->shape,
                   .strides = attempt->strides},
    };
    *attempt->args = (struct cplayout_batch_args){
        .size = sizeof(*attempt->args),
        .sequence_length = TOKENS,
        .fields = attempt->fields,
        .field_count = 2,
    };
}

struct wrong {
    const char *name;
    void (*change)(struct attempt *attempt);
    int32_t status;
    const char *text; /* in the message */
};

#define CHANGE(name, statement)               \
    static void name(struct attempt *attempt) \
    {                                         \
        statement;                            \
    }

CHANGE(length_none, attempt->args->sequence_length = 0; attempt->args->field_count = 0)
CHANGE(length_odd, attempt->args->sequence_length = 11)
CHANGE(length_huge, attempt->args->sequence_length = UINT64_C(6) << 31)
CHANGE(length_absurd, attempt->args->sequence_length = UINT64_MAX)
CHANGE(length_other, attempt->args->sequence_length = 2 * TOKENS)
CHANGE(name_unknown, attempt->fields[1].name = "label")
CHANGE(name_null, attempt->fields[1].name = NULL)
CHANGE(name_twice, attempt->fields[1].name = "tokens")
CHANGE(tensor_null, attempt->fields[1].tensor = NULL)
CHANGE(fields_null, attempt->args->fields = NULL)
CHANGE(fields_many, attempt->args->field_count = 18)
CHANGE(fields_absurd, attempt->args->field_count = UINT64_MAX)
CHANGE(type_float, attempt->tensor.dtype.code = CPLAYOUT_TYPE_FLOAT)
CHANGE(type_bits, attempt->tensor.dtype.bits = 12)
CHANGE(dims_one, attempt->tensor.ndim = 1; attempt->shape[0] = TOKENS)
CHANGE(dims_three, attempt->tensor.ndim = 3; attempt->tensor.strides = NULL; attempt->shape[2] = 1)
CHANGE(shape_null, attempt->tensor.shape = NULL)
CHANGE(shape_long, attempt->shape[1] = TOKENS + 1)
CHANGE(data_null, attempt->tensor.data = NULL)
CHANGE(device_other, attempt->tensor.device.device_type = 2)
CHANGE(rows_overlap, attempt->strides[0] = 3)
CHANGE(stride_negative, attempt->strides[1] = -1)
CHANGE(out_null, attempt->out = NULL)
CHANGE(args_null, attempt->args = NULL)
CHANGE(size_small, attempt->args->size -= 1)
CHANGE(size_zero, attempt->args->size = 0)
CHANGE(size_tail, attempt->args->size = sizeof(attempt->grown); attempt->grown.tail = 1)

static const struct wrong wrongs[] = {
    {"neither a length nor a field", length_none, ARGUMENT, "seq_length is not set"},
    {"length 11", length_odd, ARGUMENT, "sequence length 11 is not a multiple of"},
    {"length 6 x 2^31", length_huge, ARGUMENT, "12884901888"},
    {"length 2^64-1", length_absurd, ARGUMENT, "18446744073709551615"},
    {"fields of another length", length_other, ARGUMENT,
     "field tokens has 12 entries along axis 1, the sequence has 24"},
    {"an unknown field", name_unknown, ARGUMENT, "unknown field 'label'"},
    {"a field without a name", name_null, ARGUMENT, "field.name must not be NULL"},
    {"a field given twice", name_twice, ARGUMENT, "field tokens is given twice"},
    {"a field without a tensor", tensor_null, ARGUMENT, "labels must not be NULL"},
    {"fields NULL", fields_null, ARGUMENT, "fields must not be NULL"},
    {"18 fields", fields_many, ARGUMENT, "18 fields are given, 17 are known"},
    {"2^64-1 fields", fields_absurd, ARGUMENT, "18446744073709551615 fields"},
    {"a field of floats", type_float, ARGUMENT, "field tokens must hold integers"},
    {"elements of 12 bits", type_bits, ARGUMENT, "12 bits"},
    {"a field of 1 dimension", dims_one, ARGUMENT, "tokens"},
    {"a field of 3 dimensions", dims_three, ARGUMENT, "field tokens must be [B, S], it has 3"},
    {"a field without a shape", shape_null, ARGUMENT, "tokens"},
    {"a field that is too long", shape_long, ARGUMENT, "tokens"},
    {"a field without data", data_null, ARGUMENT, "tokens: data is NULL"},
    {"a field on a device", device_other, UNSUPPORTED, "tokens: device type 2"},
    {"a field whose rows overlap", rows_overlap, ARGUMENT, "tokens"},
    {"a field with a negative stride", stride_negative, ARGUMENT, "tokens"},
    {"no place for the result", out_null, ARGUMENT, "batch must not be NULL"},
    {"no arguments", args_null, ARGUMENT, "args must not be NULL"},
    {"args.size too small", size_small, ARGUMENT, "args.size is"},
    {"args.size 0", size_zero, ARGUMENT, "args.size is 0"},
    {"newer arguments with a member set", size_tail, ARGUMENT, "not zero"},
};

/* First the wrong call, then a right one of a newer host. */
static void run_wrong(struct world *world, struct seat *seat)
{
    const struct wrong *const wrong = world->self;
    struct attempt attempt;

    attempt_init(&attempt);
    wrong->change(&attempt);
    seat->status =
        host_core()->batch_create(seat->context, attempt.args, attempt.out, &seat->error);
    CHECK(seat->status == wrong->status && seat->error.status == seat->status,
          "rank %d: status %d, not %d: %s", seat->rank, seat->status, wrong->status,
          seat->error.message);
    CHECK(strstr(seat->error.message, wrong->text) != NULL, "rank %d: '%s' is not in '%s'",
          seat->rank, wrong->text, seat->error.message);
    CHECK(attempt.batch == NULL, "rank %d: a batch all the same", seat->rank);
    world_meet(world);
    attempt_init(&attempt);
    attempt.args->size = sizeof(attempt.grown);
    seat->status =
        host_core()->batch_create(seat->context, attempt.args, attempt.out, &seat->error);
    CHECK(seat->status == CPLAYOUT_OK, "rank %d cannot go on: %s", seat->rank, seat->error.message);
    host_core()->batch_destroy(attempt.batch);
}

static const struct host_config usual = {
    .cp = RANKS,
    .linear = "contiguous",
    .attention = "zigzag",
    .pattern = "M*M",
    .timeout = "20",
};

static void test_batches(void)
{
    struct world world;

    world_open(&world, &usual);
    for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
        struct wrong wrong = wrongs[i];

        tap_test("batch with %s on all ranks", wrong.name);
        world.self = &wrong;
        world_run(&world, run_wrong);
    }
    tap_test("the contexts end well after all that");
    world_close(&world);
}

/* ---- One rank: schedules, layouts, views ---------------------------------------------------- */

/* Checks a call's status and message, made with `error` as its record. */
#define REFUSED(call, expected, text)                                                           \
    do {                                                                                        \
        struct cplayout_error error = {.size = sizeof(error)};                                  \
        const int32_t refused = (call);                                                         \
                                                                                                \
        CHECK(refused == (expected) && error.status == refused, "%s: status %d: %s", text,      \
              refused, error.message);                                                          \
        CHECK(strstr(error.message, text) != NULL, "'%s' is not in '%s'", text, error.message); \
    } while (0)

static void test_schedules(struct seat *seat)
{
    const struct cplayout_core *const core = host_core();
    struct cplayout_schedule_args args = {.size = sizeof(args)};
    const struct cplayout_schedule_args other = {.size = sizeof(other), .chunk = 1};
    const struct cplayout_schedule_args small = {.size = sizeof(small) - 4};
    struct cplayout_layer_info layer = {.size = sizeof(layer)};
    struct cplayout_schedule_info info = {.size = sizeof(info)};
    struct cplayout_schedule *schedule = NULL;

    tap_test("wrong arguments of schedule and layer_describe");
    REFUSED(core->schedule(NULL, &args, &schedule, &error), ARGUMENT, "context must not be NULL");
    REFUSED(core->schedule(seat->context, NULL, &schedule, &error), ARGUMENT, "args");
    REFUSED(core->schedule(seat->context, &args, NULL, &error), ARGUMENT, "schedule");
    REFUSED(core->schedule(seat->context, &other, &schedule, &error), ARGUMENT, "model chunk 1");
    REFUSED(core->schedule(seat->context, &small, &schedule, &error), ARGUMENT, "args.size is");
    REFUSED(core->layer_describe(NULL, 0, &layer, &error), ARGUMENT, "schedule");
    REFUSED(core->layer_describe(seat->schedule, 0, NULL, &error), ARGUMENT, "info");
    REFUSED(core->layer_describe(seat->schedule, -1, &layer, &error), ARGUMENT, "layer -1");
    REFUSED(core->layer_describe(seat->schedule, 3, &layer, &error), ARGUMENT,
            "layer 3 is not one of the schedule's 3");
    CHECK(schedule == NULL && layer.symbol == '\0', "a failed call wrote a result");
    core->schedule_describe(seat->schedule, &info);
    CHECK(info.layers == 3 && info.input_layout == info.output_layout, "%d layers", info.layers);
    CHECK(core->layer_describe(seat->schedule, 1, &layer, NULL) == CPLAYOUT_OK &&
              layer.symbol == '*' && layer.layout != info.input_layout,
          "layer 1 is '%c' in layout %d", layer.symbol, layer.layout);
}

static void test_layouts(struct seat *seat)
{
    const struct cplayout_core *const core = host_core();
    int32_t layout = -7;

    tap_test("wrong arguments of layout");
    REFUSED(core->layout(NULL, "linear", &layout, &error), ARGUMENT, "context must not be NULL");
    REFUSED(core->layout(seat->context, NULL, &layout, &error), ARGUMENT, "name");
    REFUSED(core->layout(seat->context, "linear", NULL, &error), ARGUMENT, "layout");
    REFUSED(core->layout(seat->context, "ring", &layout, &error), ARGUMENT, "'ring'");
    REFUSED(core->layout(seat->context, "striped:0", &layout, &error), ARGUMENT, "'striped:0'");
    REFUSED(core->layout(seat->context, "", &layout, &error), ARGUMENT, "''");
    CHECK(layout == -7, "a failed call wrote a result");
}

static void test_described(struct seat *seat)
{
    const struct cplayout_batch_interface *const views = host_views();
    const struct cplayout_partition *partition = NULL;
    struct cplayout_view view = {.size = sizeof(view)};
    struct cplayout_view small = {.size = sizeof(small) - 8};

    tap_test("wrong arguments of view_describe and view_partition");
    REFUSED(views->view_describe(NULL, 0, "tokens", &view, &error), ARGUMENT, "batch");
    REFUSED(views->view_describe(seat->batch, 0, NULL, &view, &error), ARGUMENT, "field");
    REFUSED(views->view_describe(seat->batch, 0, "tokens", NULL, &error), ARGUMENT, "view");
    REFUSED(views->view_describe(seat->batch, 0, "tokens", &small, &error), ARGUMENT, "view.size");
    REFUSED(views->view_describe(seat->batch, 2, "tokens", &view, &error), ARGUMENT, "2 is no");
    REFUSED(views->view_describe(seat->batch, -1, "tokens", &view, &error), ARGUMENT, "-1 is no");
    REFUSED(views->view_describe(seat->batch, 0, "mask", &view, &error), ARGUMENT, "'mask'");
    REFUSED(views->view_describe(seat->batch, 0, "labels", &view, &error), ARGUMENT,
            "without field labels");
    REFUSED(views->view_partition(NULL, 0, &partition, &error), ARGUMENT, "batch");
    REFUSED(views->view_partition(seat->batch, 0, NULL, &error), ARGUMENT, "partition");
    REFUSED(views->view_partition(seat->batch, 2, &partition, &error), ARGUMENT, "2 is no");
    CHECK(partition == NULL && view.tensor.ndim == 0, "a failed call wrote a result");
}

static void refuse_fill(const struct seat *seat, const char *field, struct cplayout_type type,
                        int64_t rows, const char *text)
{
    const struct form form = {"[2, rows]", 2, 1, {strcmp(field, "tokens") == 0 ? 2 : 1, 0}, type};
    struct block out;

    block_init(&out, &form, rows, PACKING_PADDED);
    REFUSED(host_views()->view_fill(seat->batch, 0, field, &out.tensor, &error), ARGUMENT, text);
    (void)block_is_clear(&out, "output of a failed view_fill");
    block_fini(&out);
}

static void test_filled(struct seat *seat)
{
    const struct cplayout_type int32 = {CPLAYOUT_TYPE_INT, 32, 1};
    const struct cplayout_type int16 = {CPLAYOUT_TYPE_INT, 16, 1};
    const struct cplayout_batch_interface *const views = host_views();
    struct cplayout_tensor none = {0};

    tap_test("wrong arguments of view_fill");
    REFUSED(views->view_fill(NULL, 0, "tokens", &none, &error), ARGUMENT, "batch");
    REFUSED(views->view_fill(seat->batch, 0, NULL, &none, &error), ARGUMENT, "field");
    REFUSED(views->view_fill(seat->batch, 0, "tokens", NULL, &error), ARGUMENT, "out");
    REFUSED(views->view_fill(seat->batch, 0, "tokens", &none, &error), ARGUMENT, "ndim 0");
    refuse_fill(seat, "tokens", int32, TOKENS - 1, "11 entries along axis 1");
    refuse_fill(seat, "tokens", int16, TOKENS, "16 bits");
    refuse_fill(seat, "position_ids", int16, TOKENS, "16 bits");
    refuse_fill(seat, "position_ids", int32, 1, "1 entries along axis 1");
    refuse_fill(seat, "labels", int32, TOKENS, "without field labels");
}

static void test_late_schedule(struct seat *seat)
{
    const struct cplayout_schedule_args args = {.size = sizeof(args)};
    struct cplayout_schedule *schedule = NULL;

    tap_test("a schedule after the first batch, and one without a pattern");
    REFUSED(host_core()->schedule(seat->context, &args, &schedule, &error), ARGUMENT,
            "before the first batch");
}

static void test_no_pattern(void)
{
    const struct host_config config = {.cp = 1};
    const struct cplayout_schedule_args args = {.size = sizeof(args)};
    struct cplayout_schedule *schedule = NULL;
    struct world world;

    world_open(&world, &config);
    REFUSED(host_core()->schedule(world.seats[0].context, &args, &schedule, &error), ARGUMENT,
            "hybrid_layer_pattern");
    world_close(&world);
}

static void test_alone(void)
{
    struct host_config config = usual;
    struct attempt attempt;
    struct seat *seat;
    struct world world;

    config.cp = 1;
    world_open(&world, &config);
    seat = &world.seats[0];
    test_schedules(seat);
    test_layouts(seat);
    attempt_init(&attempt);
    attempt.args->field_count = 1;
    CHECK(host_core()->batch_create(seat->context, attempt.args, &seat->batch, NULL) == CPLAYOUT_OK,
          "no batch");
    test_described(seat);
    test_filled(seat);
    test_late_schedule(seat);
    world_close(&world);
    test_no_pattern();
}

int main(void)
{
    test_batches();
    test_alone();
    return tap_end();
}
