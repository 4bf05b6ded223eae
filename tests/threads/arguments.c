/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong arguments of hooks: each gets its status and a message that names what is wrong, nothing is
 * written, and the context stays usable. Sizes of structs and of error records are respected.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "threads/block.h"
#include "threads/host.h"

enum { RANKS = 2, TOKENS = 8, ROWS = TOKENS / RANKS };

static const struct form form = {"[2, rows, 6]", 3, 1, {2, 0, 6}, {CPLAYOUT_TYPE_UINT, 8, 1}};

/* A hook call with all that belongs to it; right until a test changes a part. */
struct attempt {
    struct {
        struct cplayout_call call;
        uint64_t tail; /* members of a newer contract */
    } grown;
    struct cplayout_call *call; /* the one above */
    struct cplayout_context *context;
    struct block input;
    struct block output;
    struct cplayout_tensor in;
    struct cplayout_tensor out;
    struct cplayout_tensor *out_pointer;
    const struct world *stranger; /* another group's contexts */
};

static void attempt_init(struct attempt *attempt, const struct seat *seat)
{
    static const struct hook_step step = {PREPARE, 1, CPLAYOUT_FORWARD};

    *attempt = (struct attempt){.context = seat->context};
    block_init(&attempt->input, &form, ROWS, PACKING_PADDED);
    block_init(&attempt->output, &form, ROWS, PACKING_PADDED);
    attempt->in = attempt->input.tensor;
    attempt->out = attempt->output.tensor;
    attempt->out_pointer = &attempt->out;
    attempt->call = &attempt->grown.call;
    *attempt->call = seat_call(seat, &step, seat->batch, &attempt->in, form.row_axis);
}

static void attempt_fini(struct attempt *attempt)
{
    block_fini(&attempt->input);
    block_fini(&attempt->output);
}

/* ---- The ways to be wrong ------------------------------------------------------------------- */

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

CHANGE(layer_below, attempt->call->layer = -1)
CHANGE(layer_above, attempt->call->layer = 3)
CHANGE(layer_most, attempt->call->layer = INT32_MAX)
CHANGE(direction_two, attempt->call->direction = 2)
CHANGE(direction_below, attempt->call->direction = -1)
CHANGE(axis_below, attempt->call->row_axis = -1)
CHANGE(axis_above, attempt->call->row_axis = 3)
CHANGE(axis_other, attempt->call->row_axis = 0)
CHANGE(identity_other, attempt->call->identity = 12345)
CHANGE(stream_given, attempt->call->stream = attempt)
CHANGE(batch_null, attempt->call->batch = NULL)
CHANGE(schedule_null, attempt->call->schedule = NULL)
CHANGE(input_null, attempt->call->input = NULL)
CHANGE(call_null, attempt->call = NULL)
CHANGE(out_null, attempt->out_pointer = NULL)
CHANGE(context_null, attempt->context = NULL)
CHANGE(batch_foreign, attempt->call->batch = attempt->stranger->seats[0].batch)
CHANGE(schedule_foreign, attempt->call->schedule = attempt->stranger->seats[0].schedule)
CHANGE(size_zero, attempt->call->size = 0)
CHANGE(size_small, attempt->call->size = sizeof(struct cplayout_call) - 1)
CHANGE(size_absurd, attempt->call->size = UINT64_MAX)
CHANGE(size_tail, attempt->call->size = sizeof(attempt->grown); attempt->grown.tail = 7)
CHANGE(in_rows, attempt->input.shape[1] = 3)
CHANGE(out_rows, attempt->output.shape[1] = 3)
CHANGE(in_dims_zero, attempt->in.ndim = 0)
CHANGE(in_dims_many, attempt->in.ndim = 9)
CHANGE(out_dims, attempt->out.ndim = 2)
CHANGE(in_shape_null, attempt->in.shape = NULL)
CHANGE(out_shape_null, attempt->out.shape = NULL)
CHANGE(outer_differs, attempt->input.shape[0] = 1)
CHANGE(inner_differs, attempt->output.shape[2] = 5)
CHANGE(type_code, attempt->out.dtype.code = CPLAYOUT_TYPE_INT)
CHANGE(type_bits_zero, attempt->in.dtype.bits = 0)
CHANGE(type_bits_odd, attempt->in.dtype.bits = 4)
CHANGE(type_lanes, attempt->in.dtype.lanes = 0)
CHANGE(in_data_null, attempt->in.data = NULL)
CHANGE(out_data_null, attempt->out.data = NULL)
CHANGE(in_device, attempt->in.device.device_type = 2)
CHANGE(out_device, attempt->out.device.device_type = 2)
CHANGE(same_memory, attempt->out.data = attempt->in.data)
CHANGE(overlap_begin, attempt->in = attempt->out; attempt->in.byte_offset += 11)
CHANGE(overlap_end, attempt->in = attempt->out; attempt->in.byte_offset -= 5)
CHANGE(stride_negative, attempt->input.strides[1] = -9)
CHANGE(outer_negative, attempt->output.strides[0] = -50)
CHANGE(rows_overlap, attempt->input.strides[1] = 5)
CHANGE(outers_overlap, attempt->output.strides[0] = 20)
CHANGE(inner_gaps, attempt->input.strides[2] = 2)
CHANGE(shape_negative, attempt->input.shape[2] = -6)
CHANGE(shape_overflow, attempt->input.shape[2] = INT64_MAX)
CHANGE(stride_overflow, attempt->input.strides[0] = INT64_MAX)

