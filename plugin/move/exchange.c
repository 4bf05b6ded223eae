/* SPDX-License-Identifier: Apache-2.0 */
#include "move/exchange.h"

#include <inttypes.h>
#include <stdbool.h>

#include "kernels/run_copy.h"
#include "move/local.h"

void cpl_exchange_copy(const struct cpl_move *moves, size_t count, const struct cpl_rows *from,
                       const struct cpl_rows *to)
{
    for (size_t i = 0; i < count; i++) {
        const struct cpl_run_copy run = {
            .to = to->data + (uint64_t)moves[i].dst * to->row_stride,
            .from = from->data + (uint64_t)moves[i].src * from->row_stride,
            .rows = (uint64_t)moves[i].rows,
            .row_bytes = to->row_bytes,
            .to_stride = to->row_stride,
            .from_stride = from->row_stride,
            .outer = to->outer,
            .to_outer_stride = to->outer_stride,
            .from_outer_stride = from->outer_stride,
        };

        cpl_run_copy(&run);
    }
}

static enum cpl_status check_rows(const char *name, int64_t rows, int64_t expected,
                                  struct cpl_error *error)
{
    if (rows != expected) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT,
                        "%s has %" PRId64 " rows, its layout has %" PRId64 " on this rank", name,
                        rows, expected);
    }
    return CPL_OK;
}

static uintptr_t end_of(const struct cpl_rows *rows)
{
    const uint64_t last_row = rows->rows > 0 ? (uint64_t)rows->rows - 1 : 0;
    const uint64_t last_outer = rows->outer > 0 ? rows->outer - 1 : 0;

    return (uintptr_t)rows->data + last_row * rows->row_stride + last_outer * rows->outer_stride +
           rows->row_bytes;
}

static bool overlap(const struct cpl_rows *a, const struct cpl_rows *b)
{
    return a->rows > 0 && b->rows > 0 && (uintptr_t)a->data < end_of(b) &&
           (uintptr_t)b->data < end_of(a);
}

static enum cpl_status check_sides(const struct cpl_exchange *exchange, struct cpl_error *error)
{
    const struct cpl_rows *const input = exchange->input;
    const struct cpl_rows *const output = exchange->output;
    enum cpl_status status = check_rows("input", input->rows, exchange->route->source_rows, error);

    if (status == CPL_OK) {
        status = check_rows("output", output->rows, exchange->route->target_rows, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    if (input->row_bytes != output->row_bytes || input->outer != output->outer) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT,
                        "input rows are %" PRIu64 " x %" PRIu64 " bytes, output rows %" PRIu64
                        " x %" PRIu64,
                        input->outer, input->row_bytes, output->outer, output->row_bytes);
    }
    if (overlap(input, output)) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT, "input and output overlap in memory");
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
    cpl_exchange_copy(kept->list, kept->count, exchange->input, exchange->output);
    return cpl_local_exchange(transport, exchange, error);
}
