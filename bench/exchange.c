/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs to move rows between two ranks that are threads: 64 MiB per rank from contiguous to
 * zigzag, in packs whose documents are so long that 4 KiB to 16 MiB in a row move together. Half of
 * a rank's rows stay with it and half come from the other; all of them are copied.
 *
 * The least it could cost is two threads that memcpy as many bytes, in one piece. Beside that stand
 * memcpy in pieces of the run's size, one after the other; memcpy of the very runs, by ranks that
 * never wait; and what hosts do instead: pack what moves into a message, copy it, unpack it.
 *
 * All ways use the same buffers, and every one has been touched before. Rounds of all cases are
 * interleaved, so that a slow phase of the machine meets all of them; the median counts. A time is
 * from the start of the first thread to the end of the last.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pack.h"
#include "rounds.h"
#include "seat.h"

/* ---- Ranks and ways -------------------------------------------------------------------------- */

static struct pack packs[] = {
    {.run = "4 KiB", .document = 4, .target = 1.3},
    {.run = "64 KiB", .document = 64, .target = 1.15},
    {.run = "1 MiB", .document = 1024, .target = 1.15},
    {.run = "16 MiB", .document = 16384, .target = 1.15},
};

enum { PACKS = sizeof(packs) / sizeof(packs[0]) };

struct rank {
    int32_t rank;
    struct seat seat;
    struct cplayout_batch *batches[PACKS];
    struct rows input;
    struct rows output;
    unsigned char *in; /* [PACK_BYTES], all four */
    unsigned char *out;
    unsigned char *sent;
    unsigned char *received;
    double begin; /* of the round */
    double end;
};

static struct rank ranks[PACK_RANKS];
static struct cplayout_local_group *group;
static pthread_barrier_t barrier;

static void meet(void)
{
    (void)pthread_barrier_wait(&barrier);
}

static void copy_whole(struct rank *rank, int pack)
{
    (void)pack;
    memcpy(rank->out, rank->in, PACK_BYTES);
}

static void copy_pieces(struct rank *rank, int pack)
{
    const int64_t bytes = pack_run_bytes(&packs[pack]);

    for (int64_t at = 0; at < PACK_BYTES; at += bytes) {
        memcpy(rank->out + at, rank->in + at, (size_t)bytes);
    }
}

static void exchange(struct rank *rank, int pack)
{
    const struct cplayout_call call =
        seat_call(&rank->seat, rank->batches[pack], LAYER_CONVERTED, &rank->input);

    seat_prepare(&rank->seat, &call, &rank->output.tensor);
}

static void copy_rows(unsigned char *to, int64_t dst, const unsigned char *from, int64_t src,
                      int64_t rows)
{
    memcpy(to + dst * PACK_ROW_BYTES, from + src * PACK_ROW_BYTES, (size_t)rows * PACK_ROW_BYTES);
}

static void copy_moves(unsigned char *to, const unsigned char *from, const struct moves *moves)
{
    for (uint64_t i = 0; i < moves->count; i++) {
        copy_rows(to, moves->list[i].dst, from, moves->list[i].src, moves->list[i].rows);
    }
}

static void copy_planned(struct rank *rank, int pack)
{
    const struct moves *const moves = packs[pack].moves[rank->rank];

    copy_moves(rank->out, rank->in, &moves[CPLAYOUT_MOVES_KEPT]);
    copy_moves(rank->out, ranks[1 - rank->rank].in, &moves[CPLAYOUT_MOVES_RECEIVED]);
}

static void stage(struct rank *rank, int pack)
{
    const struct moves *const moves = packs[pack].moves[rank->rank];
    const struct moves *const sent = &moves[CPLAYOUT_MOVES_SENT];
    const struct moves *const received = &moves[CPLAYOUT_MOVES_RECEIVED];
    int64_t rows = 0;

    for (uint64_t i = 0; i < sent->count; i++) {
        copy_rows(rank->sent, rows, rank->in, sent->list[i].src, sent->list[i].rows);
        rows += sent->list[i].rows;
    }
    meet();
    copy_rows(rank->received, 0, ranks[1 - rank->rank].sent, 0, rows);
    copy_moves(rank->out, rank->in, &moves[CPLAYOUT_MOVES_KEPT]);
    rows = 0;
    for (uint64_t i = 0; i < received->count; i++) {
        copy_rows(rank->out, received->list[i].dst, rank->received, rows, received->list[i].rows);
        rows += received->list[i].rows;
    }
}

