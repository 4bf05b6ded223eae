/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collectives, made of messages. Sums are taken in ascending order of the ranks by the one rank
 * that owns the block, so the result is the same to the bit everywhere and in every run. No state.
 */
#include "message.h"

#include <string.h>

/* Their tags; a caller's are not negative. */
enum { TAG_GATHER = -1, TAG_REDUCE = -2 };

int comm_allgather(struct comm *comm, int32_t rank, enum comm_category category, const void *block,
                   const size_t *bytes, void *all)
{
    unsigned char *place = all;
    struct channel channel = {rank, 0, TAG_GATHER, category};

    for (channel.peer = 0; channel.peer < comm_ranks(comm); channel.peer++) {
        if (channel.peer != rank && comm_send(comm, &channel, block, bytes[rank])) {
            return -1;
        }
    }
    for (channel.peer = 0; channel.peer < comm_ranks(comm); channel.peer++) {
        if (channel.peer == rank && bytes[rank]) {
            memcpy(place, block, bytes[rank]);
        } else if (channel.peer != rank && comm_recv(comm, &channel, place, bytes[channel.peer])) {
            return -1;
        }
        place += bytes[channel.peer];
    }
    return 0;
}

/* sum = the messages of all ranks, this one included, added in ascending order. The ranks' vectors
 * lie in the message buffers, aligned for real. */
static int sum_arrivals(struct comm *comm, struct channel channel, real *sum, int64_t count)
{
    memset(sum, 0, real_bytes(count));
    for (channel.peer = 0; channel.peer < comm_ranks(comm); channel.peer++) {
        struct message *message = message_fetch(comm, &channel, real_bytes(count));
        if (!message) {
            return -1;
        }
        const real *values = (const void *)message->data;
        for (int64_t i = 0; i < count; i++) {
            sum[i] += values[i];
        }
        message_give(comm, message);
    }
    return 0;
}

int comm_reduce_scatter(struct comm *comm, int32_t rank, enum comm_category category,
                        const real *blocks, const int64_t *counts, real *sum)
{
    struct channel channel = {rank, 0, TAG_REDUCE, category};

    for (channel.peer = 0; channel.peer < comm_ranks(comm); channel.peer++) {
        const int64_t count = counts[channel.peer];
        if (comm_send(comm, &channel, blocks, real_bytes(count))) {
            return -1;
        }
        blocks += count;
    }
    return sum_arrivals(comm, channel, sum, counts[rank]);
}

/* Sends or receives a slice of a vector, that of rank `owner` when it is cut evenly. */
static int slice_send(struct comm *comm, const struct channel *to, const real *values,
                      int64_t count, int32_t owner)
{
    const int64_t begin = count * owner / comm_ranks(comm);

    return comm_send(comm, to, values + begin,
                     real_bytes(count * (owner + 1) / comm_ranks(comm) - begin));
}

static int slice_recv(struct comm *comm, const struct channel *from, real *values, int64_t count,
                      int32_t owner)
{
    const int64_t begin = count * owner / comm_ranks(comm);

    return comm_recv(comm, from, values + begin,
                     real_bytes(count * (owner + 1) / comm_ranks(comm) - begin));
}

/* Each rank sums one slice; then the slices are exchanged, so all ranks see the same sums. */
int comm_allreduce(struct comm *comm, int32_t rank, enum comm_category category, real *values,
                   int64_t count)
{
    const int64_t begin = count * rank / comm_ranks(comm);
    const int64_t end = count * (rank + 1) / comm_ranks(comm);
    struct channel channel = {rank, 0, TAG_REDUCE, category};

    if (comm_ranks(comm) == 1) {
        return 0;
    }
    for (channel.peer = 0; channel.peer < comm_ranks(comm); channel.peer++) {
        if (slice_send(comm, &channel, values, count, channel.peer)) {
            return -1;
        }
    }
    if (sum_arrivals(comm, channel, values + begin, end - begin)) {
        return -1;
    }
    channel.tag = TAG_GATHER;
    for (channel.peer = 0; channel.peer < comm_ranks(comm); channel.peer++) {
        if (channel.peer != rank && slice_send(comm, &channel, values, count, rank)) {
            return -1;
        }
    }
    for (channel.peer = 0; channel.peer < comm_ranks(comm); channel.peer++) {
        if (channel.peer != rank && slice_recv(comm, &channel, values, count, channel.peer)) {
            return -1;
        }
    }
    return 0;
}
