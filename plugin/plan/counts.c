/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/counts.h"

static int64_t piece_pairs(int64_t start, int64_t n)
{
    /* One of n and n - 1 is even; halving it first keeps the product below the sum. */
    const int64_t triangle = n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;

    return n * (start + 1) + triangle;
}

int64_t cpl_attention_pairs(const struct cpl_table *table, int32_t rank)
{
    const size_t count = cpl_table_pieces(table, rank);
    int64_t pairs = 0;

    for (size_t i = 0; i < count; i++) {
        const struct cpl_piece *const piece = cpl_table_piece(table, rank, i);

        pairs += piece_pairs(piece->start, piece->length);
    }
    return pairs;
}

void cpl_positions(const struct cpl_table *table, int32_t rank, int64_t *positions)
{
    const size_t count = cpl_table_pieces(table, rank);

    for (size_t i = 0; i < count; i++) {
        const struct cpl_piece *const piece = cpl_table_piece(table, rank, i);

        for (int64_t row = 0; row < piece->length; row++) {
            positions[piece->local + row] = piece->start + row;
        }
    }
}
