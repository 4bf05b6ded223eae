/* SPDX-License-Identifier: Apache-2.0 */
#include "move/local.h"

#include <inttypes.h>
#include <stdio.h>

#include "move/copy.h"

/* What a sender shows: its input, and what it believes this exchange is. */
struct shown_rows {
    const struct cpl_rows *rows;
    uint64_t tag;
};

static enum cpl_status check_peer(const struct cpl_exchange *exchange, int32_t rank, int32_t peer,
                                  const struct shown_rows *shown, struct cpl_error *error)
{
    const struct cpl_rows *const mine = exchange->output;
    const struct cpl_rows *const theirs = shown->rows;

    if (shown->tag != exchange->tag) {
        return cpl_fail(error, CPL_ERROR_MISMATCH,
                        "rank %d and rank %d carry out different conversions at the same time",
                        peer, rank);
    }
    if (theirs->row_bytes != mine->row_bytes || theirs->outer != mine->outer) {
        return cpl_fail(error, CPL_ERROR_MISMATCH,
                        "rank %d sends rows of %" PRIu64 " x %" PRIu64
                        " bytes, rank %d expects %" PRIu64 " x %" PRIu64,
                        peer, theirs->outer, theirs->row_bytes, rank, mine->outer, mine->row_bytes);
    }
    return CPL_OK;
}

/* Takes the moves of one peer, `count` of them. */
static enum cpl_status receive(const struct cpl_turn *turn, const struct cpl_exchange *exchange,
                               const struct cpl_move *moves, size_t count, struct cpl_error *error)
{
    const int32_t peer = moves[0].peer;
    const void *data;
    const struct shown_rows *shown;
    enum cpl_status status = cpl_group_take(turn, peer, &data, error);

    if (status != CPL_OK) {
        return status;
    }
    shown = data;
    status = check_peer(exchange, turn->rank, peer, shown, error);
    if (status == CPL_OK) {
        cpl_copy_moves(moves, count, shown->rows, exchange->output);
    } else {
        cpl_group_fail(turn->group, turn->rank, error->message);
    }
    cpl_group_give_back(turn);
    return status;
}

/* How many moves from `begin` on have the same peer. */
static size_t run_of_peer(const struct cpl_moves *moves, size_t begin)
{
    size_t end = begin;

    while (end < moves->count && moves->list[end].peer == moves->list[begin].peer) {
        end++;
    }
    return end - begin;
}

/* First the peers above this rank, then those below: not all ranks read rank 0 at once. */
static enum cpl_status receive_all(const struct cpl_turn *turn, const struct cpl_exchange *exchange,
                                   struct cpl_error *error)
{
    const struct cpl_moves *const moves = &exchange->route->received;
    enum cpl_status status = CPL_OK;
    size_t above = 0;

    while (above < moves->count && moves->list[above].peer < turn->rank) {
        above++;
    }
    for (size_t done = 0; done < moves->count && status == CPL_OK;) {
        const size_t begin = (above + done) % moves->count;
        const size_t count = run_of_peer(moves, begin);

        status = receive(turn, exchange, moves->list + begin, count, error);
        done += count;
    }
    return status;
}

static enum cpl_status await_receivers(const struct cpl_turn *turn, const struct cpl_moves *sent,
                                       struct cpl_error *error)
{
    enum cpl_status status = CPL_OK;

    for (size_t i = 0; i < sent->count && status == CPL_OK; i += run_of_peer(sent, i)) {
        status = cpl_group_await(turn, sent->list[i].peer, error);
    }
    return status;
}

enum cpl_status cpl_local_exchange(const struct cpl_local *local,
                                   const struct cpl_exchange *exchange, struct cpl_error *error)
{
    const struct shown_rows shown = {.rows = exchange->input, .tag = exchange->tag};
    const struct cpl_offer offer = {.meeting = CPL_MEETING_EXCHANGE, .data = &shown};
    struct cpl_turn turn = {local->group, local->rank, {0, 0}, local->timeout_seconds};
    enum cpl_status status = cpl_group_offer(&turn, &offer, error);

    if (status != CPL_OK) {
        return status;
    }
    status = receive_all(&turn, exchange, error);
    if (status == CPL_OK) {
        cpl_group_done(&turn);
        status = await_receivers(&turn, &exchange->route->sent, error);
    }
    cpl_group_withdraw(&turn);
    return status;
}

/* Says how two digests differ; false if they do not. */
static bool differ(const struct cpl_digest *mine, const struct cpl_digest *theirs,
                   char what[CPL_REASON_BYTES + 64])
{
    const char *kind = NULL;

    if (mine->outcome != theirs->outcome) {
        const struct cpl_digest *const failed = theirs->outcome != 0 ? theirs : mine;

        (void)snprintf(what, CPL_REASON_BYTES + 64, "one of them could not create the batch: %s",
                       failed->reason);
        return true;
    }
    if (mine->configuration != theirs->configuration) {
        kind = "they have different configurations";
    } else if (mine->lengths != theirs->lengths) {
        kind = "they have different sequence lengths or fields";
    } else if (mine->plans != theirs->plans) {
        kind = "they have different layouts, schedules or numbers of batches";
    }
    (void)snprintf(what, CPL_REASON_BYTES + 64, "%s", kind != NULL ? kind : "");
    return kind != NULL;
}

/* What a rank has found out about the others. */
struct comparison {
    int32_t differing; /* the first rank that differs, or -1 */
    char what[CPL_REASON_BYTES + 64];
};

static enum cpl_status read_digests(const struct cpl_turn *turn, const struct cpl_digest *digest,
                                    struct comparison *found, struct cpl_error *error)
{
    enum cpl_status status = CPL_OK;

    for (int32_t peer = 0; peer < cpl_group_ranks(turn->group) && status == CPL_OK; peer++) {
        const void *data;

        if (peer == turn->rank) {
            continue;
        }
        status = cpl_group_take(turn, peer, &data, error);
        if (status != CPL_OK) {
            continue;
        }
        if (found->differing < 0 && differ(digest, data, found->what)) {
            found->differing = peer;
        }
        cpl_group_give_back(turn);
    }
    return status;
}

static enum cpl_status await_all(const struct cpl_turn *turn, struct cpl_error *error)
{
    enum cpl_status status = CPL_OK;

    for (int32_t peer = 0; peer < cpl_group_ranks(turn->group) && status == CPL_OK; peer++) {
        status = peer != turn->rank ? cpl_group_await(turn, peer, error) : CPL_OK;
    }
    return status;
}

enum cpl_status cpl_local_compare(const struct cpl_local *local, const struct cpl_digest *digest,
                                  struct cpl_error *error)
{
    const struct cpl_offer offer = {.meeting = CPL_MEETING_COMPARE, .data = digest};
    struct cpl_turn turn = {local->group, local->rank, {0, 0}, local->timeout_seconds};
    struct comparison found = {.differing = -1};
    enum cpl_status status = cpl_group_offer(&turn, &offer, error);

    if (status != CPL_OK) {
        return status;
    }
    status = read_digests(&turn, digest, &found, error);
    if (status == CPL_OK) {
        cpl_group_done(&turn);
        status = await_all(&turn, error);
    }
    cpl_group_withdraw(&turn);
    if (status == CPL_OK && found.differing >= 0) {
        return cpl_fail(error, CPL_ERROR_MISMATCH, "rank %d and rank %d disagree: %s", local->rank,
                        found.differing, found.what);
    }
    return status;
}
