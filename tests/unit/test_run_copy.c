/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that run copy writes the bytes it is told to and no other: at every alignment of both sides,
 * at sizes around those where it changes its way, for rows with and without gaps, once and many
 * times. The expected memory is written byte by byte.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/run_copy.h"

enum {
    CANARY = 0xa7,
    LINE = 64,
    SMALL = 300,         /* bytes: every size up to this one */
    PIECE = 32 << 10,    /* bytes in a row from which copies of a large total are streamed */
    LARGE = 16 << 20,    /* bytes of such a total */
    HUGE = (5 << 20) + 7 /* bytes of one piece */
};

static const uint64_t totals[] = {0, LARGE - 1, LARGE, UINT64_MAX};

enum { TOTALS = sizeof(totals) / sizeof(totals[0]) };

static unsigned char *allocate(size_t bytes)
{
    unsigned char *const memory = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);

    cr_assert_not_null(memory);
    return memory;
}

/* Neighbours differ, and so do bytes that are a power of two apart. */
static unsigned char *allocate_source(size_t bytes)
{
    unsigned char *const memory = allocate(bytes);

    for (size_t i = 0; i < bytes; i++) {
        memory[i] = (unsigned char)(i % 251);
    }
    return memory;
}

/* ---- One piece ------------------------------------------------------------------------------- */

/* Memory for one piece at any alignment, and a line of canaries on either side. */
struct pair {
    unsigned char *to;
    unsigned char *from;
    size_t bytes;
};

static struct pair pair_create(size_t most)
{
    const size_t bytes = most + 3 * LINE;
    const struct pair pair = {allocate(bytes), allocate_source(bytes), bytes};

    memset(pair.to, CANARY, bytes);
    return pair;
}

static void pair_destroy(struct pair *pair)
{
    free(pair->to);
    free(pair->from);
}

static bool is_canary(const unsigned char *memory, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (memory[i] != CANARY) {
            return false;
        }
    }
    return true;
}

/* Copies one piece as a row, and restores the canaries. Offsets are those from a line. */
static void check_piece(const struct pair *pair, size_t to, size_t from, size_t bytes,
                        uint64_t total)
{
    const struct cpl_run_copy run = {
        .to = pair->to + LINE + to,
        .from = pair->from + LINE + from,
        .rows = 1,
        .row_bytes = bytes,
        .to_stride = bytes,
        .from_stride = bytes,
        .outer = 1,
        .total = total,
    };

    cpl_run_copy(&run);
    cr_assert(memcmp(run.to, run.from, bytes) == 0 && is_canary(run.to - LINE, LINE) &&
                  is_canary(run.to + bytes, LINE),
              "%zu bytes from line + %zu to line + %zu, total %llu", bytes, from, to,
              (unsigned long long)total);
    memset(run.to, CANARY, bytes);
}

Test(run_copy, small_pieces_at_every_alignment)
{
    struct pair pair = pair_create(SMALL);

    for (size_t at = 0; at < LINE * LINE; at++) {
        for (size_t bytes = 0; bytes <= SMALL; bytes++) {
            check_piece(&pair, at / LINE, at % LINE, bytes, totals[bytes % TOTALS]);
        }
    }
    pair_destroy(&pair);
}

Test(run_copy, streamed_pieces_at_every_alignment)
{
    const size_t sizes[] = {PIECE - 1, PIECE, PIECE + 1, PIECE + LINE - 1, PIECE + LINE + 1};
    struct pair pair = pair_create(PIECE + SMALL);

    for (size_t at = 0; at < LINE * LINE; at++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            check_piece(&pair, at / LINE, at % LINE, sizes[i], LARGE);
        }
    }
    pair_destroy(&pair);
}

Test(run_copy, streamed_pieces_of_every_length)
{
    struct pair pair = pair_create(PIECE + SMALL);

    for (size_t bytes = PIECE - 2; bytes <= PIECE + SMALL; bytes++) {
        for (size_t to = 0; to < LINE; to++) {
            check_piece(&pair, to, bytes * 7 % LINE, bytes, totals[to % TOTALS]);
        }
    }
    pair_destroy(&pair);
}

