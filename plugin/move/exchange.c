/* SPDX-License-Identifier: Apache-2.0 */
#include "move/exchange.h"

#include <inttypes.h>

#include "move/copy.h"
#include "move/local.h"

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

static enum cpl_status check_sides(const struct cpl_exchange *exchange, struct cpl_error *error)
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

enum cpl_status cpl_exchange_run(const struct cpl_exchange *exchange,
                                 const struct cpl_local *transport, struct cpl_error *error)
{
    const struct cpl_moves *const kept = &exchange->route->kept;
    const enum cpl_status status = check_sides(exchange, error);

    if (status != CPL_OK) {
        return status;
    }
    cpl_copy_moves(kept->list, kept->count, exchange->input, exchange->output);
    return cpl_local_exchange(transport, exchange, error);
}
