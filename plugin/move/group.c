/* SPDX-License-Identifier: Apache-2.0 */
#include "move/group.h"

#include <stdio.h>

#include "base/cores.h"
#include "base/limits.h"
#include "move/members.h"

static size_t group_bytes(int32_t ranks)
{
    return sizeof(struct cpl_group) + (size_t)ranks * sizeof(struct cpl_member);
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
    created->spins = ranks <= cpl_cores();
    cpl_forkmark_init(&created->forkmark);
    for (int32_t rank = 0; rank < ranks; rank++) {
        created->members[rank].reading = CPL_NOBODY;
        created->members[rank].waiting = CPL_NOBODY;
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

    if (group == NULL || cpl_forkmark_wiped(&group->forkmark)) {
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
    cpl_forkmark_fini(&group->forkmark);
    allocator = group->allocator;
    cpl_release(&allocator, group, 1, group_bytes(group->ranks));
}

int32_t cpl_group_ranks(const struct cpl_group *group)
{
    return group->ranks;
}

enum cpl_status cpl_group_fail_marked(const struct cpl_group *group, struct cpl_error *error)
{
    return cpl_fail(error, CPL_ERROR_PEER, "%s", group->reason);
}

static enum cpl_status join_locked(struct cpl_group *group, int32_t rank, struct cpl_error *error)
{
    if (rank < 0 || rank >= group->ranks) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "rank",
                              "rank %d is not in a local group of %d ranks", rank, group->ranks);
    }
    if (group->members[rank].state != CPL_MEMBER_ABSENT) {
        return cpl_fail_field(
            error, CPL_ERROR_ARGUMENT, "rank",
            "rank %d of the local group is taken; a group serves one context per rank", rank);
    }
    group->members[rank].state = CPL_MEMBER_PRESENT;
    group->holders++;
    return CPL_OK;
}

enum cpl_status cpl_group_join(struct cpl_group *group, int32_t rank, struct cpl_error *error)
{
    enum cpl_status status = cpl_forkmark_check(&group->forkmark, "local group", error);

    if (status != CPL_OK) {
        return status;
    }
    (void)pthread_mutex_lock(&group->mutex);
    status = join_locked(group, rank, error);
    (void)pthread_mutex_unlock(&group->mutex);
    return status;
}

void cpl_group_leave(struct cpl_group *group, int32_t rank)
{
    (void)pthread_mutex_lock(&group->mutex);
    group->members[rank].state = CPL_MEMBER_LEFT;
    cpl_group_announce(group);
    (void)pthread_mutex_unlock(&group->mutex);
    cpl_group_release(group);
}

void cpl_group_announce(struct cpl_group *group)
{
    (void)atomic_fetch_add_explicit(&group->changes, 1, memory_order_relaxed);
    (void)pthread_cond_broadcast(&group->changed);
}

void cpl_group_mark(struct cpl_group *group, const char *reason)
{
    if (group->failed) {
        return;
    }
    group->failed = true;
    (void)snprintf(group->reason, sizeof(group->reason), "%s", reason);
    cpl_group_announce(group);
}

void cpl_group_fail(struct cpl_group *group, int32_t rank, const char *reason)
{
    struct cpl_error text;

    (void)cpl_fail(&text, CPL_ERROR_PEER, "rank %d failed: %s", rank, reason);
    (void)pthread_mutex_lock(&group->mutex);
    cpl_group_mark(group, text.message);
    (void)pthread_mutex_unlock(&group->mutex);
}
