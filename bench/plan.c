/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a plan costs: the table of both layouts and the route of one rank, from nothing but lengths,
 * in an arena that is used again. Dense sequences on 2 to 64 ranks; packs of 131,072 tokens on 8
 * ranks, with document lengths of real training mixes. Beside a pack's plan stands what hosts do
 * instead, an index with one entry per token.
 *
 * Every case does the same work in every round, on its ranks in turn. Rounds of all cases are
 * interleaved, so that a slow phase of the machine meets all of them; the median counts. Each case
 * runs once before: then its memory has been touched, a pack's moves have been compared with the
 * index, and the planner may allocate no more.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "plan/route.h"
#include "rounds.h"

enum {
    TOKENS = 131072,
    PACK_RANKS = 8,
    DOCUMENTS_MOST = 4000, /* lines of a data file */
};

/* ---- The planner ----------------------------------------------------------------------------- */

static uint64_t allocations;

static void *allocate(void *self, uint64_t bytes)
{
    (void)self;
    allocations++;
    return malloc((size_t)bytes);
}

static void release(void *self, void *memory, uint64_t bytes)
{
    (void)self;
    (void)bytes;
    free(memory);
}

/* A sequence or a pack, and the memory of its plans. */
struct input {
    const char *name;
    int32_t cp;
    int32_t *cu_seqlens; /* NULL: dense */
    size_t documents;
    struct cpl_arena arena;
};

static void need(enum cpl_status status, const struct input *input, const struct cpl_error *error)
{
    if (status != CPL_OK) {
        bench_die(input->name, error->message);
    }
}

/* All of a plan's memory is the arena's, until the next plan. */
static void plan(struct input *input, int32_t rank, struct cpl_route *route)
{
    const struct cpl_lengths lengths = {.cu_seqlens = input->cu_seqlens,
                                        .entries = input->documents + 1};
    struct cpl_shape shape = {.tokens = TOKENS, .cp = input->cp, .tp = 1};
    struct cpl_stream stream;
    struct cpl_table source;
    struct cpl_table target;
    struct cpl_error error;

    cpl_arena_reset(&input->arena);
    if (input->cu_seqlens != NULL) {
        need(cpl_stream_packed(&stream, &lengths, 1, &input->arena, &error), input, &error);
        shape.stream = &stream;
    }
    need(cpl_table_build(&source, cpl_layout_find("contiguous"), &shape, &input->arena, &error),
         input, &error);
    need(cpl_table_build(&target, cpl_layout_find("zigzag"), &shape, &input->arena, &error), input,
         &error);
    need(cpl_route_build(route, &source, &target, rank, &input->arena, &error), input, &error);
}

/* One layout alone: who holds which rows. */
static void lay_out(struct input *input)
{
    const struct cpl_shape shape = {.tokens = TOKENS, .cp = input->cp, .tp = 1};
    struct cpl_table table;
    struct cpl_error error;

    cpl_arena_reset(&input->arena);
    need(cpl_table_build(&table, cpl_layout_find("zigzag"), &shape, &input->arena, &error), input,
         &error);
}

/* ---- The index ------------------------------------------------------------------------------- */

/* Rows of one rank by the rank on the other side, stable: what a gather before a message reads. */
struct list {
    int32_t rows[TOKENS];
    int32_t first[PACK_RANKS + 1]; /* where each peer begins in rows */
};

struct index {
    struct list sent;     /* rows of the source, also those that stay */
    struct list received; /* rows of the target */
    int32_t peer[TOKENS]; /* of a row, and */
    int32_t row[TOKENS];  /* the row; before they are sorted */
};

static void sort_rows(const struct index *index, int32_t count, struct list *list)
{
    int32_t next[PACK_RANKS + 1] = {0};

    for (int32_t i = 0; i < count; i++) {
        next[index->peer[i] + 1]++;
    }
    for (int32_t peer = 0; peer < PACK_RANKS; peer++) {
        next[peer + 1] += next[peer];
    }
    memcpy(list->first, next, sizeof(next));
    for (int32_t i = 0; i < count; i++) {
        list->rows[next[index->peer[i]]++] = index->row[i];
    }
}

/* Rows of one of a document's 2P chunks. */
static int32_t chunk_of(const struct input *input, size_t document)
{
    const int32_t length = input->cu_seqlens[document + 1] - input->cu_seqlens[document];

    return (length + 2 * input->cp - 1) / (2 * input->cp);
}

/* The rank's tokens in the contiguous layout: which zigzag rank wants each? */
static int32_t list_sent(const struct input *input, int32_t rank, struct index *index)
{
    const int32_t rows = TOKENS / input->cp;
    const int32_t begin = rank * rows;
    size_t document = 0;
    int32_t chunk = chunk_of(input, 0);

    for (int32_t row = 0; row < rows; row++) {
        int32_t slot;

        while (begin + row >= input->cu_seqlens[document + 1]) {
            chunk = chunk_of(input, ++document);
        }
        slot = (begin + row - input->cu_seqlens[document]) / chunk;
        index->peer[row] = slot < input->cp ? slot : 2 * input->cp - 1 - slot;
        index->row[row] = row;
    }
    return rows;
}

