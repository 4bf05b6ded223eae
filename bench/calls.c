/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the plugin itself costs per call, with rows so small that moving them is next to nothing: a
 * hook with nothing due; a conversion over a communicator that moves nothing; and a conversion between
 * two ranks that are threads, where most of the time is waiting for each other.
 *
 * Rounds of all cases are interleaved; the median counts.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "rounds.h"
#include "seat.h"

enum {
    RANKS_MOST = 8,
    CHUNK = 2, /* rows; a zigzag rank holds two chunks */
    ROWS = 2 * CHUNK,
    ROW_BYTES = 8,
};

/* One rank, and how to take its place. */
struct place {
    struct cplayout_host host;
    struct seat seat;
    struct cplayout_batch *batch;
    struct rows input;
    struct rows output;
    unsigned char memory[2][ROWS * ROW_BYTES];
};

static void place_open(struct place *place)
{
    const struct cplayout_batch_args args = {.size = sizeof(args),
                                             .sequence_length = (uint64_t)place->host.ranks * ROWS};

    seat_open(&place->seat, &place->host, false);
    place->batch = seat_batch(&place->seat, &args);
    rows_init(&place->input, place->memory[0], ROWS, ROW_BYTES);
    rows_init(&place->output, place->memory[1], ROWS, ROW_BYTES);
}

static void place_close(struct place *place)
{
    seat_core->batch_destroy(place->batch);
    seat_close(&place->seat);
}

/* Prepares a layer again and again. */
static void prepare(struct place *place, int32_t layer, int32_t times)
{
    const struct cplayout_call call = seat_call(&place->seat, place->batch, layer, &place->input);
    struct cplayout_tensor out = place->output.tensor;

    for (int32_t i = 0; i < times; i++) {
        seat_prepare(&place->seat, &call, &out);
    }
}

/* ---- A communicator that moves nothing ------------------------------------------------------- */

/* Of every exchange the plugin first compares what ranks believe; all believe what this one does. */
static void answer(const struct cplayout_messages *messages)
{
    const void *mine = NULL;

    for (uint64_t i = 0; i < messages->count && mine == NULL; i++) {
        if (messages->list[i].direction == CPLAYOUT_MESSAGE_SEND) {
            mine = messages->list[i].data;
        }
    }
    for (uint64_t i = 0; i < messages->count && mine != NULL; i++) {
        if (messages->list[i].direction == CPLAYOUT_MESSAGE_RECEIVE) {
            memcpy(messages->list[i].data, mine, messages->list[i].bytes);
        }
    }
}

/* `self` counts: an exchange is two starts, the comparison and the rows. */
static int32_t start(void *self, const struct cplayout_messages *messages, void **request,
                     struct cplayout_error *error)
{
    uint64_t *const starts = self;

