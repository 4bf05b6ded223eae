/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that structs can grow: each one that begins with its size is passed at every size from 0 to
 * twice its own. On the way in, too small is refused, larger is accepted as long as what is new is
 * zero, and no byte behind the size is read (the memory ends there, which ASan watches). On the way
 * out, no byte behind the size is written, and what is too small is refused where a call can refuse.
 * Error records and hook calls are the affair of tests/threads/arguments.c.
 */
#include <stdlib.h>
#include <string.h>

#include "threads/host.h"

enum { GUARD = 0xab, LARGEST = 1024, TOKENS = 8 };

/* What the calls below work on. */
static struct {
    struct cplayout_host host;
    struct cplayout_partition *partition;
    struct cplayout_route *route;
    struct cplayout_context *context; /* has a batch */
    struct cplayout_context *fresh;   /* has none, so that schedules can be made */
    struct cplayout_schedule *schedule;
    struct cplayout_batch *batch;
    struct cplayout_context *packed_context;
    struct cplayout_batch *packed_batch;
} fixture;

/* ---- In ---------------------------------------------------------------------------------------- */

/* A struct that is right as it is, and the call that takes it. */
struct incoming {
    const char *name;
    const char *argument; /* as messages call it */
    const void *right;
    size_t size;
    int32_t (*call)(const void *given, struct cplayout_error *error);
};

static int32_t take_partition(const void *given, struct cplayout_error *error)
{
    struct cplayout_partition *made = NULL;
    const int32_t status = host_plan()->partition_create(&fixture.host, given, &made, error);

    CHECK((made != NULL) == (status == CPLAYOUT_OK), "status %d", status);
    host_plan()->partition_destroy(made);
    return status;
}

static int32_t take_table(const void *given, struct cplayout_error *error)
{
    struct cplayout_partition *made = NULL;
    const int32_t status =
        host_plan()->table_create(&fixture.host, fixture.partition, given, &made, error);

    CHECK((made != NULL) == (status == CPLAYOUT_OK), "status %d", status);
    host_plan()->partition_destroy(made);
    return status;
}

static int32_t take_positions(const void *given, struct cplayout_error *error)
{
    return host_plan()->positions(fixture.partition, given, NULL, 0, NULL, error);
}

static int32_t take_moves(const void *given, struct cplayout_error *error)
{
    return host_plan()->moves(fixture.route, given, NULL, 0, NULL, error);
}

static int32_t take_shift(const void *given, struct cplayout_error *error)
{
    int64_t positions[TOKENS];
    int64_t shape[] = {1, TOKENS};
    const struct cplayout_tensor out = {.data = positions,
                                        .device = {CPLAYOUT_DEVICE_CPU, 0},
                                        .ndim = 2,
                                        .dtype = {CPLAYOUT_TYPE_INT, 64, 1},
                                        .shape = shape};

    return host_views()->view_shift(fixture.batch, given, &out, error);
}

static int32_t take_create(const void *given, struct cplayout_error *error)
{
    struct cplayout_context *made = NULL;
    const int32_t status = host_core()->create(given, &made, error);

    CHECK((made != NULL) == (status == CPLAYOUT_OK), "status %d", status);
    host_core()->destroy(made);
    return status;
}

static int32_t take_check(const void *given, struct cplayout_error *error)
{
    return host_core()->check(given, error);
}

static int32_t take_schedule(const void *given, struct cplayout_error *error)
{
    struct cplayout_schedule *made = NULL;
    const int32_t status = host_core()->schedule(fixture.fresh, given, &made, error);

    CHECK((made != NULL) == (status == CPLAYOUT_OK), "status %d", status);
    return status;
}

static int32_t take_batch(const void *given, struct cplayout_error *error)
{
    struct cplayout_batch *made = NULL;
    const int32_t status = host_core()->batch_create(fixture.context, given, &made, error);

    CHECK((made != NULL) == (status == CPLAYOUT_OK), "status %d", status);
    host_core()->batch_destroy(made);
    return status;
}