static void rank_open(struct rank *rank)
{
    const struct cplayout_host place = {.rank = rank->rank,
                                        .ranks = PACK_RANKS,
                                        .local_group = group};

    seat_open(&rank->seat, &place, true);
    for (int i = 0; i < PACKS; i++) {
        const struct cplayout_lengths lengths = pack_lengths(&packs[i]);
        const struct cplayout_batch_args args = {.size = sizeof(args),
                                                 .samples = &lengths,
                                                 .sample_count = 1};

        rank->batches[i] = seat_batch(&rank->seat, &args);
    }
}

static void rank_close(struct rank *rank)
{
    for (int i = 0; i < PACKS; i++) {
        seat_core->batch_destroy(rank->batches[i]);
    }
    seat_close(&rank->seat);
    free(rank->in);
    free(rank->out);
    free(rank->sent);
    free(rank->received);
}

/* Touched, and aligned as a tensor library would. */
static unsigned char *allocate_rows(void)
{
    unsigned char *const memory = aligned_alloc(4096, PACK_BYTES);

    if (memory == NULL) {
        bench_die("exchange", "out of memory");
    }
    memset(memory, 1, PACK_BYTES);
    return memory;
}

/* Every row begins with its place in the stream. */
static void rank_fill(struct rank *rank)
{
    rank->in = allocate_rows();
    rank->out = allocate_rows();
    rank->sent = allocate_rows();
    rank->received = allocate_rows();
    rows_init(&rank->input, rank->in, PACK_ROWS, PACK_ROW_BYTES);
    rows_init(&rank->output, rank->out, PACK_ROWS, PACK_ROW_BYTES);
    for (int64_t row = 0; row < PACK_ROWS; row++) {
        const int64_t position = rank->rank * PACK_ROWS + row;

        memcpy(rank->in + row * PACK_ROW_BYTES, &position, sizeof(position));
    }
}

/* ---- Measuring ------------------------------------------------------------------------------- */

enum way { WHOLE, EXCHANGE, PIECES, PLANNED, STAGED, WAYS };

static const struct {
    const char *name;
    void (*run)(struct rank *rank, int pack);
} ways[WAYS] = {
    [WHOLE] = {"memcpy", copy_whole},   [EXCHANGE] = {"exchange", exchange},
    [PIECES] = {"pieces", copy_pieces}, [PLANNED] = {"planned", copy_planned},
    [STAGED] = {"staged", stage},
};

struct bench {
    enum way way;
    int pack;
    struct rounds rounds;
};

enum { BENCHES = 1 + PACKS * (WAYS - 1) };

/* memcpy, then the other ways of every pack. */
static struct bench benches[BENCHES];

static void list_benches(void)
{
    for (int i = 1; i < BENCHES; i++) {
        benches[i].way = (enum way)(EXCHANGE + (i - 1) % (WAYS - 1));
        benches[i].pack = (i - 1) / (WAYS - 1);
    }
}

static const struct bench *bench_of(enum way way, int pack)
{
    return way == WHOLE ? &benches[0] : &benches[pack * (WAYS - 1) + (int)way];
}

static void check(struct rank *rank, const struct bench *bench)
{
    memset(rank->out, 0, PACK_BYTES);
    meet();
    ways[bench->way].run(rank, bench->pack);
    meet();
    for (int64_t row = 0; row < PACK_ROWS && bench->way != WHOLE && bench->way != PIECES; row++) {
        const int64_t *const position = &packs[bench->pack].positions[rank->rank][row];

        if (memcmp(rank->out + row * PACK_ROW_BYTES, position, sizeof(*position)) != 0) {
            bench_die(ways[bench->way].name, "a row is not where zigzag has it");
        }
    }
}

static void measure(struct rank *rank, struct bench *bench, int round)
{
    meet();
    rank->begin = rounds_now();
    ways[bench->way].run(rank, bench->pack);
    rank->end = rounds_now();
    meet();
    if (rank->rank == 0) {
        const double begin = ranks[0].begin < ranks[1].begin ? ranks[0].begin : ranks[1].begin;
        const double end = ranks[0].end > ranks[1].end ? ranks[0].end : ranks[1].end;

        bench->rounds.times[round] = end - begin;
    }
}

