/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local transport: ranks are threads of one process. Rows go straight from the sender's input to
 * the receiver's output, one copy, nothing staged.
 */
#ifndef CPL_MOVE_LOCAL_H
#define CPL_MOVE_LOCAL_H

#include "base/alloc.h"
#include "move/transport.h"

struct cpl_group;

/*
 * A rank takes its place in a group. The group has a hold of its own by then.
 * Errors: ARGUMENT (no such rank, taken), MEMORY, FORKED.
 */
enum cpl_status cpl_local_create(const struct cpl_allocator *allocator, struct cpl_group *group,
                                 int32_t rank, struct cpl_transport **transport,
                                 struct cpl_error *error);

#endif
