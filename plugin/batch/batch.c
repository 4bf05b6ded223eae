/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/batch.h"

#include <inttypes.h>

#include "base/limits.h"
#include "batch/digest.h"

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
    *batch = (struct cpl_batch){.context = context,
                                .arena = arena,
                                .layout_count = context->layout_count};
    cpl_arena_reset(&batch->arena);
    cpl_context_hold(context);
    return batch;
}

void cpl_batch_destroy(struct cpl_batch *batch)
{
    struct cpl_context *context;

    if (batch == NULL || cpl_forkmark_wiped(&batch->context->forkmark)) {
        return;
    }
    context = batch->context;
    (void)pthread_mutex_lock(&context->mutex);
    batch->next = context->idle;
    context->idle = batch;
    (void)pthread_mutex_unlock(&context->mutex);
    cpl_context_release(context);
}

/* ---- Lengths --------------------------------------------------------------------------------- */

/* The ranks, and what their rows must be a multiple of. */
static struct cpl_shape shape_of(const struct cpl_context *context)
{
    return (struct cpl_shape){.cp = context->cp, .tp = context->tp, .row_unit = context->row_unit};
}

/* Every layout asks for its own multiple; the message names what suits all of them. */
static enum cpl_status check_length(const struct cpl_context *context, int64_t tokens,
                                    struct cpl_error *error)
{
    const struct cpl_shape shape = shape_of(context);
    const int64_t unit = cpl_layouts_unit(context->layouts, context->layout_count, &shape);
    char ranks[CPL_SHAPE_BYTES];
    char nearest[64];

    if (tokens % unit == 0) {
        return CPL_OK;
    }
    cpl_nearest_lengths(nearest, tokens, unit);
    return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "sequence_length",
                          "sequence length %" PRId64 " is not a multiple of %" PRId64
                          ", which the layouts in use need with %s; nearest: %s",
                          tokens, unit, cpl_shape_title(&shape, ranks), nearest);
}

/* The length of a dense sequence: what the batch says, else the option, else the first field. */
static int64_t find_length(const struct cpl_batch *batch, const struct cpl_batch_args *args,
                           const char **source)
{
    const struct cpl_context *const context = batch->context;
    int64_t tokens = context->seq_length;
    size_t id = SIZE_MAX;

    *source = "option seq_length";
    if (args->tokens != 0) {
        *source = "sequence_length";
        return args->tokens <= (uint64_t)cpl_tokens_most ? (int64_t)args->tokens : -1;
    }
    if (tokens == 0) {
        cpl_fields_length(&context->fields, args->fields, args->field_count, &tokens, &id);
        *source = id != SIZE_MAX ? cpl_field_spec(&context->fields, id)->name : *source;
    }
    return tokens;
}

static enum cpl_status take_dense(struct cpl_batch *batch, const struct cpl_batch_args *args,
                                  const char **source, struct cpl_error *error)
{
    const int64_t tokens = find_length(batch, args, source);
    enum cpl_status status;

    if (tokens == 0) {
        return cpl_fail_field(
            error, CPL_ERROR_ARGUMENT, "sequence_length",
            "the batch has neither a sequence length nor a field that tells it, and the option "
            "seq_length is not set");
    }
    status = cpl_tokens_check(args->tokens != 0 ? args->tokens : (uint64_t)tokens,
                              "sequence_length", error);
    if (status == CPL_OK) {
        status = check_length(batch->context, tokens, error);
    }
    return status == CPL_OK ? cpl_stream_dense(&batch->stream, tokens, &batch->arena, error)
                            : status;
}

static enum cpl_status take_packed(struct cpl_batch *batch, const struct cpl_batch_args *args,
                                   struct cpl_error *error)
{
    if (args->tokens != 0) {
        return cpl_fail_field(
            error, CPL_ERROR_ARGUMENT, "sequence_length",
            "a packed batch has the length of its samples; sequence_length must be "
            "0, not %" PRIu64,
            args->tokens);
    }
    return cpl_stream_packed(&batch->stream, args->samples, args->sample_count, &batch->arena,
                             error);
}

/*
 * Dense or packed is a matter of registration: kernels and rules depend on it. `source` tells where the
 * number of rows comes from.
 */
static enum cpl_status take_lengths(struct cpl_batch *batch, const struct cpl_batch_args *args,
                                    const char **source, struct cpl_error *error)
{
    const bool packed = batch->context->packed;

    if (packed != (args->samples != NULL)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "samples", "%s",
                              packed ? "the option qkv_format is thd, but the batch has no samples"
                                     : "the batch has samples, which needs the option "
                                       "qkv_format=thd");
    }
    *source = "samples";
    return packed ? take_packed(batch, args, error) : take_dense(batch, args, source, error);
}

/* ---- Plans ----------------------------------------------------------------------------------- */

/* Shares of this rank: all rows of its context-parallel rank, and its own window of them. */
static enum cpl_status build_shares(struct cpl_batch *batch, int32_t layout,
                                    struct cpl_error *error)
{
    const struct cpl_context *const context = batch->context;
    const struct cpl_table *const table = &batch->tables[layout];
    const struct cpl_ranks whole = {context->rank - context->rank % context->tp, context->tp};
    const struct cpl_ranks window = {context->rank, 1};
    enum cpl_status status =
        cpl_share_build(&batch->whole[layout], table, whole, &batch->arena, error);