static void *rank_main(void *self)
{
    struct rank *const rank = self;

    rank_open(rank);
    rank_fill(rank);
    for (int i = 0; i < BENCHES; i++) {
        check(rank, &benches[i]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < BENCHES; i++) {
            measure(rank, &benches[i], round);
        }
    }
    rank_close(rank);
    return NULL;
}

static void run_ranks(void)
{
    struct cplayout_error error = {.size = sizeof(error)};
    pthread_t threads[PACK_RANKS];

    seat_need(seat_core->local_group_create(NULL, PACK_RANKS, &group, &error), &error);
    (void)pthread_barrier_init(&barrier, NULL, PACK_RANKS);
    for (int32_t i = 0; i < PACK_RANKS; i++) {
        ranks[i].rank = i;
        if (pthread_create(&threads[i], NULL, rank_main, &ranks[i]) != 0) {
            bench_die("exchange", "the system refused a thread");
        }
    }
    for (int i = 0; i < PACK_RANKS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    (void)pthread_barrier_destroy(&barrier);
    seat_core->local_group_destroy(group);
    for (int i = 0; i < BENCHES; i++) {
        rounds_sort(&benches[i].rounds);
    }
}

/* ---- Output ---------------------------------------------------------------------------------- */

/* Time of one way, another's being 1. */
static double ratio(const struct bench *bench, const struct bench *to)
{
    return rounds_median(&bench->rounds) / rounds_median(&to->rounds);
}

static void print_row(const struct bench *bench)
{
    const struct pack *const pack = &packs[bench->pack];
    const double times = ratio(bench, &benches[0]);

    printf("%-7s %-9s %8.2f %8.2f %8.2f %7.2f", bench->way == WHOLE ? "-" : pack->run,
           ways[bench->way].name, rounds_median(&bench->rounds) * 1e-3,
           rounds_least(&bench->rounds) * 1e-3, rounds_most(&bench->rounds) * 1e-3, times);
    if (bench->way == EXCHANGE) {
        printf(" %7.2f%s\n", pack->target, times <= pack->target ? "" : "  missed");
    } else {
        printf(" %7s\n", "-");
    }
}

static void print_table(void)
{
    printf("%d MiB on each of two threads; half of it moves from one to the other.\n"
           "Milliseconds: median of %d interleaved rounds, least and most of them.\n\n"
           "%-7s %-9s %8s %8s %8s %7s %7s\n",
           PACK_BYTES >> 20, ROUNDS, "run", "way", "median", "least", "most", "ratio", "target");
    for (int i = 0; i < BENCHES; i++) {
        print_row(&benches[i]);
    }
    printf("\nratio: to memcpy of all bytes at once. pieces: memcpy in pieces of the run's size.\n"
           "planned: memcpy of the same runs without waiting. staged: pack, copy, unpack; an\n"
           "exchange is");
    for (int i = 0; i < PACKS; i++) {
        printf("%s %.2f", i > 0 ? "," : "", ratio(bench_of(STAGED, i), bench_of(EXCHANGE, i)));
    }
    printf(" times as fast.\n");
}

static void print_json(void)
{
    printf("{\"benchmark\":\"exchange\",\"bytes\":%d,\"ranks\":%d,\"rounds\":%d,"
           "\"unit\":\"microseconds\",\"results\":[",
           PACK_BYTES, PACK_RANKS, ROUNDS);
    for (int i = 0; i < BENCHES; i++) {
        const struct bench *const bench = &benches[i];

        printf("%s{\"way\":\"%s\"", i > 0 ? "," : "", ways[bench->way].name);
        if (bench->way != WHOLE) {
            printf(",\"run\":%" PRId64, pack_run_bytes(&packs[bench->pack]));
        }
        printf(",\"median\":%.3f,\"least\":%.3f,\"most\":%.3f,\"ratio\":%.3f",
               rounds_median(&bench->rounds), rounds_least(&bench->rounds),
               rounds_most(&bench->rounds), ratio(bench, &benches[0]));
        if (bench->way == EXCHANGE) {
            printf(",\"target\":%.2f", packs[bench->pack].target);
        }
        printf("}");
    }
    printf("]}\n");
}

int main(int argc, char **argv)
{
    const bool json = bench_wants_json(argc, argv);

    seat_load();
    list_benches();
    for (int i = 0; i < PACKS; i++) {
        pack_init(&packs[i]);
    }
    run_ranks();
    (json ? print_json : print_table)();
    for (int i = 0; i < PACKS; i++) {
        pack_fini(&packs[i]);
    }
    return 0;
}
