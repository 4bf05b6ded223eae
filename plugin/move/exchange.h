/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exchange carries out a route on tensors: kept rows are copied here, padding is filled, the rest
 * is the transport's.
 */
#ifndef CPL_MOVE_EXCHANGE_H
#define CPL_MOVE_EXCHANGE_H

#include "base/tensor.h"
#include "plan/route.h"

struct cpl_transport;

struct cpl_exchange {
    const struct cpl_route *route;
    const struct cpl_rows *input;  /* rows: route->source_rows */
    const struct cpl_rows *output; /* rows: route->target_rows */
    uint64_t tag;                  /* what is converted; ranks that meet must agree */
};

/* What a rank believes an exchange is. */
struct cpl_claim {
    uint64_t tag;
    uint64_t row_bytes;
    uint64_t outer;
};

struct cpl_claim cpl_exchange_claim(const struct cpl_exchange *exchange);

/* Compares what `rank` and its `peer` believe. Errors: MISMATCH, naming both. */
enum cpl_status cpl_claim_check(const struct cpl_claim *mine, int32_t rank,
                                const struct cpl_claim *theirs, int32_t peer,
                                struct cpl_error *error);

/* Checks both sides against the route and each other. Errors: ARGUMENT. */
enum cpl_status cpl_exchange_check(const struct cpl_exchange *exchange, struct cpl_error *error);

/*
 * Writes every row of the output: the route's, and zeros for padding. The exchange has been checked.
 * `transport` may be NULL for a rank that is alone. Errors: those of the transport; the peers have
 * been told.
 */
enum cpl_status cpl_exchange_run(const struct cpl_exchange *exchange,
                                 struct cpl_transport *transport, struct cpl_error *error);

#endif
