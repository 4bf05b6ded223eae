/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seat: one rank of a little host that knows the contract only and loads the plugin of this build.
 */
#ifndef BENCH_SEAT_H
#define BENCH_SEAT_H

#include <stdbool.h>

#include <cplayout/core.h>
#include <cplayout/plan.h>

/* Layers of every seat: contiguous, contiguous, zigzag; contiguous around them. */
enum { LAYER_SAME = 1, LAYER_CONVERTED = 2 };

struct seat {
    struct cplayout_context *context;
    struct cplayout_schedule *schedule;
    struct cplayout_error error; /* of the latest call; cleared once, for that takes time */
};

/* The plugin's tables; seat_load first. */
extern const struct cplayout_core *seat_core;
extern const struct cplayout_plan_interface *seat_plan;

/* Each ends the program if the plugin refuses. */
void seat_load(void);
void seat_need(int32_t status, const struct cplayout_error *error);

/*
 * Takes a seat. `place` gives rank, ranks and the way to move data; `packed` says that batches are.
 * Collective.
 */
void seat_open(struct seat *seat, const struct cplayout_host *place, bool packed);
struct cplayout_batch *seat_batch(struct seat *seat, const struct cplayout_batch_args *args);
void seat_close(struct seat *seat);

/* A tensor [count, bytes]. It points to itself: do not copy it. */
struct rows {
    int64_t shape[2];
    struct cplayout_tensor tensor;
};

void rows_init(struct rows *rows, void *data, int64_t count, int64_t bytes);

/* The call that prepares a layer, forward, and making it. */
struct cplayout_call seat_call(const struct seat *seat, const struct cplayout_batch *batch,
                               int32_t layer, const struct rows *input);
void seat_prepare(struct seat *seat, const struct cplayout_call *call, struct cplayout_tensor *out);

#endif
