/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layer hooks: which layouts a call of a schedule converts between.
 */
#ifndef CPL_BATCH_HOOKS_H
#define CPL_BATCH_HOOKS_H

#include "batch/context.h"

/* Layouts before and after a step. Errors: ARGUMENT (foreign schedule, no such layer). */
enum cpl_status cpl_hook_layouts(const struct cpl_context *context, const struct cpl_chunk *chunk,
                                 const struct cpl_step *step, struct cpl_conversion *layouts,
                                 struct cpl_error *error);

#endif
