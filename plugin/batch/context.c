/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/context.h"

#include <string.h>

#include "base/hash.h"
#include "batch/batch.h"
#include "plan/rules.h"

static const char *copy_text(struct cpl_arena *arena, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *const copy = cpl_arena_take(arena, bytes, 1);

    return copy != NULL ? memcpy(copy, text, bytes) : NULL;
}

/*
 * Values, not their spelling: "8" and "08" agree, and so do a boundary layout that is left to its
 * default and the same one named. How long a rank waits is its own affair.
 */
static uint64_t digest_options(const struct cpl_registration *registration)
{
    uint64_t hash = CPL_HASH_SEED;

    for (enum cpl_option_id id = 0; id < CPL_OPTION_COUNT; id++) {
        const struct cpl_option_value *const value = &registration->options->values[id];

        switch (cpl_option_spec(id)->type) {
        case CPL_TYPE_INTEGER:
        case CPL_TYPE_BOOL:
            hash = cpl_hash_word(hash, (uint64_t)value->integer);
            break;
        case CPL_TYPE_CHOICE:
        case CPL_TYPE_PATTERN:
            hash = cpl_hash_text(hash, value->text);
            break;
        case CPL_TYPE_LAYOUT:
        case CPL_TYPE_NUMBER:
            break;
        }
    }
    hash = cpl_hash_text(hash, registration->linear->name);
    hash = cpl_hash_text(hash, registration->attention->name);
    return cpl_hash_text(hash, registration->boundary->name);
}

static int32_t add_layout(struct cpl_context *context, const struct cpl_layout *layout)
{
    int32_t handle = 0;

    while (handle < context->layout_count && context->layouts[handle] != layout) {
        handle++;
    }
    if (handle == context->layout_count) {
        context->layouts[context->layout_count++] = layout;
    }
    return handle;
}

static enum cpl_status configure(struct cpl_context *context,
                                 const struct cpl_registration *registration,
                                 struct cpl_error *error)
{
    const struct cpl_option_value *const values = registration->options->values;

    context->cp = (int32_t)values[CPL_OPTION_CONTEXT_PARALLEL_SIZE].integer;
    context->seq_length = values[CPL_OPTION_SEQ_LENGTH].integer;
    context->local.timeout_seconds = values[CPL_OPTION_TIMEOUT_SECONDS].number;
    context->configuration = digest_options(registration);
    context->roles.linear = add_layout(context, registration->linear);
    context->roles.attention = add_layout(context, registration->attention);
    context->roles.boundary = add_layout(context, registration->boundary);
    context->pattern = copy_text(&context->arena, values[CPL_OPTION_HYBRID_LAYER_PATTERN].text);
    return context->pattern != NULL ? CPL_OK : cpl_fail_memory(error);
}

static void context_free(struct cpl_context *context)
{
    const struct cpl_allocator allocator = context->allocator;

    cpl_batch_free_all(context->idle);
    (void)pthread_mutex_destroy(&context->mutex);
    cpl_arena_fini(&context->arena);
    cpl_release(&allocator, context, 1, sizeof(*context));
}

/* The rank's place: checked and taken before anything else, so that peers can be told of a failure. */
static enum cpl_status take_place(const struct cpl_context_args *args, struct cpl_error *error)
{
    const int32_t ranks = args->group != NULL ? cpl_group_ranks(args->group) : 1;

    if (args->ranks != 0 && args->ranks != ranks) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "ranks",
                              "the host record says %d ranks, %s has %d", args->ranks,
                              args->group != NULL ? "its group" : "a host without a group", ranks);
    }
    if (args->group == NULL && args->rank != 0) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "rank",
                              "rank %d without a group: alone it is rank 0", args->rank);
    }
    return args->group != NULL ? cpl_group_join(args->group, args->rank, error) : CPL_OK;
}

static enum cpl_status context_build(const struct cpl_context_args *args,
                                     const struct cpl_registration *registration,
                                     struct cpl_context **context, struct cpl_error *error)
{
    struct cpl_context *const built = cpl_allocate(&args->allocator, 1, sizeof(*built));
    enum cpl_status status;

    if (built == NULL) {
        return cpl_fail_memory(error);
    }
    built->allocator = args->allocator;
    built->log = args->log;
    built->holders = 1;
    cpl_arena_init(&built->arena, &built->allocator);
    if (pthread_mutex_init(&built->mutex, NULL) != 0) {
        cpl_release(&args->allocator, built, 1, sizeof(*built));
        return cpl_fail(error, CPL_ERROR_MEMORY, "the system refused a mutex");
    }
    status = configure(built, registration, error);
    if (status != CPL_OK) {
        context_free(built);
        return status;
    }
    built->local.group = args->group;
    built->local.rank = args->rank;
    *context = built;
    return CPL_OK;
}

/* What the rules allow and contexts do not have yet. */
static enum cpl_status check_supported(const struct cpl_options *options, struct cpl_error *error)
{
    const struct cpl_option_value *const values = options->values;

