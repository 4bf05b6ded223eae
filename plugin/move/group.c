/* SPDX-License-Identifier: Apache-2.0 */
#include "move/group.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "base/limits.h"

enum member_state { MEMBER_ABSENT, MEMBER_PRESENT, MEMBER_LEFT };

enum { NOBODY = -1 };

struct member {
    enum member_state state;
    uint64_t opened;        /* collectives that the rank has opened */
    uint64_t done;          /* the last one in which it has taken everything */
    struct cpl_offer offer; /* of collective `opened`; meeting NONE: withdrawn */
    int32_t reading;        /* peer whose offer the rank is copying from, or NOBODY */
    int32_t waiting;        /* peer that the rank waits for, or NOBODY */
};

struct cpl_group {
    struct cpl_allocator allocator;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int32_t ranks;
    int32_t holders;
    bool failed;
    char reason[CPL_MESSAGE_BYTES]; /* why: names the rank */
    struct member members[];
};

static size_t group_bytes(int32_t ranks)
{
    return sizeof(struct cpl_group) + (size_t)ranks * sizeof(struct member);
}

/* Deadlines are points of the monotonic clock: setting the date must not end a wait. */
static int init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    int code = pthread_condattr_init(&attributes);

    if (code != 0) {
        return code;
    }
    code = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (code == 0) {
        code = pthread_cond_init(condition, &attributes);
    }
    (void)pthread_condattr_destroy(&attributes);
    return code;
}

enum cpl_status cpl_group_create(const struct cpl_allocator *allocator, int32_t ranks,
                                 struct cpl_group **group, struct cpl_error *error)
{
    struct cpl_group *created;

    if (ranks < 1 || ranks > CPL_RANKS_MOST) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "ranks",
                              "a local group has 1 to %d ranks, not %d", CPL_RANKS_MOST, ranks);
    }
    created = cpl_allocate(allocator, 1, group_bytes(ranks));
    if (created == NULL) {
        return cpl_fail_memory(error);
    }
    if (pthread_mutex_init(&created->mutex, NULL) != 0) {
        goto err_release;
    }
    if (init_condition(&created->changed) != 0) {
        goto err_mutex;
    }
    created->allocator = *allocator;
    created->ranks = ranks;
    created->holders = 1;
    for (int32_t rank = 0; rank < ranks; rank++) {
        created->members[rank].reading = NOBODY;
        created->members[rank].waiting = NOBODY;
    }
    *group = created;
    return CPL_OK;

err_mutex:
    (void)pthread_mutex_destroy(&created->mutex);
err_release:
    cpl_release(allocator, created, 1, group_bytes(ranks));
    return cpl_fail(error, CPL_ERROR_MEMORY, "the system refused a mutex or condition variable");
}

void cpl_group_release(struct cpl_group *group)
{
    struct cpl_allocator allocator;
    bool last;

    if (group == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&group->mutex);
    last = --group->holders == 0;
    (void)pthread_mutex_unlock(&group->mutex);
    if (!last) {
        return;
    }
    (void)pthread_cond_destroy(&group->changed);
    (void)pthread_mutex_destroy(&group->mutex);
    allocator = group->allocator;
    cpl_release(&allocator, group, 1, group_bytes(group->ranks));
}

int32_t cpl_group_ranks(const struct cpl_group *group)
{
    return group->ranks;
}

static enum cpl_status fail_marked(const struct cpl_group *group, struct cpl_error *error)
{
    return cpl_fail(error, CPL_ERROR_PEER, "%s", group->reason);
}

static enum cpl_status join_locked(struct cpl_group *group, int32_t rank, struct cpl_error *error)
{
    if (rank < 0 || rank >= group->ranks) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "rank",
                              "rank %d is not in a local group of %d ranks", rank, group->ranks);
    }
    if (group->members[rank].state != MEMBER_ABSENT) {
        return cpl_fail_field(
            error, CPL_ERROR_ARGUMENT, "rank",
            "rank %d of the local group is taken; a group serves one context per rank", rank);
    }
    group->members[rank].state = MEMBER_PRESENT;
    group->holders++;
    return CPL_OK;
}

enum cpl_status cpl_group_join(struct cpl_group *group, int32_t rank, struct cpl_error *error)
{
    enum cpl_status status;

    (void)pthread_mutex_lock(&group->mutex);
    status = join_locked(group, rank, error);
    (void)pthread_mutex_unlock(&group->mutex);
    return status;
}

enum cpl_status cpl_group_check(struct cpl_group *group, struct cpl_error *error)
{
    enum cpl_status status = CPL_OK;

    (void)pthread_mutex_lock(&group->mutex);
    if (group->failed) {
        status = fail_marked(group, error);
    }
    (void)pthread_mutex_unlock(&group->mutex);
    return status;
}

void cpl_group_leave(struct cpl_group *group, int32_t rank)
{
    (void)pthread_mutex_lock(&group->mutex);
    group->members[rank].state = MEMBER_LEFT;
    (void)pthread_cond_broadcast(&group->changed);
    (void)pthread_mutex_unlock(&group->mutex);
    cpl_group_release(group);
}

/* The first reason stays. The mutex is held. */
static void mark_failed(struct cpl_group *group, const char *reason)
{
    if (group->failed) {
        return;
    }
    group->failed = true;
    (void)snprintf(group->reason, sizeof(group->reason), "%s", reason);
    (void)pthread_cond_broadcast(&group->changed);
}

