/* SPDX-License-Identifier: Apache-2.0 */
#include "move/copy.h"

#include <string.h>

#include "kernels/run_copy.h"

/* Where rows are copied from: rows of a tensor. */
static void set_from(struct cpl_run_copy *run, const struct cpl_rows *rows, int64_t row)
{
    run->from = rows->data + (uint64_t)row * rows->row_stride;
    run->from_stride = rows->row_stride;
    run->from_outer_stride = rows->outer_stride;
}

/* And where to. */
static void set_to(struct cpl_run_copy *run, const struct cpl_rows *rows, int64_t row)
{
    run->to = rows->data + (uint64_t)row * rows->row_stride;
    run->to_stride = rows->row_stride;
    run->to_outer_stride = rows->outer_stride;
}

/* A run of a move's rows; both sides have the same row bytes and outer count. The tensor tells how much
 * is copied in all. */
static struct cpl_run_copy run_of(const struct cpl_move *move, const struct cpl_rows *rows)
{
    return (struct cpl_run_copy){
        .rows = (uint64_t)move->rows,
        .row_bytes = rows->row_bytes,
        .outer = rows->outer,
        .total = (uint64_t)rows->rows * rows->row_bytes * rows->outer,
    };
}

/* Rows without bytes may have no memory, and then no address to count from. */
static bool is_empty(const struct cpl_rows *rows)
{
    return rows->row_bytes == 0 || rows->outer == 0;
}

static uint64_t run_bytes(const struct cpl_run_copy *run)
{
    return run->rows * run->row_bytes * run->outer;
}

void cpl_copy_moves(const struct cpl_move *moves, size_t count, const struct cpl_rows *from,
                    const struct cpl_rows *to)
{
    for (size_t i = 0; i < count && !is_empty(to); i++) {
        struct cpl_run_copy run = run_of(&moves[i], to);

        set_from(&run, from, moves[i].src);
        set_to(&run, to, moves[i].dst);
        cpl_run_copy(&run);
    }
}

void cpl_zero_moves(const struct cpl_move *moves, size_t count, const struct cpl_rows *to)
{
    for (size_t i = 0; i < count && !is_empty(to); i++) {
        unsigned char *const first = to->data + (uint64_t)moves[i].dst * to->row_stride;

        for (uint64_t outer = 0; outer < to->outer; outer++) {
            for (int64_t row = 0; row < moves[i].rows; row++) {
                memset(first + outer * to->outer_stride + (uint64_t)row * to->row_stride, 0,
                       to->row_bytes);
            }
        }
    }
}

void cpl_pack_moves(const struct cpl_move *moves, size_t count, const struct cpl_rows *from,
                    unsigned char *message)
{
    for (size_t i = 0; i < count && !is_empty(from); i++) {
        struct cpl_run_copy run = run_of(&moves[i], from);

        set_from(&run, from, moves[i].src);
        run.to = message;
        run.to_stride = run.row_bytes;
        run.to_outer_stride = run.rows * run.row_bytes;
        cpl_run_copy(&run);
        message += run_bytes(&run);
    }
}

void cpl_unpack_moves(const struct cpl_move *moves, size_t count, const unsigned char *message,
                      const struct cpl_rows *to)
{
    for (size_t i = 0; i < count && !is_empty(to); i++) {
        struct cpl_run_copy run = run_of(&moves[i], to);

        set_to(&run, to, moves[i].dst);
        run.from = message;
        run.from_stride = run.row_bytes;
        run.from_outer_stride = run.rows * run.row_bytes;
        cpl_run_copy(&run);
        message += run_bytes(&run);
    }
}