static int32_t take_call(const void *given, struct cplayout_error *error)
{
    struct cplayout_conversion conversion = {.size = sizeof(conversion)};

    return host_core()->conversion(fixture.context, CPLAYOUT_HOOK_PREPARE, given, &conversion,
                                   error);
}

static int32_t take_convert(const void *given, struct cplayout_error *error)
{
    struct cplayout_conversion conversion = {.size = sizeof(conversion)};

    return host_core()->convert_describe(fixture.context, given, &conversion, error);
}

/* A communicator of one rank, of which nothing is called. */
static int32_t take_communicator(const void *given, struct cplayout_error *error)
{
    struct cplayout_host record = fixture.host;
    const struct cplayout_create_args args = {.size = sizeof(args), .host = &record};

    record.ranks = 1;
    record.communicator = given;
    return take_create(&args, error);
}

/* ---- Host records, which every maker takes ----------------------------------------------------- */

static const struct cplayout_partition_args partition_args = {.size = sizeof(partition_args),
                                                              .layout = "zigzag",
                                                              .sequence = 24,
                                                              .cp = 2,
                                                              .tp = 2};

static const struct cplayout_fragment fragments[] = {{3, 4}, {-1, 2}, {0, 24}};
static const uint64_t counts[] = {2, 0, 0, 1};
static const struct cplayout_table_args table_args = {sizeof(table_args), fragments, counts};

static int32_t host_partition(const void *given, struct cplayout_error *error)
{
    struct cplayout_partition *made = NULL;
    const int32_t status = host_plan()->partition_create(given, &partition_args, &made, error);

    host_plan()->partition_destroy(made);
    return status;
}

static int32_t host_table(const void *given, struct cplayout_error *error)
{
    struct cplayout_partition *made = NULL;
    const int32_t status =
        host_plan()->table_create(given, fixture.partition, &table_args, &made, error);

    host_plan()->partition_destroy(made);
    return status;
}

static int32_t host_route(const void *given, struct cplayout_error *error)
{
    struct cplayout_route *made = NULL;
    const int32_t status =
        host_plan()->route_create(given, fixture.partition, fixture.partition, &made, error);

    host_plan()->route_destroy(made);
    return status;
}

static int32_t host_group(const void *given, struct cplayout_error *error)
{
    struct cplayout_local_group *made = NULL;
    const int32_t status = host_core()->local_group_create(given, 2, &made, error);

    host_core()->local_group_destroy(made);
    return status;
}

static int32_t host_of_create(const void *given, struct cplayout_error *error)
{
    const struct cplayout_create_args args = {.size = sizeof(args), .host = given};

    return take_create(&args, error);
}

static int32_t host_of_check(const void *given, struct cplayout_error *error)
{
    const struct cplayout_create_args args = {.size = sizeof(args), .host = given};

    return take_check(&args, error);
}

/* ---- Every size in ----------------------------------------------------------------------------- */

/* Calls with a copy of `size` bytes that ends where its memory ends. `set`: a byte that is not 0. */
static int32_t call_with(const struct incoming *incoming, size_t size, size_t set,
                         struct cplayout_error *error)
{
    const uint64_t told = size;
    const size_t bytes = size > sizeof(told) ? size : sizeof(told);
    unsigned char *const copy = calloc(1, bytes);
    int32_t status;

    tap_require(copy != NULL, "no memory");
    memcpy(copy, incoming->right, size < incoming->size ? size : incoming->size);
    memcpy(copy, &told, sizeof(told));
    if (set > 0) {
        copy[set] = 1;
    }
    *error = (struct cplayout_error){.size = sizeof(*error)};
    status = incoming->call(copy, error);
    free(copy);
    return status;
}

static void expect_refusal(const struct incoming *incoming, size_t size, size_t set,
                           const char *text)
{
    struct cplayout_error error;
    const int32_t status = call_with(incoming, size, set, &error);

    CHECK(status == CPLAYOUT_ERROR_ARGUMENT && error.status == status, "size %zu: status %d: %s",
          size, status, error.message);
    CHECK(strstr(error.message, incoming->argument) != NULL && strstr(error.message, text) != NULL,
          "size %zu: '%s'", size, error.message);
}

