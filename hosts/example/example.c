/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host in one file. Four ranks, here threads, cut a batch in two layouts and convert hidden states
 * from contiguous to zigzag and back: first one dense sequence, then packed documents.
 */
#include <pthread.h>
#include <stdlib.h>

#include <cplayout/batch.h>
#include <cplayout/loader.h>

enum { RANKS = 4, TOKENS = 16, ROWS_MOST = 8 };

static const struct cplayout_core *core;
static const struct cplayout_batch_interface *views;

/* Where the plugin says what went wrong; every thread has its own. */
static _Thread_local struct cplayout_error error = {.size = sizeof(error)};

/* What one rank holds of the batch in one layout. */
struct shard {
    int32_t layout;
    int64_t rows;
    int32_t *tokens; /* in the input if they lie side by side there, otherwise in `cut` */
    int32_t *states; /* in `room`, or where they were if there was nothing to convert */
    int32_t cut[ROWS_MOST];
    int32_t room[ROWS_MOST];
};

struct rank {
    int32_t number;
    struct cplayout_local_group *group;
    const struct cplayout_lengths *documents; /* NULL: the tokens are one sequence */
    int32_t *tokens;                          /* [TOKENS] all of them, on every rank */
    struct cplayout_context *context;
    struct cplayout_batch *batch;
    struct shard before, between, after;
};

/* Ends the program if something has failed. Not by exit: other ranks may be failing too. */
static void check(int failed, const char *reason)
{
    if (failed) {
        fprintf(stderr, "%s\n", reason);
        _Exit(EXIT_FAILURE);
    }
}

/* [shape[0], shape[1]] 32-bit integers in host memory. */
static struct cplayout_tensor tensor(int32_t *data, int64_t shape[2])
{
    return (struct cplayout_tensor){
        .data = data,
        .device = {CPLAYOUT_DEVICE_CPU, 0},
        .ndim = 2,
        .dtype = {CPLAYOUT_TYPE_INT, 32, 1},
        .shape = shape,
    };
}

/* Takes this rank's place. Waits for the other ranks: they compare their options. */
static void create_context(struct rank *rank)
{
    const struct cplayout_option options[] = {
        {"context_parallel_size", "4"}, /* RANKS */
        {"linear_cp_layout", "contiguous"},
        {"attention_cp_layout", "zigzag"},
        {"qkv_format", rank->documents != NULL ? "thd" : "sbhd"},
    };
    const struct cplayout_host host = {
        .size = sizeof(host),
        .abi_minor = CPLAYOUT_ABI_MINOR,
        .draft = CPLAYOUT_ABI_DRAFT,
        .rank = rank->number,
        .ranks = RANKS,
        .local_group = rank->group, /* ranks that are processes have a communicator instead */
    };
    const struct cplayout_create_args args = {
        .size = sizeof(args),
        .host = &host,
        .options = options,
        .option_count = sizeof(options) / sizeof(*options),
    };

    check(core->create(&args, &rank->context, &error), error.message);
}

/* Describes the batch. No row is copied: the tokens must stay where they are while it lives. */
static void create_batch(struct rank *rank)
{
    int64_t shape[] = {1, TOKENS};
    struct cplayout_tensor tokens = tensor(rank->tokens, shape);
    struct cplayout_field field = {"tokens", &tokens};
    struct cplayout_batch_args args = {.size = sizeof(args), .fields = &field, .field_count = 1};

    if (rank->documents != NULL) {
        args.samples = rank->documents;
        args.sample_count = 1;
    } else {
        args.sequence_length = TOKENS;
    }
    check(core->batch_create(rank->context, &args, &rank->batch, &error), error.message);
}