/* The rank's tokens in zigzag, two chunks of every document: which contiguous rank holds each? */
static int32_t list_received(const struct input *input, int32_t rank, struct index *index)
{
    const int32_t rows = TOKENS / input->cp;
    int32_t local = 0;
    int32_t count = 0;

    for (size_t document = 0; document < input->documents; document++) {
        const int32_t chunk = chunk_of(input, document);
        const int32_t slots[] = {rank, 2 * input->cp - 1 - rank};

        for (int half = 0; half < 2; half++) {
            const int32_t begin = input->cu_seqlens[document] + slots[half] * chunk;

            for (int32_t token = begin; token < begin + chunk; token++, local++) {
                if (token < input->cu_seqlens[document + 1]) { /* else padding */
                    index->peer[count] = token / rows;
                    index->row[count] = local;
                    count++;
                }
            }
        }
    }
    return count;
}

static void build_index(const struct input *input, int32_t rank, struct index *index)
{
    sort_rows(index, list_sent(input, rank, index), &index->sent);
    sort_rows(index, list_received(input, rank, index), &index->received);
}

/* ---- Both say the same ----------------------------------------------------------------------- */

/* Crosses moves off a list, peer after peer; false if the list has other rows. */
static bool match(const struct cpl_moves *moves, bool source, struct list *list)
{
    for (size_t i = 0; i < moves->count; i++) {
        const struct cpl_move *const move = &moves->list[i];
        const int64_t begin = source ? move->src : move->dst;

        for (int64_t row = begin; row < begin + move->rows; row++) {
            const int32_t at = list->first[move->peer]++;

            if (at >= TOKENS || list->rows[at] != row) {
                return false;
            }
        }
    }
    return true;
}

/* Whether every peer's list has been crossed off to its end. Uses the index up. */
static bool is_used_up(const struct list *list, const int32_t ends[PACK_RANKS])
{
    return memcmp(list->first, ends, PACK_RANKS * sizeof(ends[0])) == 0;
}

static void compare(struct input *input, int32_t rank, struct index *index)
{
    int32_t sent_ends[PACK_RANKS];
    int32_t received_ends[PACK_RANKS];
    struct cpl_route route;

    plan(input, rank, &route);
    build_index(input, rank, index);
    memcpy(sent_ends, &index->sent.first[1], sizeof(sent_ends));
    memcpy(received_ends, &index->received.first[1], sizeof(received_ends));
    if (!match(&route.kept, true, &index->sent) || !match(&route.sent, true, &index->sent) ||
        !match(&route.kept, false, &index->received) ||
        !match(&route.received, false, &index->received) || !is_used_up(&index->sent, sent_ends) ||
        !is_used_up(&index->received, received_ends)) {
        bench_die(input->name, "route and index move different rows");
    }
}

/* ---- Input ----------------------------------------------------------------------------------- */

static void input_init(struct input *input, const char *name, int32_t cp)
{
    const struct cpl_allocator allocator = {.allocate = allocate, .release = release};

    *input = (struct input){.name = name, .cp = cp, .documents = 1};
    cpl_arena_init(&input->arena, &allocator);
}

/* The first pack of a file: lengths in order until it is full, the last one clipped. */
static void read_pack(struct input *input, const char *path)
{
    FILE *const file = fopen(path, "r");
    int32_t *const offsets = calloc(DOCUMENTS_MOST + 1, sizeof(*offsets));
    size_t count = 0;
    int32_t length;

    if (file == NULL || offsets == NULL) {
        bench_die(path, "cannot be read");
    }
    while (count < DOCUMENTS_MOST && offsets[count] < TOKENS &&
           fscanf(file, "%" SCNd32, &length) == 1) {
        const int32_t room = TOKENS - offsets[count];

        if (length < 1) {
            bench_die(path, "holds a length below 1");
        }
        offsets[count + 1] = offsets[count] + (length < room ? length : room);
        count++;
    }
    (void)fclose(file);
    if (offsets[count] != TOKENS) {
        bench_die(path, "does not fill a pack");
    }
    input->cu_seqlens = offsets;
    input->documents = count;
}

static void input_fini(struct input *input)
{
    cpl_arena_fini(&input->arena);
    free(input->cu_seqlens);
}

/* ---- Measuring ------------------------------------------------------------------------------- */

struct bench {
    struct input *input;
    struct index *index; /* NULL: the planner */
    const char *what;
    bool layout_alone; /* of a dense input */
    int32_t repeats;   /* in every round */
    double target;     /* microseconds; 0: none */
    struct rounds rounds;
};

/* Microseconds of one plan or one index, averaged over a round. */
static double measure(const struct bench *bench)
{
    struct cpl_route route;
    const double begin = rounds_now();

    for (int32_t i = 0; i < bench->repeats; i++) {
        const int32_t rank = i % bench->input->cp;

        if (bench->layout_alone) {
            lay_out(bench->input);
        } else if (bench->index == NULL) {
            plan(bench->input, rank, &route);
        } else {
            build_index(bench->input, rank, bench->index);
        }
    }
    return (rounds_now() - begin) / bench->repeats;
}

