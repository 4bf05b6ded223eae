/* SPDX-License-Identifier: Apache-2.0 */
#include "threads/mail.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "threads/tap.h"

/* One side of a message that waits for the other side. */
struct parcel {
    struct parcel *next;
    struct request *request; /* NULL: sent eagerly, and no longer the sender's affair */
    unsigned char *data;     /* the caller's, or a copy if `request` is NULL */
    uint64_t bytes;
    uint64_t tag;
};

/* One of the two lists is empty. */
struct box {
    struct parcel *sent;
    struct parcel *wanted;
};

void *mail_take(size_t bytes)
{
    void *const memory = calloc(1, bytes + 1);

    tap_require(memory != NULL, "no %zu bytes of memory", bytes);
    return memory;
}

void mail_init(struct mail *mail, int32_t ranks, const int32_t *map, bool eager)
{
    *mail = (struct mail){ranks, eager, map, NULL};
    mail->boxes = mail_take((size_t)ranks * (size_t)ranks * sizeof(*mail->boxes));
}

static bool is_send(const struct cplayout_message *message)
{
    return message->direction == CPLAYOUT_MESSAGE_SEND;
}

/* FNV-1a over all that is sent. */
static uint64_t digest_sent(const struct request *request)
{
    uint64_t sum = UINT64_C(14695981039346656037);

    for (uint64_t i = 0; i < request->count; i++) {
        const struct cplayout_message *const message = &request->messages[i];
        const unsigned char *const data = message->data;

        for (uint64_t k = 0; k < message->bytes && is_send(message); k++) {
            sum = (sum ^ data[k]) * UINT64_C(1099511628211);
        }
    }
    return sum;
}

struct request *mail_open(int32_t rank, const struct cplayout_messages *messages)
{
    const size_t bytes = (size_t)messages->count * sizeof(messages->list[0]);
    struct request *const request = mail_take(sizeof(*request) + bytes);

    request->rank = rank;
    request->tag = messages->tag;
    request->count = messages->count;
    memcpy(request->messages, messages->list, bytes);
    request->sent = digest_sent(request);
    return request;
}

static void note_mismatch(struct request *request, int32_t peer, const char *reason)
{
    if (request == NULL || request->status != CPLAYOUT_OK) {
        return;
    }
    request->status = CPLAYOUT_ERROR_MISMATCH;
    request->peer = peer;
    (void)snprintf(request->reason, sizeof(request->reason), "%s", reason);
}

static void drop(struct parcel *parcel)
{
    if (parcel->request == NULL) {
        free(parcel->data);
    }
    free(parcel);
}

static void finish(struct parcel *parcel)
{
    if (parcel->request != NULL) {
        parcel->request->open--;
        (void)pthread_cond_broadcast(parcel->request->changed);
    }
    drop(parcel);
}

static void refuse(const struct mail *mail, const int32_t way[2], struct parcel *sent,
                   struct parcel *wanted)
{
    char reason[192];

    (void)snprintf(reason, sizeof(reason),
                   "process %d sends %" PRIu64 " bytes, tag %" PRIx64 ", process %d wants %" PRIu64
                   " bytes, tag %" PRIx64,
                   mail->map[way[0]], sent->bytes, sent->tag, mail->map[way[1]], wanted->bytes,
                   wanted->tag);
    note_mismatch(sent->request, way[1], reason);
    note_mismatch(wanted->request, way[0], reason);
}

static void append(struct parcel **list, struct parcel *parcel)
{
    while (*list != NULL) {
        list = &(*list)->next;
    }
    *list = parcel;
}

static struct parcel *take_first(struct parcel **list)
{
    struct parcel *const first = *list;

    *list = first->next;
    return first;
}