void cpl_group_fail(struct cpl_group *group, int32_t rank, const char *reason)
{
    struct cpl_error text;

    (void)cpl_fail(&text, CPL_ERROR_PEER, "rank %d failed: %s", rank, reason);
    (void)pthread_mutex_lock(&group->mutex);
    mark_failed(group, text.message);
    (void)pthread_mutex_unlock(&group->mutex);
}

static struct timespec deadline_after(double seconds)
{
    struct timespec now;
    const time_t whole = (time_t)seconds;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    now.tv_sec += whole;
    now.tv_nsec += (long)((seconds - (double)whole) * 1e9);
    if (now.tv_nsec >= 1000000000L) {
        now.tv_nsec -= 1000000000L;
        now.tv_sec++;
    }
    return now;
}

enum cpl_status cpl_group_offer(struct cpl_turn *turn, const struct cpl_offer *offer,
                                struct cpl_error *error)
{
    struct cpl_group *const group = turn->group;
    struct member *const me = &group->members[turn->rank];
    enum cpl_status status = CPL_OK;

    turn->deadline = deadline_after(turn->timeout_seconds);
    (void)pthread_mutex_lock(&group->mutex);
    if (group->failed) {
        status = fail_marked(group, error);
    } else {
        me->opened++;
        me->offer = *offer;
        (void)pthread_cond_broadcast(&group->changed);
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
    mark_failed(turn->group, error->message);
    return status;
}

/*
 * The rank that keeps everybody waiting: a peer may have come and be waiting itself. At most as many
 * steps as ranks, for ranks may wait in a circle.
 */
static int32_t find_culprit(const struct cpl_turn *turn, int32_t peer)
{
    const struct member *const members = turn->group->members;

    for (int32_t steps = 0; steps < turn->group->ranks; steps++) {
        const struct member *const member = &members[peer];

        if (member->opened < members[turn->rank].opened || member->waiting == NOBODY ||
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
    const bool absent = turn->group->members[culprit].state == MEMBER_ABSENT;
    char what[96];

    (void)snprintf(what, sizeof(what), "%s within %g s",
                   absent ? "did not register" : "did not come", turn->timeout_seconds);
    return fail_turn(turn, CPL_ERROR_TIMEOUT, culprit, what, error);
}

/*
 * One step of waiting for a peer. OK: look again. The mutex is held. A wait that times out looks once
 * more before it gives up: the peer may have come while the deadline passed.
 */
static enum cpl_status wait_step(const struct cpl_turn *turn, int32_t peer, bool *expired,
                                 struct cpl_error *error)
{
    struct cpl_group *const group = turn->group;
    struct member *const me = &group->members[turn->rank];

    if (group->failed) {
        return fail_marked(group, error);
    }
    if (group->members[peer].state == MEMBER_LEFT) {
        return fail_turn(turn, CPL_ERROR_PEER, peer, "left the group", error);
    }
    if (*expired) {
        return fail_expired(turn, peer, error);
    }
    me->waiting = peer;
    *expired = pthread_cond_timedwait(&group->changed, &group->mutex, &turn->deadline) == ETIMEDOUT;
    me->waiting = NOBODY;
    return CPL_OK;
}

/* Whether the peer shows its offer of the caller's collective. */
static bool shows_offer(const struct member *me, const struct member *peer)
{
    return peer->opened == me->opened && peer->offer.meeting != CPL_MEETING_NONE;
}

static enum cpl_status take_locked(const struct cpl_turn *turn, int32_t peer, const void **data,
                                   struct cpl_error *error)
{
    struct member *const me = &turn->group->members[turn->rank];
    const struct member *const other = &turn->group->members[peer];
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
        return fail_turn(turn, CPL_ERROR_MISMATCH, peer,
                         other->offer.meeting == CPL_MEETING_COMPARE
                             ? "creates a batch while this rank converts a layer"
                             : "converts a layer while this rank creates a batch",
                         error);
    }
    me->reading = peer;
    *data = other->offer.data;
    return CPL_OK;
}

enum cpl_status cpl_group_take(const struct cpl_turn *turn, int32_t peer, const void **data,
                               struct cpl_error *error)
{
    enum cpl_status status;

    (void)pthread_mutex_lock(&turn->group->mutex);
    status = take_locked(turn, peer, data, error);
    (void)pthread_mutex_unlock(&turn->group->mutex);
    return status;
}

void cpl_group_give_back(const struct cpl_turn *turn)
{
    (void)pthread_mutex_lock(&turn->group->mutex);
    turn->group->members[turn->rank].reading = NOBODY;
    (void)pthread_cond_broadcast(&turn->group->changed);
    (void)pthread_mutex_unlock(&turn->group->mutex);
}

void cpl_group_done(const struct cpl_turn *turn)
{
    struct member *const me = &turn->group->members[turn->rank];

    (void)pthread_mutex_lock(&turn->group->mutex);
    me->done = me->opened;
    (void)pthread_cond_broadcast(&turn->group->changed);
    (void)pthread_mutex_unlock(&turn->group->mutex);
}

enum cpl_status cpl_group_await(const struct cpl_turn *turn, int32_t peer, struct cpl_error *error)
{
    struct cpl_group *const group = turn->group;
    const struct member *const me = &group->members[turn->rank];
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

void cpl_group_withdraw(const struct cpl_turn *turn)
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
