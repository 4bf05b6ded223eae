/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stage turns the moves of an exchange into byte messages, one per peer and direction, for the
 * transports that need them. It owns the memory of packed messages, which grows to the largest
 * exchange and stays. A message that is one run of rows in memory on this rank, outer count 1, lies in
 * the tensor itself; its bytes are the same either way (copy.h), so the other side need not know.
 */
#ifndef CPL_MOVE_STAGE_H
#define CPL_MOVE_STAGE_H

#include "base/buffer.h"
#include "move/exchange.h"

/* Equal to those of the ABI; the entry room asserts it. */
enum { CPL_MESSAGE_SEND = 0, CPL_MESSAGE_RECEIVE = 1 };

/* Laid out like the message of the ABI; the entry room asserts it. */
struct cpl_message {
    void *data; /* only read if it is sent */
    uint64_t bytes;
    int32_t peer;
    int32_t direction;
};

struct cpl_stage {
    struct cpl_buffer packed;
    struct cpl_buffer list;
    struct cpl_message *messages; /* [count]: sent ones, then received ones; by logical rank */
    size_t count;
};

/* Lists the messages of an exchange. None of them is empty. Errors: MEMORY. */
enum cpl_status cpl_stage_prepare(struct cpl_stage *stage, const struct cpl_exchange *exchange,
                                  struct cpl_error *error);

/* Fills the messages that are sent, and empties those that have been received. */
void cpl_stage_pack(const struct cpl_stage *stage, const struct cpl_exchange *exchange);
void cpl_stage_unpack(const struct cpl_stage *stage, const struct cpl_exchange *exchange);

void cpl_stage_fini(struct cpl_stage *stage);

#endif
