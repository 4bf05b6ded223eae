/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message under way, for comm.c and collectives.c only. It belongs to the group while it lies in
 * a mailbox, then to the thread that fetched it until that gives it back.
 */
#ifndef TRAINER_MESSAGE_H
#define TRAINER_MESSAGE_H

#include "comm.h"

struct message {
    struct message *next;
    int32_t source, tag;
    enum comm_category category;
    int size_class;
    size_t bytes;
    _Alignas(max_align_t) unsigned char data[];
};

/* Waits for the next message of a channel; NULL once the group has failed. */
struct message *message_fetch(struct comm *comm, const struct channel *from, size_t bytes);

/* Puts a fetched message into the store for reuse. */
void message_give(struct comm *comm, struct message *message);

#endif
