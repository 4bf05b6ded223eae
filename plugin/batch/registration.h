/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registration: the options of a rank become its context, if no rule objects and all ranks have the
 * same.
 */
#ifndef CPL_BATCH_REGISTRATION_H
#define CPL_BATCH_REGISTRATION_H

#include "batch/context.h"

/*
 * For a context that has its place among the ranks, and nothing else yet. Reports all findings.
 * Collective, also where this rank has findings.
 * Errors: ARGUMENT (a NULL string), CONFIGURATION, MEMORY, MISMATCH, TIMEOUT, PEER.
 */
enum cpl_status cpl_context_register(struct cpl_context *context,
                                     const struct cpl_context_args *args, struct cpl_error *error);

#endif
