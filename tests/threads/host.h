/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A little host for tests: it loads the plugin named by CPLAYOUT_TEST_PLUGIN, knows the contract
 * only, and seats ranks as threads around one local group.
 */
#ifndef TESTS_THREADS_HOST_H
#define TESTS_THREADS_HOST_H

#include <pthread.h>

#include <cplayout/batch.h>
#include <cplayout/core.h>
#include <cplayout/plan.h>

#include "threads/tap.h"

/* The plugin's tables; the first call loads it. Ends the program if it cannot be loaded. */
const struct cplayout_core *host_core(void);
const struct cplayout_batch_interface *host_views(void);
const struct cplayout_plan_interface *host_plan(void);

/* A host record whose log checks that lines are finished, and drops them. */
struct cplayout_host host_record(void);

/* Seconds on a clock that only goes forward. */
double host_seconds(void);

/* What a context is registered with. NULL: the option is not given. */
struct host_config {
    int32_t ranks;
    const char *linear;
    const char *attention;
    const char *boundary;
    const char *pattern;
    const char *seq_length;
    const char *timeout;
};

/*
 * Creates one rank's context. The kernels of this host take every layout: attention_accepts is any,
 * linear_chain is table.
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
    struct cplayout_local_group *group;
    pthread_barrier_t barrier;
    struct seat seats[TAP_RANKS_MOST];
    void *self; /* the test's */
};

/* Creates the group without any context. */
void world_open_empty(struct world *world, const struct host_config *config);

/* Creates the group, and for every rank its context and, if there is a pattern, its schedule. */
void world_open(struct world *world, const struct host_config *config);

/* Creates a rank's context and schedule with a configuration of its own. */
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
