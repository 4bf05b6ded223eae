/* SPDX-License-Identifier: Apache-2.0 */
#include "train.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "adam.h"
#include "clock.h"

static const real rate_most = (real)3e-3;

struct run;

/* One rank, one thread. */
struct rank {
    struct run *run;
    int32_t index;
    pthread_t thread;
    bool failed;
    char message[512];
    struct session *session;
    struct model *model;
    struct adam *adam;
    struct sample sample;
    int64_t conversion_bytes; /* of the whole run */
};

/* What the ranks of a run share. The result is written by rank 0. */
struct run {
    const struct run_args *args;
    struct run_result *result;
    struct cplayout_local_group *group;
    struct comm *comm;
    struct rank *ranks;
};

/* Notes why this rank ends and wakes those that wait for it. */
static int fail(struct rank *rank, const char *message)
{
    (void)snprintf(rank->message, sizeof(rank->message), "%s", message);
    comm_abort(rank->run->comm, rank->index, rank->message);
    return -1;
}

/* Why a rank's communication failed: the session's reason if it has one. */
static int fail_step(struct rank *rank)
{
    const char *const reason = session_error(rank->session);

    return fail(rank, reason[0] != '\0' ? reason : comm_error(rank->run->comm));
}

static int rank_create(struct rank *rank)
{
    const struct run *const run = rank->run;
    const struct settings *const settings = run->args->settings;
    const struct adam_config adam = adam_defaults();
    struct model_config config = model_defaults();
    const struct session_args session = {
        .plugin = run->args->plugin,
        .group = run->group,
        .settings = settings,
        .arrangement = run->args->arrangement,
        .rank = rank->index,
        .ranks = run->result->ranks,
        .width = config.hidden,
    };
    char message[512];

    rank->session = session_create(&session, message);
    if (rank->session == NULL) {
        return fail(rank, message);
    }
    config.pattern = settings->pattern;
    rank->model = model_create(&config, settings->seed);
    rank->adam = rank->model != NULL ? adam_create(&adam, model_params(rank->model)) : NULL;
    if (rank->adam == NULL || sample_create(&rank->sample, settings->sequence) != 0) {
        return fail(rank, "out of memory for the model");
    }
    return 0;
}

static void rank_destroy(struct rank *rank)
{
    session_destroy(rank->session);
    adam_destroy(rank->adam);
    model_destroy(rank->model);
    sample_destroy(&rank->sample);
}

/* Linear warm-up over the first tenth, then a cosine down to a tenth (Loshchilov & Hutter 2017). */
static real learning_rate(int64_t step, int64_t steps)
{
    const double warm = (double)steps / 10;
    const double progress = (double)(step + 1) / (double)steps;

    if ((double)(step + 1) < warm) {
        return rate_most * (real)((double)(step + 1) / warm);
    }
    return rate_most * (real)(0.55 + 0.45 * cos(3.14159265358979323846 * progress));
}

/* Keeps the gradient of the first step; the parameters are fixed from then on. */
static int keep_gradient(struct run_result *result, const struct params *params)
{
    result->gradient = malloc((size_t)params->count * sizeof(*result->gradient));
    if (result->gradient == NULL) {
        return -1;
    }
    memcpy(result->gradient, params->gradients, (size_t)params->count * sizeof(real));
    result->parameters = params->count;
    return 0;
}

static int keep_strip(const struct shard *shard, struct strip *strip)
{
    strip->parts = calloc((size_t)shard->parts + 1, sizeof(*strip->parts));
    if (strip->parts == NULL) {
        return -1;
    }
    memcpy(strip->parts, shard->chain, (size_t)shard->parts * sizeof(*strip->parts));
    strip->count = shard->parts;
    return 0;
}

static int keep_layouts(const struct session *session, struct run_result *result)
{
    return keep_strip(session_linear(session), &result->linear) != 0 ||
                   keep_strip(session_attention(session), &result->attention) != 0
               ? -1
               : 0;
}

/* Adds this step's share of the means over all steps. */
static void add_balance(const struct session *session, struct run_result *result)
{
    const int64_t *const pairs = session_attention_pairs(session);
    const double steps = (double)result->steps;
    double most = 0;
    double sum = 0;

    for (int32_t rank = 0; rank < result->ranks; rank++) {
        const double work = (double)pairs[rank];

        result->attention_pairs[rank] += work / steps;
        most = work > most ? work : most;
        sum += work;
    }
    result->attention_max_over_mean += most * result->ranks / sum / steps;
}

static void draw_sample(struct rank *rank, int64_t step)
{
    const struct run_args *const args = rank->run->args;
    const uint64_t seed = args->settings->seed;

    if (args->settings->packed) {
        sample_draw_pack(&rank->sample, args->text, args->packs, seed, step);
    } else {
        sample_draw(&rank->sample, args->text, seed, step);
    }
}

static int compute_gradients(struct rank *rank, real *loss)
{
    const struct converter converter = session_converter(rank->session);
    struct step_input input = {.recompute = rank->run->args->settings->recompute};
    int code;

    if (session_begin(rank->session, &rank->sample, &input) != 0) {
        return -1;
    }
    code = model_forward_backward(rank->model, &input, rank->run->comm, &converter, loss);
    session_end(rank->session);
    return code != 0 ? code : model_reduce_gradients(rank->model, rank->run->comm, rank->index);
}

