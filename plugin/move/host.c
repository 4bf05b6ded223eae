/* SPDX-License-Identifier: Apache-2.0 */
#include "move/host.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "base/limits.h"

/* What a rank says of an exchange before its rows: 32 bytes, in the byte order of the machine. */
struct frame {
    uint64_t sequence;
    struct cpl_claim claim;
};

struct host {
    struct cpl_transport base;
    struct cpl_allocator allocator;
    struct cpl_host_calls calls;
    int32_t *communicator_ranks; /* [ranks] */
    uint64_t sequence;           /* exchanges so far; equal on all ranks */

    /* The exchange between begin and end. */
    struct timespec deadline;
    struct cpl_stage stage;
    struct frame mine;
    struct cpl_buffer frames; /* of the peers, and their messages: see start_frames */
    struct cpl_messages framing;
    void *request;
    bool met; /* all peers have sent their frames: they are here */
};

static struct host *host_of(struct cpl_transport *transport)
{
    return (struct host *)transport;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* Logical rank of a communicator rank, -1 if it is none of the group's. */
static int32_t logical_rank(const struct host *host, int32_t communicator_rank)
{
    int32_t rank = host->base.ranks - 1;

    while (rank >= 0 && host->communicator_ranks[rank] != communicator_rank) {
        rank--;
    }
    return rank;
}

/*
 * Completes a message of the host: who is at fault, and where it was seen. A rank that has sent its frame
 * but not its rows may itself be waiting for the one that keeps everybody waiting.
 */
static enum cpl_status explain(const struct host *host, int32_t peer, struct cpl_error *error)
{
    const struct cpl_error given = *error;
    const int32_t rank = peer >= 0 ? logical_rank(host, peer) : -1;
    char who[128] = "";

    if (rank >= 0 && given.status == CPL_ERROR_TIMEOUT) {
        (void)snprintf(who, sizeof(who),
                       host->met
                           ? "rank %d came, but its rows did not come within %g s; it may wait "
                             "for another rank: "
                           : "rank %d did not come within %g s: ",
                       rank, host->base.timeout_seconds);
    } else if (rank >= 0) {
        (void)snprintf(who, sizeof(who), "rank %d: ", rank);
    }
    return cpl_fail(error, given.status, "%s%.250s (seen by rank %d in exchange %" PRIu64 ")", who,
                    given.message, host->base.rank, host->sequence);
}

static enum cpl_status wait_for(const struct host *host, void *request, struct cpl_error *error)
{
    int32_t peer = -1;
    const enum cpl_status status =
        host->calls.wait(host->calls.self, request, cpl_deadline_left(&host->deadline), &peer,
                         error);

