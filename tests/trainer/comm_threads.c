/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communication between ranks as threads: order and length of messages, collectives against sums
 * and blocks computed here, the byte counters, abort and timeout. Each rank writes only its own
 * entry of the results; the main thread reads them after joining.
 */
#include "comm.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RANKS = 4, MESSAGES = 500, COUNT = 1003, LONGEST = 3 * RANKS };

static int tests, failures;

__attribute__((format(printf, 2, 3))) static void check(bool good, const char *format, ...)
{
    va_list arguments;

    tests++;
    failures += !good;
    printf("%sok %d - ", good ? "" : "not ", tests);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

static void require(bool good, const char *what)
{
    if (!good) {
        printf("Bail out! %s\n", what);
        exit(1);
    }
}

static double seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

struct rank {
    struct comm *comm;
    int32_t rank;
    int (*body)(struct rank *rank);
    int status;         /* what the body returned */
    real values[COUNT]; /* what it leaves for the main thread */
};

static void *rank_main(void *argument)
{
    struct rank *rank = argument;

    rank->status = rank->body(rank);
    return NULL;
}

/* Runs the body on every rank of a new group; the caller destroys ranks[0].comm. */
static void run(struct rank *ranks, double timeout, int (*body)(struct rank *rank))
{
    pthread_t threads[RANKS];
    struct comm *comm = comm_create(RANKS, timeout);

    require(comm, "no group");
    memset(ranks, 0, RANKS * sizeof *ranks);
    for (int32_t r = 0; r < RANKS; r++) {
        ranks[r].comm = comm;
        ranks[r].rank = r;
        ranks[r].body = body;
        require(pthread_create(&threads[r], NULL, rank_main, &ranks[r]) == 0, "no thread");
    }
    for (int32_t r = 0; r < RANKS; r++) {
        pthread_join(threads[r], NULL);
    }
}

static bool all_status(const struct rank *ranks, int status)
{
    bool all = true;

    for (int32_t r = 0; r < RANKS; r++) {
        all = all && ranks[r].status == status;
    }
    return all;
}

/* ---- Messages ---- */

/* Messages to the next rank, alternating between two tags; lengths grow and shrink. */
static int send_many(const struct rank *rank)
{
    struct channel to = {rank->rank, (rank->rank + 1) % RANKS, 0, COMM_STATE};
    int32_t data[40];

    for (int32_t i = 0; i < MESSAGES; i++) {
        for (int n = 0; n < 40; n++) {
            data[n] = rank->rank * 1000000 + i;
        }
        to.tag = i % 2;
        if (comm_send(rank->comm, &to, data, (size_t)(i % 40) * sizeof *data)) {
            return -1;
        }
    }
    return 0;
}

/* All of tag 1 first, then all of tag 0: each must come in its own order. */
static int receive_many(const struct rank *rank)
{
    const int32_t source = (rank->rank + RANKS - 1) % RANKS;
    struct channel from = {rank->rank, source, 1, COMM_STATE};
    int32_t data[40];

    for (; from.tag >= 0; from.tag--) {
        for (int32_t i = from.tag; i < MESSAGES; i += 2) {
            const int length = i % 40;
            if (comm_recv(rank->comm, &from, data, (size_t)length * sizeof *data)) {
                return -1;
            }
            for (int n = 0; n < length; n++) {
                if (data[n] != source * 1000000 + i) {
                    return -1;
                }
            }
        }
    }
    return 0;
}

static int messages_body(struct rank *rank)
{
    return send_many(rank) || receive_many(rank) ? -1 : 0;
}

static void test_messages(struct rank *ranks)
{
    int64_t bytes = 0;

    for (int i = 0; i < MESSAGES; i++) {
        bytes += RANKS * (i % 40) * (int64_t)sizeof(int32_t);
    }
    run(ranks, 20, messages_body);
    check(all_status(ranks, 0), "messages arrive whole, in order within each tag");
    check(comm_bytes(ranks[0].comm, COMM_STATE) == bytes &&
              comm_bytes(ranks[0].comm, COMM_HALO) == 0,
          "%lld bytes are counted, under their category only", (long long)bytes);
    comm_destroy(ranks[0].comm);
}

static int self_body(struct rank *rank)
{
    const struct channel self = {rank->rank, rank->rank, 3, COMM_OTHER};
    int32_t data = 17 + rank->rank;
    int32_t got = 0;

    if (comm_send(rank->comm, &self, &data, sizeof data) ||
        comm_recv(rank->comm, &self, &got, sizeof got)) {
        return -1;
    }
    return got == data ? 0 : -1;
}

static void test_self(struct rank *ranks)
{
    run(ranks, 20, self_body);
    check(all_status(ranks, 0) && comm_bytes(ranks[0].comm, COMM_OTHER) == 0,
          "a message to oneself arrives and is not counted");
    comm_destroy(ranks[0].comm);
}

static int length_body(struct rank *rank)
{
    const struct channel to = {rank->rank, (rank->rank + 1) % RANKS, 5, COMM_OTHER};
    const struct channel from = {rank->rank, (rank->rank + RANKS - 1) % RANKS, 5, COMM_OTHER};
    const char data[8] = {0};
    char got[8];

    if (comm_send(rank->comm, &to, data, rank->rank == 2 ? 8 : 4)) {
        return -1;
    }
    return comm_recv(rank->comm, &from, got, 4) || comm_barrier(rank->comm, rank->rank) ? -1 : 0;
}

static void test_length(struct rank *ranks)
{
    run(ranks, 20, length_body);
    check(all_status(ranks, -1) && strstr(comm_error(ranks[0].comm), "from rank 2"),
          "a wrong length fails the group: %s", comm_error(ranks[0].comm));
    comm_destroy(ranks[0].comm);
}

/* ---- Collectives ---- */

/* Rank r contributes r + 1 numbers; rank 2 none. */
static size_t block_count(int32_t rank)
{
    return rank == 2 ? 0 : (size_t)rank + 1;
}

static int gather_body(struct rank *rank)
{
    int32_t block[LONGEST], all[LONGEST];
    size_t bytes[RANKS];
    int32_t at = 0;

    for (int32_t r = 0; r < RANKS; r++) {
        bytes[r] = block_count(r) * sizeof *block;
    }
    for (int32_t i = 0; i < LONGEST; i++) {
        block[i] = 100 * rank->rank + i;
    }
    for (int n = 0; n < 50; n++) {
        if (comm_allgather(rank->comm, rank->rank, COMM_HALO, block, bytes, all)) {
            return -1;
        }
    }
    for (int32_t r = 0; r < RANKS; r++) {
        for (int32_t i = 0; i < (int32_t)block_count(r); i++) {
            if (all[at++] != 100 * r + i) {
                return -1;
            }
        }
    }
    return 0;
}

static void test_gather(struct rank *ranks)
{
    run(ranks, 20, gather_body);
    check(all_status(ranks, 0), "allgather puts unequal blocks in rank order");
    check(comm_bytes(ranks[0].comm, COMM_HALO) == 50 * (1 + 2 + 4) * 4 * (RANKS - 1),
          "allgather counts every block once per other rank");
    comm_destroy(ranks[0].comm);
}

/* Values whose float sum depends on the order. */
static real value(int32_t rank, int64_t i)
{
    const real sizes[RANKS] = {1e8, 3, -1e8, (real)0.7};

    return sizes[rank] + (real)(i % 13) * (real)0.01;
}

/* The sum in ascending order of the ranks, which the collectives must give to the bit. */
static real ascending(int64_t i)
{
    real sum = 0;

    for (int32_t r = 0; r < RANKS; r++) {
        sum += value(r, i);
    }
    return sum;
}

static int allreduce_body(struct rank *rank)
{
    for (int n = 0; n < 20; n++) {
        for (int64_t i = 0; i < COUNT; i++) {
            rank->values[i] = value(rank->rank, i);
        }
        if (comm_allreduce(rank->comm, rank->rank, COMM_GRADIENT, rank->values, COUNT)) {
            return -1;
        }
    }
    return 0;
}

static void test_allreduce(struct rank *ranks)
{
    bool exact = true;

    run(ranks, 20, allreduce_body);
    for (int32_t r = 0; r < RANKS; r++) {
        for (int64_t i = 0; i < COUNT; i++) {
            exact = exact && ranks[r].values[i] == ascending(i);
        }
    }
    check(all_status(ranks, 0) && exact,
          "allreduce adds in ascending order, to the bit, everywhere");
    check(comm_bytes(ranks[0].comm, COMM_GRADIENT) ==
              20 * 2 * (RANKS - 1) * COUNT * (int64_t)sizeof(real),
          "allreduce moves every number twice per other rank");
    comm_destroy(ranks[0].comm);
}

/* Block r has 5 r numbers. */
static int scatter_body(struct rank *rank)
{
    const int64_t counts[RANKS] = {0, 5, 10, 15};
    real blocks[30];

    for (int64_t i = 0; i < 30; i++) {
        blocks[i] = value(rank->rank, i);
    }
    return comm_reduce_scatter(rank->comm, rank->rank, COMM_ATTENTION, blocks, counts,
                               rank->values);
}

static void test_scatter(struct rank *ranks)
{
    const int64_t first[RANKS] = {0, 0, 5, 15};
    bool exact = true;

    run(ranks, 20, scatter_body);
    for (int32_t r = 0; r < RANKS; r++) {
        for (int64_t i = 0; i < 5 * r; i++) {
            exact = exact && ranks[r].values[i] == ascending(first[r] + i);
        }
    }
    check(all_status(ranks, 0) && exact, "reduce-scatter gives every rank the sum of its block");
    check(comm_bytes(ranks[0].comm, COMM_ATTENTION) == 30 * (RANKS - 1) * (int64_t)sizeof(real),
          "reduce-scatter counts what leaves a rank");
    comm_destroy(ranks[0].comm);
}

/* A rank leaves a barrier only when all have come: nobody can be more than one round behind. */
static int barrier_body(struct rank *rank)
{
    const struct channel to = {rank->rank, 0, 0, COMM_OTHER};

    for (int32_t n = 0; n < 200; n++) {
        if (comm_send(rank->comm, &to, &n, sizeof n) || comm_barrier(rank->comm, rank->rank)) {
            return -1;
        }
        for (int32_t r = 0; r < RANKS && rank->rank == 0; r++) {
            const struct channel from = {0, r, 0, COMM_OTHER};
            int32_t got = -1;
            if (comm_recv(rank->comm, &from, &got, sizeof got) || got != n) {
                return -1;
            }
        }
    }
    return 0;
}

static void test_barrier(struct rank *ranks)
{
    run(ranks, 20, barrier_body);
    check(all_status(ranks, 0), "barriers keep the ranks together");
    comm_destroy(ranks[0].comm);
}

/* ---- Failures ---- */

/* Rank 3 gives up while the others wait: one in a receipt, one in a barrier, one in a sum. */
static int abort_body(struct rank *rank)
{
    const struct channel from = {rank->rank, 3, 9, COMM_OTHER};
    char byte;

    switch (rank->rank) {
    case 0:
        return comm_recv(rank->comm, &from, &byte, 1);
    case 1:
        return comm_barrier(rank->comm, 1);
    case 2:
        return comm_allreduce(rank->comm, 2, COMM_OTHER, rank->values, COUNT);
    default:
        nanosleep(&(struct timespec){0, 50000000}, NULL);
        comm_abort(rank->comm, 3, "out of luck");
        comm_abort(rank->comm, 3, "said too late");
        return comm_barrier(rank->comm, 3);
    }
}

static void test_abort(struct rank *ranks)
{
    const double start = seconds();

    run(ranks, 60, abort_body);
    check(all_status(ranks, -1) && seconds() - start < 20, "an abort wakes every waiting rank");
    check(strcmp(comm_error(ranks[0].comm), "rank 3: out of luck") == 0,
          "the first message stays: %s", comm_error(ranks[0].comm));
    comm_destroy(ranks[0].comm);
}

/* Rank 2 never comes. */
static int timeout_body(struct rank *rank)
{
    const struct channel from = {rank->rank, 2, 6, COMM_OTHER};
    char byte;

    return rank->rank == 2 ? 0 : comm_recv(rank->comm, &from, &byte, 1);
}

static int absent_body(struct rank *rank)
{
    return rank->rank == 2 ? 0 : comm_barrier(rank->comm, rank->rank);
}

static bool three_failed(const struct rank *ranks)
{
    return ranks[0].status == -1 && ranks[1].status == -1 && ranks[3].status == -1;
}

static void test_timeout(struct rank *ranks)
{
    double start = seconds();

    run(ranks, 0.2, timeout_body);
    const double waited = seconds() - start;
    check(three_failed(ranks) && waited >= 0.2 && waited < 20, "a receipt ends after the timeout");
    check(strstr(comm_error(ranks[0].comm), "no message from rank 2 (tag 6)"),
          "the error names the peer: %s", comm_error(ranks[0].comm));
    comm_destroy(ranks[0].comm);
    start = seconds();
    run(ranks, 0.2, absent_body);
    check(three_failed(ranks) && seconds() - start < 20, "a barrier ends after the timeout");
    check(strstr(comm_error(ranks[0].comm), "rank 2 did not reach the barrier"),
          "the error names the absent rank: %s", comm_error(ranks[0].comm));
    comm_destroy(ranks[0].comm);
}

static void test_arguments(void)
{
    struct comm *comm = comm_create(1, 1);
    real sum = 5;

    check(!comm_create(0, 1) && !comm_create(-1, 1) && !comm_create(2, 0) &&
              !comm_create(2, (double)NAN),
          "a group needs a rank and a timeout");
    require(comm, "no group");
    check(comm_ranks(comm) == 1 && comm_error(comm)[0] == 0 && comm_barrier(comm, 0) == 0 &&
              comm_allreduce(comm, 0, COMM_OTHER, &sum, 1) == 0 && sum == 5,
          "one rank alone waits for nobody");
    comm_destroy(comm);
    comm_destroy(NULL);
}

int main(void)
{
    struct rank *ranks = calloc(RANKS, sizeof *ranks);

    require(ranks, "no memory");
    test_arguments();
    test_messages(ranks);
    test_self(ranks);
    test_length(ranks);
    test_gather(ranks);
    test_allreduce(ranks);
    test_scatter(ranks);
    test_barrier(ranks);
    test_abort(ranks);
    test_timeout(ranks);
    free(ranks);
    printf("1..%d\n", tests);
    return failures ? 1 : 0;
}
