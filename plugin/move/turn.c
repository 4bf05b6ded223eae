/* SPDX-License-Identifier: Apache-2.0 */
#include "move/turn.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/cores.h"
#include "base/deadline.h"
#include "move/members.h"

enum cpl_status cpl_turn_open(struct cpl_turn *turn, const struct cpl_offer *offer,
                              struct cpl_error *error)
{
    struct cpl_group *const group = turn->group;
    struct cpl_member *const me = &group->members[turn->rank];
    enum cpl_status status = CPL_OK;

    turn->deadline = cpl_deadline_after(turn->timeout_seconds);
    (void)pthread_mutex_lock(&group->mutex);
    if (group->failed) {
        status = cpl_group_fail_marked(group, error);
    } else {
        me->opened++;
        me->offer = *offer;
        cpl_group_announce(group);
    }
    (void)pthread_mutex_unlock(&group->mutex);
    return status;
}

/* Fails the group and the caller with one message. */
static enum cpl_status fail_turn(const struct cpl_turn *turn, enum cpl_status status, int32_t peer,
                                 const char *what, struct cpl_error *error)
{
    (void)cpl_fail(error, status, "rank %d %s (seen by rank %d in collective %" PRIu64 ")", peer,
                   what, turn->rank, turn->group->members[turn->rank].opened);
    cpl_group_mark(turn->group, error->message);
    return status;
}

/*
 * The rank that keeps everybody waiting: a peer may have come and be waiting itself. At most as many
 * steps as ranks, for ranks may wait in a circle.
 */
static int32_t find_culprit(const struct cpl_turn *turn, int32_t peer)
{
    const struct cpl_member *const members = turn->group->members;

    for (int32_t steps = 0; steps < turn->group->ranks; steps++) {
        const struct cpl_member *const member = &members[peer];

        if (member->opened < members[turn->rank].opened || member->waiting == CPL_NOBODY ||
            member->waiting == turn->rank) {
            break;
        }
        peer = member->waiting;
    }
    return peer;
}

static enum cpl_status fail_expired(const struct cpl_turn *turn, int32_t peer,
                                    struct cpl_error *error)
{
    const int32_t culprit = find_culprit(turn, peer);
    const bool absent = turn->group->members[culprit].state == CPL_MEMBER_ABSENT;
    char what[96];

    (void)snprintf(what, sizeof(what), "%s within %g s",
                   absent ? "did not register" : "did not come", turn->timeout_seconds);
    return fail_turn(turn, CPL_ERROR_TIMEOUT, culprit, what, error);
}

enum { SPINS = 1000 }; /* some ten microseconds: less than it takes to fall asleep and wake up */

/* Gives the mutex away for a moment. True if something has changed meanwhile. */
static bool spin(struct cpl_group *group)
{
    const uint64_t seen = atomic_load_explicit(&group->changes, memory_order_relaxed);
    bool changed = false;

    (void)pthread_mutex_unlock(&group->mutex);
    for (int i = 0; i < SPINS && !changed; i++) {
        cpl_core_relax();
        changed = atomic_load_explicit(&group->changes, memory_order_relaxed) != seen;
    }
    (void)pthread_mutex_lock(&group->mutex);
    return changed;
}

/* Waits until something changes, in a spin first where ranks do not share cores. */
static void wait_for_change(const struct cpl_turn *turn, bool *expired)
{
    struct cpl_group *const group = turn->group;
    const uint64_t seen = atomic_load_explicit(&group->changes, memory_order_relaxed);

    if (group->spins && spin(group)) {
        *expired = cpl_deadline_left(&turn->deadline) == 0;
        return;
    }
    /* It may have changed before the mutex was back. */
    if (atomic_load_explicit(&group->changes, memory_order_relaxed) == seen) {
        *expired =
            pthread_cond_timedwait(&group->changed, &group->mutex, &turn->deadline) == ETIMEDOUT;
    }
}

/*
 * One step of waiting for a peer. OK: look again. The mutex is held. A wait that times out looks once
 * more before it gives up: the peer may have come while the deadline passed.
 */
static enum cpl_status wait_step(const struct cpl_turn *turn, int32_t peer, bool *expired,
                                 struct cpl_error *error)
{
    struct cpl_group *const group = turn->group;
    struct cpl_member *const me = &group->members[turn->rank];

    if (group->failed) {
        return cpl_group_fail_marked(group, error);
    }
    if (group->members[peer].state == CPL_MEMBER_LEFT) {
        return fail_turn(turn, CPL_ERROR_PEER, peer, "left the group", error);
    }
    if (*expired) {
        return fail_expired(turn, peer, error);
    }
    me->waiting = peer;
    wait_for_change(turn, expired);
    me->waiting = CPL_NOBODY;
    return CPL_OK;
}

