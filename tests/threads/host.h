/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A little host for tests: it loads the plugin named by TEST_PLUGIN, knows the contract
 * only, and seats ranks as threads around one local group or on a wire (wire.h).
 */
#ifndef TESTS_THREADS_HOST_H
#define TESTS_THREADS_HOST_H

#include <pthread.h>

#include <cplayout/batch.h>
#include <cplayout/core.h>
#include <cplayout/plan.h>

#include "threads/tap.h"
#include "threads/wire.h"

/* The plugin's tables; the first call loads it. Ends the program if it cannot be loaded. */
const struct cplayout_core *host_core(void);
const struct cplayout_batch_interface *host_views(void);
const struct cplayout_plan_interface *host_plan(void);

/*
 * From now on this thread uses another copy of the plugin; NULL: the usual one. Threads of a world do
 * so by its configuration.
 */
void host_use(const struct cplayout_core *core);

/* A host record whose log checks that lines are finished, and drops them. */
struct cplayout_host host_record(void);

/* Seconds on a clock that only goes forward. */
double host_seconds(void);

struct counter;

/* How ranks move data. */
enum transport { LOCAL, COMMUNICATOR };

extern const char *const transport_names[]; /* for the names of tests */

/* What a context is registered with. Zero or NULL: the option is not given. */
struct host_config {
    int32_t cp; /* P */
    int32_t tp; /* T: rows are split over so many tensor-parallel ranks; 0 or 1: they are not */
    bool packed;
    const char *linear;
    const char *attention;
    const char *boundary;
    const char *pattern;
    const char *seq_length;
    const char *timeout;
    const char *pad_token;
    const char *pad_label;
    enum transport transport;
    struct wire_traits traits;        /* of the wire, if there is one */
    struct counter *counter;          /* the allocator of all ranks; NULL: the plugin's own */
    const struct cplayout_core *core; /* another copy of the plugin; NULL: the usual one */
};

/* P * T. */
int32_t host_ranks(const struct host_config *config);

/*
 * Creates one rank's context, together with the other ranks. The kernels of this host take every
 * layout: attention_accepts is any, linear_chain is table.
 */
int32_t host_create(const struct cplayout_host *record, const struct host_config *config,
                    struct cplayout_context **context, struct cplayout_error *error);

/* Makes the schedule of chunk 0. */
int32_t host_schedule(struct cplayout_context *context, struct cplayout_schedule **schedule,
                      struct cplayout_error *error);

/* One rank. */
struct seat {
    int32_t rank;
    struct cplayout_context *context;
    struct cplayout_schedule *schedule; /* NULL without a pattern */
    struct cplayout_batch *batch;       /* the test's; destroyed with the seat */
    int32_t status;                     /* the test's: of the call that is looked at */
    struct cplayout_error error;        /* and its record */
};

/* A group of ranks. */
struct world {
    struct host_config config;
    int32_t ranks;
    struct cplayout_local_group *group; /* one of the two */
    struct wire *wire;
    pthread_barrier_t barrier;
    struct seat seats[TAP_RANKS_MOST];
    void *self; /* the test's */
};

/* Creates the group without any context. */
void world_open_empty(struct world *world, const struct host_config *config);

/* Creates the group, and for every rank its context and, if there is a pattern, its schedule. */
void world_open(struct world *world, const struct host_config *config);

/* A host record with a rank's place in the group. */
struct cplayout_host world_record(const struct world *world, int32_t rank);

/*
 * Creates a rank's context and schedule with a configuration of its own, while the other ranks do so
 * too. Status and error record go to the seat.
 */
int32_t world_register(struct world *world, int32_t rank, const struct host_config *config);

/* The same, and ends the program if it fails. */
void world_seat(struct world *world, int32_t rank, const struct host_config *config);

/* Runs `body` on every rank at once. */
void world_run(struct world *world, void (*body)(struct world *world, struct seat *seat));

/* Waits until all ranks are here. */
void world_meet(struct world *world);

/* Leaves the group: batch and context of one rank. */
void world_leave(struct seat *seat);

/* Destroys what is left. */
void world_close(struct world *world);

/* A batch of `tokens` without fields. */
int32_t seat_batch(struct seat *seat, uint64_t tokens, struct cplayout_batch **batch);

/* The handle of a layout or role; -1 and a failed check if there is none. */
int32_t seat_layout(const struct seat *seat, const char *name);

/* Converts between two layouts given by handles; status and error record go to the seat. */
int32_t seat_convert(struct seat *seat, const struct cplayout_convert_call *call,
                     struct cplayout_tensor *out);

/* Calls a hook, in and out as in core.h; status and error record go to the seat. */
enum hook { PREPARE, FINALIZE };

struct hook_step {
    enum hook hook;
    int32_t layer;
    int32_t direction;
};

int32_t seat_hook(struct seat *seat, const struct hook_step *step,
                  const struct cplayout_batch *batch, const struct cplayout_tensor *input,
                  int32_t row_axis, struct cplayout_tensor *out);

/* A call as seat_hook makes it, for tests that change a part of it. */
struct cplayout_call seat_call(const struct seat *seat, const struct hook_step *step,
                               const struct cplayout_batch *batch,
                               const struct cplayout_tensor *input, int32_t row_axis);

#endif