    if (context->tp == 1) {
        batch->window[layout] = batch->whole[layout];
        return status;
    }
    return status == CPL_OK
               ? cpl_share_build(&batch->window[layout], table, window, &batch->arena, error)
               : status;
}

static enum cpl_status build_layout(struct cpl_batch *batch, int32_t layout,
                                    struct cpl_error *error)
{
    const struct cpl_context *const context = batch->context;
    struct cpl_shape shape = shape_of(context);
    struct cpl_table *const table = &batch->tables[layout];
    enum cpl_status status;

    shape.tokens = batch->stream.rows;
    shape.stream = context->packed ? &batch->stream : NULL;
    status = cpl_table_build(table, context->layouts[layout], &shape, &batch->arena, error);
    if (status == CPL_OK) {
        status = build_shares(batch, layout, error);
    }
    if (status == CPL_OK && context->packed) {
        status = cpl_metadata_build(&batch->metadata[layout], table, context->layouts[layout],
                                    &batch->arena, error);
    }
    return status;
}

static enum cpl_status build_layouts(struct cpl_batch *batch, struct cpl_error *error)
{
    enum cpl_status status = CPL_OK;

    for (int32_t i = 0; i < batch->layout_count && status == CPL_OK; i++) {
        status = build_layout(batch, i, error);
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
    return cpl_route_build(&batch->routes[from][to], source, target, batch->context->rank,
                           &batch->arena, error);
}

static enum cpl_status build_routes(struct cpl_batch *batch, struct cpl_error *error)
{
    const int32_t count = batch->layout_count;
    enum cpl_status status = CPL_OK;

    for (int32_t from = 0; from < count; from++) {
        for (int32_t to = 0; to < count && status == CPL_OK; to++) {
            status = build_route(batch, from, to, error);
        }
    }
    return status;
}

/* ---- Fields ---------------------------------------------------------------------------------- */

static enum cpl_status set_fields(struct cpl_batch *batch, const struct cpl_batch_args *args,
                                  const char *rows_source, struct cpl_error *error)
{
    const struct cpl_context *const context = batch->context;
    struct cpl_field_rule rule = {
        .table = &context->fields,
        .rows = batch->stream.rows,
        .rows_source = rows_source,
        .samples = context->packed ? (int64_t)args->sample_count : 0,
        .sharded = context->cp > 1,
        .pad_token = context->pad_token,
        .pad_label = context->pad_label,
    };
    enum cpl_status status = CPL_OK;

    batch->fields =
        cpl_arena_take(&batch->arena, cpl_fields_count(&context->fields), sizeof(*batch->fields));
    if (batch->fields == NULL) {
        return cpl_fail_memory(error);
    }
    for (size_t i = 0; i < args->field_count && status == CPL_OK; i++) {
        const struct cpl_given_field *const given = &args->fields[i];

        status = cpl_field_set(&batch->fields[given->id], given, &rule, error);
    }
    return status;
}

static enum cpl_status batch_build(struct cpl_batch *batch, const struct cpl_batch_args *args,
                                   struct cpl_error *error)
{
    const char *rows_source = "";
    enum cpl_status status;

    if (args->problem != NULL) {
        *error = *args->problem;
        return error->status;
    }
    batch->serial = batch->context->batches + 1;
    status = take_lengths(batch, args, &rows_source, error);
    if (status == CPL_OK) {
        status = build_layouts(batch, error);
    }
    if (status == CPL_OK) {
        status = build_routes(batch, error);
    }
    if (status == CPL_OK) {
        status = set_fields(batch, args, rows_source, error);
    }
    return status;
}

/* ---- Agreement ------------------------------------------------------------------------------- */

/*
 * Takes part even when this rank has failed already, so that no peer waits for it. Ranks that fail
 * alike agree, and their contexts live on.
 */
static enum cpl_status agree(struct cpl_context *context, const struct cpl_batch *batch,
                             enum cpl_status outcome, struct cpl_error *error)
{
    const struct cpl_topics topics = {
        .meeting = CPL_MEETING_COMPARE,
        .deed = "create the batch",
        .kind = "the ",
        .name = cpl_batch_topic,
        .unverified = context->verify == CPL_VERIFY_NEVER ||
                      (context->verify == CPL_VERIFY_FIRST && context->batches > 0),
    };
    struct cpl_digest digest = {.rank = context->rank};

    if (batch != NULL && outcome == CPL_OK) {
        cpl_batch_digest(batch, &digest);
    }
    return cpl_context_agree(context, &topics, &digest, outcome, error);
}

enum cpl_status cpl_batch_create(struct cpl_context *context, const struct cpl_batch_args *args,
                                 struct cpl_batch **batch, struct cpl_error *error)
{
    struct cpl_batch *built;
    enum cpl_status status = cpl_context_check(context, error);

    if (status != CPL_OK) {
        return status;
    }
    built = batch_take(context);
    status = built != NULL ? batch_build(built, args, error) : cpl_fail_memory(error);
    status = agree(context, built, status, error);
    if (status != CPL_OK) {
        cpl_batch_destroy(built);
        return status;
    }
    context->batches++;
    *batch = built;
    return CPL_OK;
}