    return status == CPL_OK ? CPL_OK : explain(host, peer, error);
}

static enum cpl_status start(const struct host *host, const struct cpl_messages *messages,
                             void **request, struct cpl_error *error)
{
    const enum cpl_status status = host->calls.start(host->calls.self, messages, request, error);

    return status == CPL_OK ? CPL_OK : explain(host, -1, error);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

/* One frame to every peer and one from each: [peers] frames, then [2 * peers] messages. */
static enum cpl_status list_frames(struct host *host, const struct cpl_route *route,
                                   struct cpl_error *error)
{
    const size_t count = (size_t)cpl_route_peers(route);
    const size_t bytes = sizeof(struct frame) + 2 * sizeof(struct cpl_message);
    struct frame *const frames = cpl_buffer_reserve(&host->frames, count, bytes);
    struct cpl_message *const messages = (struct cpl_message *)(frames + count);
    struct cpl_peers peers = {.route = route};

    if (frames == NULL) {
        return cpl_fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        const int32_t peer = host->communicator_ranks[cpl_peers_next(&peers)];

        messages[2 * i] =
            (struct cpl_message){&host->mine, sizeof(host->mine), peer, CPL_MESSAGE_SEND};
        messages[2 * i + 1] =
            (struct cpl_message){&frames[i], sizeof(frames[i]), peer, CPL_MESSAGE_RECEIVE};
    }
    host->framing = (struct cpl_messages){messages, 2 * count, 2 * host->sequence};
    return CPL_OK;
}

static enum cpl_status check_frame(const struct host *host, const struct frame *theirs,
                                   int32_t peer, struct cpl_error *error)
{
    if (theirs->sequence != host->sequence) {
        return cpl_fail(error, CPL_ERROR_MISMATCH,
                        "rank %d is in its exchange number %" PRIu64 ", rank %d in number %" PRIu64,
                        peer, theirs->sequence, host->base.rank, host->sequence);
    }
    return cpl_claim_check(&host->mine.claim, host->base.rank, &theirs->claim, peer, error);
}

static enum cpl_status check_frames(const struct host *host, const struct cpl_route *route,
                                    struct cpl_error *error)
{
    const struct frame *frame = host->frames.data;
    struct cpl_peers peers = {.route = route};
    enum cpl_status status = CPL_OK;

    for (int32_t peer; status == CPL_OK && (peer = cpl_peers_next(&peers)) >= 0; frame++) {
        status = check_frame(host, frame, peer, error);
    }
    return status;
}

/* ---- Exchange -------------------------------------------------------------------------------- */

static void address_messages(const struct host *host)
{
    for (size_t i = 0; i < host->stage.count; i++) {
        host->stage.messages[i].peer = host->communicator_ranks[host->stage.messages[i].peer];
    }
}

static enum cpl_status begin(struct cpl_transport *transport, const struct cpl_exchange *exchange,
                             struct cpl_error *error)
{
    struct host *const host = host_of(transport);
    enum cpl_status status;

    host->sequence++;
    host->met = false;
    host->deadline = cpl_deadline_after(transport->timeout_seconds);
    host->mine = (struct frame){host->sequence, cpl_exchange_claim(exchange)};
    status = cpl_stage_prepare(&host->stage, exchange, error);
    if (status == CPL_OK) {
        status = list_frames(host, exchange->route, error);
    }
    if (status == CPL_OK && host->framing.count > 0) {
        status = start(host, &host->framing, &host->request, error);
    }
    if (status == CPL_OK) {
        address_messages(host);
        cpl_stage_pack(&host->stage, exchange);
    }
    return status;
}

/* The rows themselves; all peers agree on what they are. */
static enum cpl_status send_rows(struct host *host, struct cpl_error *error)
{
    const struct cpl_messages messages = {host->stage.messages, host->stage.count,
                                          2 * host->sequence + 1};
    void *request = NULL;
    enum cpl_status status;

    if (messages.count == 0) {
        return CPL_OK;
    }
    status = start(host, &messages, &request, error);
    return status == CPL_OK ? wait_for(host, request, error) : status;
}

static enum cpl_status end(struct cpl_transport *transport, const struct cpl_exchange *exchange,
                           struct cpl_error *error)
{
    struct host *const host = host_of(transport);
    enum cpl_status status = CPL_OK;

    if (host->framing.count == 0) {
        return CPL_OK; /* nobody to meet */
    }
    status = wait_for(host, host->request, error);
    if (status == CPL_OK) {
        status = check_frames(host, exchange->route, error);
    }
    if (status == CPL_OK) {
        host->met = true;
        status = send_rows(host, error);
    }
    if (status == CPL_OK) {
        cpl_stage_unpack(&host->stage, exchange);
    }
    return status;
}

static enum cpl_status gather(struct cpl_transport *transport, const struct cpl_gather *gather,
                              struct cpl_error *error)
{
    struct host *const host = host_of(transport);
    int32_t peer = -1;

    host->met = false;
    const enum cpl_status status =
        host->calls.gather(host->calls.self, gather, transport->timeout_seconds, &peer, error);

    return status == CPL_OK ? CPL_OK : explain(host, peer, error);
}

/* ---- Life ------------------------------------------------------------------------------------ */

static void fail(struct cpl_transport *transport, const struct cpl_error *error)
{
    const struct host *const host = host_of(transport);
    struct cpl_error told;

    if (host->calls.abort != NULL) {
        (void)cpl_fail(&told, error->status, "rank %d failed: %s", transport->rank, error->message);
        host->calls.abort(host->calls.self, &told);
    }
}

static void leave(struct cpl_transport *transport)
{
    struct host *const host = host_of(transport);
    const struct cpl_allocator allocator = host->allocator;

    cpl_stage_fini(&host->stage);
    cpl_buffer_fini(&host->frames);
    cpl_release(&allocator, host->communicator_ranks, (size_t)transport->ranks,
                sizeof(*host->communicator_ranks));
    cpl_release(&allocator, host, 1, sizeof(*host));
}

static const struct cpl_transport_ops ops = {
    .gather = gather,
    .begin = begin,
    .end = end,
    .fail = fail,
    .leave = leave,
};

/* That the map is one to one is the affair of a rule (rank_map.h). */
static enum cpl_status fill_map(struct host *host, const int32_t *given, struct cpl_error *error)
{
    int32_t *const map = host->communicator_ranks;

    for (int32_t rank = 0; rank < host->base.ranks; rank++) {
        map[rank] = given != NULL ? given[rank] : rank;
        if (map[rank] < 0) {
            return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "communicator_ranks",
                                  "communicator_ranks names rank %d, which is negative", map[rank]);
        }
    }
    return CPL_OK;
}

static enum cpl_status check_place(const struct cpl_host_args *args, struct cpl_error *error)
{
    if (args->ranks > CPL_RANKS_MOST) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "ranks",
                              "a group has at most %d ranks, not %d", CPL_RANKS_MOST, args->ranks);
    }
    if (args->ranks < 1 || args->rank < 0 || args->rank >= args->ranks) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "rank",
                              "rank %d is not in a group of %d ranks; with a communicator the host "
                              "record says both",
                              args->rank, args->ranks);
    }
    return CPL_OK;
}

enum cpl_status cpl_host_create(const struct cpl_allocator *allocator,
                                const struct cpl_host_args *args, struct cpl_transport **transport,
                                struct cpl_error *error)
{
    struct host *host;
    enum cpl_status status = check_place(args, error);

    if (status != CPL_OK) {
        return status;
    }
    host = cpl_allocate(allocator, 1, sizeof(*host));
    if (host == NULL) {
        return cpl_fail_memory(error);
    }
    host->base = (struct cpl_transport){
        .ops = &ops,
        .rank = args->rank,
        .ranks = args->ranks,
        .gathers = args->calls.gather != NULL,
    };
    host->allocator = *allocator;
    host->calls = args->calls;
    host->stage.packed.allocator = *allocator;
    host->stage.list.allocator = *allocator;
    host->frames.allocator = *allocator;
    host->communicator_ranks =
        cpl_allocate(allocator, (size_t)args->ranks, sizeof(*host->communicator_ranks));
    status = host->communicator_ranks != NULL ? fill_map(host, args->communicator_ranks, error)
                                              : cpl_fail_memory(error);
    if (status != CPL_OK) {
        leave(&host->base);
        return status;
    }
    *transport = &host->base;
    return CPL_OK;
}
