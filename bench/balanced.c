/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the layout `balanced` reaches and costs on document lengths of real training mixes: attention
 * work of the busiest rank over the mean, rows that leave their contiguous slice, and the time to lay
 * out a pack. Beside the rows stand those of per-document zigzag and a lower bound.
 *
 * The lower bound. Slices above the allowed work must lose what they have too much. Rows leave them
 * and as many come in, for every rank keeps its number of rows; the best that k such swaps can do is to
 * take the k rows with the most work out of these slices and the k rows with the least from all
 * others in. With the least k that suffices, at least 2k rows move.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "plan/counts.h"
#include "plan/route.h"
#include "rounds.h"

enum { DOCUMENTS_MOST = 4000 };

static const char layout_text[] = "balanced:0.05";
static const double tolerance = 0.05;

/* Packs of one file and size. */
struct mix {
    const char *name;
    int32_t tokens;
    int32_t cp;
    double target; /* microseconds; 0: none */

    int32_t packs;
    double worst;         /* busiest over mean, largest of all packs */
    double start;         /* the same of contiguous slices, mean */
    double moved, most;   /* share of rows, mean and largest */
    double zigzag;        /* share of rows that zigzag moves, mean */
    double bound;         /* lower bound, mean */
    struct rounds rounds; /* microseconds per pack */
};

/* A pack, and the memory of its plans. */
struct pack {
    int32_t offsets[DOCUMENTS_MOST + 1];
    size_t documents;
    struct cpl_arena arena;
};

