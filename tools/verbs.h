/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs of the command. Each gets a loaded plugin and checked options, prints its answer on
 * standard output and returns whether it succeeded; if not, the report says why.
 */
#ifndef CPLAYOUT_TOOLS_VERBS_H
#define CPLAYOUT_TOOLS_VERBS_H

#include "args.h"
#include "host.h"
#include "report.h"

/* Which rank holds which tokens. */
bool verb_map(struct host *host, struct args *args, struct report *report);

/* What moves between two layouts. */
bool verb_route(struct host *host, struct args *args, struct report *report);

/* For every row the position of a token later in its document. */
bool verb_shift(struct host *host, struct args *args, struct report *report);

/* What a layout costs, and a conversion to another. */
bool verb_cost(struct host *host, struct args *args, struct report *report);

/* A configuration by the plugin's rules. */
bool verb_check(struct host *host, struct args *args, struct report *report);

/* The plugin: version, ABI, interfaces, options. */
bool verb_info(struct host *host, struct args *args, struct report *report);

#endif
