/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/context.h"

#include <stdio.h>
#include <string.h>

#include "batch/batch.h"
#include "batch/registration.h"
#include "move/group.h"
#include "move/local.h"
#include "move/rank_map.h"

/* ---- Life ------------------------------------------------------------------------------------ */

static enum cpl_status take_place_alone(const struct cpl_context_args *args,
                                        struct cpl_error *error)
{
    if ((args->ranks != 0 && args->ranks != 1) || args->rank != 0) {
        return cpl_fail_field(
            error, CPL_ERROR_ARGUMENT, "rank",
            "rank %d of %d without a local group or communicator: alone it is rank 0 of 1",
            args->rank, args->ranks);
    }
    return CPL_OK;
}

static enum cpl_status take_place_in_group(struct cpl_context *context,
                                           const struct cpl_context_args *args,
                                           struct cpl_error *error)
{
    const int32_t ranks = cpl_group_ranks(args->group);

    if (args->ranks != 0 && args->ranks != ranks) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "ranks",
                              "the host record says %d ranks, its local group has %d", args->ranks,
                              ranks);
    }
    return cpl_local_create(&context->allocator, args->group, args->rank, &context->transport,
                            error);
}

static enum cpl_status take_place_by_calls(struct cpl_context *context,
                                           const struct cpl_context_args *args,
                                           struct cpl_error *error)
{
    const struct cpl_host_args host = {
        .calls = *args->calls,
        .rank = args->rank,
        .ranks = args->ranks,
        .communicator_ranks = args->communicator_ranks,
    };

    return cpl_host_create(&context->allocator, &host, &context->transport, error);
}

/* A map that is not one to one is a finding; until then there is no way to the peers. */
static enum cpl_status check_map(struct cpl_context *context, const struct cpl_context_args *args,
                                 struct cpl_error *error)
{
    enum cpl_status status = CPL_OK;

    if (args->calls != NULL && args->communicator_ranks != NULL) {
        status = cpl_rank_map_twins(&context->allocator, args->communicator_ranks, args->ranks,
                                    context->twins, error);
    }
    if (context->twins[0] != context->twins[1]) {
        context->transport->ops->leave(context->transport);
        context->transport = NULL;
    }
    return status;
}

/* The rank's way to its peers, before anything else, so that they can be told of a failure. */
static enum cpl_status take_place(struct cpl_context *context, const struct cpl_context_args *args,
                                  struct cpl_error *error)
{
    enum cpl_status status;

    if (args->rank == CPL_RANK_OUTSIDE) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "rank",
                              "this rank is outside the language model (rank %d): it holds no part "
                              "of a sequence and has no context",
                              args->rank);
    }
    if (args->group != NULL && args->calls != NULL) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "communicator",
                              "the host record has a local group and a communicator; give one");
    }
    if (args->group == NULL && args->calls == NULL) {
        context->ranks = 1;
        return take_place_alone(args, error);
    }
    status = args->group != NULL ? take_place_in_group(context, args, error)
                                 : take_place_by_calls(context, args, error);
    if (status != CPL_OK) {
        return status;
    }
    context->rank = context->transport->rank;
    context->ranks = context->transport->ranks;
    context->digests =
        cpl_allocate(&context->allocator, (size_t)context->ranks, sizeof(*context->digests));
    return context->digests != NULL ? check_map(context, args, error) : cpl_fail_memory(error);
}

static void context_free(struct cpl_context *context)
{
    const struct cpl_allocator allocator = context->allocator;

    cpl_batch_free_all(context->idle);
    cpl_release(&allocator, context->digests, (size_t)context->ranks, sizeof(*context->digests));
    (void)pthread_mutex_destroy(&context->mutex);
    cpl_forkmark_fini(&context->forkmark);
    cpl_arena_fini(&context->arena);
    cpl_release(&allocator, context, 1, sizeof(*context));
}

/* A context without options, which has its place among the ranks. */
static enum cpl_status context_open(const struct cpl_context_args *args,
                                    struct cpl_context **context, struct cpl_error *error)
{
    struct cpl_context *const opened = cpl_allocate(&args->allocator, 1, sizeof(*opened));
    enum cpl_status status;

    if (opened == NULL) {
        return cpl_fail_memory(error);
    }
    if (pthread_mutex_init(&opened->mutex, NULL) != 0) {
        cpl_release(&args->allocator, opened, 1, sizeof(*opened));
        return cpl_fail(error, CPL_ERROR_MEMORY, "the system refused a mutex");
    }
    opened->allocator = args->allocator;
    opened->log = args->log;
    opened->holders = 1;
    cpl_forkmark_init(&opened->forkmark);
    cpl_arena_init(&opened->arena, &opened->allocator);
    status = take_place(opened, args, error);
    if (status != CPL_OK) {
        cpl_context_destroy(opened);
        return status;
    }
    *context = opened;
    return CPL_OK;
}

