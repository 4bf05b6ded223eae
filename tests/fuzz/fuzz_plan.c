/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzing of plan/1: bytes become ranks, lengths, layouts and a table; whatever they are, calls return
 * an error or objects that hold together.
 *
 * Built as any test it runs over inputs of its own. For libFuzzer, from the top folder:
 *
 *     flags='-g -O1 -D_GNU_SOURCE -Iabi -Itests -Iplugin -I.'
 *     clang $flags -shared -fPIC -fsanitize=address,undefined,fuzzer-no-link \
 *         -DPACKAGE_VERSION='"0"' $(find plugin kernels -name '*.c') -o fuzzed.so
 *     clang $flags -fsanitize=fuzzer,address,undefined -DFUZZER tests/fuzz/fuzz_plan.c \
 *         tests/threads/{host,tap,counter,wire,mail,gathering}.c -o fuzz_plan -lpthread -ldl
 *     TEST_PLUGIN=./fuzzed.so ./fuzz_plan -max_len=400
 */
#include <stdlib.h>
#include <string.h>

#include "threads/host.h"

enum { DOCUMENTS_MOST = 12, FRAGMENTS_MOST = 64, RANKS_MOST = 64, LIST_MOST = 4096 };

/* Reads numbers from bytes; zeros at their end. */
struct bytes {
    const uint8_t *at;
    size_t left;
};

static uint64_t take(struct bytes *bytes, int count)
{
    uint64_t value = 0;

    for (int i = 0; i < count; i++) {
        value = value << 8 | (bytes->left > 0 ? *bytes->at : 0);
        bytes->at += bytes->left > 0;
        bytes->left -= bytes->left > 0;
    }
    return value;
}

static void need(bool good)
{
    if (!good) {
        abort();
    }
}

struct wish {
    struct cplayout_partition_args args;
    struct cplayout_lengths sample;
    struct cplayout_table_args table;
    int32_t real[DOCUMENTS_MOST + 1];
    int32_t padded[DOCUMENTS_MOST + 1];
    struct cplayout_fragment fragments[FRAGMENTS_MOST];
    uint64_t counts[RANKS_MOST];
};

static const char *take_layout(struct bytes *bytes)
{
    static const char *const names[] = {"contiguous", "mirror",    "zigzag",     "zigzag-stream",
                                        "striped:1",  "striped:7", "balanced",   "balanced:2:3",
                                        "table",      "striped:",  "balanced:0", ""};

    return names[take(bytes, 1) % (sizeof(names) / sizeof(names[0]))];
}

/* Mostly small steps, now and then any number. */
static int32_t step(struct bytes *bytes)
{
    const uint64_t kind = take(bytes, 1);

    return kind > 250 ? (int32_t)take(bytes, 4) : (int32_t)(kind % 9);
}

static void take_offsets(struct bytes *bytes, struct wish *wish)
{
    wish->sample.entries = take(bytes, 1) % (DOCUMENTS_MOST + 2);
    wish->sample.cu_seqlens = wish->real;
    wish->sample.cu_seqlens_padded = take(bytes, 1) % 2 == 0 ? NULL : wish->padded;
    for (int i = 1; i <= DOCUMENTS_MOST; i++) {
        wish->real[i] = (int32_t)((uint32_t)wish->real[i - 1] + (uint32_t)step(bytes));
        wish->padded[i] = (int32_t)((uint32_t)wish->real[i] + (uint32_t)i * (take(bytes, 1) % 2));
    }
    if (wish->sample.entries > DOCUMENTS_MOST + 1) {
        wish->sample.entries = DOCUMENTS_MOST + 1;
    }
}

/* Fragments of every rank, as many as there is room for. */
static void take_table(struct bytes *bytes, struct wish *wish)
{
    uint64_t left = FRAGMENTS_MOST;

    for (int i = 0; i < FRAGMENTS_MOST; i++) {
        wish->fragments[i].start = (int64_t)step(bytes) - 1;
        wish->fragments[i].length = step(bytes);
    }
    for (int i = 0; i < RANKS_MOST; i++) {
        wish->counts[i] = take(bytes, 1) % 4;
        wish->counts[i] = wish->counts[i] < left ? wish->counts[i] : left;
        left -= wish->counts[i];
    }
    wish->table = (struct cplayout_table_args){sizeof(wish->table), wish->fragments, wish->counts};
}

static void take_wish(struct bytes *bytes, struct wish *wish)
{
    memset(wish, 0, sizeof(*wish));
    wish->args.size = sizeof(wish->args);
    wish->args.layout = take_layout(bytes);
    wish->args.cp = (int32_t)(take(bytes, 1) % 9);
    wish->args.tp = (int32_t)(take(bytes, 1) % 8);
    take_offsets(bytes, wish);
    if (take(bytes, 1) % 3 == 0) {
        wish->args.sequence = take(bytes, 1) % 4 == 0 ? take(bytes, 8) % 70000 : take(bytes, 1);
    } else {
        wish->args.samples = &wish->sample;
        wish->args.sample_count = 1;
    }
    take_table(bytes, wish);
    if (strcmp(wish->args.layout, "table") == 0) {
        wish->args.table = &wish->table;
    }
}