static void need(enum cpl_status status, const struct cpl_error *error)
{
    if (status != CPL_OK) {
        bench_die("plan", error->message);
    }
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static struct cpl_stream stream_of(struct pack *pack)
{
    const struct cpl_lengths lengths = {.cu_seqlens = pack->offsets,
                                        .entries = pack->documents + 1};
    struct cpl_stream stream;
    struct cpl_error error;

    need(cpl_stream_packed(&stream, &lengths, 1, &pack->arena, &error), &error);
    return stream;
}

static struct cpl_table lay_out(struct pack *pack, const struct cpl_stream *stream, int32_t cp,
                                const char *text)
{
    const struct cpl_shape shape = {.cp = cp, .tp = 1, .stream = stream};
    struct cpl_layout layout;
    struct cpl_table table;
    struct cpl_error error;

    need(cpl_layout_parse(text, &layout, &error), &error);
    need(cpl_table_build(&table, &layout, &shape, &pack->arena, &error), &error);
    return table;
}

static double balance(const struct cpl_table *table)
{
    double most = 0;
    double sum = 0;

    for (int32_t rank = 0; rank < table->ranks; rank++) {
        const double work = (double)cpl_count_rank(table, rank).attention_pairs;

        most = work > most ? work : most;
        sum += work;
    }
    return most * table->ranks / sum;
}

/* Share of the rows whose rank is another than in the contiguous table. */
static double moved(struct pack *pack, const struct cpl_table *from, const struct cpl_table *to)
{
    int64_t rows = 0;

    for (int32_t rank = 0; rank < from->ranks; rank++) {
        struct cpl_route route;
        struct cpl_error error;

        need(cpl_route_build(&route, from, to, rank, &pack->arena, &error), &error);
        rows += cpl_moves_rows(&route.received);
    }
    return (double)rows / (double)from->stream.rows;
}

/* ---- Lower bound ------------------------------------------------------------------------------ */

static int compare_work(const void *left, const void *right)
{
    const int32_t a = *(const int32_t *)left;
    const int32_t b = *(const int32_t *)right;

    return (a > b) - (a < b);
}

/* Work of every token: itself and those before it in its document. */
static void weigh(const struct pack *pack, int32_t *work)
{
    for (size_t i = 0; i < pack->documents; i++) {
        for (int32_t row = pack->offsets[i]; row < pack->offsets[i + 1]; row++) {
            work[row] = row - pack->offsets[i] + 1;
        }
    }
}

/* Sorts slices into those with too much work, in front, and the others. Returns the rows of the first. */
static int32_t part(const struct mix *mix, const int32_t *work, int32_t *parted, double *excess)
{
    const int32_t slice = mix->tokens / mix->cp;
    int32_t front = 0;
    int32_t back = mix->tokens;
    double total = 0;

    for (int32_t row = 0; row < mix->tokens; row++) {
        total += work[row];
    }
    *excess = 0;
    for (int32_t rank = 0; rank < mix->cp; rank++) {
        const int32_t *const own = work + (size_t)rank * (size_t)slice;
        double sum = -total / mix->cp * (1 + tolerance);

        for (int32_t row = 0; row < slice; row++) {
            sum += own[row];
        }
        *excess += sum > 0 ? sum : 0;
        back -= sum > 0 ? 0 : slice;
        memcpy(parted + (sum > 0 ? front : back), own, (size_t)slice * sizeof(*own));
        front += sum > 0 ? slice : 0;
    }
    return front;
}

static double lower_bound(const struct mix *mix, const struct pack *pack)
{
    int32_t *const work = calloc((size_t)mix->tokens, sizeof(*work));
    int32_t *const parted = calloc((size_t)mix->tokens, sizeof(*parted));
    double excess;
    int32_t rows = 0;
    int32_t front;

    if (work == NULL || parted == NULL) {
        bench_die(mix->name, "no memory");
    }
    weigh(pack, work);
    front = part(mix, work, parted, &excess);
    qsort(parted, (size_t)front, sizeof(*parted), compare_work);
    qsort(parted + front, (size_t)(mix->tokens - front), sizeof(*parted), compare_work);
    while (excess > 0 && rows < front && front + rows < mix->tokens) {
        excess -= parted[front - 1 - rows] - parted[front + rows];
        rows++;
    }
    free(work);
    free(parted);
    return 2.0 * rows / mix->tokens;
}

/* ---- Packs ------------------------------------------------------------------------------------ */

static FILE *open_lengths(const struct mix *mix)
{
    char path[4096];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/document-lengths-%s.txt", BENCH_DATA, mix->name);
    file = fopen(path, "r");
    if (file == NULL) {
        bench_die(path, "cannot be read");
    }
    return file;
}

/* The next full pack: lengths in order until it is full, the last one clipped. */
static bool read_pack(FILE *file, const struct mix *mix, struct pack *pack)
{
    int32_t length;

    pack->documents = 0;
    while (pack->documents < DOCUMENTS_MOST && fscanf(file, "%" SCNd32, &length) == 1) {
        const int32_t begin = pack->offsets[pack->documents];
        const int32_t left = mix->tokens - begin;

        pack->offsets[++pack->documents] = begin + (length < left ? length : left);
        if (length >= left) {
            return true;
        }
    }
    return false;
}

static void look(struct mix *mix, struct pack *pack)
{
    struct cpl_stream stream;
    struct cpl_table contiguous;
    struct cpl_table balanced;
    struct cpl_table zigzag;
    double share;
    double reached;

    cpl_arena_reset(&pack->arena);
    stream = stream_of(pack);
    contiguous = lay_out(pack, &stream, mix->cp, "contiguous");
    balanced = lay_out(pack, &stream, mix->cp, layout_text);
    zigzag = lay_out(pack, &stream, mix->cp, "zigzag");
    share = moved(pack, &contiguous, &balanced);
    reached = balance(&balanced);
    mix->packs++;
    mix->worst = reached > mix->worst ? reached : mix->worst;
    mix->most = share > mix->most ? share : mix->most;
    mix->start += balance(&contiguous);
    mix->moved += share;
    mix->zigzag += moved(pack, &contiguous, &zigzag);
    mix->bound += lower_bound(mix, pack);
}

/* All packs of a mix; microseconds per pack are those of laying it out. */
static double run(struct mix *mix, struct pack *pack, void (*each)(struct mix *, struct pack *))
{
    FILE *const file = open_lengths(mix);
    double time = 0;
    int32_t packs = 0;

    for (; read_pack(file, mix, pack); packs++) {
        double begin;
        struct cpl_stream stream;

        if (each != NULL) {
            each(mix, pack);
            continue;
        }
        cpl_arena_reset(&pack->arena);
        begin = rounds_now();
        stream = stream_of(pack);
        (void)lay_out(pack, &stream, mix->cp, layout_text);
        time += rounds_now() - begin;
    }
    (void)fclose(file);
    return packs > 0 ? time / packs : 0;
}

static void measure(struct mix *mixes, size_t count, struct pack *pack)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < count; i++) {
            mixes[i].rounds.times[round] = run(&mixes[i], pack, NULL);
        }
    }
    for (size_t i = 0; i < count; i++) {
        rounds_sort(&mixes[i].rounds);
        (void)run(&mixes[i], pack, look);
        mixes[i].start /= mixes[i].packs;
        mixes[i].moved /= mixes[i].packs;
        mixes[i].zigzag /= mixes[i].packs;
        mixes[i].bound /= mixes[i].packs;
    }
}

