/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map from logical to communicator ranks that a host gives, which must be one to one.
 */
#ifndef CPL_MOVE_RANK_MAP_H
#define CPL_MOVE_RANK_MAP_H

#include "base/alloc.h"
#include "base/error.h"

/*
 * Finds two logical ranks that are one communicator rank, the first in ascending order of it; `twins`
 * are equal if there are none. Errors: MEMORY.
 */
enum cpl_status cpl_rank_map_twins(const struct cpl_allocator *allocator, const int32_t *map,
                                   int32_t count, int32_t twins[2], struct cpl_error *error);

#endif
