/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core table: ABI structs in, calls into the rooms below out.
 */
#include <stddef.h>
#include <string.h>

#include "batch/batch.h"
#include "batch/hooks.h"
#include "entry/entry.h"
#include "move/group.h"

_Static_assert((int)CPL_WARNING == (int)CPLAYOUT_SEVERITY_WARNING, "severity");
_Static_assert((int)CPL_ERROR == (int)CPLAYOUT_SEVERITY_ERROR, "severity");

/* Handles of the ABI are our objects under a public name. */
static struct cpl_context *context_of(struct cplayout_context *context)
{
    return (struct cpl_context *)context;
}

static const struct cpl_chunk *chunk_of(const struct cplayout_schedule *schedule)
{
    return (const struct cpl_chunk *)schedule;
}

/* ---- Local group ------------------------------------------------------------------------------ */

static int32_t core_local_group_create(const struct cplayout_host *record, int32_t ranks,
                                       struct cplayout_local_group **group,
                                       struct cplayout_error *error)
{
    struct cpl_error problem;
    struct cpl_host host = {.log = cpl_log_default()};
    struct cpl_group *created = NULL;
    enum cpl_status status = cpl_require(group, "group", &problem);

    if (status == CPL_OK) {
        status = cpl_host_in(record, &host, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_group_create(&host.allocator, ranks, &created, &problem);
    }
    if (status == CPL_OK) {
        *group = (struct cplayout_local_group *)created;
    }
    return cpl_leave(status, &problem, &host.log, error);
}

static void core_local_group_destroy(struct cplayout_local_group *group)
{
    cpl_group_release((struct cpl_group *)group);
}

/* ---- Without a context ------------------------------------------------------------------------ */

static void core_options(cplayout_option_fn visit, void *self)
{
    char layouts[128];

    cpl_layout_names(layouts, sizeof(layouts));
    for (enum cpl_option_id id = 0; id < CPL_OPTION_COUNT && visit != NULL; id++) {
        const struct cpl_option_spec *const spec = cpl_option_spec(id);
        const struct cplayout_option_info info = {
            .size = sizeof(info),
            .name = spec->name,
            .type = cpl_option_type_name(spec->type),
            .default_value = spec->default_value,
            .values = spec->values != NULL ? spec->values : layouts,
            .help = spec->help,
        };

        visit(self, &info);
    }
}

static const void *core_get_interface(const char *name)
{
    static const struct {
        const char *name;
        const void *table;
    } interfaces[] = {
        {CPLAYOUT_PLAN_INTERFACE, &cpl_plan_table},
        {CPLAYOUT_BATCH_INTERFACE, &cpl_batch_table_v1},
    };

    for (size_t i = 0; i < sizeof(interfaces) / sizeof(interfaces[0]); i++) {
        if (name != NULL && strcmp(interfaces[i].name, name) == 0) {
            return interfaces[i].table;
        }
    }
    return NULL;
}

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
    };

    cpl_log_write(diagnosis->log, finding->severity == CPL_ERROR ? CPL_LOG_ERROR : CPL_LOG_WARNING,
                  "%s: %s (%s)", finding->code, finding->message, finding->hint);
    if (diagnosis->args->diagnose != NULL) {
        diagnosis->args->diagnose(diagnosis->args->diagnose_self, &diagnostic);
    }
}

static enum cpl_status check_settings(const struct cplayout_create_args *args,
                                      struct cpl_error *error)
{
    if (args->option_count > 0 && args->options == NULL) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT, "options must not be NULL");
    }
    for (uint64_t i = 0; i < args->option_count; i++) {
        if (args->options[i].name == NULL || args->options[i].value == NULL) {
            return cpl_fail(error, CPL_ERROR_ARGUMENT, "options[%llu] has a NULL name or value",
                            (unsigned long long)i);
        }
    }
    return CPL_OK;
}

/* An option is a pair of strings on both sides of the boundary. */
_Static_assert(sizeof(struct cpl_setting) == sizeof(struct cplayout_option), "option");
_Static_assert(offsetof(struct cpl_setting, value) == offsetof(struct cplayout_option, value),
               "option");

static enum cpl_status create_context(const struct cplayout_create_args *args,
                                      const struct cpl_host *host, struct cpl_context **context,
                                      struct cpl_error *error)
{
    struct diagnosis diagnosis = {args, &host->log};
    const struct cpl_context_args inner = {
        .allocator = host->allocator,
        .log = host->log,
        .settings = (const struct cpl_setting *)args->options,
        .setting_count = (size_t)args->option_count,
        .reporter = {deliver, &diagnosis},
        .group = host->group,
        .rank = host->rank,
        .ranks = host->ranks,
    };
    const enum cpl_status status = check_settings(args, error);

    return status == CPL_OK ? cpl_context_create(&inner, context, error) : status;
}