Test(run_copy, huge_pieces)
{
    struct pair pair = pair_create(HUGE);

    for (size_t i = 0; i < TOTALS; i++) {
        check_piece(&pair, 0, 0, HUGE, totals[i]);
        check_piece(&pair, 1, 63, HUGE, totals[i]);
        check_piece(&pair, 33, 16, HUGE, totals[i]);
    }
    pair_destroy(&pair);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* A run, by what lies between its rows and between its outer entries. */
struct form {
    uint64_t rows;
    uint64_t row_bytes;
    uint64_t outer;
    uint64_t to_gap;
    uint64_t from_gap;
};

static struct cpl_run_copy run_of(const struct form *form)
{
    struct cpl_run_copy run = {
        .rows = form->rows,
        .row_bytes = form->row_bytes,
        .outer = form->outer,
        .to_stride = form->row_bytes + form->to_gap,
        .from_stride = form->row_bytes + form->from_gap,
    };

    run.to_outer_stride = run.rows * run.to_stride + 3 * form->to_gap;
    run.from_outer_stride = run.rows * run.from_stride + 2 * form->from_gap;
    return run;
}

static void copy_bytes(const struct cpl_run_copy *run, unsigned char *to)
{
    for (uint64_t i = 0; i < run->outer * run->rows * run->row_bytes; i++) {
        const uint64_t byte = i % run->row_bytes;
        const uint64_t row = i / run->row_bytes % run->rows;
        const uint64_t outer = i / run->row_bytes / run->rows;

        to[outer * run->to_outer_stride + row * run->to_stride + byte] =
            run->from[outer * run->from_outer_stride + row * run->from_stride + byte];
    }
}

static void check_form(const struct form *form, uint64_t total)
{
    struct cpl_run_copy run = run_of(form);
    const size_t bytes = run.outer * run.to_outer_stride + 2 * LINE;
    unsigned char *const to = allocate(bytes);
    unsigned char *const expected = allocate(bytes);
    unsigned char *const from = allocate_source(run.outer * run.from_outer_stride + LINE);

    memset(to, CANARY, bytes);
    memset(expected, CANARY, bytes);
    run.to = to + LINE;
    run.from = from + 5;
    run.total = total;
    copy_bytes(&run, expected + LINE);
    cpl_run_copy(&run);
    cr_assert(memcmp(to, expected, bytes) == 0,
              "%llu x %llu rows of %llu bytes, gaps %llu and %llu, total %llu",
              (unsigned long long)run.outer, (unsigned long long)run.rows,
              (unsigned long long)run.row_bytes, (unsigned long long)form->to_gap,
              (unsigned long long)form->from_gap, (unsigned long long)total);
    free(to);
    free(expected);
    free(from);
}

static const uint64_t row_bytes[] = {0, 1, 3, 64, 300, PIECE / 5, PIECE + 1};
static const uint64_t gaps[] = {0, 1, 29, 64};

enum {
    WIDTHS = sizeof(row_bytes) / sizeof(row_bytes[0]),
    GAPS = sizeof(gaps) / sizeof(gaps[0]),
    ROWS = 6,  /* 0 ... 5: rows of a fifth of a piece are streamed where they have no gaps */
    OUTER = 4, /* 0 ... 3 */
};

Test(run_copy, rows_with_and_without_gaps)
{
    for (size_t i = 0; i < WIDTHS * GAPS * GAPS; i++) {
        struct form form = {
            .row_bytes = row_bytes[i / (GAPS * GAPS)],
            .to_gap = gaps[i / GAPS % GAPS],
            .from_gap = gaps[i % GAPS],
        };

        for (size_t j = 0; j < ROWS * OUTER; j++) {
            form.rows = j % ROWS;
            form.outer = j / ROWS;
            check_form(&form, 0);
            check_form(&form, LARGE);
        }
    }
}