/* ---- What must hold ---------------------------------------------------------------------------- */

static struct cplayout_error error = {.size = sizeof(error)};

static int64_t rows_of(const struct cplayout_partition *partition, int32_t ranks)
{
    static struct cplayout_fragment list[LIST_MOST];
    int64_t rows = 0;

    for (int32_t rank = 0; rank < ranks; rank++) {
        struct cplayout_rank_info info = {.size = sizeof(info)};
        uint64_t count = 0;
        int64_t own = 0;

        need(host_plan()->rank_describe(partition, rank, &info, &error) == CPLAYOUT_OK);
        need(host_plan()->fragments(partition, rank, NULL, 0, &count, &error) == CPLAYOUT_OK);
        if (count > LIST_MOST) {
            return -1;
        }
        need(host_plan()->fragments(partition, rank, list, LIST_MOST, &count, &error) ==
             CPLAYOUT_OK);
        for (uint64_t i = 0; i < count; i++) {
            own += list[i].length;
            rows += list[i].start >= 0 ? list[i].length : 0;
        }
        need(own == (int64_t)info.rows && info.valid_rows <= info.rows);
    }
    return rows;
}

static void check_derived(const struct cplayout_partition *partition, int64_t by)
{
    const struct cplayout_host record = host_record();
    static struct cplayout_run runs[LIST_MOST];
    struct cplayout_partition *table = NULL;
    struct cplayout_cost cost = {.size = sizeof(cost)};
    uint64_t count = 0;

    need(host_plan()->cost(partition, &cost, &error) == CPLAYOUT_OK && cost.max_over_mean >= 0.999);
    (void)host_plan()->inverse(partition, runs, LIST_MOST, &count, &error);
    if (host_plan()->shift_create(&record, partition, by, &table, &error) == CPLAYOUT_OK) {
        host_plan()->partition_destroy(table);
    }
    table = NULL;
    if (host_plan()->halo_create(&record, partition, by, &table, &error) == CPLAYOUT_OK) {
        host_plan()->partition_destroy(table);
    }
}

/* A route from the first to the second brings every row of the second. */
static void check_route(const struct cplayout_partition *from, const struct cplayout_partition *to)
{
    const struct cplayout_host record = host_record();
    struct cplayout_route *route = NULL;
    struct cplayout_route_info info = {.size = sizeof(info)};

    if (host_plan()->route_create(&record, from, to, &route, &error) == CPLAYOUT_OK) {
        host_plan()->route_describe(route, &info);
        need(info.moved_rows <= info.total_rows && info.worst_rank_rows <= info.moved_rows);
        host_plan()->route_destroy(route);
    }
}

static struct cplayout_partition *make(const struct wish *wish)
{
    const struct cplayout_host record = host_record();
    struct cplayout_partition_info info = {.size = sizeof(info)};
    struct cplayout_partition *partition = NULL;
    int64_t rows;

    if (host_plan()->partition_create(&record, &wish->args, &partition, &error) != CPLAYOUT_OK) {
        need(partition == NULL && error.message[0] != '\0');
        return NULL;
    }
    host_plan()->partition_describe(partition, &info);
    rows = rows_of(partition, info.cp * info.tp);
    need(rows == -1 || rows == (int64_t)info.stream_rows);
    return partition;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct wish wish;
    struct bytes bytes = {data, size};
    struct cplayout_partition *first;
    struct cplayout_partition *second = NULL;

    take_wish(&bytes, &wish);
    first = make(&wish);
    if (first == NULL) {
        return 0;
    }
    check_derived(first, (int64_t)take(&bytes, 2) - 32768);
    wish.args.layout = take_layout(&bytes);
    wish.args.table = strcmp(wish.args.layout, "table") == 0 ? &wish.table : NULL;
    second = make(&wish);
    if (second != NULL) {
        check_route(first, second);
        check_route(second, first);
    }
    host_plan()->partition_destroy(second);
    host_plan()->partition_destroy(first);
    return 0;
}

#ifndef FUZZER

enum { INPUTS = 20000, BYTES_MOST = 256 };

/* Inputs of its own: bytes that follow from their number. */
int main(void)
{
    uint8_t data[BYTES_MOST];
    uint64_t x = 1;

    tap_test("%d inputs of any bytes", INPUTS);
    for (int i = 0; i < INPUTS; i++) {
        for (int k = 0; k < BYTES_MOST; k++) {
            x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            data[k] = (uint8_t)(x >> 56);
        }
        (void)LLVMFuzzerTestOneInput(data, (size_t)(i % BYTES_MOST));
    }
    return tap_end();
}

#endif