/* A rank without memory for a place of its own cannot take part, but must not be waited for either. */
static void tell_peers(const struct cpl_context_args *args, const struct cpl_error *error)
{
    struct cpl_error told;

    (void)cpl_fail(&told, error->status, "rank %d failed: %s", args->rank, error->message);
    if (args->group != NULL) {
        cpl_group_fail(args->group, args->rank, error->message);
    } else if (args->calls != NULL && args->calls->abort != NULL) {
        args->calls->abort(args->calls->self, &told);
    }
}

enum cpl_status cpl_context_create(const struct cpl_context_args *args,
                                   struct cpl_context **context, struct cpl_error *error)
{
    struct cpl_context *opened = NULL;
    enum cpl_status status = context_open(args, &opened, error);

    if (status == CPL_ERROR_MEMORY) {
        tell_peers(args, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    status = cpl_context_register(opened, args, error);
    if (status != CPL_OK) {
        cpl_context_destroy(opened);
        return status;
    }
    *context = opened;
    return CPL_OK;
}

enum cpl_status cpl_context_agree(struct cpl_context *context, const struct cpl_topics *topics,
                                  struct cpl_digest *digest, enum cpl_status outcome,
                                  struct cpl_error *error)
{
    struct cpl_error disagreement;

    if (context->transport == NULL) {
        return outcome;
    }
    digest->rank = context->rank;
    digest->outcome = (int32_t)outcome;
    if (outcome != CPL_OK) {
        (void)snprintf(digest->reason, sizeof(digest->reason), "%.190s", error->message);
    }
    if (cpl_agree(context->transport, topics, digest, context->digests, &disagreement) == CPL_OK) {
        return outcome;
    }
    cpl_context_fail(context, &disagreement);
    if (outcome == CPL_OK) {
        *error = disagreement;
    }
    return outcome == CPL_OK ? disagreement.status : outcome;
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
    if (context == NULL || cpl_forkmark_wiped(&context->forkmark)) {
        return;
    }
    if (context->transport != NULL) {
        context->transport->ops->leave(context->transport);
        context->transport = NULL;
    }
    cpl_context_release(context);
}

/* ---- Questions ------------------------------------------------------------------------------- */

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

enum cpl_status cpl_context_use(struct cpl_context *context, const struct cpl_layout *layout,
                                int32_t *handle, struct cpl_error *error)
{
    char title[CPL_LAYOUT_BYTES];
    struct cpl_layout *copy;

    for (int32_t i = 0; i < context->layout_count; i++) {
        if (cpl_layout_equal(context->layouts[i], layout)) {
            *handle = i;
            return CPL_OK;
        }
    }
    if (context->layout_count == CPL_LAYOUTS_MOST) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "name",
                              "layout '%s' would be one too many: a context has at most %d",
                              cpl_layout_title(layout, title), CPL_LAYOUTS_MOST);
    }
    copy = cpl_arena_take(&context->arena, 1, sizeof(*copy));
    if (copy == NULL) {
        return cpl_fail_memory(error);
    }
    *copy = *layout;
    *handle = context->layout_count;
    context->layouts[context->layout_count++] = copy;
    return CPL_OK;
}

enum cpl_status cpl_context_layout(struct cpl_context *context, const char *name, int32_t *layout,
                                   struct cpl_error *error)
{
    const int32_t role = role_of(context, name);
    struct cpl_layout wanted;
    struct cpl_error problem;

    if (role >= 0) {
        *layout = role;
        return CPL_OK;
    }
    if (cpl_layout_parse(name, &wanted, &problem) == CPL_OK) {
        return cpl_context_use(context, &wanted, layout, error);
    }
    return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "name",
                          "%s; nor is it 'linear', 'attention' or 'boundary'", problem.message);
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
    if (strpbrk(context->pattern, "|/[]") != NULL) {
        return cpl_fail_field(
            error, CPL_ERROR_UNSUPPORTED, "hybrid_layer_pattern",
            "pattern '%.64s': schedules of pipeline stages, MTP parts and logical "
            "layers are not supported by this version",
            context->pattern);
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

enum cpl_status cpl_context_refuse(const struct cpl_context *context, struct cpl_error *error)
{
    if (cpl_forkmark_wiped(&context->forkmark)) {
        return cpl_forkmark_check(&context->forkmark, "context", error);
    }
    *error = context->failure;
    return error->status;
}

void cpl_context_fail(struct cpl_context *context, const struct cpl_error *error)
{
    if (context->failure.status == CPL_OK) {
        context->failure = *error;
    }
}