/* Finds this rank's tokens in a layout. */
static void cut_tokens(const struct rank *rank, const char *layout, struct shard *shard)
{
    struct cplayout_view view = {.size = sizeof(view)};
    struct cplayout_tensor *tokens = &view.tensor;

    check(core->layout(rank->context, layout, &shard->layout, &error), error.message);
    check(views->view_describe(rank->batch, shard->layout, "tokens", &view, &error), error.message);
    shard->rows = view.shape[view.row_axis];
    check(shard->rows > ROWS_MOST, "ROWS_MOST is too small");
    if (tokens->data == NULL) {
        tokens->data = shard->cut;
        check(views->view_fill(rank->batch, shard->layout, "tokens", tokens, &error),
              error.message);
    }
    shard->tokens = (int32_t *)tokens->data + tokens->byte_offset / sizeof(int32_t);
}

/* Every row of the hidden states goes to the rank that holds its token in the other layout. */
static void convert(const struct rank *rank, const struct shard *from, struct shard *to)
{
    int64_t shapes[2][2] = {{from->rows, 1}, {to->rows, 1}};
    struct cplayout_tensor input = tensor(from->states, shapes[0]);
    struct cplayout_tensor output = tensor(to->room, shapes[1]);
    const struct cplayout_convert_call call = {
        .size = sizeof(call),
        .batch = rank->batch,
        .input = &input,
        .from_layout = from->layout,
        .to_layout = to->layout,
    };

    check(core->convert(rank->context, &call, &output, &error), error.message);
    to->states = output.data;
}

static void check_states(const struct shard *shard)
{
    size_t bytes = (size_t)shard->rows * sizeof(int32_t);

    check(memcmp(shard->states, shard->tokens, bytes) != 0, "a row is not with its token");
}

static void *run_rank(void *self)
{
    struct rank *rank = self;

    create_context(rank);
    create_batch(rank);
    cut_tokens(rank, "contiguous", &rank->before);
    cut_tokens(rank, "zigzag", &rank->between);
    cut_tokens(rank, "contiguous", &rank->after);

    /* One number for each token, the token itself, so that every row shows where it belongs. */
    rank->before.states = rank->before.tokens;
    convert(rank, &rank->before, &rank->between);
    check_states(&rank->between); /* attention would run here */
    convert(rank, &rank->between, &rank->after);
    check_states(&rank->after);

    core->batch_destroy(rank->batch);
    core->destroy(rank->context);
    return NULL;
}

static void print_tokens(const struct shard *shard)
{
    printf("  %s", shard->tokens == shard->cut ? "copy " : "slice");
    for (int64_t row = 0; row < shard->rows; row++) {
        printf(" %3d", shard->tokens[row]);
    }
}

static void run(const struct cplayout_lengths *documents, int32_t *tokens)
{
    struct cplayout_local_group *group;
    struct rank ranks[RANKS];
    pthread_t threads[RANKS];

    check(core->local_group_create(NULL, RANKS, &group, &error), error.message);
    for (int32_t i = 0; i < RANKS; i++) {
        ranks[i] =
            (struct rank){.number = i, .group = group, .documents = documents, .tokens = tokens};
        check(pthread_create(&threads[i], NULL, run_rank, &ranks[i]), "cannot start a thread");
    }
    for (int32_t i = 0; i < RANKS; i++) {
        pthread_join(threads[i], NULL);
        printf("rank %d", i);
        print_tokens(&ranks[i].before);
        print_tokens(&ranks[i].between);
        printf("\n");
    }
    core->local_group_destroy(group);
}

int main(int argc, char **argv)
{
    int32_t dense[TOKENS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    int32_t packed[TOKENS] = {101, 102, 103, 201, 202, 203, 204, 205,
                              206, 207, 208, 301, 302, 303, 304, 305};
    int32_t offsets[] = {0, 3, 11, 16};
    struct cplayout_lengths documents = {offsets, NULL, 4};
    struct cplayout_library library;

    check(cplayout_load(&library, argc > 1 ? argv[1] : NULL, NULL, &error), error.message);
    core = library.core;
    views = core->get_interface(CPLAYOUT_BATCH_INTERFACE);
    check(views == NULL, "the plugin does not offer " CPLAYOUT_BATCH_INTERFACE);

    puts("dense   contiguous             zigzag");
    run(NULL, dense);
    puts("packed  contiguous             zigzag");
    run(&documents, packed);
    cplayout_unload(&library);
    return 0;
}
