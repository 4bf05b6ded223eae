/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong arguments of `convert` and `convert_describe`: each gets its status and a message that names
 * what is wrong, nothing is written, and the contexts stay usable.
 */
#include <stdlib.h>
#include <string.h>

#include "threads/block.h"
#include "threads/host.h"

enum { RANKS = 2, TOKENS = 8, ROWS = TOKENS / RANKS };
enum { ARGUMENT = CPLAYOUT_ERROR_ARGUMENT, UNSUPPORTED = CPLAYOUT_ERROR_UNSUPPORTED };

static const struct form form = {"[2, rows, 6]", 3, 1, {2, 0, 6}, {CPLAYOUT_TYPE_UINT, 8, 1}};

/* A call with all that belongs to it; right until a test changes a part. */
struct attempt {
    struct {
        struct cplayout_convert_call call;
        uint64_t tail; /* members of a newer contract */
    } grown;
    struct cplayout_convert_call *call; /* the one above */
    struct cplayout_context *context;
    struct block input;
    struct block output;
    struct cplayout_tensor in;
    struct cplayout_tensor out;
    struct cplayout_tensor *out_pointer;
    struct cplayout_conversion told;
    struct cplayout_conversion *told_pointer;
    const struct world *stranger; /* another group's contexts */
};

static void attempt_init(struct attempt *attempt, const struct seat *seat)
{
    *attempt = (struct attempt){.context = seat->context};
    block_init(&attempt->input, &form, ROWS, PACKING_PADDED);
    block_init(&attempt->output, &form, ROWS, PACKING_PADDED);
    attempt->in = attempt->input.tensor;
    attempt->out = attempt->output.tensor;
    attempt->out_pointer = &attempt->out;
    attempt->told.size = sizeof(attempt->told);
    attempt->told_pointer = &attempt->told;
    attempt->call = &attempt->grown.call;
    *attempt->call = (struct cplayout_convert_call){
        .size = sizeof(*attempt->call),
        .batch = seat->batch,
        .input = &attempt->in,
        .from_layout = seat_layout(seat, "linear"),
        .to_layout = seat_layout(seat, "attention"),
        .row_axis = form.row_axis,
    };
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
    bool both;        /* convert_describe refuses it too */
};

#define CHANGE(name, statement)               \
    static void name(struct attempt *attempt) \
    {                                         \
        statement;                            \
    }

CHANGE(context_null, attempt->context = NULL)
CHANGE(call_null, attempt->call = NULL)
CHANGE(batch_null, attempt->call->batch = NULL)
CHANGE(batch_foreign, attempt->call->batch = attempt->stranger->seats[0].batch)
CHANGE(from_below, attempt->call->from_layout = -1)
CHANGE(from_above, attempt->call->from_layout = 2)
CHANGE(to_below, attempt->call->to_layout = -1)
CHANGE(to_most, attempt->call->to_layout = INT32_MAX)
CHANGE(identity_other, attempt->call->identity = 12345)
CHANGE(size_zero, attempt->call->size = 0)
CHANGE(size_small, attempt->call->size -= 1)
CHANGE(size_tail, attempt->call->size = sizeof(attempt->grown); attempt->grown.tail = 7)
CHANGE(out_null, attempt->out_pointer = NULL; attempt->told_pointer = NULL)
CHANGE(told_small, attempt->told.size -= 1)
CHANGE(input_null, attempt->call->input = NULL)
CHANGE(stream_given, attempt->call->stream = attempt)
CHANGE(axis_below, attempt->call->row_axis = -1)
CHANGE(axis_above, attempt->call->row_axis = 3)
CHANGE(axis_other, attempt->call->row_axis = 0)
CHANGE(in_rows, attempt->input.shape[1] = 3)
CHANGE(out_rows, attempt->output.shape[1] = 3)
CHANGE(type_code, attempt->out.dtype.code = CPLAYOUT_TYPE_INT)
CHANGE(in_device, attempt->in.device.device_type = 2)
CHANGE(same_memory, attempt->out.data = attempt->in.data)
CHANGE(rows_overlap, attempt->input.strides[1] = 5)

static const struct wrong wrongs[] = {
    {"no context", context_null, ARGUMENT, "context must not be NULL", true},
    {"no call", call_null, ARGUMENT, "call must not be NULL", true},
    {"no batch", batch_null, ARGUMENT, "batch must not be NULL", true},
    {"another context's batch", batch_foreign, ARGUMENT, "batch belongs to another context", true},
    {"from layout -1", from_below, ARGUMENT, "-1 is no", true},
    {"from layout 2 of 2", from_above, ARGUMENT, "2 is no", true},
    {"to layout -1", to_below, ARGUMENT, "-1 is no", true},
    {"to layout 2^31-1", to_most, ARGUMENT, "2147483647 is no", true},
    {"another identity", identity_other, ARGUMENT, "identity 0000000000003039", true},
    {"call.size 0", size_zero, ARGUMENT, "call.size is 0", true},
    {"call.size too small", size_small, ARGUMENT, "call.size is", true},
    {"a newer call with a member set", size_tail, ARGUMENT, "not zero", true},
    {"no place for the result", out_null, ARGUMENT, "must not be NULL", true},
    {"no input", input_null, ARGUMENT, "input must not be NULL", false},
    {"a stream", stream_given, UNSUPPORTED, "stream", false},
    {"row axis -1", axis_below, ARGUMENT, "row axis -1", false},
    {"row axis 3 of 3", axis_above, ARGUMENT, "row axis 3", false},
    {"a row axis that is another one", axis_other, ARGUMENT, "", false},
    {"3 input rows", in_rows, ARGUMENT, "input has 3 rows, its layout has 4", false},
    {"3 output rows", out_rows, ARGUMENT, "out has 3 rows, its layout has 4", false},
    {"another data type", type_code, ARGUMENT, "type", false},
    {"device input", in_device, UNSUPPORTED, "input: device type 2", false},
    {"output in the input's memory", same_memory, ARGUMENT, "overlap", false},
    {"rows that overlap", rows_overlap, ARGUMENT, "rows overlap", false},
};

