/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <inttypes.h>
#include <stdlib.h>

#include "views.h"

enum { OPTIONS = 8 };

struct session {
    const struct plugin *plugin;
    struct cplayout_context *context;
    struct cplayout_schedule *schedule;
    struct cplayout_batch *batch;
    struct cplayout_error error;
    char message[512];
    int32_t rank, ranks;
    int64_t sequence;
    bool packed;
    int width;
    int layers;

    struct cplayout_schedule_info stack;
    const struct shard **by_layer; /* [layers] */
    int32_t linear, attention;     /* handles */
    struct views views;
    bool seen;                /* the views are filled; those of one sequence never change */
    int32_t *tokens, *labels; /* [room] cut by the plugin where it gives no slice */
    int64_t room;             /* rows */
    int64_t conversion_bytes;
};

/* ---- Session ---------------------------------------------------------------------------------- */

static int fail(struct session *session, const char *what)
{
    (void)snprintf(session->message, sizeof(session->message), "%s: %.450s", what,
                   session->error.message);
    return -1;
}

static int fail_memory(struct session *session)
{
    (void)snprintf(session->message, sizeof(session->message), "out of memory");
    return -1;
}

static int create_context(struct session *session, const struct session_args *args)
{
    struct cplayout_host host = plugin_host();
    const struct arrangement *const arrangement = args->arrangement;
    char cp[16];
    char sequence[24];
    char timeout[16];
    const struct cplayout_option options[OPTIONS] = {
        {"context_parallel_size", cp},
        {"qkv_format", args->settings->packed ? "thd" : "sbhd"},
        {"seq_length", sequence}, /* of a pack it is not checked */
        {"hybrid_layer_pattern", args->settings->pattern},
        {"linear_cp_layout", arrangement->linear},
        {"attention_cp_layout", arrangement->attention},
        {"linear_chain", arrangement->linear_chain},
        {"timeout_seconds", timeout},
    };
    const struct cplayout_create_args create = {
        .size = sizeof(create),
        .host = &host,
        .options = options,
        .option_count = OPTIONS,
    };

    (void)snprintf(cp, sizeof(cp), "%d", args->ranks);
    (void)snprintf(sequence, sizeof(sequence), "%" PRId64, args->settings->sequence);
    (void)snprintf(timeout, sizeof(timeout), "%d", TIMEOUT_SECONDS);
    host.rank = args->rank;
    host.ranks = args->ranks;
    host.local_group = args->group;
    return args->plugin->core->create(&create, &session->context, &session->error) == CPLAYOUT_OK
               ? 0
               : fail(session, "registering");
}

static int create_schedule(struct session *session)
{
    const struct cplayout_core *const core = session->plugin->core;
    const struct cplayout_schedule_args args = {.size = sizeof(args)};

    session->stack.size = sizeof(session->stack);
    if (core->schedule(session->context, &args, &session->schedule, &session->error) != 0 ||
        core->layout(session->context, "linear", &session->linear, &session->error) != 0 ||
        core->layout(session->context, "attention", &session->attention, &session->error) != 0) {
        return fail(session, "making the schedule");
    }
    core->schedule_describe(session->schedule, &session->stack);
    session->layers = session->stack.layers;
    return 0;
}

static int describe_layers(struct session *session)
{
    const size_t layers = (size_t)session->layers;

    session->by_layer = calloc(layers + 1, sizeof(*session->by_layer));
    if (session->by_layer == NULL) {
        return fail_memory(session);
    }
    for (int i = 0; i < session->layers; i++) {
        struct cplayout_layer_info info = {.size = sizeof(info)};

        if (session->plugin->core->layer_describe(session->schedule, i, &info, &session->error) !=
            CPLAYOUT_OK) {
            return fail(session, "describing a layer");
        }
        if (info.layout < 0 || info.layout >= VIEWS_MOST) {
            (void)snprintf(session->error.message, sizeof(session->error.message),
                           "handle %d is not 0 to %d", info.layout, VIEWS_MOST - 1);
            return fail(session, "layout of a layer");
        }
        session->by_layer[i] = &session->views.by_layout[info.layout].shard;
    }
    return 0;
}

