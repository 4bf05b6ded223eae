/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch: one micro-batch in every layout in use. It owns the partitions of its sequence and the
 * routes between them, and borrows the memory of its fields. Immutable once created, so that any
 * thread may look at it. Destroyed batches stay with their context and serve again, so that a
 * training loop stops allocating.
 */
#ifndef CPL_BATCH_BATCH_H
#define CPL_BATCH_BATCH_H

#include "batch/context.h"
#include "batch/fields.h"
#include "batch/metadata.h"
#include "batch/share.h"

struct cpl_batch {
    struct cpl_context *context;
    struct cpl_batch *next; /* while idle */
    struct cpl_arena arena; /* tables and routes */
    uint64_t serial;        /* counts the context's batches; equal on all ranks */
    struct cpl_stream stream;
    int32_t layout_count; /* of the context when the batch was made; below all are by handle */
    struct cpl_table tables[CPL_LAYOUTS_MOST];
    struct cpl_share whole[CPL_LAYOUTS_MOST];       /* the context-parallel rank's rows */
    struct cpl_share window[CPL_LAYOUTS_MOST];      /* this rank's of them */
    struct cpl_metadata metadata[CPL_LAYOUTS_MOST]; /* of a packed batch */
    struct cpl_route routes[CPL_LAYOUTS_MOST][CPL_LAYOUTS_MOST]; /* from, to; where they differ */
    struct cpl_field *fields;                                    /* by id; all that are known */
};

struct cpl_batch_args {
    uint64_t tokens; /* 0: the option seq_length, or with samples */
    const struct cpl_lengths *samples;
    size_t sample_count;
    const struct cpl_given_field *fields;
    size_t field_count;
    const struct cpl_error *problem; /* not NULL: the caller's arguments are wrong already */
};

/*
 * Collective, also where this rank fails at once.
 * Errors: ARGUMENT, UNSUPPORTED, MEMORY, MISMATCH, TIMEOUT, PEER, FORKED.
 */
enum cpl_status cpl_batch_create(struct cpl_context *context, const struct cpl_batch_args *args,
                                 struct cpl_batch **batch, struct cpl_error *error);

/* NULL is allowed. Does nothing in the child of a fork. */
void cpl_batch_destroy(struct cpl_batch *batch);

/* Frees a list of idle batches. */
void cpl_batch_free_all(struct cpl_batch *batch);

/* The partition of a layout. Errors: ARGUMENT (no such handle). */
static inline enum cpl_status cpl_batch_table(const struct cpl_batch *batch, int32_t layout,
                                              const struct cpl_table **table,
                                              struct cpl_error *error)
{
    if (layout < 0 || layout >= batch->layout_count) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "layout",
                              "%d is no layout handle of this batch, which has 0 ... %d", layout,
                              batch->layout_count - 1);
    }
    *table = &batch->tables[layout];
    return CPL_OK;
}

#endif
