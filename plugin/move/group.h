/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A local group: ranks that are threads of one process. It knows who belongs to it and whether it has
 * failed; how its ranks meet is in turn.h.
 *
 * One mutex and one condition guard everything. The first failure marks the group, and every rank that
 * waits or comes later learns of it. Counted: the creator and every joined rank hold the group.
 */
#ifndef CPL_MOVE_GROUP_H
#define CPL_MOVE_GROUP_H

#include "base/alloc.h"
#include "base/error.h"

struct cpl_group;

enum cpl_status cpl_group_create(const struct cpl_allocator *allocator, int32_t ranks,
                                 struct cpl_group **group, struct cpl_error *error);

/* Drops one hold. NULL is allowed. Does nothing in the child of a fork. */
void cpl_group_release(struct cpl_group *group);

int32_t cpl_group_ranks(const struct cpl_group *group);

/* A rank takes its place and a hold of the group. Errors: ARGUMENT (no such rank, taken), FORKED. */
enum cpl_status cpl_group_join(struct cpl_group *group, int32_t rank, struct cpl_error *error);

/* The rank leaves for good and drops its hold. Peers that wait for it get PEER. */
void cpl_group_leave(struct cpl_group *group, int32_t rank);

/* Marks the group as failed by `rank`, unless it is marked already, and wakes every waiter. */
void cpl_group_fail(struct cpl_group *group, int32_t rank, const char *reason);

#endif