struct session *session_create(const struct session_args *args, char message[512])
{
    struct session *const session = calloc(1, sizeof(*session));

    if (session == NULL) {
        (void)snprintf(message, 512, "out of memory");
        return NULL;
    }
    session->plugin = args->plugin;
    session->error.size = sizeof(session->error);
    session->rank = args->rank;
    session->ranks = args->ranks;
    session->sequence = args->settings->sequence;
    session->packed = args->settings->packed;
    session->width = args->width;
    if (create_context(session, args) != 0 || create_schedule(session) != 0 ||
        describe_layers(session) != 0) {
        (void)snprintf(message, 512, "%s", session->message);
        session_destroy(session);
        return NULL;
    }
    return session;
}

void session_destroy(struct session *session)
{
    if (session == NULL) {
        return;
    }
    session_end(session);
    session->plugin->core->destroy(session->context);
    views_destroy(&session->views);
    free(session->by_layer);
    free(session->tokens);
    free(session->labels);
    free(session);
}

/* ---- Batches ---------------------------------------------------------------------------------- */

/* Room for this rank's rows in the boundary layout. */
static int reserve_rows(struct session *session)
{
    const int64_t rows = session->views.by_layout[session->stack.input_layout].shard.rows;

    if (rows <= session->room) {
        return 0;
    }
    free(session->tokens);
    free(session->labels);
    session->room = rows;
    session->tokens = calloc((size_t)rows, sizeof(*session->tokens));
    session->labels = calloc((size_t)rows, sizeof(*session->labels));
    return session->tokens != NULL && session->labels != NULL ? 0 : fail_memory(session);
}

/* The view of a field in the boundary layout: a slice of the input, or a copy in `room`. */
static int cut_field(struct session *session, const char *field, int32_t *room,
                     const int32_t **rows)
{
    const struct cplayout_batch_interface *const batch = session->plugin->batch;
    const int32_t layout = session->stack.input_layout;
    struct cplayout_view view = {.size = sizeof(view)};

    if (batch->view_describe(session->batch, layout, field, &view, &session->error) != 0) {
        return fail(session, field);
    }
    if (view.tensor.data != NULL) {
        *rows = (const int32_t *)view.tensor.data + view.tensor.byte_offset / sizeof(int32_t);
        return 0;
    }
    view.tensor.data = room;
    view.tensor.byte_offset = 0;
    if (batch->view_fill(session->batch, layout, field, &view.tensor, &session->error) != 0) {
        return fail(session, field);
    }
    *rows = room;
    return 0;
}

static int read_views(struct session *session)
{
    const struct views_source source = {
        .plugin = session->plugin,
        .batch = session->batch,
        .rank = session->rank,
        .ranks = session->ranks,
        .sequence = session->sequence,
        .linear = session->linear,
        .attention = session->attention,
        .boundary = session->stack.input_layout,
    };

    if (session->seen && !session->packed) {
        return 0;
    }
    if (views_read(&session->views, &source, &session->error) != 0) {
        return fail(session, "reading layouts");
    }
    session->seen = true;
    return 0;
}

static int create_batch(struct session *session, const struct sample *sample)
{
    int64_t shape[2] = {1, sample->rows};
    const struct cplayout_tensor whole[2] = {
        {sample->tokens, {CPLAYOUT_DEVICE_CPU, 0}, 2, {CPLAYOUT_TYPE_INT, 32, 1}, shape, NULL, 0},
        {sample->labels, {CPLAYOUT_DEVICE_CPU, 0}, 2, {CPLAYOUT_TYPE_INT, 32, 1}, shape, NULL, 0},
    };
    const struct cplayout_field fields[2] = {{"tokens", &whole[0]}, {"labels", &whole[1]}};
    const struct cplayout_lengths lengths = {sample->offsets, NULL, sample->documents + 1};
    struct cplayout_batch_args args = {
        .size = sizeof(args),
        .sequence_length = (uint64_t)sample->rows,
        .fields = fields,
        .field_count = 2,
    };

    if (session->packed) {
        args.sequence_length = 0;
        args.samples = &lengths;
        args.sample_count = 1;
    }
    return session->plugin->core->batch_create(session->context, &args, &session->batch,
                                               &session->error) == CPLAYOUT_OK
               ? 0
               : fail(session, "creating a batch");
}