/* Whether the peer shows its offer of the caller's collective. */
static bool shows_offer(const struct cpl_member *me, const struct cpl_member *peer)
{
    return peer->opened == me->opened && peer->offer.meeting != CPL_MEETING_NONE;
}

/* The peer and this rank have met in different calls. */
static enum cpl_status fail_apart(const struct cpl_turn *turn, int32_t peer,
                                  struct cpl_error *error)
{
    static const char *const doing[] = {
        [CPL_MEETING_NONE] = "waits",
        [CPL_MEETING_REGISTER] = "registers",
        [CPL_MEETING_COMPARE] = "creates a batch",
        [CPL_MEETING_EXCHANGE] = "converts",
        [CPL_MEETING_LOSS] = "averages losses",
    };
    const struct cpl_member *const members = turn->group->members;
    char what[96];

    (void)snprintf(what, sizeof(what), "%s while this rank %s", doing[members[peer].offer.meeting],
                   doing[members[turn->rank].offer.meeting]);
    return fail_turn(turn, CPL_ERROR_MISMATCH, peer, what, error);
}

static enum cpl_status take_locked(const struct cpl_turn *turn, int32_t peer, const void **data,
                                   struct cpl_error *error)
{
    struct cpl_member *const me = &turn->group->members[turn->rank];
    const struct cpl_member *const other = &turn->group->members[peer];
    bool expired = false;

    while (!shows_offer(me, other)) {
        enum cpl_status status;

        if (other->opened > me->opened) {
            return fail_turn(turn, CPL_ERROR_MISMATCH, peer,
                             "has gone on without sending what this rank waits for", error);
        }
        status = wait_step(turn, peer, &expired, error);
        if (status != CPL_OK) {
            return status;
        }
    }
    if (other->offer.meeting != me->offer.meeting) {
        return fail_apart(turn, peer, error);
    }
    me->reading = peer;
    *data = other->offer.data;
    return CPL_OK;
}

enum cpl_status cpl_turn_take(const struct cpl_turn *turn, int32_t peer, const void **data,
                              struct cpl_error *error)
{
    enum cpl_status status;

    (void)pthread_mutex_lock(&turn->group->mutex);
    status = take_locked(turn, peer, data, error);
    (void)pthread_mutex_unlock(&turn->group->mutex);
    return status;
}

void cpl_turn_give_back(const struct cpl_turn *turn)
{
    (void)pthread_mutex_lock(&turn->group->mutex);
    turn->group->members[turn->rank].reading = CPL_NOBODY;
    cpl_group_announce(turn->group);
    (void)pthread_mutex_unlock(&turn->group->mutex);
}

void cpl_turn_done(const struct cpl_turn *turn)
{
    struct cpl_member *const me = &turn->group->members[turn->rank];

    (void)pthread_mutex_lock(&turn->group->mutex);
    me->done = me->opened;
    cpl_group_announce(turn->group);
    (void)pthread_mutex_unlock(&turn->group->mutex);
}

enum cpl_status cpl_turn_await(const struct cpl_turn *turn, int32_t peer, struct cpl_error *error)
{
    struct cpl_group *const group = turn->group;
    const struct cpl_member *const me = &group->members[turn->rank];
    enum cpl_status status = CPL_OK;
    bool expired = false;

    (void)pthread_mutex_lock(&group->mutex);
    while (status == CPL_OK && group->members[peer].done < me->opened) {
        status = wait_step(turn, peer, &expired, error);
    }
    (void)pthread_mutex_unlock(&group->mutex);
    return status;
}

static bool is_read(const struct cpl_group *group, int32_t rank)
{
    for (int32_t peer = 0; peer < group->ranks; peer++) {
        if (group->members[peer].reading == rank) {
            return true;
        }
    }
    return false;
}

void cpl_turn_close(const struct cpl_turn *turn)
{
    struct cpl_group *const group = turn->group;

    (void)pthread_mutex_lock(&group->mutex);
    group->members[turn->rank].offer = (struct cpl_offer){.meeting = CPL_MEETING_NONE};
    /* A copy that has begun ends by itself: no deadline, or the buffer would go under its feet. */
    while (is_read(group, turn->rank)) {
        (void)pthread_cond_wait(&group->changed, &group->mutex);
    }
    (void)pthread_mutex_unlock(&group->mutex);
}
