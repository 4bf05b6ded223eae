/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots of the core table: contexts, layouts, schedules.
 */
#include <stddef.h>

#include "entry/communicator.h"
#include "entry/core.h"
#include "plan/rules.h"

/* ---- Context ---------------------------------------------------------------------------------- */

/* Hands findings to the host and to the log. */
struct diagnosis {
    const struct cplayout_create_args *args;
    const struct cpl_log *log;
};

static void deliver(void *self, const struct cpl_finding *finding)
{
    const struct diagnosis *const diagnosis = self;
    const struct cplayout_diagnostic diagnostic = {
        .size = sizeof(diagnostic),
        .severity = (int32_t)finding->severity,
        .code = finding->code,
        .option = finding->option,
        .message = finding->message,
        .hint = finding->hint,
        .value = finding->value,
        .origin = finding->origin,
        .part_offset = finding->part.offset,
        .part_length = finding->part.length,
    };

    cpl_log_write(diagnosis->log, finding->severity == CPL_ERROR ? CPL_LOG_ERROR : CPL_LOG_WARNING,
                  "%s: %s (%s)", finding->code, finding->message, finding->hint);
    if (diagnosis->args->diagnose != NULL) {
        diagnosis->args->diagnose(diagnosis->args->diagnose_self, &diagnostic);
    }
}

/* An option is a pair of strings on both sides of the boundary. */
_Static_assert(sizeof(struct cpl_setting) == sizeof(struct cplayout_option), "option");
_Static_assert(offsetof(struct cpl_setting, value) == offsetof(struct cplayout_option, value),
               "option");

/* So is a declared field a struct. */
_Static_assert(sizeof(struct cpl_declaration) == sizeof(struct cplayout_field_declaration),
               "field");
_Static_assert(offsetof(struct cpl_declaration, flags) ==
                   offsetof(struct cplayout_field_declaration, flags),
               "field");
_Static_assert((int)CPL_DECLARED_SCATTER == CPLAYOUT_FIELD_SCATTER, "flags");

static enum cpl_status check_settings(const struct cplayout_create_args *args,
                                      struct cpl_error *error)
{
    const enum cpl_status status =
        args->option_count > 0 ? cpl_require(args->options, "options", error) : CPL_OK;

    return status == CPL_OK && args->field_count > 0 ? cpl_require(args->fields, "fields", error)
                                                     : status;
}

_Static_assert((int)CPL_RANK_OUTSIDE == CPLAYOUT_RANK_OUTSIDE, "rank");

static enum cpl_status create_context(const struct cplayout_create_args *args,
                                      const struct cpl_caller *host, struct cpl_context **context,
                                      struct cpl_error *error)
{
    struct diagnosis diagnosis = {args, &host->log};
    struct cpl_host_calls calls;
    struct cpl_context_args inner = {
        .allocator = host->allocator,
        .log = host->log,
        .settings = (const struct cpl_setting *)args->options,
        .setting_count = (size_t)args->option_count,
        .reporter = {deliver, &diagnosis},
        .group = host->group,
        .communicator_ranks = host->communicator_ranks,
        .rank = host->rank,
        .ranks = host->ranks,
        .fields = {(const struct cpl_declaration *)args->fields, (size_t)args->field_count},
    };
    enum cpl_status status = check_settings(args, error);

    if (status == CPL_OK && host->communicator != NULL) {
        status = cpl_communicator_in(host->communicator, &calls, error);
        inner.calls = &calls;
    }
    return status == CPL_OK ? cpl_context_create(&inner, context, error) : status;
}

