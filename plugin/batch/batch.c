/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/batch.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/hash.h"

static struct cpl_batch *take_idle(struct cpl_context *context)
{
    struct cpl_batch *batch;

    (void)pthread_mutex_lock(&context->mutex);
    batch = context->idle;
    if (batch != NULL) {
        context->idle = batch->next;
    }
    (void)pthread_mutex_unlock(&context->mutex);
    return batch;
}

static void batch_free(struct cpl_batch *batch)
{
    const struct cpl_allocator allocator = batch->arena.allocator;

    cpl_arena_fini(&batch->arena);
    cpl_release(&allocator, batch, 1, sizeof(*batch));
}

void cpl_batch_free_all(struct cpl_batch *batch)
{
    while (batch != NULL) {
        struct cpl_batch *const next = batch->next;

        batch_free(batch);
        batch = next;
    }
}

/* An empty batch, which holds its context. */
static struct cpl_batch *batch_take(struct cpl_context *context)
{
    struct cpl_batch *batch = take_idle(context);
    struct cpl_arena arena;

    if (batch == NULL) {
        batch = cpl_allocate(&context->allocator, 1, sizeof(*batch));
        if (batch == NULL) {
            return NULL;
        }
        cpl_arena_init(&batch->arena, &context->allocator);
    }
    arena = batch->arena;
    *batch = (struct cpl_batch){.context = context, .arena = arena};
    cpl_arena_reset(&batch->arena);
    cpl_context_hold(context);
    return batch;
}

void cpl_batch_destroy(struct cpl_batch *batch)
{
    struct cpl_context *context;

    if (batch == NULL) {
        return;
    }
    context = batch->context;
    (void)pthread_mutex_lock(&context->mutex);
    batch->next = context->idle;
    context->idle = batch;
    (void)pthread_mutex_unlock(&context->mutex);
    cpl_context_release(context);
}

static enum cpl_status set_fields(struct cpl_batch *batch, const struct cpl_batch_args *args,
                                  struct cpl_error *error)
{
    enum cpl_status status = CPL_OK;

    for (size_t i = 0; i < args->field_count && status == CPL_OK; i++) {
        const struct cpl_given_field *const given = &args->fields[i];

        status = cpl_field_set(&batch->fields[given->id], given->id, &given->tensor, batch->tokens,
                               error);
    }
    return status;
}

/* Every layout asks for its own multiple; the message names what suits all of them. */
static enum cpl_status check_length(const struct cpl_batch *batch, struct cpl_error *error)
{
    const struct cpl_context *const context = batch->context;
    const int64_t unit = cpl_layouts_unit(context->layouts, context->layout_count, context->cp, 1);
    char nearest[64];

    if (batch->tokens % unit == 0) {
        return CPL_OK;
    }
    cpl_nearest_lengths(nearest, batch->tokens, unit);
    return cpl_fail_field(
        error, CPL_ERROR_ARGUMENT, "sequence_length",
        "sequence length %" PRId64 " is not a multiple of %" PRId64
        ", which the layouts in use need at context_parallel_size %d; nearest: %s",
        batch->tokens, unit, context->cp, nearest);
}

static enum cpl_status build_tables(struct cpl_batch *batch, struct cpl_error *error)
{
    const struct cpl_context *const context = batch->context;
    const struct cpl_shape shape = {.tokens = batch->tokens, .cp = context->cp, .tp = 1};
    enum cpl_status status = CPL_OK;

    for (int32_t i = 0; i < context->layout_count && status == CPL_OK; i++) {
        status =
            cpl_table_build(&batch->tables[i], context->layouts[i], &shape, &batch->arena, error);
        if (status == CPL_OK) {
            status = cpl_route_from_stream(&batch->from_stream[i], &batch->tables[i],
                                           context->local.rank, &batch->arena, error);
        }
    }
    return status;
}

static enum cpl_status build_route(struct cpl_batch *batch, int32_t from, int32_t to,
                                   struct cpl_error *error)
{
    const struct cpl_table *const source = &batch->tables[from];
    const struct cpl_table *const target = &batch->tables[to];

    if (source->identity == target->identity) {
        return CPL_OK; /* nothing is ever due between them */
    }
    return cpl_route_build(&batch->routes[from][to], source, target, batch->context->local.rank,
                           &batch->arena, error);
}

static enum cpl_status build_routes(struct cpl_batch *batch, struct cpl_error *error)
{
    const int32_t count = batch->context->layout_count;
    enum cpl_status status = CPL_OK;

