/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two views, contiguous and zigzag, of one dense batch of five fields on one rank of eight: making the
 * batch, describing and filling every view, against copying this rank's rows of every field by memcpy
 * once for each view, into the same memory. The input is larger than what a rank takes of it.
 *
 * Rounds of both are interleaved; the median of the ratios counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cplayout/batch.h>

#include "rounds.h"
#include "seat.h"

enum {
    TOKENS = 131072,
    RANKS = 8,
    RANK = 3,
    ROWS = TOKENS / RANKS,
    CHUNK = ROWS / 2,
    FIELDS = 5,
    VIEWS = 2,
    REPEATS = 50, /* in every round */
};

static const double target = 1.5;

static const struct {
    const char *name;
    struct cplayout_type type;
} forms[FIELDS] = {
    {"tokens", {CPLAYOUT_TYPE_INT, 64, 1}},       {"labels", {CPLAYOUT_TYPE_INT, 64, 1}},
    {"loss_mask", {CPLAYOUT_TYPE_FLOAT, 32, 1}},  {"position_ids", {CPLAYOUT_TYPE_INT, 64, 1}},
    {"padding_mask", {CPLAYOUT_TYPE_BOOL, 8, 1}},
};

/* The whole sequence, and one rank's views. */
static struct {
    int64_t whole_shape[2];
    int64_t shape[2];
    struct cplayout_tensor whole[FIELDS];
    struct cplayout_tensor views[VIEWS][FIELDS];
    struct cplayout_field fields[FIELDS];
} memory = {.whole_shape = {1, TOKENS}, .shape = {1, ROWS}};

/* Touched, so that pages are there before the clock runs. */
static void *touched(size_t bytes, int value)
{
    void *const block = malloc(bytes);

    if (block == NULL) {
        bench_die("views", "no memory");
    }
    return memset(block, value, bytes);
}

static struct cplayout_tensor tensor_of(int field, int64_t *shape)
{
    const size_t bytes = (size_t)shape[1] * forms[field].type.bits / 8;

    return (struct cplayout_tensor){.data = touched(bytes, field + 1),
                                    .device = {CPLAYOUT_DEVICE_CPU, 0},
                                    .ndim = 2,
                                    .dtype = forms[field].type,
                                    .shape = shape};
}

static void memory_init(void)
{
    for (int field = 0; field < FIELDS; field++) {
        memory.whole[field] = tensor_of(field, memory.whole_shape);
        memory.fields[field] = (struct cplayout_field){forms[field].name, &memory.whole[field]};
        for (int view = 0; view < VIEWS; view++) {
            memory.views[view][field] = tensor_of(field, memory.shape);
        }
    }
}

/* ---- Ours ------------------------------------------------------------------------------------ */

static const struct cplayout_batch_interface *views;

static void fill(struct seat *seat, const struct cplayout_batch *batch, int view, int field)
{
    struct cplayout_view described = {.size = sizeof(described)};

    seat_need(views->view_describe(batch, view, forms[field].name, &described, &seat->error),
              &seat->error);
    seat_need(views->view_fill(batch, view, forms[field].name, &memory.views[view][field],
                               &seat->error),
              &seat->error);
}

static void see_batch(struct seat *seat)
{
    const struct cplayout_batch_args args = {.size = sizeof(args),
                                             .sequence_length = TOKENS,
                                             .fields = memory.fields,
                                             .field_count = FIELDS};
    struct cplayout_batch *const batch = seat_batch(seat, &args);

    for (int i = 0; i < VIEWS * FIELDS; i++) {
        fill(seat, batch, i / FIELDS, i % FIELDS);
    }
    seat_core->batch_destroy(batch);
}

/* ---- The reference ---------------------------------------------------------------------------- */

static void copy(int view, int field, size_t row, size_t from, size_t rows)
{
    const size_t bytes = forms[field].type.bits / 8;

    memcpy((char *)memory.views[view][field].data + row * bytes,
           (const char *)memory.whole[field].data + from * bytes, rows * bytes);
}

