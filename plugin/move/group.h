/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A local group: ranks that are threads of one process and meet here. Each collective, a rank offers
 * something to its peers, takes what they offer straight from their memory, and withdraws its offer
 * when all of them are done. Ranks count collectives; two ranks meet at equal counts.
 *
 * One mutex and one condition guard everything; data is copied outside the mutex. Waits have a
 * deadline. The first failure marks the group, and every rank that waits or comes later learns of it.
 * Counted: the creator and every joined rank hold the group.
 */
#ifndef CPL_MOVE_GROUP_H
#define CPL_MOVE_GROUP_H

#include <stdbool.h>
#include <time.h>

#include "base/alloc.h"
#include "base/error.h"

struct cpl_group;

/* What a collective is for; ranks that meet must agree. */
enum cpl_meeting {
    CPL_MEETING_NONE = 0,
    CPL_MEETING_COMPARE,  /* digests, at batch creation */
    CPL_MEETING_EXCHANGE, /* rows, in a hook */
};

/* What a rank shows its peers during one collective. */
struct cpl_offer {
    enum cpl_meeting meeting;
    const void *data; /* read by peers until the offer is withdrawn */
};

/* A rank's side of one collective, from cpl_group_offer to cpl_group_withdraw. */
struct cpl_turn {
    struct cpl_group *group;
    int32_t rank;
    struct timespec deadline;
    double timeout_seconds;
};

enum cpl_status cpl_group_create(const struct cpl_allocator *allocator, int32_t ranks,
                                 struct cpl_group **group, struct cpl_error *error);

/* Drops one hold. NULL is allowed. */
void cpl_group_release(struct cpl_group *group);

int32_t cpl_group_ranks(const struct cpl_group *group);

/* A rank takes its place and a hold of the group. Errors: ARGUMENT (no such rank, taken). */
enum cpl_status cpl_group_join(struct cpl_group *group, int32_t rank, struct cpl_error *error);

/* Errors: PEER (the group has failed). */
enum cpl_status cpl_group_check(struct cpl_group *group, struct cpl_error *error);

/* The rank leaves for good and drops its hold. Peers that wait for it get PEER. */
void cpl_group_leave(struct cpl_group *group, int32_t rank);

/* Marks the group as failed by `rank`, unless it is marked already, and wakes every waiter. */
void cpl_group_fail(struct cpl_group *group, int32_t rank, const char *reason);

/* Opens the rank's next collective. Errors: PEER (the group has failed). */
enum cpl_status cpl_group_offer(struct cpl_turn *turn, const struct cpl_offer *offer,
                                struct cpl_error *error);

/*
 * Waits for a peer's offer of the same collective. The peer keeps it until cpl_group_give_back.
 * Errors: TIMEOUT, PEER, MISMATCH (the peer is in another kind of collective).
 */
enum cpl_status cpl_group_take(const struct cpl_turn *turn, int32_t peer, const void **data,
                               struct cpl_error *error);
void cpl_group_give_back(const struct cpl_turn *turn);

/* Says that this rank takes nothing more in this collective. */
void cpl_group_done(const struct cpl_turn *turn);

/* Waits until `peer` has taken all it wants in this collective. Errors: TIMEOUT, PEER. */
enum cpl_status cpl_group_await(const struct cpl_turn *turn, int32_t peer, struct cpl_error *error);

/* Closes the turn. Returns once no peer reads the offer any more, also after a failure. */
void cpl_group_withdraw(const struct cpl_turn *turn);

#endif
