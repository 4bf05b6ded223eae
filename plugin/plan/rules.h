/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registration rules: what makes a configuration wrong. One table entry in rules.c per rule, in
 * the order in which findings are reported.
 */
#ifndef CPL_PLAN_RULES_H
#define CPL_PLAN_RULES_H

#include "base/options.h"
#include "base/report.h"
#include "plan/layout.h"

/* What the rules look at. */
struct cpl_registration {
    const struct cpl_options *options;
    int32_t group_ranks;             /* ranks of the exchange's group; 0 if unknown */
    bool mute;                       /* the group has no channel to compare plans on */
    const struct cpl_layout *linear; /* NULL where the option names none */
    const struct cpl_layout *attention;
    const struct cpl_layout *boundary;
    struct cpl_layout parsed[3]; /* which the pointers lead to */
};

/* Looks the layouts up. `options` is borrowed. The record must stay where it is. */
void cpl_registration_init(struct cpl_registration *registration, const struct cpl_options *options,
                           int32_t group_ranks);

/*
 * Applies every rule and reports all findings. OK if none is an error; otherwise CONFIGURATION, with
 * the first error in `error`.
 */
enum cpl_status cpl_rules_apply(const struct cpl_registration *registration,
                                const struct cpl_reporter *reporter, struct cpl_error *error);

#endif