/* ---- Output ---------------------------------------------------------------------------------- */

static void print_table(const struct mix *mixes, size_t count)
{
    printf(
        "%s on full packs. max/mean: attention work of the busiest rank; slices: the same in\n"
        "contiguous, mean. Rows that leave their slice in %%: mean, largest, of zigzag, and the\n"
        "least that could do. Microseconds per pack: median of %d interleaved rounds.\n\n"
        "%-8s %8s %3s %6s %9s %7s %6s %8s %7s %6s %8s %7s\n",
        layout_text, ROUNDS, "input", "tokens", "P", "packs", "max/mean", "slices", "moved",
        "largest", "zigzag", "least", "median", "target");
    for (size_t i = 0; i < count; i++) {
        const struct mix *const mix = &mixes[i];
        const double median = rounds_median(&mix->rounds);

        printf("%-8s %8d %3d %6d %9.3f %7.2f %6.1f %8.1f %7.1f %6.1f %8.1f", mix->name, mix->tokens,
               mix->cp, mix->packs, mix->worst, mix->start, 100 * mix->moved, 100 * mix->most,
               100 * mix->zigzag, 100 * mix->bound, median);
        if (mix->target > 0) {
            printf(" %7.0f%s\n", mix->target, median > mix->target ? "  missed" : "");
        } else {
            printf(" %7s\n", "-");
        }
    }
}

static void print_json(const struct mix *mixes, size_t count)
{
    printf("{\"benchmark\":\"balanced\",\"layout\":\"%s\",\"rounds\":%d,\"unit\":\"microseconds\","
           "\"results\":[",
           layout_text, ROUNDS);
    for (size_t i = 0; i < count; i++) {
        const struct mix *const mix = &mixes[i];

        printf("%s{\"input\":\"%s\",\"tokens\":%d,\"cp\":%d,\"packs\":%d,\"max_over_mean\":%.4f,"
               "\"contiguous_max_over_mean\":%.4f,\"moved\":%.4f,\"moved_most\":%.4f,"
               "\"moved_zigzag\":%.4f,\"moved_least\":%.4f,\"median\":%.3f}",
               i > 0 ? "," : "", mix->name, mix->tokens, mix->cp, mix->packs, mix->worst,
               mix->start, mix->moved, mix->most, mix->zigzag, mix->bound,
               rounds_median(&mix->rounds));
    }
    printf("]}\n");
}

int main(int argc, char **argv)
{
    static struct pack pack;
    struct mix mixes[] = {
        {.name = "prolong", .tokens = 1 << 17, .cp = 8},
        {.name = "wlbllm", .tokens = 1 << 17, .cp = 8},
        {.name = "prolong", .tokens = 1 << 19, .cp = 16},
        {.name = "wlbllm", .tokens = 1 << 19, .cp = 16},
        {.name = "prolong", .tokens = 1 << 20, .cp = 16, .target = 1000},
        {.name = "wlbllm", .tokens = 1 << 20, .cp = 16, .target = 1000},
    };
    const size_t count = sizeof(mixes) / sizeof(mixes[0]);
    const struct cpl_allocator allocator = cpl_allocator_default();
    const bool json = bench_wants_json(argc, argv);

    cpl_arena_init(&pack.arena, &allocator);
    measure(mixes, count, &pack);
    (json ? print_json : print_table)(mixes, count);
    cpl_arena_fini(&pack.arena);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