static void test_incoming(const struct incoming *incoming)
{
    struct cplayout_error error;

    tap_test("%s, in, of 0 to %zu bytes", incoming->name, 2 * incoming->size);
    for (size_t size = 0; size <= 2 * incoming->size; size++) {
        if (size < incoming->size) {
            expect_refusal(incoming, size, 0, "size is");
            continue;
        }
        CHECK(call_with(incoming, size, 0, &error) == CPLAYOUT_OK, "size %zu: %s", size,
              error.message);
        if (size > incoming->size) {
            expect_refusal(incoming, size, incoming->size, "not zero");
            expect_refusal(incoming, size, size - 1, "not zero");
        }
    }
}

/* ---- Out --------------------------------------------------------------------------------------- */

/* A result and the call that fills it. */
struct outgoing {
    const char *name;
    const char *argument; /* NULL: the call cannot refuse, it writes what there is room for */
    size_t size;
    int32_t (*call)(void *result, struct cplayout_error *error);
};

static int32_t tell_partition(void *result, struct cplayout_error *error)
{
    (void)error;
    host_plan()->partition_describe(fixture.partition, result);
    return CPLAYOUT_OK;
}

static int32_t tell_rank(void *result, struct cplayout_error *error)
{
    return host_plan()->rank_describe(fixture.partition, 1, result, error);
}

static int32_t tell_route(void *result, struct cplayout_error *error)
{
    (void)error;
    host_plan()->route_describe(fixture.route, result);
    return CPLAYOUT_OK;
}

static int32_t tell_schedule(void *result, struct cplayout_error *error)
{
    (void)error;
    host_core()->schedule_describe(fixture.schedule, result);
    return CPLAYOUT_OK;
}

static int32_t tell_layer(void *result, struct cplayout_error *error)
{
    return host_core()->layer_describe(fixture.schedule, 1, result, error);
}

static int32_t tell_conversion(void *result, struct cplayout_error *error)
{
    const struct cplayout_call call = {.size = sizeof(call),
                                       .batch = fixture.batch,
                                       .schedule = fixture.schedule};

    return host_core()->conversion(fixture.context, CPLAYOUT_HOOK_FINALIZE, &call, result, error);
}

static int32_t tell_view(void *result, struct cplayout_error *error)
{
    return host_views()->view_describe(fixture.batch, 0, "position_ids", result, error);
}

static int32_t tell_convert(void *result, struct cplayout_error *error)
{
    const struct cplayout_convert_call call = {.size = sizeof(call),
                                               .batch = fixture.batch,
                                               .to_layout = 1};

    return host_core()->convert_describe(fixture.context, &call, result, error);
}

static int32_t tell_metadata(void *result, struct cplayout_error *error)
{
    return host_views()->view_metadata(fixture.packed_batch, 0, result, error);
}

static const struct outgoing outgoings[] = {
    {"partition_info", NULL, sizeof(struct cplayout_partition_info), tell_partition},
    {"rank_info", "info", sizeof(struct cplayout_rank_info), tell_rank},
    {"route_info", NULL, sizeof(struct cplayout_route_info), tell_route},
    {"schedule_info", NULL, sizeof(struct cplayout_schedule_info), tell_schedule},
    {"layer_info", "info", sizeof(struct cplayout_layer_info), tell_layer},
    {"conversion", "conversion", sizeof(struct cplayout_conversion), tell_conversion},
    {"conversion of convert_describe", "conversion", sizeof(struct cplayout_conversion),
     tell_convert},
    {"view", "view", sizeof(struct cplayout_view), tell_view},
    {"view_metadata", "metadata", sizeof(struct cplayout_view_metadata), tell_metadata},
};

/* Results are written here: some point into themselves. */
static _Alignas(16) unsigned char room[LARGEST];

