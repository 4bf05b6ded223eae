/* SPDX-License-Identifier: Apache-2.0 */
#include "move/exchange.h"

#include <inttypes.h>

#include "move/copy.h"
#include "move/transport.h"

static enum cpl_status check_rows(const char *name, int64_t rows, int64_t expected,
                                  struct cpl_error *error)
{
    if (rows != expected) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                              "%s has %" PRId64 " rows, its layout has %" PRId64 " on this rank",
                              name, rows, expected);
    }
    return CPL_OK;
}

enum cpl_status cpl_exchange_check(const struct cpl_exchange *exchange, struct cpl_error *error)
{
    const struct cpl_rows *const input = exchange->input;
    const struct cpl_rows *const output = exchange->output;
    enum cpl_status status = check_rows("input", input->rows, exchange->route->source_rows, error);

    if (status == CPL_OK) {
        status = check_rows("out", output->rows, exchange->route->target_rows, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    if (input->row_bytes != output->row_bytes || input->outer != output->outer) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "out",
                              "input rows are %" PRIu64 " x %" PRIu64
                              " bytes, those of out %" PRIu64 " x %" PRIu64,
                              input->outer, input->row_bytes, output->outer, output->row_bytes);
    }
    if (cpl_rows_overlap(input, output)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "out", "input and out overlap in memory");
    }
    return CPL_OK;
}

struct cpl_claim cpl_exchange_claim(const struct cpl_exchange *exchange)
{
    return (struct cpl_claim){
        .tag = exchange->tag,
        .row_bytes = exchange->input->row_bytes,
        .outer = exchange->input->outer,
    };
}

enum cpl_status cpl_claim_check(const struct cpl_claim *mine, int32_t rank,
                                const struct cpl_claim *theirs, int32_t peer,
                                struct cpl_error *error)
{
    if (theirs->tag != mine->tag) {
        return cpl_fail(error, CPL_ERROR_MISMATCH,
                        "rank %d and rank %d carry out different conversions at the same time",
                        peer, rank);
    }
    if (theirs->row_bytes != mine->row_bytes || theirs->outer != mine->outer) {
        return cpl_fail(error, CPL_ERROR_MISMATCH,
                        "rank %d sends rows of %" PRIu64 " x %" PRIu64
                        " bytes, rank %d expects %" PRIu64 " x %" PRIu64,
                        peer, theirs->outer, theirs->row_bytes, rank, mine->outer, mine->row_bytes);
    }
    return CPL_OK;
}

static void fill_own(const struct cpl_exchange *exchange)
{
    const struct cpl_route *const route = exchange->route;

    cpl_copy_moves(route->kept.list, route->kept.count, exchange->input, exchange->output);
    cpl_zero_moves(route->pads.list, route->pads.count, exchange->output);
}

static enum cpl_status run(const struct cpl_exchange *exchange, struct cpl_transport *transport,
                           struct cpl_error *error)
{
    const enum cpl_status status = transport->ops->begin(transport, exchange, error);

    if (status != CPL_OK) {
        return status;
    }
    fill_own(exchange);
    return transport->ops->end(transport, exchange, error);
}

enum cpl_status cpl_exchange_run(const struct cpl_exchange *exchange,
                                 struct cpl_transport *transport, struct cpl_error *error)
{
    enum cpl_status status;

    if (transport == NULL) {
        fill_own(exchange);
        return CPL_OK;
    }
    status = run(exchange, transport, error);
    if (status != CPL_OK) {
        transport->ops->fail(transport, error);
    }
    return status;
}
