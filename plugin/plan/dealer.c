/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/dealer.h"

#include <stdbool.h>

/* Lengthens a piece by what follows it on the same rank, if it does. */
static bool join(struct cpl_piece *last, const struct cpl_piece *next)
{
    const bool touches = last->rank == next->rank && last->local + last->length == next->local;

    if (touches) {
        last->length += next->length;
    }
    return touches;
}

/* In global order only the last piece can be continued by the next rows of the stream. */
static void deal_rows(struct cpl_dealer *dealer, const struct cpl_piece *piece)
{
    struct cpl_hand *const hand = &dealer->rows;

    if (hand->count == 0 || !join(&hand->pieces[hand->count - 1], piece)) {
        hand->pieces[hand->count++] = *piece;
    }
    dealer->position += piece->length;
    dealer->remaining -= piece->length;
}

/* Padding is alike everywhere: it continues the rank's last padding if no row lies between. */
static void deal_padding(struct cpl_dealer *dealer, const struct cpl_piece *piece)
{
    struct cpl_hand *const hand = &dealer->pads;
    uint32_t *const last = &dealer->last_pad[piece->rank];

    if (*last == 0 || !join(&hand->pieces[*last - 1], piece)) {
        hand->pieces[hand->count++] = *piece;
        *last = (uint32_t)hand->count;
    }
}

static int64_t smallest(int64_t a, int64_t b, int64_t c)
{
    const int64_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

void cpl_deal(struct cpl_dealer *dealer, int32_t cp_rank, int64_t rows)
{
    while (rows > 0) {
        const int64_t held = dealer->held[cp_rank];
        const int64_t local = held % dealer->window;
        const bool pads = dealer->remaining == 0;
        const struct cpl_piece piece = {
            .start = pads ? -1 : dealer->position,
            .length = smallest(rows, dealer->window - local, pads ? rows : dealer->remaining),
            .local = local,
            .rank = cp_rank * dealer->tp + (int32_t)(held / dealer->window),
        };

        (pads ? deal_padding : deal_rows)(dealer, &piece);
        dealer->held[cp_rank] += piece.length;
        rows -= piece.length;
    }
}