/* Both sides are there. */
static void meet(struct mail *mail, const int32_t way[2], struct box *box)
{
    struct parcel *const sent = take_first(&box->sent);
    struct parcel *const wanted = take_first(&box->wanted);

    if (sent->bytes == wanted->bytes && sent->tag == wanted->tag) {
        memcpy(wanted->data, sent->data, sent->bytes);
    } else {
        refuse(mail, way, sent, wanted);
    }
    finish(sent);
    finish(wanted);
}

static struct parcel *pack(const struct mail *mail, struct request *request,
                           const struct cplayout_message *message)
{
    struct parcel *const parcel = mail_take(sizeof(*parcel));

    *parcel = (struct parcel){NULL, request, message->data, message->bytes, request->tag};
    if (is_send(message) && mail->eager) {
        parcel->request = NULL;
        parcel->data = mail_take(message->bytes);
        memcpy(parcel->data, message->data, message->bytes);
    }
    return parcel;
}

/* The box of a message, and from whom to whom it goes. */
static struct box *box_of(const struct mail *mail, int32_t rank,
                          const struct cplayout_message *message, int32_t way[2])
{
    way[0] = is_send(message) ? rank : message->peer;
    way[1] = is_send(message) ? message->peer : rank;
    return &mail->boxes[way[0] * mail->ranks + way[1]];
}

static void post(struct mail *mail, struct request *request, const struct cplayout_message *message)
{
    struct parcel *const parcel = pack(mail, request, message);
    int32_t way[2];
    struct box *const box = box_of(mail, request->rank, message, way);

    append(is_send(message) ? &box->sent : &box->wanted, parcel);
    if (box->sent != NULL && box->wanted != NULL) {
        meet(mail, way, box);
    }
}

/* Counts first: a message may meet its other side at once. */
void mail_post(struct mail *mail, struct request *request, bool dropped)
{
    for (uint64_t i = 0; i < request->count; i++) {
        request->open += !(mail->eager && is_send(&request->messages[i]));
    }
    for (uint64_t i = 0; i < request->count; i++) {
        if (!(dropped && is_send(&request->messages[i]))) {
            post(mail, request, &request->messages[i]);
        }
    }
}

static bool holds(const struct parcel *list, const struct request *request)
{
    while (list != NULL && list->request != request) {
        list = list->next;
    }
    return list != NULL;
}

int32_t mail_late_peer(const struct mail *mail, const struct request *request)
{
    int32_t way[2];

    for (uint64_t i = 0; i < request->count; i++) {
        const struct box *const box = box_of(mail, request->rank, &request->messages[i], way);

        if (holds(box->sent, request) || holds(box->wanted, request)) {
            return request->messages[i].peer;
        }
    }
    return request->messages[0].peer;
}

/* Takes what belongs to the request out of a list. */
static void withdraw(struct parcel **list, const struct request *request)
{
    while (*list != NULL) {
        if ((*list)->request == request) {
            drop(take_first(list));
        } else {
            list = &(*list)->next;
        }
    }
}

bool mail_close(struct mail *mail, struct request *request)
{
    const bool unchanged = digest_sent(request) == request->sent;
    int32_t way[2];

    for (uint64_t i = 0; i < request->count; i++) {
        struct box *const box = box_of(mail, request->rank, &request->messages[i], way);

        withdraw(&box->sent, request);
        withdraw(&box->wanted, request);
    }
    free(request);
    return unchanged;
}

bool mail_is_empty(const struct mail *mail)
{
    for (int32_t i = 0; i < mail->ranks * mail->ranks; i++) {
        if (mail->boxes[i].sent != NULL || mail->boxes[i].wanted != NULL) {
            return false;
        }
    }
    return true;
}

static void clear(struct parcel **list)
{
    while (*list != NULL) {
        drop(take_first(list));
    }
}

void mail_fini(struct mail *mail)
{
    for (int32_t i = 0; i < mail->ranks * mail->ranks; i++) {
        clear(&mail->boxes[i].sent);
        clear(&mail->boxes[i].wanted);
    }
    free(mail->boxes);
}
