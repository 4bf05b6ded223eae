/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a plan costs: the table of both layouts and the route of one rank, from nothing but lengths,
 * in an arena that is used again. Dense sequences on 2 to 64 and on 4096 ranks; packs of 131,072 and
 * of 1,048,576 tokens, with document lengths of real training mixes. Beside a pack's plan stands what
 * hosts do instead: the owner of every token in both layouts by division, and the rows of the rank
 * sorted by peer.
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

#include "index.h"
#include "plan/route.h"
#include "rounds.h"

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

static const struct cpl_allocator counted = {.allocate = allocate, .release = release};

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
    struct cpl_shape shape = {.tokens = input->tokens, .cp = input->cp, .tp = input->tp};
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
    const struct cpl_shape shape = {.tokens = input->tokens, .cp = input->cp, .tp = input->tp};
    struct cpl_table table;
    struct cpl_error error;

    cpl_arena_reset(&input->arena);
    need(cpl_table_build(&table, cpl_layout_find("zigzag"), &shape, &input->arena, &error), input,
         &error);
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

            if (at >= PACK_TOKENS_MOST || list->rows[at] != row) {
                return false;
            }
        }
    }
    return true;
}

/* Whether every peer's list has been crossed off to its end. Uses the index up. */
static bool is_used_up(const struct list *list, const int32_t *ends, int32_t ranks)
{
    return memcmp(list->first, ends, (size_t)ranks * sizeof(ends[0])) == 0;
}

static void compare(struct input *input, int32_t rank, struct index *index)
{
    const int32_t ranks = input_ranks(input);
    int32_t sent_ends[PACK_RANKS_MOST];
    int32_t received_ends[PACK_RANKS_MOST];
    struct cpl_route route;

    plan(input, rank, &route);
    index_build(input, rank, index);
    memcpy(sent_ends, &index->sent.first[1], sizeof(sent_ends));
    memcpy(received_ends, &index->received.first[1], sizeof(received_ends));
    if (!match(&route.kept, true, &index->sent) || !match(&route.sent, true, &index->sent) ||
        !match(&route.kept, false, &index->received) ||
        !match(&route.received, false, &index->received) ||
        !is_used_up(&index->sent, sent_ends, ranks) ||
        !is_used_up(&index->received, received_ends, ranks)) {
        bench_die(input->name, "route and index move different rows");
    }
}

/* ---- Measuring ------------------------------------------------------------------------------- */

struct bench {
    struct input *input;
    struct index *index; /* NULL: the planner */
    const char *what;
    bool layout_alone; /* of a dense input */
    int32_t repeats;   /* in every round */
    double target;     /* microseconds; of an index, its time over the plan's */
    struct rounds rounds;
};

