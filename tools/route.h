/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two forms of `cplayout route` share: the route, and one rank's part of it as runs.
 *
 * Runs of one side of a message that touch are shown as one, whatever cuts the other side has: so
 * sends and receives are the runs that lie in this rank's own rows, in the order of the message.
 */
#ifndef CPLAYOUT_TOOLS_ROUTE_H
#define CPLAYOUT_TOOLS_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "args.h"
#include "host.h"
#include "report.h"

struct route {
    const struct host *host;
    const struct args *args;
    struct cplayout_route *route;
    struct cplayout_route_info info;
    struct cplayout_partition_info target;
    struct report *report;
    int32_t ranks;
};

enum { MOVES_KINDS = CPLAYOUT_MOVES_PADS + 1 };

/* All moves of one rank, by kind. */
struct traffic {
    int32_t rank;
    struct moves kinds[MOVES_KINDS];
};

/* Calls `visit` for every rank, in order, while it returns true. */
bool route_for_each_rank(const struct route *route, void *self,
                         bool (*visit)(void *self, const struct traffic *traffic));

/* A walk over moves that joins neighbours. */
struct runs {
    const struct moves *moves;
    int kind;
    uint64_t next;
    struct cplayout_move run; /* the current one */
};

struct runs runs_begin(const struct traffic *traffic, int kind);

/* Steps to the next run; false at the end. */
bool runs_next(struct runs *runs);

/* Where a run lies in this rank's own rows. */
int64_t runs_local(const struct runs *runs);

/* The text form, on standard output. */
bool route_print_text(const struct route *route);

#endif
