/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/dealer.h"

/* Appends a piece, or lengthens the last one if both ends touch on the same rank. */
static void deal_piece(struct cpl_dealer *dealer, int32_t rank, int64_t local, int64_t rows)
{
    struct cpl_piece *const last = dealer->count > 0 ? &dealer->pieces[dealer->count - 1] : NULL;

    if (last != NULL && last->rank == rank && last->local + last->length == local) {
        last->length += rows;
        return;
    }
    dealer->pieces[dealer->count++] = (struct cpl_piece){
        .start = dealer->position,
        .length = rows,
        .local = local,
        .rank = rank,
    };
}

void cpl_deal(struct cpl_dealer *dealer, int32_t cp_rank, int64_t rows)
{
    while (rows > 0) {
        const int64_t held = dealer->held[cp_rank];
        const int64_t local = held % dealer->window;
        const int64_t room = dealer->window - local;
        const int64_t taken = rows < room ? rows : room;

        deal_piece(dealer, cp_rank * dealer->tp + (int32_t)(held / dealer->window), local, taken);
        dealer->held[cp_rank] += taken;
        dealer->position += taken;
        rows -= taken;
    }
}