/* Afterwards the times of each ascend. */
static void measure_all(struct bench *benches, size_t count)
{
    uint64_t before;

    for (size_t i = 0; i < count; i++) {
        (void)measure(&benches[i]);
    }
    before = allocations;
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < count; i++) {
            benches[i].rounds.times[round] = measure(&benches[i]);
        }
    }
    if (allocations != before) {
        bench_die("plan", "an arena that is used again still allocates");
    }
    for (size_t i = 0; i < count; i++) {
        rounds_sort(&benches[i].rounds);
    }
}

static double median(const struct bench *bench)
{
    return rounds_median(&bench->rounds);
}

/* How many times a plan's time the index takes; 0 for a plan. Each index follows its plan. */
static double ratio(const struct bench *bench)
{
    return bench->index != NULL ? median(bench) / median(bench - 1) : 0;
}

/* ---- Output ---------------------------------------------------------------------------------- */

static void print_table(const struct bench *benches, size_t count)
{
    printf(
        "layout: the zigzag table of %d tokens. plan: that and the contiguous one, and the route of\n"
        "one rank between them.\n"
        "Microseconds: median of %d interleaved rounds, least and most of them.\n\n"
        "%-7s %-9s %3s %9s %8s %8s %8s %7s %7s\n",
        TOKENS, ROUNDS, "what", "input", "P", "documents", "median", "least", "most", "target",
        "ratio");
    for (size_t i = 0; i < count; i++) {
        const struct bench *const bench = &benches[i];

        printf("%-7s %-9s %3d %9zu %8.2f %8.2f %8.2f", bench->what, bench->input->name,
               bench->input->cp, bench->input->documents, median(bench),
               rounds_least(&bench->rounds), rounds_most(&bench->rounds));
        if (bench->index != NULL) {
            printf(" %7s %6.1fx\n", "-", ratio(bench));
        } else if (median(bench) <= bench->target) {
            printf(" %7.0f %7s\n", bench->target, "-");
        } else {
            printf(" %7.0f %7s  missed\n", bench->target, "-");
        }
    }
    printf("\nindex: one entry per token of the rank instead; ratio: its time over the plan's.\n");
}

static void print_json(const struct bench *benches, size_t count)
{
    printf("{\"benchmark\":\"plan\",\"tokens\":%d,\"rounds\":%d,\"unit\":\"microseconds\","
           "\"results\":[",
           TOKENS, ROUNDS);
    for (size_t i = 0; i < count; i++) {
        const struct bench *const bench = &benches[i];

        printf("%s{\"what\":\"%s\",\"input\":\"%s\",\"cp\":%d,\"documents\":%zu,"
               "\"median\":%.3f,\"least\":%.3f,\"most\":%.3f",
               i > 0 ? "," : "", bench->what, bench->input->name, bench->input->cp,
               bench->input->documents, median(bench), rounds_least(&bench->rounds),
               rounds_most(&bench->rounds));
        if (bench->index != NULL) {
            printf(",\"ratio\":%.2f}", ratio(bench));
        } else {
            printf(",\"target\":%.0f}", bench->target);
        }
    }
    printf("]}\n");
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static const char *const packs[] = {"prolong", "wlbllm"};

enum {
    DENSE = 6, /* 2, 4, ..., 64 ranks */
    PACKS = sizeof(packs) / sizeof(packs[0]),
    BENCHES = 2 * DENSE + 2 * PACKS,
};

static void add_pack(struct input *input, const char *name, struct index *index,
                     struct bench benches[2])
{
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/document-lengths-%s.txt", BENCH_DATA, name);
    input_init(input, name, PACK_RANKS);
    read_pack(input, path);
    for (int32_t rank = 0; rank < input->cp; rank++) {
        compare(input, rank, index);
    }
    benches[0] = (struct bench){.input = input, .what = "plan", .repeats = 400, .target = 10};
    benches[1] = (struct bench){.input = input, .index = index, .what = "index", .repeats = 40};
}

int main(int argc, char **argv)
{
    const bool json = bench_wants_json(argc, argv);
    struct index *const index = calloc(1, sizeof(*index));
    struct input inputs[DENSE + PACKS];
    struct bench benches[BENCHES];

    if (index == NULL) {
        bench_die("index", "out of memory");
    }
    for (int i = 0; i < DENSE; i++) {
        input_init(&inputs[i], "dense", INT32_C(2) << i);
        benches[2 * i] = (struct bench){.input = &inputs[i],
                                        .what = "layout",
                                        .layout_alone = true,
                                        .repeats = 2000,
                                        .target = 1};
        benches[2 * i + 1] =
            (struct bench){.input = &inputs[i], .what = "plan", .repeats = 2000, .target = 1};
    }
    for (int i = 0; i < PACKS; i++) {
        add_pack(&inputs[DENSE + i], packs[i], index, &benches[2 * DENSE + 2 * i]);
    }
    measure_all(benches, BENCHES);
    (json ? print_json : print_table)(benches, BENCHES);
    for (int i = 0; i < DENSE + PACKS; i++) {
        input_fini(&inputs[i]);
    }
    free(index);
    return 0;
}
