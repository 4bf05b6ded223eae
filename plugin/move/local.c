/* SPDX-License-Identifier: Apache-2.0 */
#include "move/local.h"

#include <string.h>

#include "move/copy.h"
#include "move/group.h"

/* What a sender shows: its input, and what it believes this exchange is. */
struct shown_rows {
    const struct cpl_rows *rows;
    struct cpl_claim claim;
};

/* One rank's place in a group. */
struct local {
    struct cpl_transport base;
    struct cpl_allocator allocator;
    struct cpl_group *group;
    struct cpl_turn turn;    /* the collective that is open */
    struct shown_rows shown; /* between begin and end */
};

static struct local *local_of(struct cpl_transport *transport)
{
    return (struct local *)transport;
}

static enum cpl_status open_turn(struct local *local, enum cpl_meeting meeting, const void *data,
                                 struct cpl_error *error)
{
    const struct cpl_offer offer = {.meeting = meeting, .data = data};

    local->turn = (struct cpl_turn){
        .group = local->group,
        .rank = local->base.rank,
        .timeout_seconds = local->base.timeout_seconds,
    };
    return cpl_turn_open(&local->turn, &offer, error);
}

/* ---- Exchange -------------------------------------------------------------------------------- */

/* Takes the moves of one peer, `count` of them. */
static enum cpl_status receive(const struct local *local, const struct cpl_exchange *exchange,
                               const struct cpl_move *moves, size_t count, struct cpl_error *error)
{
    const struct cpl_turn *const turn = &local->turn;
    const int32_t peer = moves[0].peer;
    const void *data;
    const struct shown_rows *shown;
    enum cpl_status status = cpl_turn_take(turn, peer, &data, error);

    if (status != CPL_OK) {
        return status;
    }
    shown = data;
    status = cpl_claim_check(&local->shown.claim, turn->rank, &shown->claim, peer, error);
    if (status == CPL_OK) {
        cpl_copy_moves(moves, count, shown->rows, exchange->output);
    }
    cpl_turn_give_back(turn);
    return status;
}

/* First the peers above this rank, then those below: not all ranks read rank 0 at once. */
static enum cpl_status receive_all(const struct local *local, const struct cpl_exchange *exchange,
                                   struct cpl_error *error)
{
    const struct cpl_moves *const moves = &exchange->route->received;
    enum cpl_status status = CPL_OK;
    size_t above = 0;

    while (above < moves->count && moves->list[above].peer < local->base.rank) {
        above++;
    }
    for (size_t done = 0; done < moves->count && status == CPL_OK;) {
        const size_t begin = (above + done) % moves->count;
        const size_t count = cpl_moves_of_peer(moves, begin);

        status = receive(local, exchange, moves->list + begin, count, error);
        done += count;
    }
    return status;
}

static enum cpl_status await_receivers(const struct cpl_turn *turn, const struct cpl_moves *sent,
                                       struct cpl_error *error)
{
    enum cpl_status status = CPL_OK;

    for (size_t i = 0; i < sent->count && status == CPL_OK; i += cpl_moves_of_peer(sent, i)) {
        status = cpl_turn_await(turn, sent->list[i].peer, error);
    }
    return status;
}

static enum cpl_status begin(struct cpl_transport *transport, const struct cpl_exchange *exchange,
                             struct cpl_error *error)
{
    struct local *const local = local_of(transport);

    local->shown = (struct shown_rows){exchange->input, cpl_exchange_claim(exchange)};
    return open_turn(local, CPL_MEETING_EXCHANGE, &local->shown, error);
}

static enum cpl_status end(struct cpl_transport *transport, const struct cpl_exchange *exchange,
                           struct cpl_error *error)
{
    const struct local *const local = local_of(transport);
    const struct cpl_turn *const turn = &local->turn;
    enum cpl_status status = receive_all(local, exchange, error);

    if (status == CPL_OK) {
        cpl_turn_done(turn);
        status = await_receivers(turn, &exchange->route->sent, error);
    }
    cpl_turn_close(turn);
    return status;
}

/* ---- Control channel ------------------------------------------------------------------------- */

static enum cpl_status copy_all(const struct local *local, const struct cpl_gather *gather,
                                struct cpl_error *error)
{
    enum cpl_status status = CPL_OK;

    for (int32_t peer = 0; peer < local->base.ranks && status == CPL_OK; peer++) {
        unsigned char *const to = (unsigned char *)gather->all + (size_t)peer * gather->bytes;
        const void *data = gather->mine;

        if (peer == local->base.rank) {
            memcpy(to, data, gather->bytes);
            continue;
        }
        status = cpl_turn_take(&local->turn, peer, &data, error);
        if (status == CPL_OK) {
            memcpy(to, data, gather->bytes);
            cpl_turn_give_back(&local->turn);
        }
    }
    return status;
}

static enum cpl_status await_all(const struct local *local, struct cpl_error *error)
{
    enum cpl_status status = CPL_OK;

    for (int32_t peer = 0; peer < local->base.ranks && status == CPL_OK; peer++) {
        if (peer != local->base.rank) {
            status = cpl_turn_await(&local->turn, peer, error);
        }
    }
    return status;
}

static enum cpl_status gather(struct cpl_transport *transport, const struct cpl_gather *gather,
                              struct cpl_error *error)
{
    struct local *const local = local_of(transport);
    enum cpl_status status = open_turn(local, gather->meeting, gather->mine, error);

    if (status != CPL_OK) {
        return status;
    }
    status = copy_all(local, gather, error);
    if (status == CPL_OK) {
        cpl_turn_done(&local->turn);
        status = await_all(local, error);
    }
    cpl_turn_close(&local->turn);
    return status;
}

/* ---- Life ------------------------------------------------------------------------------------ */

static void fail(struct cpl_transport *transport, const struct cpl_error *error)
{
    cpl_group_fail(local_of(transport)->group, transport->rank, error->message);
}

static void leave(struct cpl_transport *transport)
{
    struct local *const local = local_of(transport);
    const struct cpl_allocator allocator = local->allocator;

    cpl_group_leave(local->group, transport->rank);
    cpl_release(&allocator, local, 1, sizeof(*local));
}

static const struct cpl_transport_ops ops = {
    .gather = gather,
    .begin = begin,
    .end = end,
    .fail = fail,
    .leave = leave,
};

enum cpl_status cpl_local_create(const struct cpl_allocator *allocator, struct cpl_group *group,
                                 int32_t rank, struct cpl_transport **transport,
                                 struct cpl_error *error)
{
    struct local *const local = cpl_allocate(allocator, 1, sizeof(*local));
    enum cpl_status status;

    if (local == NULL) {
        return cpl_fail_memory(error);
    }
    status = cpl_group_join(group, rank, error);
    if (status != CPL_OK) {
        cpl_release(allocator, local, 1, sizeof(*local));
        return status;
    }
    local->base = (struct cpl_transport){
        .ops = &ops,
        .rank = rank,
        .ranks = cpl_group_ranks(group),
        .gathers = true,
    };
    local->allocator = *allocator;
    local->group = group;
    *transport = &local->base;
    return CPL_OK;
}