/* `guard` is in every byte before the call. */
static int32_t fill_guarded(const struct outgoing *outgoing, uint64_t size, unsigned char guard,
                            struct cplayout_error *error)
{
    memset(room, guard, sizeof(room));
    memcpy(room, &size, sizeof(size));
    *error = (struct cplayout_error){.size = sizeof(*error)};
    return outgoing->call(room, error);
}

static int32_t fill_room(const struct outgoing *outgoing, uint64_t size,
                         struct cplayout_error *error)
{
    return fill_guarded(outgoing, size, GUARD, error);
}

/* All members up to `reach` are there, and no byte behind it has changed. */
static void check_room(const struct outgoing *outgoing, size_t size, size_t reach,
                       const unsigned char *full)
{
    uint64_t told;

    memcpy(&told, room, sizeof(told));
    CHECK(told == size, "size %zu was changed", size);
    reach = reach < sizeof(told) ? sizeof(told) : reach;
    CHECK(memcmp(room + sizeof(told), full + sizeof(told), reach - sizeof(told)) == 0,
          "%s of %zu bytes: another content", outgoing->name, size);
    for (size_t i = reach; i < sizeof(room); i++) {
        CHECK(room[i] == GUARD, "size %zu: byte %zu was written", size, i);
    }
}

static void test_outgoing(const struct outgoing *outgoing)
{
    unsigned char full[LARGEST];
    struct cplayout_error error;

    tap_test("%s, out, of 0 to %zu bytes", outgoing->name, 2 * outgoing->size);
    tap_require(2 * outgoing->size < LARGEST, "%s is large", outgoing->name);
    CHECK(fill_room(outgoing, outgoing->size, &error) == CPLAYOUT_OK, "%s", error.message);
    memcpy(full, room, sizeof(full));
    /* A byte that follows the guard was not written; a pointer may hold a byte like either guard. */
    CHECK(fill_guarded(outgoing, outgoing->size, (unsigned char)~GUARD, &error) == CPLAYOUT_OK &&
              memcmp(full, room, outgoing->size) == 0,
          "a member was not written");
    for (size_t size = 0; size <= 2 * outgoing->size; size++) {
        const bool small = size < outgoing->size;
        const int32_t status = fill_room(outgoing, size, &error);

        if (small && outgoing->argument != NULL) {
            CHECK(status == CPLAYOUT_ERROR_ARGUMENT &&
                      strstr(error.message, outgoing->argument) != NULL &&
                      strstr(error.message, "size is") != NULL,
                  "size %zu: status %d: %s", size, status, error.message);
            check_room(outgoing, size, 0, full);
        } else {
            CHECK(status == CPLAYOUT_OK, "size %zu: %s", size, error.message);
            check_room(outgoing, size, small ? size : outgoing->size, full);
        }
    }
}

/* ---- Set-up ------------------------------------------------------------------------------------ */

static struct cplayout_context *open_context(struct cplayout_schedule **schedule)
{
    const struct host_config config = {.cp = 1,
                                       .linear = "contiguous",
                                       .attention = "zigzag",
                                       .pattern = "M*"};
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_context *context = NULL;

    tap_require(host_create(&fixture.host, &config, &context, &error) == CPLAYOUT_OK &&
                    host_schedule(context, schedule, &error) == CPLAYOUT_OK,
                "%s", error.message);
    return context;
}

static void open_fixture(void)
{
    const struct cplayout_batch_args args = {.size = sizeof(args), .sequence_length = TOKENS};
    struct cplayout_schedule *unused = NULL;
    struct cplayout_error error = {.size = sizeof(error)};

    fixture.host = host_record();
    fixture.context = open_context(&fixture.schedule);
    fixture.fresh = open_context(&unused);
    tap_require(host_core()->batch_create(fixture.context, &args, &fixture.batch, &error) ==
                        CPLAYOUT_OK &&
                    host_plan()->partition_create(&fixture.host, &partition_args,
                                                  &fixture.partition, &error) == CPLAYOUT_OK &&
                    host_plan()->route_create(&fixture.host, fixture.partition, fixture.partition,
                                              &fixture.route, &error) == CPLAYOUT_OK,
                "%s", error.message);
}

