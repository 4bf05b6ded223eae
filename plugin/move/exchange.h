/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exchange carries out a route on tensors: kept rows are copied here, the rest by a transport.
 */
#ifndef CPL_MOVE_EXCHANGE_H
#define CPL_MOVE_EXCHANGE_H

#include "base/tensor.h"
#include "plan/route.h"

struct cpl_local;

struct cpl_exchange {
    const struct cpl_route *route;
    const struct cpl_rows *input;  /* rows: route->source_rows */
    const struct cpl_rows *output; /* rows: route->target_rows */
    uint64_t tag;                  /* what is converted; ranks that meet must agree */
};

/*
 * Checks both sides against the route and each other, then writes every row of the output.
 * Errors: ARGUMENT, and those of the transport.
 */
enum cpl_status cpl_exchange_run(const struct cpl_exchange *exchange,
                                 const struct cpl_local *transport, struct cpl_error *error);

#endif