enum { ARGUMENT = CPLAYOUT_ERROR_ARGUMENT, UNSUPPORTED = CPLAYOUT_ERROR_UNSUPPORTED };

static const struct wrong wrongs[] = {
    {"layer -1", layer_below, ARGUMENT, "layer -1 is not one of the schedule's 3"},
    {"layer 3 of 3", layer_above, ARGUMENT, "layer 3 is not one of the schedule's 3"},
    {"layer 2^31-1", layer_most, ARGUMENT, "layer 2147483647"},
    {"direction 2", direction_two, ARGUMENT, "call.direction is 2"},
    {"direction -1", direction_below, ARGUMENT, "call.direction is -1"},
    {"row axis -1", axis_below, ARGUMENT, "row axis -1"},
    {"row axis 3 of 3", axis_above, ARGUMENT, "row axis 3"},
    {"a row axis that is another one", axis_other, ARGUMENT, ""},
    {"another identity", identity_other, ARGUMENT, "identity 0000000000003039"},
    {"a stream", stream_given, UNSUPPORTED, "call.stream"},
    {"no batch", batch_null, ARGUMENT, "call.batch must not be NULL"},
    {"no schedule", schedule_null, ARGUMENT, "call.schedule must not be NULL"},
    {"no input", input_null, ARGUMENT, "input must not be NULL"},
    {"no call", call_null, ARGUMENT, "call must not be NULL"},
    {"no output", out_null, ARGUMENT, "out must not be NULL"},
    {"no context", context_null, ARGUMENT, "context must not be NULL"},
    {"another context's batch", batch_foreign, ARGUMENT, "batch belongs to another context"},
    {"another context's schedule", schedule_foreign, ARGUMENT,
     "schedule belongs to another context"},
    {"call.size 0", size_zero, ARGUMENT, "call.size is 0"},
    {"call.size too small", size_small, ARGUMENT, "call.size is"},
    {"call.size absurd", size_absurd, ARGUMENT, "call.size is 18446744073709551615"},
    {"a newer call with a member set", size_tail, ARGUMENT, "not zero"},
    {"3 input rows", in_rows, ARGUMENT, "input has 3 rows, its layout has 4"},
    {"3 output rows", out_rows, ARGUMENT, "out has 3 rows, its layout has 4"},
    {"no input dimensions", in_dims_zero, ARGUMENT, "ndim 0"},
    {"9 input dimensions", in_dims_many, ARGUMENT, "ndim 9"},
    {"2 output dimensions of 3", out_dims, ARGUMENT, "2 dimensions"},
    {"no input shape", in_shape_null, ARGUMENT, "input"},
    {"no output shape", out_shape_null, ARGUMENT, "out"},
    {"another outer dimension", outer_differs, ARGUMENT, "entries along axis 0"},
    {"another inner dimension", inner_differs, ARGUMENT, "5 entries along axis 2"},
    {"another data type", type_code, ARGUMENT, "type"},
    {"elements of 0 bits", type_bits_zero, ARGUMENT, "0 bits"},
    {"elements of 4 bits", type_bits_odd, ARGUMENT, "4 bits"},
    {"elements of 0 lanes", type_lanes, ARGUMENT, "0 bits"},
    {"no input data", in_data_null, ARGUMENT, "input: data is NULL"},
    {"no output data", out_data_null, ARGUMENT, "out: data is NULL"},
    {"device input", in_device, UNSUPPORTED, "input: device type 2"},
    {"device output", out_device, UNSUPPORTED, "out: device type 2"},
    {"output in the input's memory", same_memory, ARGUMENT, "overlap"},
    {"input that begins in the output", overlap_begin, ARGUMENT, "overlap"},
    {"input that ends in the output", overlap_end, ARGUMENT, "overlap"},
    {"negative row stride", stride_negative, ARGUMENT, "row stride is negative"},
    {"negative outer stride", outer_negative, ARGUMENT, "out"},
    {"rows that overlap", rows_overlap, ARGUMENT, "rows overlap"},
    {"outer entries that overlap", outers_overlap, ARGUMENT, "rows overlap"},
    {"gaps inside rows", inner_gaps, ARGUMENT, "must be compact"},
    {"a negative dimension", shape_negative, ARGUMENT, "dimension 2 is -6"},
    {"a size that overflows", shape_overflow, ARGUMENT, "overflow"},
    {"a stride that overflows", stride_overflow, ARGUMENT, "overflow"},
};