    for (int32_t from = 0; from < count; from++) {
        for (int32_t to = 0; to < count && status == CPL_OK; to++) {
            status = build_route(batch, from, to, error);
        }
    }
    return status;
}

/* Schedules follow from the configuration: their lengths tell how many there are. */
static uint64_t digest_plans(const struct cpl_batch *batch)
{
    uint64_t hash = cpl_hash_word(CPL_HASH_SEED, batch->serial);

    for (int32_t i = 0; i < batch->context->layout_count; i++) {
        hash = cpl_hash_word(hash, batch->tables[i].identity);
    }
    for (const struct cpl_chunk *chunk = batch->context->chunks; chunk != NULL;
         chunk = chunk->next) {
        hash = cpl_hash_word(hash, (uint64_t)chunk->schedule.layers);
    }
    return hash;
}

static uint64_t digest_lengths(const struct cpl_batch *batch)
{
    uint64_t hash = cpl_hash_word(CPL_HASH_SEED, (uint64_t)batch->tokens);

    for (enum cpl_field_id id = 0; id < CPL_FIELD_COUNT; id++) {
        hash = cpl_hash_word(hash, batch->fields[id].given);
    }
    return hash;
}

static enum cpl_status batch_build(struct cpl_batch *batch, const struct cpl_batch_args *args,
                                   struct cpl_error *error)
{
    enum cpl_status status;

    if (args->problem != NULL) {
        *error = *args->problem;
        return error->status;
    }
    if (args->tokens == 0 && batch->context->seq_length == 0) {
        return cpl_fail_field(
            error, CPL_ERROR_ARGUMENT, "sequence_length",
            "the batch gives no sequence length and the option seq_length is not set");
    }
    if (args->tokens != 0 && cpl_tokens_check(args->tokens, "sequence_length", error) != CPL_OK) {
        return error->status;
    }
    batch->tokens = args->tokens != 0 ? (int64_t)args->tokens : batch->context->seq_length;
    batch->serial = batch->context->batches + 1;
    status = check_length(batch, error);
    if (status == CPL_OK) {
        status = build_tables(batch, error);
    }
    if (status == CPL_OK) {
        status = build_routes(batch, error);
    }
    if (status == CPL_OK) {
        status = set_fields(batch, args, error);
    }
    return status;
}

/* What this rank says of its batch. A rank that has failed says only that. */
static struct cpl_digest digest_of(const struct cpl_batch *batch, enum cpl_status outcome,
                                   const struct cpl_error *error)
{
    if (batch == NULL || outcome != CPL_OK) {
        struct cpl_digest failed = {.outcome = (uint64_t)outcome};

        (void)snprintf(failed.reason, sizeof(failed.reason), "%.190s", error->message);
        return failed;
    }
    return (struct cpl_digest){
        .configuration = batch->context->configuration,
        .lengths = digest_lengths(batch),
        .plans = digest_plans(batch),
    };
}

/*
 * Takes part even when this rank has failed already, so that no peer waits for it. Ranks that fail
 * alike agree, and their contexts live on.
 */
static enum cpl_status compare(struct cpl_context *context, const struct cpl_digest *digest,
                               struct cpl_error *error)
{
    if (context->local.group == NULL) {
        return CPL_OK;
    }
    return cpl_context_note(context, cpl_local_compare(&context->local, digest, error), error);
}

enum cpl_status cpl_batch_create(struct cpl_context *context, const struct cpl_batch_args *args,
                                 struct cpl_batch **batch, struct cpl_error *error)
{
    struct cpl_batch *built;
    struct cpl_digest digest;
    struct cpl_error disagreement;
    enum cpl_status agreed;
    enum cpl_status status = cpl_context_check(context, error);

    if (status != CPL_OK) {
        return status;
    }
    built = batch_take(context);
    status = built != NULL ? batch_build(built, args, error) : cpl_fail_memory(error);
    digest = digest_of(built, status, error);
    agreed = compare(context, &digest, &disagreement);
    if (status == CPL_OK && agreed != CPL_OK) {
        *error = disagreement;
        status = agreed;
    }
    if (status != CPL_OK) {
        cpl_batch_destroy(built);
        return status;
    }
    context->batches++;
    *batch = built;
    return CPL_OK;
}

enum cpl_status cpl_batch_table(const struct cpl_batch *batch, int32_t layout,
                                const struct cpl_table **table, struct cpl_error *error)
{
    if (layout < 0 || layout >= batch->context->layout_count) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT, "%d is no layout handle of this context",
                        layout);
    }
    *table = &batch->tables[layout];
    return CPL_OK;
}
