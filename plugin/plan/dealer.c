/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/dealer.h"

#include <string.h>

#include "base/arena.h"

/* Lengthens a piece by rows that follow it on its rank, if they do. */
static bool join(struct cpl_piece *last, const struct cpl_place *place, int64_t rows)
{
    const bool follows = last->rank == place->rank && last->local + last->length == place->local;

    if (follows) {
        last->length += rows;
    }
    return follows;
}

/* Twice the room. The old array stays in the arena until its next reset. */
__attribute__((noinline, cold)) static bool grow(struct cpl_dealer *dealer, struct cpl_hand *hand)
{
    const size_t room = hand->room < 8 ? 16 : 2 * hand->room;
    struct cpl_piece *const pieces = cpl_arena_take_raw(dealer->arena, room, sizeof(*pieces));

    if (pieces == NULL) {
        dealer->failed = true;
        return false;
    }
    if (hand->count > 0) {
        memcpy(pieces, hand->pieces, hand->count * sizeof(*pieces));
    }
    hand->pieces = pieces;
    hand->room = room;
    return true;
}

/* Written member by member where it stays: a copy would have to wait for its parts. */
static void append(struct cpl_dealer *dealer, struct cpl_hand *hand, int64_t start,
                   const struct cpl_place *place, int64_t rows)
{
    struct cpl_piece *piece;

    if (hand->count == hand->room && !grow(dealer, hand)) {
        return;
    }
    piece = &hand->pieces[hand->count++];
    piece->start = start;
    piece->length = rows;
    piece->local = place->local;
    piece->rank = place->rank;
}

/* In global order only the last piece can be continued by the next rows of the stream. */
static void deal_rows(struct cpl_dealer *dealer, const struct cpl_place *place, int64_t rows)
{
    struct cpl_hand *const hand = &dealer->rows;

    if (hand->count == 0 || !join(&hand->pieces[hand->count - 1], place, rows)) {
        append(dealer, hand, dealer->position, place, rows);
    }
    dealer->position += rows;
}

/* Padding is alike everywhere: it continues the rank's last padding if no row lies between. */
static void deal_padding(struct cpl_dealer *dealer, const struct cpl_place *place, int64_t rows)
{
    struct cpl_hand *const hand = &dealer->pads;
    uint32_t *const last = &dealer->last_pad[place->rank];

    if (*last == 0 || !join(&hand->pieces[*last - 1], place, rows)) {
        append(dealer, hand, -1, place, rows);
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
        int64_t taken = smaller(rows, dealer->window - next->local);

        if (dealer->position == dealer->end) {
            deal_padding(dealer, next, taken);
        } else {
            taken = smaller(taken, dealer->end - dealer->position);
            deal_rows(dealer, next, taken);
        }
        rows -= taken;
        next->local += taken;
        if (next->local == dealer->window) {
            next->local = 0;
            next->rank++;
        }
    }
}