static int32_t call_prepare(const struct attempt *attempt, struct cplayout_error *error)
{
    return host_core()->prepare_layer(attempt->context, attempt->call, attempt->out_pointer, error);
}

static void test_wrong(const struct wrong *wrong, const struct world *world,
                       const struct world *stranger)
{
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_tensor before;
    struct attempt attempt;
    int32_t status;

    tap_test("hook with %s", wrong->name);
    attempt_init(&attempt, &world->seats[0]);
    attempt.stranger = stranger;
    wrong->change(&attempt);
    before = attempt.out;
    status = call_prepare(&attempt, &error);
    CHECK(status == wrong->status && error.status == status, "status %d, not %d: %s", status,
          wrong->status, error.message);
    CHECK(strstr(error.message, wrong->text) != NULL, "'%s' is not in '%s'", wrong->text,
          error.message);
    CHECK(error.origin == CPLAYOUT_ORIGIN_PLUGIN && error.native_code == 0, "origin %d",
          error.origin);
    CHECK(memcmp(&before, &attempt.out, sizeof(before)) == 0, "'out' was changed");
    CHECK(call_prepare(&attempt, NULL) == status, "another status without a record");
    (void)block_is_clear(&attempt.output, "output of a failed call");
    attempt_fini(&attempt);
}

/* ---- What is accepted ----------------------------------------------------------------------- */

static uint64_t identity_of(const struct seat *seat)
{
    const struct cplayout_partition *partition = NULL;
    struct cplayout_partition_info info = {.size = sizeof(info)};
    int32_t layout = -1;

    if (CHECK(host_core()->layout(seat->context, "linear", &layout, NULL) == CPLAYOUT_OK &&
                  host_views()->view_partition(seat->batch, layout, &partition, NULL) ==
                      CPLAYOUT_OK,
              "no partition")) {
        host_plan()->partition_describe(partition, &info);
    }
    return info.identity;
}

/* A newer host's call whose new members are zero, with the right identity. */
static void run_right(struct world *world, struct seat *seat)
{
    struct attempt attempt;

    (void)world;
    attempt_init(&attempt, seat);
    attempt.call->size = sizeof(attempt.grown);
    attempt.call->identity = identity_of(seat);
    seat->status = call_prepare(&attempt, &seat->error);
    CHECK(seat->status == CPLAYOUT_OK, "rank %d: %s", seat->rank, seat->error.message);
    attempt_fini(&attempt);
}

