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

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void cpl_deal(struct cpl_dealer *dealer, int32_t cp_rank, int64_t rows)
{
    struct cpl_place *const next = &dealer->next[cp_rank];

    while (rows > 0) {
        const int64_t most = smaller(rows, dealer->window - next->local);
        struct cpl_piece piece = {.local = next->local, .rank = next->rank};

        if (dealer->position == dealer->end) {
            piece.start = -1;
            piece.length = most;
            deal_padding(dealer, &piece);
        } else {
            piece.start = dealer->position;
            piece.length = smaller(most, dealer->end - dealer->position);
            deal_rows(dealer, &piece);
        }
        rows -= piece.length;
        next->local += piece.length;
        if (next->local == dealer->window) {
            *next = (struct cpl_place){.rank = next->rank + 1};
        }
    }
}