static int32_t core_create(const struct cplayout_create_args *args,
                           struct cplayout_context **context, struct cplayout_error *error)
{
    struct cplayout_create_args copy;
    const struct cpl_incoming incoming = {"args", &copy, sizeof(copy), sizeof(copy)};
    struct cpl_host host = {.log = cpl_log_default()};
    struct cpl_context *created = NULL;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(context, "context", &problem);

    if (status == CPL_OK) {
        status = cpl_copy_in(&incoming, args, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_host_in(copy.host, &host, &problem);
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

static void core_destroy(struct cplayout_context *context)
{
    cpl_context_destroy(context_of(context));
}

static int32_t core_layout(struct cplayout_context *context, const char *name, int32_t *layout,
                           struct cplayout_error *error)
{
    struct cpl_error problem;
    enum cpl_status status = cpl_require(context, "context", &problem);

    if (status != CPL_OK) {
        return cpl_leave(status, &problem, NULL, error);
    }
    status = cpl_require(name, "name", &problem);
    if (status == CPL_OK) {
        status = cpl_require(layout, "layout", &problem);
    }
    if (status == CPL_OK) {
        status = cpl_context_layout(context_of(context), name, layout, &problem);
    }
    return cpl_leave(status, &problem, &context_of(context)->log, error);
}

/* ---- Schedule --------------------------------------------------------------------------------- */

static int32_t core_schedule(struct cplayout_context *context,
                             const struct cplayout_schedule_args *args,
                             struct cplayout_schedule **schedule, struct cplayout_error *error)
{
    struct cplayout_schedule_args copy;
    const struct cpl_incoming incoming = {"args", &copy, sizeof(copy), sizeof(copy)};
    struct cpl_chunk *chunk = NULL;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(context, "context", &problem);

    if (status != CPL_OK) {
        return cpl_leave(status, &problem, NULL, error);
    }
    status = cpl_require(schedule, "schedule", &problem);
    if (status == CPL_OK) {
        status = cpl_copy_in(&incoming, args, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_context_schedule(context_of(context), copy.chunk, &chunk, &problem);
    }
    if (status == CPL_OK) {
        *schedule = (struct cplayout_schedule *)chunk;
    }
    return cpl_leave(status, &problem, &context_of(context)->log, error);
}

static void core_schedule_describe(const struct cplayout_schedule *schedule,
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

static int32_t core_layer_describe(const struct cplayout_schedule *schedule, int32_t layer,
                                   struct cplayout_layer_info *info, struct cplayout_error *error)
{
    struct cplayout_layer_info filled = {0};
    const struct cpl_schedule *inner;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(schedule, "schedule", &problem);

    if (status == CPL_OK) {
        status = cpl_require(info, "info", &problem);
    }
    if (status != CPL_OK) {
        return cpl_leave(status, &problem, NULL, error);
    }
    inner = &chunk_of(schedule)->schedule;
    if (layer < 0 || layer >= inner->layers) {
        status = cpl_fail(&problem, CPL_ERROR_ARGUMENT, "layer %d is not one of the schedule's %d",
                          layer, inner->layers);
        return cpl_leave(status, &problem, &chunk_of(schedule)->context->log, error);
    }
    filled.layout = inner->layout[layer];
    filled.symbol = inner->symbols[layer];
    cpl_copy_out(info, &filled, sizeof(filled));
    return CPLAYOUT_OK;
}

/* ---- Batch ------------------------------------------------------------------------------------ */

static enum cpl_status fields_in(const struct cplayout_batch_args *args,
                                 struct cpl_named_tensor *fields, struct cpl_error *error)
{
    if (args->field_count > CPL_FIELD_COUNT) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT, "%llu fields are given, %d are known",
                        (unsigned long long)args->field_count, CPL_FIELD_COUNT);
    }
    if (args->field_count > 0 && args->fields == NULL) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT, "fields must not be NULL");
    }
    for (uint64_t i = 0; i < args->field_count; i++) {
        const struct cplayout_field *const field = &args->fields[i];
        enum cpl_status status = cpl_require(field->name, "field.name", error);

        if (status == CPL_OK) {
            fields[i].name = field->name;
            status = cpl_tensor_in(field->tensor, field->name, &fields[i].tensor, error);
        }
        if (status != CPL_OK) {
            return status;
        }
    }
    return CPL_OK;
}

/* Wrong fields are handed on as a problem: the peers must learn of it. */
static enum cpl_status create_batch(struct cpl_context *context,
                                    const struct cplayout_batch_args *args,
                                    struct cpl_batch **batch, struct cpl_error *error)
{
    struct cpl_named_tensor fields[CPL_FIELD_COUNT];
    struct cpl_error problem;
    const enum cpl_status status = fields_in(args, fields, &problem);
    const struct cpl_batch_args inner = {
        .tokens = args->sequence_length <= INT64_MAX ? (int64_t)args->sequence_length : INT64_MAX,
        .fields = fields,
        .field_count = status == CPL_OK ? (size_t)args->field_count : 0,
        .problem = status == CPL_OK ? NULL : &problem,
    };