static void open_packed(void)
{
    static const int32_t offsets[] = {0, 3, TOKENS};
    const struct cplayout_lengths sample = {offsets, NULL, 3};
    const struct cplayout_batch_args args = {.size = sizeof(args),
                                             .samples = &sample,
                                             .sample_count = 1};
    const struct host_config config = {.cp = 1, .packed = true};
    struct cplayout_error error = {.size = sizeof(error)};

    tap_require(host_create(&fixture.host, &config, &fixture.packed_context, &error) ==
                        CPLAYOUT_OK &&
                    host_core()->batch_create(fixture.packed_context, &args, &fixture.packed_batch,
                                              &error) == CPLAYOUT_OK,
                "%s", error.message);
}

static void close_fixture(void)
{
    host_core()->batch_destroy(fixture.packed_batch);
    host_core()->destroy(fixture.packed_context);
    host_core()->batch_destroy(fixture.batch);
    host_core()->destroy(fixture.context);
    host_core()->destroy(fixture.fresh);
    host_plan()->route_destroy(fixture.route);
    host_plan()->partition_destroy(fixture.partition);
}

static void test_all_incoming(void)
{
    const struct cplayout_positions_args positions = {.size = sizeof(positions), .rank = 3};
    const struct cplayout_moves_args moves = {.size = sizeof(moves), .rank = 3};
    const struct cplayout_view_shift shift = {.size = sizeof(shift), .field = "position_ids"};
    const struct cplayout_create_args create = {.size = sizeof(create), .host = &fixture.host};
    const struct cplayout_schedule_args schedule = {.size = sizeof(schedule)};
    const struct cplayout_batch_args batch = {.size = sizeof(batch), .sequence_length = TOKENS};
    const struct cplayout_call call = {.size = sizeof(call),
                                       .batch = fixture.batch,
                                       .schedule = fixture.schedule};
    const struct cplayout_convert_call convert = {.size = sizeof(convert),
                                                  .batch = fixture.batch,
                                                  .to_layout = 1};
    struct wire *const wire = wire_create(1, NULL);
    const struct incoming incomings[] = {
        {"partition_args", "args", &partition_args, sizeof(partition_args), take_partition},
        {"table_args", "args", &table_args, sizeof(table_args), take_table},
        {"positions_args", "args", &positions, sizeof(positions), take_positions},
        {"moves_args", "args", &moves, sizeof(moves), take_moves},
        {"view_shift", "args", &shift, sizeof(shift), take_shift},
        {"create_args of create", "args", &create, sizeof(create), take_create},
        {"create_args of check", "args", &create, sizeof(create), take_check},
        {"schedule_args", "args", &schedule, sizeof(schedule), take_schedule},
        {"batch_args", "args", &batch, sizeof(batch), take_batch},
        {"call of conversion", "call", &call, sizeof(call), take_call},
        {"convert_call of convert_describe", "call", &convert, sizeof(convert), take_convert},
        {"communicator of create", "communicator", wire_communicator(wire, 0),
         sizeof(struct cplayout_communicator), take_communicator},
        {"host of partition_create", "host", &fixture.host, sizeof(fixture.host), host_partition},
        {"host of table_create", "host", &fixture.host, sizeof(fixture.host), host_table},
        {"host of route_create", "host", &fixture.host, sizeof(fixture.host), host_route},
        {"host of local_group_create", "host", &fixture.host, sizeof(fixture.host), host_group},
        {"host of create", "host", &fixture.host, sizeof(fixture.host), host_of_create},
        {"host of check", "host", &fixture.host, sizeof(fixture.host), host_of_check},
    };

    for (size_t i = 0; i < sizeof(incomings) / sizeof(incomings[0]); i++) {
        test_incoming(&incomings[i]);
    }
    wire_destroy(wire);
}

int main(void)
{
    tap_test("set-up");
    open_fixture();
    open_packed();
    test_all_incoming();
    for (size_t i = 0; i < sizeof(outgoings) / sizeof(outgoings[0]); i++) {
        test_outgoing(&outgoings[i]);
    }
    close_fixture();
    return tap_end();
}