/* Microseconds of one plan or one index, averaged over a round. */
static double measure(const struct bench *bench)
{
    struct cpl_route route;
    const double begin = rounds_now();

    for (int32_t i = 0; i < bench->repeats; i++) {
        const int32_t rank = i % input_ranks(bench->input);

        if (bench->layout_alone) {
            lay_out(bench->input);
        } else if (bench->index == NULL) {
            plan(bench->input, rank, &route);
        } else {
            index_build(bench->input, rank, bench->index);
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
        "layout: the zigzag table. plan: that and the contiguous one, and the route of one rank\n"
        "between them.\n"
        "Microseconds: median of %d interleaved rounds, least and most of them.\n\n"
        "%-7s %-8s %8s %4s %3s %9s %8s %8s %8s %7s %7s\n",
        ROUNDS, "what", "input", "tokens", "P", "T", "documents", "median", "least", "most",
        "target", "ratio");
    for (size_t i = 0; i < count; i++) {
        const struct bench *const bench = &benches[i];

        printf("%-7s %-8s %8d %4d %3d %9zu %8.2f %8.2f %8.2f", bench->what, bench->input->name,
               bench->input->tokens, bench->input->cp, bench->input->tp, bench->input->documents,
               median(bench), rounds_least(&bench->rounds), rounds_most(&bench->rounds));
        if (bench->index != NULL) {
            printf(" %6.0fx %6.1fx%s\n", bench->target, ratio(bench),
                   ratio(bench) < bench->target ? "  missed" : "");
        } else if (median(bench) <= bench->target) {
            printf(" %7.0f %7s\n", bench->target, "-");
        } else {
            printf(" %7.0f %7s  missed\n", bench->target, "-");
        }
    }
    printf(
        "\nindex: the owners of every token by division and the rank's rows sorted by peer instead;\nratio: its time over the plan's.\n");
}

static void print_json(const struct bench *benches, size_t count)
{
    printf("{\"benchmark\":\"plan\",\"rounds\":%d,\"unit\":\"microseconds\",\"results\":[", ROUNDS);
    for (size_t i = 0; i < count; i++) {
        const struct bench *const bench = &benches[i];

        printf("%s{\"what\":\"%s\",\"input\":\"%s\",\"tokens\":%d,\"cp\":%d,\"tp\":%d,"
               "\"documents\":%zu,"
               "\"median\":%.3f,\"least\":%.3f,\"most\":%.3f",
               i > 0 ? "," : "", bench->what, bench->input->name, bench->input->tokens,
               bench->input->cp, bench->input->tp, bench->input->documents, median(bench),
               rounds_least(&bench->rounds), rounds_most(&bench->rounds));
        if (bench->index != NULL) {
            printf(",\"ratio\":%.2f,\"target\":%.0f}", ratio(bench), bench->target);
        } else {
            printf(",\"target\":%.0f}", bench->target);
        }
    }
    printf("]}\n");
}

/* ---- Cases ----------------------------------------------------------------------------------- */

struct pack {
    const char *name;
    int32_t tokens;
    int32_t cp;
    int32_t tp;
    double target; /* microseconds */
    double ratio;
};

static const struct pack packs[] = {
    {"prolong", 131072, 8, 1, 10, 20},
    {"wlbllm", 131072, 8, 1, 10, 20},
    {"prolong", 1 << 20, 16, 4, 120, 12},
    {"wlbllm", 1 << 20, 16, 4, 120, 12},
};

/* Ranks of dense sequences, and microseconds for one of their plans. */
static const struct {
    int32_t cp;
    double target;
} denses[] = {{2, 1}, {4, 1}, {8, 1}, {16, 1}, {32, 1}, {64, 1}, {4096, 100}};

enum {
    DENSE = sizeof(denses) / sizeof(denses[0]),
    PACKS = sizeof(packs) / sizeof(packs[0]),
    BENCHES = 2 * DENSE + 2 * PACKS,
};

static void add_dense(struct input *input, int32_t cp, double target, struct bench benches[2])
{
    const int32_t repeats = cp > 64 ? 40 : 2000;

    input_init(input, "dense", cp, &counted);
    benches[0] = (struct bench){.input = input, .what = "layout", .layout_alone = true};
    benches[1] = (struct bench){.input = input, .what = "plan"};
    for (int i = 0; i < 2; i++) {
        benches[i].repeats = repeats;
        benches[i].target = target;
    }
}

static void add_pack(struct input *input, const struct pack *pack, struct index *index,
                     struct bench benches[2])
{
    const bool large = pack->tokens > TOKENS;
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/document-lengths-%s.txt", BENCH_DATA, pack->name);
    input_init(input, pack->name, pack->cp, &counted);
    input->tokens = pack->tokens;
    input->tp = pack->tp;
    input_read(input, path);
    for (int32_t rank = 0; rank < input_ranks(input); rank++) {
        compare(input, rank, index);
    }
    benches[0] = (struct bench){.input = input,
                                .what = "plan",
                                .repeats = large ? 64 : 400,
                                .target = pack->target};
    benches[1] = (struct bench){.input = input,
                                .index = index,
                                .what = "index",
                                .repeats = large ? 16 : 40,
                                .target = pack->ratio};
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
        add_dense(&inputs[i], denses[i].cp, denses[i].target, &benches[2 * i]);
    }
    for (int i = 0; i < PACKS; i++) {
        add_pack(&inputs[DENSE + i], &packs[i], index, &benches[2 * DENSE + 2 * i]);
    }
    measure_all(benches, BENCHES);
    (json ? print_json : print_table)(benches, BENCHES);
    for (int i = 0; i < DENSE + PACKS; i++) {
        input_fini(&inputs[i]);
    }
    free(index);
    return 0;
}