    return cpl_batch_create(context, &inner, batch, error);
}

static int32_t core_batch_create(struct cplayout_context *context,
                                 const struct cplayout_batch_args *args,
                                 struct cplayout_batch **batch, struct cplayout_error *error)
{
    struct cplayout_batch_args copy;
    const struct cpl_incoming incoming = {"args", &copy, sizeof(copy), sizeof(copy)};
    struct cpl_batch *created = NULL;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(context, "context", &problem);

    if (status != CPL_OK) {
        return cpl_leave(status, &problem, NULL, error);
    }
    status = cpl_require(batch, "batch", &problem);
    if (status == CPL_OK) {
        status = cpl_copy_in(&incoming, args, &problem);
    }
    if (status == CPL_OK) {
        status = create_batch(context_of(context), &copy, &created, &problem);
    }
    if (status == CPL_OK) {
        *batch = (struct cplayout_batch *)created;
    }
    return cpl_leave(status, &problem, &context_of(context)->log, error);
}

static void core_batch_destroy(struct cplayout_batch *batch)
{
    cpl_batch_destroy((struct cpl_batch *)batch);
}

/* ---- Hooks ------------------------------------------------------------------------------------ */

static enum cpl_status call_in(const struct cplayout_call *call, enum cpl_hook hook,
                               struct cpl_hook_call *inner, struct cpl_error *error)
{
    struct cplayout_call copy;
    const struct cpl_incoming incoming = {"call", &copy, sizeof(copy), sizeof(copy)};
    enum cpl_status status = cpl_copy_in(&incoming, call, error);

    if (status == CPL_OK) {
        status = cpl_require(copy.batch, "call.batch", error);
    }
    if (status == CPL_OK) {
        status = cpl_require(copy.schedule, "call.schedule", error);
    }
    if (status == CPL_OK) {
        status = cpl_tensor_in(copy.input, "call.input", &inner->input, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    if (copy.direction != CPLAYOUT_FORWARD && copy.direction != CPLAYOUT_BACKWARD) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT,
                        "call.direction is %d; forward is %d, backward %d", copy.direction,
                        CPLAYOUT_FORWARD, CPLAYOUT_BACKWARD);
    }
    if (copy.stream != NULL) {
        return cpl_fail(error, CPL_ERROR_UNSUPPORTED,
                        "call.stream: streams are not supported by this version");
    }
    inner->batch = (const struct cpl_batch *)copy.batch;
    inner->chunk = chunk_of(copy.schedule);
    inner->step = (struct cpl_step){hook, copy.layer, copy.direction == CPLAYOUT_BACKWARD};
    inner->row_axis = copy.row_axis;
    inner->identity = copy.identity;
    return CPL_OK;
}

static enum cpl_status run_call(struct cpl_context *context, struct cpl_hook_call *call,
                                struct cplayout_tensor *out, struct cpl_error *error)
{
    bool due = false;
    enum cpl_status status = cpl_tensor_in(out, "out", &call->output, error);

    if (status == CPL_OK) {
        status = cpl_hook_run(context, call, &due, error);
    }
    if (status == CPL_OK && !due) {
        out->data = call->input.data;
        out->byte_offset = call->input.byte_offset;
    }
    return status;
}

static int32_t run_hook(struct cplayout_context *context, enum cpl_hook hook,
                        const struct cplayout_call *call, struct cplayout_tensor *out,
                        struct cplayout_error *error)
{
    struct cpl_hook_call inner;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(context, "context", &problem);

    if (status != CPL_OK) {
        return cpl_leave(status, &problem, NULL, error);
    }
    status = call_in(call, hook, &inner, &problem);
    if (status == CPL_OK) {
        status = run_call(context_of(context), &inner, out, &problem);
    }
    return cpl_leave(status, &problem, &context_of(context)->log, error);
}

static int32_t core_prepare_layer(struct cplayout_context *context,
                                  const struct cplayout_call *call, struct cplayout_tensor *out,
                                  struct cplayout_error *error)
{
    return run_hook(context, CPL_HOOK_PREPARE, call, out, error);
}

static int32_t core_finalize_layer(struct cplayout_context *context,
                                   const struct cplayout_call *call, struct cplayout_tensor *out,
                                   struct cplayout_error *error)
{
    return run_hook(context, CPL_HOOK_FINALIZE, call, out, error);
}

#define FILL_SLOT(table, slot) .slot = table##_##slot,

const struct cplayout_core cpl_core_table = {.size = sizeof(struct cplayout_core),
                                             .abi_major = CPLAYOUT_ABI_MAJOR,
                                             .abi_minor = CPLAYOUT_ABI_MINOR,
                                             .abi_minor_min = 0,
                                             .draft = CPLAYOUT_ABI_DRAFT,
                                             .name = "cplayout",
                                             .version = PACKAGE_VERSION,
                                             .build = "C compiler " __VERSION__,
                                             CPLAYOUT_CORE_SLOTS(FILL_SLOT)};