static int rank_step(struct rank *rank, int64_t step)
{
    const struct run_args *const args = rank->run->args;
    const struct settings *const settings = args->settings;
    struct run_result *const result = rank->run->result;
    struct params *const params = model_params(rank->model);
    real loss = 0;
    double norm;

    draw_sample(rank, step);
    if (compute_gradients(rank, &loss) != 0) {
        return fail_step(rank);
    }
    if (rank->index == 0 && step == 0 &&
        (keep_gradient(result, params) != 0 || keep_layouts(rank->session, result) != 0)) {
        return fail(rank, "out of memory for the results");
    }
    norm = adam_step(rank->adam, params, learning_rate(step, settings->steps));
    if (rank->index == 0) {
        add_balance(rank->session, result);
        result->documents += (double)rank->sample.documents / (double)result->steps;
        result->loss[step] = (double)loss;
        result->grad_norm[step] = norm;
        progress_show(args->progress, step + 1, (double)loss);
    }
    return 0;
}

/* Times all steps between two barriers, so that no rank's set-up counts. */
static int rank_train(struct rank *rank)
{
    struct run *const run = rank->run;
    const int64_t steps = run->args->settings->steps;
    double begin;

    if (comm_barrier(run->comm, rank->index) != 0) {
        return fail_step(rank);
    }
    begin = clock_seconds();
    for (int64_t step = 0; step < steps; step++) {
        if (rank_step(rank, step) != 0) {
            return -1;
        }
    }
    if (comm_barrier(run->comm, rank->index) != 0) {
        return fail_step(rank);
    }
    rank->conversion_bytes = session_conversion_bytes(rank->session);
    if (rank->index == 0) {
        run->result->seconds = clock_seconds() - begin;
    }
    return 0;
}

static void *rank_main(void *argument)
{
    struct rank *const rank = argument;

    rank->failed = rank_create(rank) != 0 || rank_train(rank) != 0;
    rank_destroy(rank);
    return NULL;
}

/* Of a mean step; those of one sequence are all alike. */
static void sum_bytes(const struct run *run)
{
    struct run_result *const result = run->result;
    const int64_t steps = result->steps;
    int64_t conversions = 0;

    for (int32_t i = 0; i < result->ranks; i++) {
        conversions += run->ranks[i].conversion_bytes;
    }
    result->conversion_bytes = conversions / steps;
    result->linear_state_bytes = comm_bytes(run->comm, COMM_STATE) / steps;
    result->halo_bytes = comm_bytes(run->comm, COMM_HALO) / steps;
    result->attention_bytes = comm_bytes(run->comm, COMM_ATTENTION) / steps;
}

/*
 * The first reason that is known: comm keeps the first message; a rank that failed before it had
 * anything to do with comm has it there too.
 */
static int collect(const struct run *run, char message[512])
{
    for (int32_t i = 0; i < run->result->ranks; i++) {
        if (run->ranks[i].failed) {
            (void)snprintf(message, 512, "%s", comm_error(run->comm));
            return -1;
        }
    }
    sum_bytes(run);
    return 0;
}

static int run_ranks(struct run *run, char message[512])
{
    const int32_t count = run->result->ranks;
    int32_t started = 0;

    for (; started < count; started++) {
        struct rank *const rank = &run->ranks[started];

        rank->run = run;
        rank->index = started;
        if (pthread_create(&rank->thread, NULL, rank_main, rank) != 0) {
            comm_abort(run->comm, started, "the system refused a thread");
            rank->failed = true;
            break;
        }
    }
    for (int32_t i = 0; i < started; i++) {
        (void)pthread_join(run->ranks[i].thread, NULL);
    }
    return collect(run, message);
}

static int result_init(struct run_result *result, const struct run_args *args)
{
    const size_t steps = (size_t)args->settings->steps;

    *result = (struct run_result){
        .arrangement = args->arrangement,
        .ranks = args->arrangement->alone ? 1 : args->settings->cp,
        .steps = args->settings->steps,
        .loss = calloc(steps, sizeof(*result->loss)),
        .grad_norm = calloc(steps, sizeof(*result->grad_norm)),
    };
    result->attention_pairs = calloc((size_t)result->ranks, sizeof(*result->attention_pairs));
    return result->loss != NULL && result->grad_norm != NULL && result->attention_pairs != NULL
               ? 0
               : -1;
}

int train_run(const struct run_args *args, struct run_result *result, char message[512])
{
    const struct cplayout_core *const core = args->plugin->core;
    struct cplayout_error error = {.size = sizeof(error)};
    struct run run = {.args = args, .result = result};
    int code = -1;

    (void)snprintf(message, 512, "out of memory");
    if (result_init(result, args) != 0) {
        return -1;
    }
    run.comm = comm_create(result->ranks, TIMEOUT_SECONDS);
    run.ranks = calloc((size_t)result->ranks, sizeof(*run.ranks));
    if (run.comm == NULL || run.ranks == NULL) {
        goto out;
    }
    if (core->local_group_create(NULL, result->ranks, &run.group, &error) != CPLAYOUT_OK) {
        (void)snprintf(message, 512, "%s", error.message);
        goto out;
    }
    code = run_ranks(&run, message);
out:
    core->local_group_destroy(run.group);
    free(run.ranks);
    comm_destroy(run.comm);
    return code;
}

void run_result_destroy(struct run_result *result)
{
    free(result->loss);
    free(result->grad_norm);
    free(result->gradient);
    free(result->linear.parts);
    free(result->attention.parts);
    free(result->attention_pairs);
    *result = (struct run_result){0};
}
