/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/schedule.h"

#include <string.h>

#include "plan/pattern.h"

enum cpl_status cpl_schedule_build(struct cpl_schedule *schedule, const char *pattern,
                                   const struct cpl_schedule_layouts *layouts,
                                   struct cpl_arena *arena, struct cpl_error *error)
{
    const size_t layers = strlen(pattern);
    char *const symbols = cpl_arena_take(arena, layers + 1, sizeof(*symbols));
    int32_t *const layout = cpl_arena_take(arena, layers, sizeof(*layout));

    if (symbols == NULL || layout == NULL) {
        return cpl_fail_memory(error);
    }
    memcpy(symbols, pattern, layers + 1);
    for (size_t i = 0; i < layers; i++) {
        const bool attention = cpl_layer_kind(pattern[i]) == CPL_LAYER_ATTENTION;

        layout[i] = attention ? layouts->attention : layouts->linear;
    }
    *schedule = (struct cpl_schedule){
        .layers = (int32_t)layers,
        .input = layouts->boundary,
        .output = layouts->boundary,
        .symbols = symbols,
        .layout = layout,
    };
    return CPL_OK;
}

static struct cpl_conversion forward(const struct cpl_schedule *schedule,
                                     const struct cpl_step *step)
{
    const int32_t here = schedule->layout[step->layer];

    if (step->hook == CPL_HOOK_PREPARE) {
        const int32_t before =
            step->layer > 0 ? schedule->layout[step->layer - 1] : schedule->input;

        return (struct cpl_conversion){.from = before, .to = here};
    }
    return (struct cpl_conversion){
        .from = here,
        .to = step->layer == schedule->layers - 1 ? schedule->output : here,
    };
}

struct cpl_conversion cpl_schedule_conversion(const struct cpl_schedule *schedule,
                                              const struct cpl_step *step)
{
    const struct cpl_conversion there = forward(schedule, step);

    if (step->backward) {
        return (struct cpl_conversion){.from = there.to, .to = there.from};
    }
    return there;
}