static void check_refused(const struct wrong *wrong, int32_t status,
                          const struct cplayout_error *error)
{
    CHECK(status == wrong->status && error->status == status, "status %d, not %d: %s", status,
          wrong->status, error->message);
    CHECK(strstr(error->message, wrong->text) != NULL, "'%s' is not in '%s'", wrong->text,
          error->message);
}

static void try_convert(const struct wrong *wrong, struct attempt *attempt)
{
    const struct cplayout_tensor before = attempt->out;
    struct cplayout_error error = {.size = sizeof(error)};
    const int32_t status =
        host_core()->convert(attempt->context, attempt->call, attempt->out_pointer, &error);

    check_refused(wrong, status, &error);
    CHECK(memcmp(&before, &attempt->out, sizeof(before)) == 0, "'out' was changed");
    (void)block_is_clear(&attempt->output, "output of a failed call");
}

static void try_describe(const struct wrong *wrong, struct attempt *attempt)
{
    const struct cplayout_conversion before = attempt->told;
    struct cplayout_error error = {.size = sizeof(error)};
    const int32_t status = host_core()->convert_describe(attempt->context, attempt->call,
                                                         attempt->told_pointer, &error);

    if (!wrong->both) {
        CHECK(wrong->status == UNSUPPORTED || status == CPLAYOUT_OK,
              "convert_describe looks at what it need not: %s", error.message);
        return;
    }
    check_refused(wrong, status, &error);
    CHECK(memcmp(&before, &attempt->told, sizeof(before)) == 0, "a failed call wrote a result");
}

static void test_wrong(const struct wrong *wrong, const struct world *world,
                       const struct world *stranger)
{
    struct attempt attempt;

    tap_test("convert with %s, %s", wrong->name, transport_names[world->config.transport]);
    attempt_init(&attempt, &world->seats[0]);
    attempt.stranger = stranger;
    wrong->change(&attempt);
    try_convert(wrong, &attempt);
    try_describe(wrong, &attempt);
    attempt_fini(&attempt);
}

/* For convert_describe alone. */
static void test_result_small(const struct world *world)
{
    const struct wrong wrong = {"", told_small, ARGUMENT, "conversion.size is", true};
    struct attempt attempt;

    tap_test("convert_describe with a result that is too small");
    attempt_init(&attempt, &world->seats[0]);
    wrong.change(&attempt);
    try_describe(&wrong, &attempt);
    attempt_fini(&attempt);
}

/* ---- What is accepted ----------------------------------------------------------------------- */

/* A newer host's call whose new members are zero, with the right identity and without a row. */
static void run_right(struct world *world, struct seat *seat)
{
    struct cplayout_conversion told = {.size = sizeof(told)};
    struct attempt attempt;

    (void)world;
    attempt_init(&attempt, seat);
    attempt.call->size = sizeof(attempt.grown);
    CHECK(host_core()->convert_describe(seat->context, attempt.call, &told, &seat->error) ==
              CPLAYOUT_OK,
          "rank %d: %s", seat->rank, seat->error.message);
    attempt.call->identity = told.input_identity;
    CHECK(seat_convert(seat, attempt.call, &attempt.out) == CPLAYOUT_OK, "rank %d: %s", seat->rank,
          seat->error.message);
    attempt.input.shape[0] = 0;
    attempt.output.shape[0] = 0;
    attempt.in.data = NULL;
    attempt.out.data = NULL;
    attempt.in.byte_offset = 0;
    attempt.out.byte_offset = 0;
    CHECK(seat_convert(seat, attempt.call, &attempt.out) == CPLAYOUT_OK, "rank %d, no entries: %s",
          seat->rank, seat->error.message);
    attempt_fini(&attempt);
}

static void run_batch(struct world *world, struct seat *seat)
{
    (void)world;
    CHECK(seat_batch(seat, TOKENS, &seat->batch) == CPLAYOUT_OK, "batch: %s", seat->error.message);
}

static void open_world(struct world *world, enum transport transport)
{
    const struct host_config config = {
        .cp = RANKS,
        .linear = "contiguous",
        .attention = "zigzag",
        .timeout = "2",
        .transport = transport,
    };

    world_open(world, &config);
    world_run(world, run_batch);
}

static void test_transport(enum transport transport)
{
    struct world world;
    struct world stranger;

    tap_test("set-up, %s", transport_names[transport]);
    open_world(&world, transport);
    open_world(&stranger, transport);
    for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
        test_wrong(&wrongs[i], &world, &stranger);
    }
    test_result_small(&world);
    tap_test("after all that, right calls succeed");
    world_run(&world, run_right);
    world_close(&stranger);
    world_close(&world);
}

int main(void)
{
    test_transport(LOCAL);
    test_transport(COMMUNICATOR);
    return tap_end();
}
