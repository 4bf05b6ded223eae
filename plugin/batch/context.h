/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A context: one rank's registered configuration, its place in the group, its layouts and schedules,
 * and the batches it has made. Counted: the host holds it until destroy, every batch until its own.
 *
 * One call at a time per context, except for what the mutex guards: the counter and the idle batches.
 * In the child of a fork nothing of it is touched.
 */
#ifndef CPL_BATCH_CONTEXT_H
#define CPL_BATCH_CONTEXT_H

#include <pthread.h>

#include "base/arena.h"
#include "base/forkmark.h"
#include "base/log.h"
#include "base/options.h"
#include "base/report.h"
#include "batch/declared.h"
#include "move/agree.h"
#include "move/host.h"
#include "plan/layout.h"
#include "plan/schedule.h"

struct cpl_batch;

/* Layouts in use: linear, attention, boundary, and those that the host asks for; equal ones share a
 * handle. */
enum { CPL_LAYOUTS_MOST = 8 };

/* For which batches ranks compare their plans. */
enum cpl_verify { CPL_VERIFY_ALWAYS, CPL_VERIFY_FIRST, CPL_VERIFY_NEVER };

/* The schedule of one model chunk, in its context; lives as long. */
struct cpl_chunk {
    const struct cpl_context *context;
    struct cpl_schedule schedule;
    struct cpl_chunk *next;
};

struct cpl_context {
    struct cpl_allocator allocator;
    struct cpl_log log;
    struct cpl_forkmark forkmark;
    struct cpl_arena arena; /* texts and schedules */
    int32_t cp;             /* P */
    int32_t tp;             /* T */
    int32_t rank;           /* logical */
    bool packed;
    int64_t row_unit;       /* rows of a context-parallel rank are a multiple of it */
    int64_t seq_length;     /* 0: unknown */
    int64_t pad_token;      /* what padding holds in tokens */
    int64_t pad_label;      /* and in labels */
    const char *pattern;    /* "": unknown */
    uint64_t configuration; /* digest of the options; equal on all ranks */
    enum cpl_verify verify;

    struct cpl_field_table fields;
    const struct cpl_layout *layouts[CPL_LAYOUTS_MOST]; /* by handle */
    int32_t layout_count;
    struct cpl_schedule_layouts roles; /* handles */
    struct cpl_chunk *chunks;

    struct cpl_transport *transport; /* NULL: this rank is alone, or has left */
    struct cpl_digest *digests;      /* [ranks], for comparisons; NULL if alone */
    int32_t ranks;
    int32_t twins[2];         /* logical ranks that are one communicator rank; equal: none are */
    uint64_t batches;         /* made so far */
    struct cpl_error failure; /* of a collective; status OK: healthy */

    pthread_mutex_t mutex;
    int32_t holders;        /* guarded */
    struct cpl_batch *idle; /* guarded: destroyed batches, to be used again */
};

/* In place of a rank: one that holds no part of a sequence. */
enum { CPL_RANK_OUTSIDE = -1 };

struct cpl_context_args {
    struct cpl_allocator allocator;
    struct cpl_log log;
    const struct cpl_setting *settings; /* of the host */
    size_t setting_count;
    struct cpl_reporter reporter;
    struct cpl_group *group; /* one of the two, or neither */
    const struct cpl_host_calls *calls;
    const int32_t *communicator_ranks; /* NULL: as the logical ones */
    int32_t rank;
    int32_t ranks; /* as the host says; 0: unknown */
    struct cpl_declarations fields;
};

/* Collective. */
enum cpl_status cpl_context_create(const struct cpl_context_args *args,
                                   struct cpl_context **context, struct cpl_error *error);

/* Leaves the group at once; memory goes with the last batch. NULL is allowed. */
void cpl_context_destroy(struct cpl_context *context);

/* A batch takes and drops its hold of the context. */
void cpl_context_hold(struct cpl_context *context);
void cpl_context_release(struct cpl_context *context);

/*
 * Handle of a layout by its name or role; a layout that is new comes into use with the next batch.
 * Errors: ARGUMENT (no layout, too many), MEMORY.
 */
enum cpl_status cpl_context_layout(struct cpl_context *context, const char *name, int32_t *layout,
                                   struct cpl_error *error);

/* The same for a layout that has been read. Errors: ARGUMENT (too many), MEMORY. */
enum cpl_status cpl_context_use(struct cpl_context *context, const struct cpl_layout *layout,
                                int32_t *handle, struct cpl_error *error);

/* Makes the schedule of a chunk. Errors: ARGUMENT, MEMORY. */
enum cpl_status cpl_context_schedule(struct cpl_context *context, int32_t chunk,
                                     struct cpl_chunk **schedule, struct cpl_error *error);

/* Why a context that is not usable is not. */
enum cpl_status cpl_context_refuse(const struct cpl_context *context, struct cpl_error *error);

/* OK, or the failure that ended the context, or FORKED. */
static inline enum cpl_status cpl_context_check(const struct cpl_context *context,
                                                struct cpl_error *error)
{
    return context->failure.status == CPL_OK && !cpl_forkmark_wiped(&context->forkmark)
               ? CPL_OK
               : cpl_context_refuse(context, error);
}

/*
 * Compares a digest with those of the peers; `outcome` is the status with which this rank comes, and
 * `error` says why if it is not OK. Returns the outcome, or how the comparison failed, which ends the
 * context. Collective.
 */
enum cpl_status cpl_context_agree(struct cpl_context *context, const struct cpl_topics *topics,
                                  struct cpl_digest *digest, enum cpl_status outcome,
                                  struct cpl_error *error);

/* Notes a failed collective, which ends the context; the first one stays. */
void cpl_context_fail(struct cpl_context *context, const struct cpl_error *error);

#endif
