/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registration rules: what makes a configuration wrong. The table in rules.c has one entry per
 * rule, in the order in which findings are reported.
 */
#ifndef CPL_PLAN_RULES_H
#define CPL_PLAN_RULES_H

#include "base/report.h"
#include "plan/registration.h"

/*
 * Applies every rule and reports all findings. OK if none is an error; otherwise CONFIGURATION, with
 * the first error in `error`.
 */
enum cpl_status cpl_rules_apply(const struct cpl_registration *registration,
                                const struct cpl_reporter *reporter, struct cpl_error *error);

#endif
