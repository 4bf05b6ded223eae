/* SPDX-License-Identifier: Apache-2.0 */
#include "threads/gathering.h"

#include <stdlib.h>
#include <string.h>

#include "threads/mail.h"

void gathering_init(struct gathering *gathering, int32_t ranks)
{
    gathering->ranks = ranks;
    gathering->shown = mail_take((size_t)ranks * sizeof(*gathering->shown));
}

void gathering_fini(struct gathering *gathering)
{
    for (int32_t rank = 0; rank < gathering->ranks; rank++) {
        free(gathering->shown[rank].part[0]);
        free(gathering->shown[rank].part[1]);
    }
    free(gathering->shown);
}

void gathering_show(struct gathering *gathering, int32_t rank,
                    const struct cplayout_allgather *gather)
{
    struct shown *const shown = &gathering->shown[rank];
    const uint64_t slot = shown->count % 2;

    free(shown->part[slot]);
    shown->part[slot] = mail_take(gather->bytes);
    shown->bytes[slot] = gather->bytes;
    memcpy(shown->part[slot], gather->mine, gather->bytes);
    shown->count++;
}

int32_t gathering_missing(const struct gathering *gathering, int32_t rank)
{
    for (int32_t peer = 0; peer < gathering->ranks; peer++) {
        if (gathering->shown[peer].count < gathering->shown[rank].count) {
            return peer;
        }
    }
    return -1;
}

/* Whose part comes at place i: backwards, and with three ranks or more on each rank elsewhere. */
static int32_t rank_at(int32_t ranks, int32_t rank, int32_t i)
{
    return (ranks - 1 - i + (ranks > 2 ? rank : 0)) % ranks;
}

int32_t gathering_collect(const struct gathering *gathering, int32_t rank,
                          const struct cplayout_allgather *gather)
{
    const uint64_t slot = (gathering->shown[rank].count - 1) % 2;
    unsigned char *to = gather->all;

    for (int32_t i = 0; i < gathering->ranks; i++, to += gather->bytes) {
        const int32_t peer = rank_at(gathering->ranks, rank, i);

        if (gathering->shown[peer].bytes[slot] != gather->bytes) {
            return peer;
        }
        memcpy(to, gathering->shown[peer].part[slot], gather->bytes);
    }
    return -1;
}
