/* SPDX-License-Identifier: Apache-2.0 */
#include "pack.h"

#include <stdlib.h>

#include "rounds.h"
#include "seat.h"

static void *allocate(size_t count, size_t bytes)
{
    void *const memory = calloc(count, bytes);

    if (memory == NULL) {
        bench_die("pack", "out of memory");
    }
    return memory;
}

int64_t pack_run_bytes(const struct pack *pack)
{
    return pack->document / 2 * PACK_ROW_BYTES;
}

struct cplayout_lengths pack_lengths(const struct pack *pack)
{
    return (struct cplayout_lengths){.cu_seqlens = pack->cu_seqlens,
                                     .entries = pack->documents + 1};
}

static struct cplayout_partition *partition(const struct pack *pack, const char *layout)
{
    const struct cplayout_lengths lengths = pack_lengths(pack);
    const struct cplayout_partition_args args = {.size = sizeof(args),
                                                 .layout = layout,
                                                 .cp = PACK_RANKS,
                                                 .tp = 1,
                                                 .samples = &lengths,
                                                 .sample_count = 1};
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_partition *partition;

    seat_need(seat_plan->partition_create(NULL, &args, &partition, &error), &error);
    return partition;
}

static struct moves list_moves(const struct cplayout_route *route, int32_t rank, int32_t kind)
{
    const struct cplayout_moves_args args = {.size = sizeof(args), .rank = rank, .kind = kind};
    struct cplayout_error error = {.size = sizeof(error)};
    struct moves moves;

    seat_need(seat_plan->moves(route, &args, NULL, 0, &moves.count, &error), &error);
    moves.list = allocate(moves.count, sizeof(*moves.list));
    seat_need(seat_plan->moves(route, &args, moves.list, moves.count, NULL, &error), &error);
    return moves;
}

static int64_t *list_positions(const struct cplayout_partition *zigzag, int32_t rank)
{
    const struct cplayout_positions_args args = {.size = sizeof(args), .rank = rank};
    struct cplayout_error error = {.size = sizeof(error)};
    int64_t *const positions = allocate(PACK_ROWS, sizeof(*positions));

    seat_need(seat_plan->positions(zigzag, &args, positions, PACK_ROWS, NULL, &error), &error);
    return positions;
}

void pack_init(struct pack *pack)
{
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_partition *source;
    struct cplayout_partition *target;
    struct cplayout_route *route;

    pack->documents = (uint64_t)(PACK_RANKS * PACK_ROWS / pack->document);
    pack->cu_seqlens = allocate(pack->documents + 1, sizeof(*pack->cu_seqlens));
    for (uint64_t i = 0; i <= pack->documents; i++) {
        pack->cu_seqlens[i] = (int32_t)((int64_t)i * pack->document);
    }
    source = partition(pack, "contiguous");
    target = partition(pack, "zigzag");
    seat_need(seat_plan->route_create(NULL, source, target, &route, &error), &error);
    for (int32_t rank = 0; rank < PACK_RANKS; rank++) {
        for (int32_t kind = 0; kind < PACK_KINDS; kind++) {
            pack->moves[rank][kind] = list_moves(route, rank, kind);
        }
        pack->positions[rank] = list_positions(target, rank);
    }
    seat_plan->route_destroy(route);
    seat_plan->partition_destroy(source);
    seat_plan->partition_destroy(target);
}

void pack_fini(struct pack *pack)
{
    for (int32_t rank = 0; rank < PACK_RANKS; rank++) {
        for (int32_t kind = 0; kind < PACK_KINDS; kind++) {
            free(pack->moves[rank][kind].list);
        }
        free(pack->positions[rank]);
    }
    free(pack->cu_seqlens);
}
