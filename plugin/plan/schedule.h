/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schedule of one model chunk: the layout of every layer, and which layouts a hook converts
 * between. Layouts are handles of the owning context. Policy `strict`: attention layers run in the
 * attention layout, all others in the linear layout, and the chunk begins and ends in the boundary
 * layout.
 */
#ifndef CPL_PLAN_SCHEDULE_H
#define CPL_PLAN_SCHEDULE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"

struct cpl_schedule_layouts {
    int32_t linear;
    int32_t attention;
    int32_t boundary;
};

struct cpl_schedule {
    int32_t layers;
    int32_t input;         /* layout in which the chunk receives hidden states */
    int32_t output;        /* and hands them on */
    const char *symbols;   /* [layers] */
    const int32_t *layout; /* [layers] */
};

enum cpl_hook { CPL_HOOK_PREPARE, CPL_HOOK_FINALIZE };

/* One hook call. */
struct cpl_step {
    enum cpl_hook hook;
    int32_t layer;
    bool backward;
};

struct cpl_conversion {
    int32_t from;
    int32_t to;
};

/* `pattern` has been checked. Errors: MEMORY. */
enum cpl_status cpl_schedule_build(struct cpl_schedule *schedule, const char *pattern,
                                   const struct cpl_schedule_layouts *layouts,
                                   struct cpl_arena *arena, struct cpl_error *error);

/*
 * Layouts before and after a hook call; equal where nothing is due. Backward is the forward call
 * with both exchanged. The layer is one of the schedule.
 */
struct cpl_conversion cpl_schedule_conversion(const struct cpl_schedule *schedule,
                                              const struct cpl_step *step);

#endif
