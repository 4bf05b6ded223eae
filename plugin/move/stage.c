/* SPDX-License-Identifier: Apache-2.0 */
#include "move/stage.h"

#include <stdbool.h>

#include "move/copy.h"

/* The moves of one message, and the tensor that they lie in on this rank. */
struct parcel {
    const struct cpl_move *moves;
    size_t count;
    const struct cpl_rows *rows;
    int32_t direction;
};

/* Walks over the messages of an exchange, in the order of the list. Zeroed but for the exchange. */
struct walk {
    const struct cpl_exchange *exchange;
    int32_t direction;
    size_t next; /* move */
};

static bool next_parcel(struct walk *walk, struct parcel *parcel)
{
    const struct cpl_exchange *const exchange = walk->exchange;
    const struct cpl_moves *moves = &exchange->route->sent;

    if (walk->direction == CPL_MESSAGE_SEND && walk->next == moves->count) {
        *walk = (struct walk){.exchange = exchange, .direction = CPL_MESSAGE_RECEIVE};
    }
    if (walk->direction == CPL_MESSAGE_RECEIVE) {
        moves = &exchange->route->received;
    }
    if (walk->next == moves->count) {
        return false;
    }
    *parcel = (struct parcel){
        .moves = moves->list + walk->next,
        .count = cpl_moves_of_peer(moves, walk->next),
        .rows = walk->direction == CPL_MESSAGE_SEND ? exchange->input : exchange->output,
        .direction = walk->direction,
    };
    walk->next += parcel->count;
    return true;
}

static int64_t first_row(const struct parcel *parcel)
{
    return parcel->direction == CPL_MESSAGE_SEND ? parcel->moves[0].src : parcel->moves[0].dst;
}

static bool is_in_place(const struct parcel *parcel)
{
    const struct cpl_rows *const rows = parcel->rows;

    return parcel->count == 1 && rows->outer == 1 &&
           (rows->row_stride == rows->row_bytes || parcel->moves[0].rows == 1);
}

/* Rows of one peer together are fewer than the tensor has, and its size has been checked. */
static uint64_t parcel_bytes(const struct parcel *parcel)
{
    const struct cpl_moves moves = {.list = parcel->moves, .count = parcel->count};

    return (uint64_t)cpl_moves_rows(&moves) * parcel->rows->row_bytes * parcel->rows->outer;
}

/* How much memory the messages of an exchange need. */
struct need {
    size_t messages;
    uint64_t packed; /* bytes; UINT64_MAX: too many */
};

static struct need need_of(const struct cpl_exchange *exchange)
{
    struct walk walk = {.exchange = exchange};
    struct parcel parcel;
    struct need need = {0, 0};

    while (next_parcel(&walk, &parcel)) {
        need.messages++;
        if (!is_in_place(&parcel) &&
            __builtin_add_overflow(need.packed, parcel_bytes(&parcel), &need.packed)) {
            need.packed = UINT64_MAX;
            break;
        }
    }
    return need;
}

static void list_messages(struct cpl_stage *stage, const struct cpl_exchange *exchange)
{
    struct walk walk = {.exchange = exchange};
    struct parcel parcel;
    unsigned char *packed = stage->packed.data;

    stage->count = 0;
    while (next_parcel(&walk, &parcel)) {
        struct cpl_message *const message = &stage->messages[stage->count++];
        const bool in_place = is_in_place(&parcel);

        *message = (struct cpl_message){
            .bytes = parcel_bytes(&parcel),
            .peer = parcel.moves[0].peer,
            .direction = parcel.direction,
        };
        message->data =
            in_place ? parcel.rows->data + (uint64_t)first_row(&parcel) * parcel.rows->row_stride
                     : packed;
        packed += in_place ? 0 : message->bytes;
    }
}

enum cpl_status cpl_stage_prepare(struct cpl_stage *stage, const struct cpl_exchange *exchange,
                                  struct cpl_error *error)
{
    struct need need;

    stage->count = 0;
    if (exchange->input->row_bytes == 0 || exchange->input->outer == 0) {
        return CPL_OK; /* rows without bytes need no messages */
    }
    need = need_of(exchange);
    stage->messages = cpl_buffer_reserve(&stage->list, need.messages, sizeof(*stage->messages));
    if (stage->messages == NULL || cpl_buffer_reserve(&stage->packed, 1, need.packed) == NULL) {
        return cpl_fail_memory(error);
    }
    list_messages(stage, exchange);
    return CPL_OK;
}

void cpl_stage_pack(const struct cpl_stage *stage, const struct cpl_exchange *exchange)
{
    struct walk walk = {.exchange = exchange};
    struct parcel parcel;

    for (size_t i = 0; i < stage->count && next_parcel(&walk, &parcel); i++) {
        if (parcel.direction == CPL_MESSAGE_SEND && !is_in_place(&parcel)) {
            cpl_pack_moves(parcel.moves, parcel.count, parcel.rows, stage->messages[i].data);
        }
    }
}

void cpl_stage_unpack(const struct cpl_stage *stage, const struct cpl_exchange *exchange)
{
    struct walk walk = {.exchange = exchange};
    struct parcel parcel;

    for (size_t i = 0; i < stage->count && next_parcel(&walk, &parcel); i++) {
        if (parcel.direction == CPL_MESSAGE_RECEIVE && !is_in_place(&parcel)) {
            cpl_unpack_moves(parcel.moves, parcel.count, stage->messages[i].data, parcel.rows);
        }
    }
}

void cpl_stage_fini(struct cpl_stage *stage)
{
    cpl_buffer_fini(&stage->packed);
    cpl_buffer_fini(&stage->list);
    stage->messages = NULL;
    stage->count = 0;
}
