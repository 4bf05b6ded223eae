/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a local group, for group.c (who belongs to it) and turn.c (how its ranks meet).
 */
#ifndef CPL_MOVE_MEMBERS_H
#define CPL_MOVE_MEMBERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "base/forkmark.h"
#include "move/turn.h"

enum cpl_member_state { CPL_MEMBER_ABSENT, CPL_MEMBER_PRESENT, CPL_MEMBER_LEFT };

enum { CPL_NOBODY = -1 };

struct cpl_member {
    enum cpl_member_state state;
    uint64_t opened;        /* collectives that the rank has opened */
    uint64_t done;          /* the last one in which it has taken everything */
    struct cpl_offer offer; /* of collective `opened`; meeting NONE: withdrawn */
    int32_t reading;        /* peer whose offer the rank is copying from, or NOBODY */
    int32_t waiting;        /* peer that the rank waits for, or NOBODY */
};

struct cpl_group {
    struct cpl_allocator allocator;
    struct cpl_forkmark forkmark;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    atomic_uint_least64_t changes; /* how often it has; what spinning ranks look at */
    bool spins;                    /* every rank can have a core of its own */
    int32_t ranks;
    int32_t holders;
    bool failed;
    char reason[CPL_MESSAGE_BYTES]; /* why: names the rank */
    struct cpl_member members[];
};

/* Wakes every waiter. The mutex is held. */
void cpl_group_announce(struct cpl_group *group);

/* Marks the group as failed; the first reason stays. The mutex is held. */
void cpl_group_mark(struct cpl_group *group, const char *reason);

/* The failure of a group that is marked. */
enum cpl_status cpl_group_fail_marked(const struct cpl_group *group, struct cpl_error *error);

#endif