    if (values[CPL_OPTION_SEQUENCE_PARALLEL].integer != 0 &&
        values[CPL_OPTION_TENSOR_MODEL_PARALLEL_SIZE].integer > 1) {
        return cpl_fail_field(error, CPL_ERROR_UNSUPPORTED, "sequence_parallel",
                              "contexts of this version do not split rows over tensor-parallel "
                              "ranks; plan/1 does");
    }
    if (strcmp(values[CPL_OPTION_QKV_FORMAT].text, "thd") == 0) {
        return cpl_fail_field(error, CPL_ERROR_UNSUPPORTED, "qkv_format",
                              "contexts of this version take dense sequences only; plan/1 takes "
                              "packed ones");
    }
    return CPL_OK;
}

static enum cpl_status register_rank(const struct cpl_context_args *args,
                                     struct cpl_context **context, struct cpl_error *error)
{
    const int32_t ranks = args->group != NULL ? cpl_group_ranks(args->group) : 1;
    struct cpl_options options;
    struct cpl_registration registration;
    enum cpl_status status =
        cpl_options_parse(&options, args->settings, args->setting_count, error);

    if (status != CPL_OK) {
        return status;
    }
    registration = cpl_registration(&options, ranks);
    status = cpl_rules_apply(&registration, &args->reporter, error);
    if (status == CPL_OK) {
        status = check_supported(&options, error);
    }
    if (status == CPL_OK && args->group != NULL) {
        status = cpl_group_check(args->group, error);
    }
    return status == CPL_OK ? context_build(args, &registration, context, error) : status;
}

enum cpl_status cpl_context_create(const struct cpl_context_args *args,
                                   struct cpl_context **context, struct cpl_error *error)
{
    enum cpl_status status = take_place(args, error);

    if (status != CPL_OK) {
        return status;
    }
    status = register_rank(args, context, error);
    /* The others must not wait for a rank that will never come. */
    if (status != CPL_OK && args->group != NULL) {
        cpl_group_fail(args->group, args->rank, error->message);
        cpl_group_leave(args->group, args->rank);
    }
    return status;
}

void cpl_context_hold(struct cpl_context *context)
{
    (void)pthread_mutex_lock(&context->mutex);
    context->holders++;
    (void)pthread_mutex_unlock(&context->mutex);
}

void cpl_context_release(struct cpl_context *context)
{
    bool last;

    (void)pthread_mutex_lock(&context->mutex);
    last = --context->holders == 0;
    (void)pthread_mutex_unlock(&context->mutex);
    if (last) {
        context_free(context);
    }
}

void cpl_context_destroy(struct cpl_context *context)
{
    if (context == NULL) {
        return;
    }
    if (context->local.group != NULL) {
        cpl_group_leave(context->local.group, context->local.rank);
    }
    cpl_context_release(context);
}

static int32_t role_of(const struct cpl_context *context, const char *name)
{
    const struct {
        const char *name;
        int32_t layout;
    } roles[] = {
        {"linear", context->roles.linear},
        {"attention", context->roles.attention},
        {"boundary", context->roles.boundary},
    };

    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        if (strcmp(roles[i].name, name) == 0) {
            return roles[i].layout;
        }
    }
    return -1;
}

enum cpl_status cpl_context_layout(const struct cpl_context *context, const char *name,
                                   int32_t *layout, struct cpl_error *error)
{
    int32_t handle = role_of(context, name);

    for (int32_t i = 0; i < context->layout_count && handle < 0; i++) {
        if (strcmp(context->layouts[i]->name, name) == 0) {
            handle = i;
        }
    }
    if (handle < 0) {
        return cpl_fail_field(
            error, CPL_ERROR_ARGUMENT, "name",
            "'%.64s' is no layout in use by this context, nor 'linear', 'attention' "
            "or 'boundary'",
            name);
    }
    *layout = handle;
    return CPL_OK;
}

enum cpl_status cpl_context_schedule(struct cpl_context *context, int32_t chunk,
                                     struct cpl_chunk **schedule, struct cpl_error *error)
{
    struct cpl_chunk *built;
    enum cpl_status status;

    if (chunk != 0) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "chunk",
                              "model chunk %d: this version has one chunk, 0", chunk);
    }
    if (context->pattern[0] == '\0') {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "hybrid_layer_pattern",
                              "a schedule needs the option hybrid_layer_pattern, which is not set");
    }
    if (context->batches > 0) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT, "schedules must be made before the first batch");
    }
    built = cpl_arena_take(&context->arena, 1, sizeof(*built));
    if (built == NULL) {
        return cpl_fail_memory(error);
    }
    status = cpl_schedule_build(&built->schedule, context->pattern, &context->roles,
                                &context->arena, error);
    if (status != CPL_OK) {
        return status;
    }
    built->context = context;
    built->next = context->chunks;
    context->chunks = built;
    *schedule = built;
    return CPL_OK;
}

enum cpl_status cpl_context_check(const struct cpl_context *context, struct cpl_error *error)
{
    if (context->failure.status != CPL_OK) {
        *error = context->failure;
    }
    return context->failure.status;
}

enum cpl_status cpl_context_note(struct cpl_context *context, enum cpl_status status,
                                 const struct cpl_error *error)
{
    const bool collective =
        status == CPL_ERROR_TIMEOUT || status == CPL_ERROR_PEER || status == CPL_ERROR_MISMATCH;

    if (collective && context->failure.status == CPL_OK) {
        context->failure = *error;
    }
    return status;
}