static void copy_rows(void)
{
    for (int field = 0; field < FIELDS; field++) {
        copy(0, field, 0, (size_t)RANK * ROWS, ROWS);
        copy(1, field, 0, (size_t)RANK * CHUNK, CHUNK);
        copy(1, field, CHUNK, (size_t)(2 * RANKS - 1 - RANK) * CHUNK, CHUNK);
    }
}

/* ---- Rounds ----------------------------------------------------------------------------------- */

static struct {
    struct rounds ours;
    struct rounds reference;
    struct rounds ratio;
} result;

static void measure(struct seat *seat, int round)
{
    const double begin = rounds_now();
    double middle;

    for (int i = 0; i < REPEATS; i++) {
        see_batch(seat);
    }
    middle = rounds_now();
    for (int i = 0; i < REPEATS; i++) {
        copy_rows();
    }
    result.ours.times[round] = (middle - begin) / REPEATS;
    result.reference.times[round] = (rounds_now() - middle) / REPEATS;
    result.ratio.times[round] = result.ours.times[round] / result.reference.times[round];
}

/* ---- A communicator that moves nothing: one rank is enough here -------------------------------- */

static int32_t start(void *self, const struct cplayout_messages *messages, void **request,
                     struct cplayout_error *error)
{
    (void)self;
    (void)messages;
    (void)error;
    *request = NULL;
    return CPLAYOUT_OK;
}

static int32_t wait_for(void *self, void *request, double timeout_seconds, int32_t *peer,
                        struct cplayout_error *error)
{
    (void)self;
    (void)request;
    (void)timeout_seconds;
    (void)peer;
    (void)error;
    return CPLAYOUT_OK;
}

static void run(void)
{
    const struct cplayout_communicator communicator = {.size = sizeof(communicator),
                                                       .start = start,
                                                       .wait = wait_for};
    const struct cplayout_host host = {.rank = RANK, .ranks = RANKS, .communicator = &communicator};
    struct seat seat;

    seat_open(&seat, &host, false);
    for (int round = -1; round < ROUNDS; round++) {
        measure(&seat, round < 0 ? 0 : round);
    }
    seat_close(&seat);
    rounds_sort(&result.ours);
    rounds_sort(&result.reference);
    rounds_sort(&result.ratio);
}

/* ---- Output ---------------------------------------------------------------------------------- */

static void print_table(void)
{
    const double ratio = rounds_median(&result.ratio);

    printf(
        "Two views of [1, %d] with %d fields, P = %d, %d rows of this rank.\n"
        "Microseconds: median of %d interleaved rounds. Batch, descriptions and copies, against the "
        "copies alone.\n\n"
        "%10s %10s %6s %6s %6s %7s\n%10.1f %10.1f %6.2f %6.2f %6.2f %7.1f%s\n",
        TOKENS, FIELDS, RANKS, ROWS, ROUNDS, "views", "copies", "ratio", "least", "most", "target",
        rounds_median(&result.ours), rounds_median(&result.reference), ratio,
        rounds_least(&result.ratio), rounds_most(&result.ratio), target,
        ratio <= target ? "" : "  missed");
}

static void print_json(void)
{
    printf("{\"benchmark\":\"views\",\"rounds\":%d,\"unit\":\"microseconds\",\"views\":%.2f,"
           "\"copies\":%.2f,\"ratio\":%.3f,\"least\":%.3f,\"most\":%.3f,\"target\":%.1f}\n",
           ROUNDS, rounds_median(&result.ours), rounds_median(&result.reference),
           rounds_median(&result.ratio), rounds_least(&result.ratio), rounds_most(&result.ratio),
           target);
}

int main(int argc, char **argv)
{
    const bool json = bench_wants_json(argc, argv);

    seat_load();
    views = seat_core->get_interface(CPLAYOUT_BATCH_INTERFACE);
    if (views == NULL) {
        bench_die(CPLAYOUT_BATCH_INTERFACE, "the plugin does not offer it");
    }
    memory_init();
    run();
    (json ? print_json : print_table)();
    return 0;
}
