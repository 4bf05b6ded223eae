/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two forms of `cplayout cost` share: figures of a layout and of a conversion to another.
 */
#ifndef CPLAYOUT_TOOLS_COST_H
#define CPLAYOUT_TOOLS_COST_H

#include "args.h"
#include "host.h"

struct cost {
    const struct host *host;
    const struct args *args;
    struct cplayout_partition *partition;
    struct cplayout_route *route; /* NULL without --to */
    struct cplayout_cost layout;
    struct cplayout_attention *attention; /* [cp] */
    int32_t cp;
    struct cplayout_route_info info; /* of the route */
    uint64_t row_bytes;              /* 0: shapes are not given */
    double break_even;               /* tokens; below 0: not asked for */
    struct report *report;
};

/* Bytes of so many rows; UINT64_MAX where they overflow. */
uint64_t cost_bytes(const struct cost *cost, uint64_t rows);

/* The text form, on standard output. */
bool cost_print_text(const struct cost *cost);

#endif
