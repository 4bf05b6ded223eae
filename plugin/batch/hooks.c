/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/hooks.h"

enum cpl_status cpl_hook_layouts(const struct cpl_context *context, const struct cpl_chunk *chunk,
                                 const struct cpl_step *step, struct cpl_conversion *layouts,
                                 struct cpl_error *error)
{
    const int32_t layers = chunk->schedule.layers;

    if (chunk->context != context) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "schedule",
                              "the schedule belongs to another context");
    }
    if (step->layer < 0 || step->layer >= layers) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "layer",
                              "layer %d is not one of the schedule's %d", step->layer, layers);
    }
    *layouts = cpl_schedule_conversion(&chunk->schedule, step);
    return CPL_OK;
}