/* No entries: data may be NULL on both sides. */
static void run_empty(struct world *world, struct seat *seat)
{
    struct attempt attempt;

    (void)world;
    attempt_init(&attempt, seat);
    attempt.input.shape[0] = 0;
    attempt.output.shape[0] = 0;
    attempt.in.data = NULL;
    attempt.out.data = NULL;
    attempt.in.byte_offset = 0;
    attempt.out.byte_offset = 0;
    seat->status = call_prepare(&attempt, &seat->error);
    CHECK(seat->status == CPLAYOUT_OK, "rank %d: %s", seat->rank, seat->error.message);
    attempt_fini(&attempt);
}

/* ---- Error records -------------------------------------------------------------------------- */

enum { GUARD = 0xab, RECORD_MOST = sizeof(struct cplayout_error) + 88 };

union record {
    struct cplayout_error error;
    unsigned char bytes[RECORD_MOST];
};

static void check_members(const union record *record, uint64_t size,
                          const struct cplayout_error *full)
{
    const size_t head = offsetof(struct cplayout_error, message);
    const struct cplayout_error *const error = &record->error;

    CHECK(size < offsetof(struct cplayout_error, origin) || error->status == full->status,
          "size %d: status %d", (int)size, error->status);
    CHECK(size < offsetof(struct cplayout_error, native_code) || error->origin == full->origin,
          "size %d: origin %d", (int)size, error->origin);
    CHECK(size < offsetof(struct cplayout_error, field) || error->native_code == 0,
          "size %d: native code", (int)size);
    CHECK(size < head || strcmp(error->field, full->field) == 0, "size %d: field '%.*s'", (int)size,
          CPLAYOUT_FIELD_BYTES, error->field);
    if (size > head) {
        const size_t room = size - head;
        const size_t length = strnlen(error->message, room);

        CHECK(length < room, "size %d: the message is not terminated", (int)size);
        CHECK(strncmp(error->message, full->message, length) == 0 &&
                  (length == strlen(full->message) || length == room - 1),
              "size %d: '%.*s' is not the begin of '%s'", (int)size, (int)length, error->message,
              full->message);
    }
}

static void check_record(const struct attempt *attempt, uint64_t size,
                         const struct cplayout_error *full)
{
    const uint64_t known = sizeof(struct cplayout_error);
    const uint64_t reach = size < known ? size : known;
    union record record;

    memset(&record, GUARD, sizeof(record));
    record.error.size = size;
    CHECK(call_prepare(attempt, &record.error) == full->status, "size %d: status", (int)size);
    CHECK(record.error.size == size, "size %d: the size was changed", (int)size);
    for (uint64_t i = reach > sizeof(size) ? reach : sizeof(size); i < RECORD_MOST; i++) {
        CHECK(record.bytes[i] == GUARD, "size %d: byte %d was written", (int)size, (int)i);
    }
    check_members(&record, size, full);
}

static void test_records(const struct world *world)
{
    struct cplayout_error full = {.size = sizeof(full)};
    struct attempt attempt;

    tap_test("error records of 0 to %d bytes", RECORD_MOST);
    attempt_init(&attempt, &world->seats[0]);
    attempt.call->layer = 77;
    (void)call_prepare(&attempt, &full);
    CHECK(strstr(full.message, "77") != NULL && strcmp(full.field, "layer") == 0, "'%s', '%s'",
          full.field, full.message);
    for (uint64_t size = 0; size <= RECORD_MOST; size++) {
        check_record(&attempt, size, &full);
    }
    attempt_fini(&attempt);
}

static void run_batch(struct world *world, struct seat *seat)
{
    (void)world;
    CHECK(seat_batch(seat, TOKENS, &seat->batch) == CPLAYOUT_OK, "batch: %s", seat->error.message);
}

static void open_world(struct world *world)
{
    const struct host_config config = {
        .cp = RANKS,
        .linear = "contiguous",
        .attention = "zigzag",
        .pattern = "M*M",
        .timeout = "2",
    };

    world_open(world, &config);
    world_run(world, run_batch);
}

int main(void)
{
    struct world world;
    struct world stranger;

    tap_test("set-up");
    open_world(&world);
    open_world(&stranger);
    for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
        test_wrong(&wrongs[i], &world, &stranger);
    }
    test_records(&world);
    tap_test("after all that, a call of a newer host that sets nothing new is right");
    world_run(&world, run_right);
    world_close(&stranger);
    tap_test("an empty tensor without data");
    world_run(&world, run_empty);
    world_close(&world);
    return tap_end();
}