int session_begin(struct session *session, const struct sample *sample, struct step_input *input)
{
    if (create_batch(session, sample) != 0 || read_views(session) != 0 ||
        reserve_rows(session) != 0 ||
        cut_field(session, "tokens", session->tokens, &input->tokens) != 0 ||
        cut_field(session, "labels", session->labels, &input->labels) != 0) {
        return -1;
    }
    input->layers = session->by_layer;
    input->boundary = &session->views.by_layout[session->stack.input_layout].shard;
    return 0;
}

void session_end(struct session *session)
{
    session->plugin->core->batch_destroy(session->batch);
    session->batch = NULL;
}

/* ---- Hooks ------------------------------------------------------------------------------------ */

/* One hook call of the model. */
struct hook {
    int32_t kind; /* CPLAYOUT_HOOK_... */
    int32_t layer;
    int32_t direction;
};

/* [rows, width] in memory of the model; `shape` is filled in. */
static struct cplayout_tensor stream_tensor(const struct session *session, uint64_t rows,
                                            real *data, int64_t shape[2])
{
    shape[0] = (int64_t)rows;
    shape[1] = session->width;
    return (struct cplayout_tensor){
        .data = data,
        .device = {CPLAYOUT_DEVICE_CPU, 0},
        .ndim = 2,
        .dtype = {CPLAYOUT_TYPE_FLOAT, 8 * sizeof(real), 1},
        .shape = shape,
    };
}

/* First asks what the hook will do, then does it. The two halves never disagree about rows. */
static int run_hook(struct session *session, const struct hook *hook, real *in, real *out,
                    real **result)
{
    const struct cplayout_core *const core = session->plugin->core;
    struct cplayout_conversion conversion = {.size = sizeof(conversion)};
    struct cplayout_call call = {
        .size = sizeof(call),
        .batch = session->batch,
        .schedule = session->schedule,
        .layer = hook->layer,
        .direction = hook->direction,
    };
    int64_t shapes[2][2];
    struct cplayout_tensor input;
    struct cplayout_tensor output;
    int32_t status =
        core->conversion(session->context, hook->kind, &call, &conversion, &session->error);

    if (status != CPLAYOUT_OK) {
        return fail(session, "conversion");
    }
    input = stream_tensor(session, conversion.input_rows, in, shapes[0]);
    output = stream_tensor(session, conversion.output_rows, out, shapes[1]);
    call.input = &input;
    status = hook->kind == CPLAYOUT_HOOK_FINALIZE
                 ? core->finalize_layer(session->context, &call, &output, &session->error)
                 : core->prepare_layer(session->context, &call, &output, &session->error);
    if (status != CPLAYOUT_OK) {
        return fail(session, "layer hook");
    }
    session->conversion_bytes +=
        (int64_t)conversion.sent_rows * session->width * (int64_t)sizeof(real);
    *result = output.data;
    return 0;
}

static int prepare(void *self, int layer, int backward, real *in, real *out, real **result)
{
    const struct hook hook = {CPLAYOUT_HOOK_PREPARE, layer,
                              backward ? CPLAYOUT_BACKWARD : CPLAYOUT_FORWARD};

    return run_hook(self, &hook, in, out, result);
}

static int finalize(void *self, int layer, int backward, real *in, real *out, real **result)
{
    const struct hook hook = {CPLAYOUT_HOOK_FINALIZE, layer,
                              backward ? CPLAYOUT_BACKWARD : CPLAYOUT_FORWARD};

    return run_hook(self, &hook, in, out, result);
}

struct converter session_converter(struct session *session)
{
    return (struct converter){.self = session, .prepare = prepare, .finalize = finalize};
}

const char *session_error(const struct session *session)
{
    return session->message;
}

int64_t session_conversion_bytes(const struct session *session)
{
    return session->conversion_bytes;
}

const struct shard *session_linear(const struct session *session)
{
    return &session->views.by_layout[session->linear].shard;
}

const struct shard *session_attention(const struct session *session)
{
    return &session->views.by_layout[session->attention].shard;
}

const int64_t *session_attention_pairs(const struct session *session)
{
    return session->views.attention_pairs;
}
