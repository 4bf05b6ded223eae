/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mailboxes of the wire (wire.h): one from every rank to every other, first in, first out. Nothing
 * here locks: the wire does.
 */
#ifndef TESTS_THREADS_MAIL_H
#define TESTS_THREADS_MAIL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cplayout/communicator.h>

/* One exchange of one rank, from start to wait. */
struct request {
    struct request *next; /* of the same rank */
    int32_t rank;
    pthread_cond_t *changed; /* is told when a message has met its other side */
    int64_t open;            /* messages that have not */
    int32_t status;          /* a mismatch that was found when they met */
    int32_t peer;            /* with it */
    char reason[192];        /* and why */
    uint64_t tag;
    uint64_t sent;  /* digest of all that is sent, as it was when the request was opened */
    uint64_t count; /* of the messages below */
    struct cplayout_message messages[]; /* peers are logical ranks */
};

struct box;

struct mail {
    int32_t ranks;
    bool eager;         /* what is sent is copied at once, and needs nobody */
    const int32_t *map; /* communicator ranks, for messages */
    struct box *boxes;  /* [source * ranks + destination] */
};

/* Memory of zeros. Ends the program if there is none. */
void *mail_take(size_t bytes);

void mail_init(struct mail *mail, int32_t ranks, const int32_t *map, bool eager);

/* Whether nothing is left in a box. */
bool mail_is_empty(const struct mail *mail);
void mail_fini(struct mail *mail);

/* A request for messages whose peers are logical ranks. */
struct request *mail_open(int32_t rank, const struct cplayout_messages *messages);

/* Sends and wants everything; with `dropped`, what is sent is lost. */
void mail_post(struct mail *mail, struct request *request, bool dropped);

/* The first peer that has not come, or the first of all. */
int32_t mail_late_peer(const struct mail *mail, const struct request *request);

/* Ends a request: its data is not touched any more. Returns whether what it sent is unchanged. */
bool mail_close(struct mail *mail, struct request *request);

#endif