    (void)error;
    if ((*starts)++ % 2 == 0) {
        answer(messages);
    }
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

/* ---- Cases ----------------------------------------------------------------------------------- */

struct bench {
    const char *what;
    const char *over;
    struct place *place;
    int32_t layer;
    int32_t repeats; /* in every round */
    double target;   /* nanoseconds; 0: none */
    struct rounds rounds;
};

/* Two threads, and one rank each of two and eight that nothing is moved between. */
static struct place threads[2];
static struct place alone[2];

static struct bench benches[] = {
    {.what = "nothing due",
     .over = "threads",
     .place = &threads[0],
     .layer = LAYER_SAME,
     .repeats = 200000,
     .target = 20},
    {.what = "conversion",
     .over = "nothing",
     .place = &alone[0],
     .layer = LAYER_CONVERTED,
     .repeats = 20000},
    {.what = "conversion",
     .over = "nothing",
     .place = &alone[1],
     .layer = LAYER_CONVERTED,
     .repeats = 20000},
    {.what = "conversion",
     .over = "threads",
     .place = &threads[0],
     .layer = LAYER_CONVERTED,
     .repeats = 2000},
};

enum { BENCHES = sizeof(benches) / sizeof(benches[0]) };

static void measure(struct bench *bench, int round)
{
    const double begin = rounds_now();

    prepare(bench->place, bench->layer, bench->repeats);
    bench->rounds.times[round] = (rounds_now() - begin) * 1e3 / bench->repeats;
}

/* The round that is overwritten warms up. */
static void measure_all(void)
{
    for (int round = -1; round < ROUNDS; round++) {
        for (int i = 0; i < BENCHES; i++) {
            measure(&benches[i], round < 0 ? 0 : round);
        }
    }
    for (int i = 0; i < BENCHES; i++) {
        rounds_sort(&benches[i].rounds);
    }
}

/* The second thread: takes part wherever the first converts. */
static void *follow(void *self)
{
    place_open(self);
    for (int round = -1; round < ROUNDS; round++) {
        for (int i = 0; i < BENCHES; i++) {
            if (benches[i].place == &threads[0] && benches[i].layer == LAYER_CONVERTED) {
                prepare(self, benches[i].layer, benches[i].repeats);
            }
        }
    }
    place_close(self);
    return NULL;
}

static void open_alone(struct place *place, const struct cplayout_communicator *communicator,
                       int32_t ranks)
{
    /* In the middle: of eight ranks it has four peers. */
    place->host =
        (struct cplayout_host){.rank = ranks / 2 - 1, .ranks = ranks, .communicator = communicator};
    place_open(place);
}

static void run(void)
{
    uint64_t starts[2] = {0, 0};
    struct cplayout_communicator communicators[2];
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_local_group *group;
    pthread_t follower;

    for (int i = 0; i < 2; i++) {
        communicators[i] = (struct cplayout_communicator){.size = sizeof(communicators[i]),
                                                          .self = &starts[i],
                                                          .start = start,
                                                          .wait = wait_for};
        open_alone(&alone[i], &communicators[i], i == 0 ? 2 : RANKS_MOST);
    }
    seat_need(seat_core->local_group_create(NULL, 2, &group, &error), &error);
    for (int32_t rank = 0; rank < 2; rank++) {
        threads[rank].host = (struct cplayout_host){.rank = rank, .ranks = 2, .local_group = group};
    }
    if (pthread_create(&follower, NULL, follow, &threads[1]) != 0) {
        bench_die("calls", "the system refused a thread");
    }
    place_open(&threads[0]);
    measure_all();
    (void)pthread_join(follower, NULL);
    place_close(&threads[0]);
    seat_core->local_group_destroy(group);
    place_close(&alone[0]);
    place_close(&alone[1]);
}

/* ---- Output ---------------------------------------------------------------------------------- */

static void print_table(void)
{
    printf("prepare_layer, %d rows of %d bytes per rank.\n"
           "Nanoseconds per call: median of %d interleaved rounds, least and most of them.\n\n"
           "%-12s %-8s %3s %8s %8s %8s %7s\n",
           ROWS, ROW_BYTES, ROUNDS, "what", "over", "P", "median", "least", "most", "target");
    for (int i = 0; i < BENCHES; i++) {
        const struct bench *const bench = &benches[i];
        const double median = rounds_median(&bench->rounds);

        printf("%-12s %-8s %3d %8.1f %8.1f %8.1f", bench->what, bench->over,
               bench->place->host.ranks, median, rounds_least(&bench->rounds),
               rounds_most(&bench->rounds));
        if (bench->target > 0) {
            printf(" %7.0f%s\n", bench->target, median <= bench->target ? "" : "  missed");
        } else {
            printf(" %7s\n", "-");
        }
    }
    printf("\nover nothing: a communicator that moves no bytes, called by one rank.\n");
}

static void print_json(void)
{
    printf("{\"benchmark\":\"calls\",\"rounds\":%d,\"unit\":\"nanoseconds\",\"results\":[", ROUNDS);
    for (int i = 0; i < BENCHES; i++) {
        const struct bench *const bench = &benches[i];

        printf("%s{\"what\":\"%s\",\"over\":\"%s\",\"cp\":%d,\"median\":%.2f,\"least\":%.2f,"
               "\"most\":%.2f",
               i > 0 ? "," : "", bench->what, bench->over, bench->place->host.ranks,
               rounds_median(&bench->rounds), rounds_least(&bench->rounds),
               rounds_most(&bench->rounds));
        if (bench->target > 0) {
            printf(",\"target\":%.0f", bench->target);
        }
        printf("}");
    }
    printf("]}\n");
}

int main(int argc, char **argv)
{
    const bool json = bench_wants_json(argc, argv);

    seat_load();
    run();
    (json ? print_json : print_table)();
    return 0;
}