/* Everything that create does without a rank. */
static enum cpl_status check_options(const struct cplayout_create_args *args,
                                     const struct cpl_caller *caller, struct cpl_error *error)
{
    static const struct cpl_group_facts unknown = {.ranks = 0};
    struct diagnosis diagnosis = {args, &caller->log};
    const struct cpl_reporter reporter = {deliver, &diagnosis};
    const struct cpl_host_settings host = {caller->allocator,
                                           (const struct cpl_setting *)args->options,
                                           (size_t)args->option_count};
    struct cpl_options options;
    struct cpl_registration registration;
    enum cpl_status status = check_settings(args, error);

    if (status == CPL_OK) {
        status = cpl_options_init(&options, &host, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    cpl_registration_init(&registration, &options, &unknown);
    status = cpl_rules_apply(&registration, &reporter, error);
    cpl_options_fini(&options);
    return status;
}

int32_t cpl_core_check(const struct cplayout_create_args *args, struct cplayout_error *error)
{
    struct cplayout_create_args copy;
    const struct cpl_incoming incoming = {"args", &copy, sizeof(copy)};
    struct cpl_caller host = {.log = cpl_log_default()};
    struct cpl_error problem;
    enum cpl_status status = cpl_copy_in(&incoming, args, &problem);

    if (status == CPL_OK) {
        status = cpl_caller_in(copy.host, &host, &problem);
    }
    if (status == CPL_OK) {
        status = check_options(&copy, &host, &problem);
    }
    return cpl_leave(status, &problem, status == CPL_ERROR_CONFIGURATION ? NULL : &host.log, error);
}

int32_t cpl_core_create(const struct cplayout_create_args *args, struct cplayout_context **context,
                        struct cplayout_error *error)
{
    struct cplayout_create_args copy;
    const struct cpl_incoming incoming = {"args", &copy, sizeof(copy)};
    struct cpl_caller host = {.log = cpl_log_default()};
    struct cpl_context *created = NULL;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(context, "context", &problem);

    if (status == CPL_OK) {
        status = cpl_copy_in(&incoming, args, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_caller_in(copy.host, &host, &problem);
    }
    if (status == CPL_OK) {
        status = create_context(&copy, &host, &created, &problem);
    }
    if (status == CPL_OK) {
        *context = (struct cplayout_context *)created;
    }
    /* Findings have been logged one by one. */
    return cpl_leave(status, &problem, status == CPL_ERROR_CONFIGURATION ? NULL : &host.log, error);
}

void cpl_core_destroy(struct cplayout_context *context)
{
    cpl_context_destroy(context_of(context));
}

/* A context of this process; a failed one still answers. */
static enum cpl_status require_context(const struct cplayout_context *context,
                                       struct cpl_error *error)
{
    const enum cpl_status status = cpl_require(context, "context", error);

    return status == CPL_OK ? cpl_forkmark_check(&((const struct cpl_context *)context)->forkmark,
                                                 "context", error)
                            : status;
}

int32_t cpl_core_layout(struct cplayout_context *context, const char *name, int32_t *layout,
                        struct cplayout_error *error)
{
    struct cpl_error problem;
    enum cpl_status status = require_context(context, &problem);

    if (status == CPL_OK) {
        status = cpl_require(name, "name", &problem);
    }
    if (status == CPL_OK) {
        status = cpl_require(layout, "layout", &problem);
    }
    if (status == CPL_OK) {
        status = cpl_context_layout(context_of(context), name, layout, &problem);
    }
    return cpl_leave(status, &problem, log_of(context), error);
}

/* ---- Schedule --------------------------------------------------------------------------------- */

int32_t cpl_core_schedule(struct cplayout_context *context,
                          const struct cplayout_schedule_args *args,
                          struct cplayout_schedule **schedule, struct cplayout_error *error)
{
    struct cplayout_schedule_args copy;
    const struct cpl_incoming incoming = {"args", &copy, sizeof(copy)};
    struct cpl_chunk *chunk = NULL;
    struct cpl_error problem;
    enum cpl_status status = require_context(context, &problem);

    if (status == CPL_OK) {
        status = cpl_require(schedule, "schedule", &problem);
    }
    if (status == CPL_OK) {
        status = cpl_copy_in(&incoming, args, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_check_reserved(copy.reserved, "args.reserved", &problem);
    }
    if (status == CPL_OK) {
        status = cpl_context_schedule(context_of(context), copy.chunk, &chunk, &problem);
    }
    if (status == CPL_OK) {
        *schedule = (struct cplayout_schedule *)chunk;
    }
    return cpl_leave(status, &problem, log_of(context), error);
}

void cpl_core_schedule_describe(const struct cplayout_schedule *schedule,
                                struct cplayout_schedule_info *info)
{
    const struct cpl_schedule *const inner = &chunk_of(schedule)->schedule;
    const struct cplayout_schedule_info filled = {
        .layers = inner->layers,
        .input_layout = inner->input,
        .output_layout = inner->output,
    };

    cpl_copy_out(info, &filled, sizeof(filled));
}

int32_t cpl_core_layer_describe(const struct cplayout_schedule *schedule, int32_t layer,
                                struct cplayout_layer_info *info, struct cplayout_error *error)
{
    struct cplayout_layer_info filled = {0};
    const struct cpl_schedule *inner;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(schedule, "schedule", &problem);

    if (status == CPL_OK) {
        status = cpl_check_out(info, sizeof(*info), "info", &problem);
    }
    if (status != CPL_OK) {
        return cpl_leave(status, &problem, NULL, error);
    }
    inner = &chunk_of(schedule)->schedule;
    if (layer < 0 || layer >= inner->layers) {
        status = cpl_fail_field(&problem, CPL_ERROR_ARGUMENT, "layer",
                                "layer %d is not one of the schedule's %d", layer, inner->layers);
        return cpl_leave(status, &problem, &chunk_of(schedule)->context->log, error);
    }
    filled.layout = inner->layout[layer];
    filled.symbol = inner->symbols[layer];
    cpl_copy_out(info, &filled, sizeof(filled));
    return CPLAYOUT_OK;
}
