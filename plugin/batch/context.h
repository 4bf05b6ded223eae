/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A context: one rank's registered configuration, its place in the group, its layouts and schedules,
 * and the batches it has made. Counted: the host holds it until destroy, every batch until its own.
 *
 * One call at a time per context, except for what the mutex guards: the counter and the idle batches.
 */
#ifndef CPL_BATCH_CONTEXT_H
#define CPL_BATCH_CONTEXT_H

#include <pthread.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/options.h"
#include "base/report.h"
#include "move/local.h"
#include "plan/layout.h"
#include "plan/schedule.h"

struct cpl_batch;

/* Layouts in use: linear, attention, boundary; equal ones share a handle. */
enum { CPL_LAYOUTS_MOST = 3 };

/* The schedule of one model chunk, in its context; lives as long. */
struct cpl_chunk {
    const struct cpl_context *context;
    struct cpl_schedule schedule;
    struct cpl_chunk *next;
};

struct cpl_context {
    struct cpl_allocator allocator;
    struct cpl_log log;
    struct cpl_arena arena; /* texts and schedules */
    int32_t cp;             /* P */
    int64_t seq_length;     /* 0: unknown */
    const char *pattern;    /* "": unknown */
    uint64_t configuration; /* digest of the options; equal on all ranks */

    const struct cpl_layout *layouts[CPL_LAYOUTS_MOST]; /* by handle */
    int32_t layout_count;
    struct cpl_schedule_layouts roles; /* handles */
    struct cpl_chunk *chunks;

    struct cpl_local local;   /* group NULL: this rank is alone */
    uint64_t batches;         /* made so far */
    struct cpl_error failure; /* of a collective; status OK: healthy */

    pthread_mutex_t mutex;
    int32_t holders;        /* guarded */
    struct cpl_batch *idle; /* guarded: destroyed batches, to be used again */
};

struct cpl_context_args {
    struct cpl_allocator allocator;
    struct cpl_log log;
    const struct cpl_setting *settings;
    size_t setting_count;
    struct cpl_reporter reporter;
    struct cpl_group *group; /* NULL: none */
    int32_t rank;
    int32_t ranks; /* as the host says; 0: unknown */
};

enum cpl_status cpl_context_create(const struct cpl_context_args *args,
                                   struct cpl_context **context, struct cpl_error *error);

/* Leaves the group at once; memory goes with the last batch. NULL is allowed. */
void cpl_context_destroy(struct cpl_context *context);

/* A batch takes and drops its hold of the context. */
void cpl_context_hold(struct cpl_context *context);
void cpl_context_release(struct cpl_context *context);

/* Handle of a layout in use by its name or role. Errors: ARGUMENT. */
enum cpl_status cpl_context_layout(const struct cpl_context *context, const char *name,
                                   int32_t *layout, struct cpl_error *error);

/* Makes the schedule of a chunk. Errors: ARGUMENT, MEMORY. */
enum cpl_status cpl_context_schedule(struct cpl_context *context, int32_t chunk,
                                     struct cpl_chunk **schedule, struct cpl_error *error);

/* OK, or the failure that ended the context. */
enum cpl_status cpl_context_check(const struct cpl_context *context, struct cpl_error *error);

/* Notes a failed collective; the first one ends the context. Returns `status`. */
enum cpl_status cpl_context_note(struct cpl_context *context, enum cpl_status status,
                                 const struct cpl_error *error);

#endif
