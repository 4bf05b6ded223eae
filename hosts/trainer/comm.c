/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The group of ranks and its messages. Owns the mailboxes, one per destination, a store of used
 * message buffers by size (powers of two) so that a steady state allocates nothing, the byte
 * counters and the error.
 * One mutex guards all of it; payloads are copied outside of it, while only one thread holds the
 * message. Each rank waits on its own condition variable, its bell.
 */
#include "message.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZE_CLASSES = 48, SMALLEST_CLASS = 6, ERROR_BYTES = 512 };

struct mailbox {
    struct message *first, *last;
    pthread_cond_t bell;
    int64_t arrived; /* barriers this rank has entered */
};

struct comm {
    pthread_mutex_t lock;
    int32_t ranks, bells;
    double timeout;
    struct mailbox *boxes;
    struct message *store[SIZE_CLASSES];
    int64_t bytes[COMM_CATEGORIES];
    bool failed;
    char error[ERROR_BYTES];
};

static int bell_create(pthread_cond_t *bell)
{
    pthread_condattr_t attributes;
    int error = pthread_condattr_init(&attributes);

    if (error) {
        return error;
    }
    error = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (!error) {
        error = pthread_cond_init(bell, &attributes);
    }
    pthread_condattr_destroy(&attributes);
    return error;
}

struct comm *comm_create(int32_t ranks, double timeout_seconds)
{
    struct comm *comm;

    if (ranks < 1 || !(timeout_seconds > 0)) {
        return NULL;
    }
    comm = calloc(1, sizeof *comm);
    if (!comm) {
        return NULL;
    }
    comm->ranks = ranks;
    comm->timeout = timeout_seconds;
    comm->boxes = calloc((size_t)ranks, sizeof *comm->boxes);
    if (!comm->boxes || pthread_mutex_init(&comm->lock, NULL)) {
        goto free_comm;
    }
    for (; comm->bells < ranks; comm->bells++) {
        if (bell_create(&comm->boxes[comm->bells].bell)) {
            comm_destroy(comm);
            return NULL;
        }
    }
    return comm;

free_comm:
    free(comm->boxes);
    free(comm);
    return NULL;
}

static void messages_free(struct message *message)
{
    while (message) {
        struct message *next = message->next;
        free(message);
        message = next;
    }
}

void comm_destroy(struct comm *comm)
{
    if (!comm) {
        return;
    }
    for (int32_t r = 0; r < comm->ranks; r++) {
        messages_free(comm->boxes[r].first);
    }
    for (int i = 0; i < SIZE_CLASSES; i++) {
        messages_free(comm->store[i]);
    }
    for (int32_t r = 0; r < comm->bells; r++) {
        pthread_cond_destroy(&comm->boxes[r].bell);
    }
    pthread_mutex_destroy(&comm->lock);
    free(comm->boxes);
    free(comm);
}

int32_t comm_ranks(const struct comm *comm)
{
    return comm->ranks;
}

/* Records the first error and wakes every rank; the lock is held. Returns -1. */
__attribute__((format(printf, 2, 3))) static int fail(struct comm *comm, const char *format, ...)
{
    va_list arguments;

    if (comm->failed) {
        return -1;
    }
    comm->failed = true;
    va_start(arguments, format);
    vsnprintf(comm->error, sizeof comm->error, format, arguments);
    va_end(arguments);
    for (int32_t r = 0; r < comm->ranks; r++) {
        pthread_cond_broadcast(&comm->boxes[r].bell);
    }
    return -1;
}

void comm_abort(struct comm *comm, int32_t rank, const char *message)
{
    pthread_mutex_lock(&comm->lock);
    fail(comm, "rank %d: %s", (int)rank, message);
    pthread_mutex_unlock(&comm->lock);
}

const char *comm_error(struct comm *comm)
{
    pthread_mutex_lock(&comm->lock);
    const char *error = comm->failed ? comm->error : "";
    pthread_mutex_unlock(&comm->lock);
    return error;
}

int64_t comm_bytes(struct comm *comm, enum comm_category category)
{
    pthread_mutex_lock(&comm->lock);
    const int64_t bytes = comm->bytes[category];
    pthread_mutex_unlock(&comm->lock);
    return bytes;
}

/* The smallest class whose buffers hold `bytes`; SIZE_CLASSES when there is none. */
static int size_class(size_t bytes)
{
    int class = SMALLEST_CLASS;

    while (class < SIZE_CLASSES && ((size_t)1 << class) < bytes) {
        class ++;
    }
    return class;
}

/* An empty message from the store, or a fresh one. Takes the lock. */
static struct message *message_take(struct comm *comm, size_t bytes)
{
    const int class = size_class(bytes);
    struct message *message;

    if (class == SIZE_CLASSES) {
        return NULL;
    }
    pthread_mutex_lock(&comm->lock);
    message = comm->store[class];
    if (message) {
        comm->store[class] = message->next;
    }
    pthread_mutex_unlock(&comm->lock);
    if (!message) {
        message = malloc(sizeof *message + ((size_t)1 << class));
    }
    if (message) {
        message->size_class = class;
    }
    return message;
}

void message_give(struct comm *comm, struct message *message)
{
    pthread_mutex_lock(&comm->lock);
    message->next = comm->store[message->size_class];
    comm->store[message->size_class] = message;
    pthread_mutex_unlock(&comm->lock);
}

/* Puts a filled message into its destination's box, counts it, rings the bell. */
static int post(struct comm *comm, const struct channel *to, struct message *message)
{
    struct mailbox *box = &comm->boxes[to->peer];

    message->next = NULL;
    pthread_mutex_lock(&comm->lock);
    *(box->last ? &box->last->next : &box->first) = message;
    box->last = message;
    if (to->peer != to->self) {
        comm->bytes[to->category] += (int64_t)message->bytes;
    }
    pthread_cond_signal(&box->bell);
    const int status = comm->failed ? -1 : 0;
    pthread_mutex_unlock(&comm->lock);
    return status;
}

int comm_send(struct comm *comm, const struct channel *to, const void *data, size_t bytes)
{
    struct message *message = message_take(comm, bytes);

    if (!message) {
        comm_abort(comm, to->self, "no memory for a message");
        return -1;
    }
    message->source = to->self;
    message->tag = to->tag;
    message->category = to->category;
    message->bytes = bytes;
    if (bytes) {
        memcpy(message->data, data, bytes);
    }
    return post(comm, to, message);
}

/* Takes the first message of a channel out of the box, NULL if there is none; lock held. */
static struct message *unlink_first(struct mailbox *box, const struct channel *from)
{
    struct message *before = NULL;
    struct message *at = box->first;

    while (at &&
           (at->source != from->peer || at->tag != from->tag || at->category != from->category)) {
        before = at;
        at = at->next;
    }
    if (at) {
        *(before ? &before->next : &box->first) = at->next;
        box->last = box->last == at ? before : box->last;
    }
    return at;
}

static struct timespec deadline(const struct comm *comm)
{
    const double whole = floor(comm->timeout);
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += (time_t)whole;
    time.tv_nsec += (long)((comm->timeout - whole) * 1e9);
    if (time.tv_nsec >= 1000000000L) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000L;
    }
    return time;
}

struct message *message_fetch(struct comm *comm, const struct channel *from, size_t bytes)
{
    struct mailbox *box = &comm->boxes[from->self];
    const struct timespec limit = deadline(comm);
    struct message *message = NULL;
    int waited = 0;

    pthread_mutex_lock(&comm->lock);
    while (!comm->failed && !(message = unlink_first(box, from)) && !waited) {
        waited = pthread_cond_timedwait(&box->bell, &comm->lock, &limit);
    }
    if (!comm->failed && !message) {
        fail(comm, "rank %d: no message from rank %d (tag %d) within %g s", (int)from->self,
             (int)from->peer, (int)from->tag, comm->timeout);
    } else if (message && message->bytes != bytes) {
        fail(comm, "rank %d: a message from rank %d (tag %d) has %zu bytes instead of %zu",
             (int)from->self, (int)from->peer, (int)from->tag, message->bytes, bytes);
        free(message);
        message = NULL;
    }
    pthread_mutex_unlock(&comm->lock);
    return message;
}

int comm_recv(struct comm *comm, const struct channel *from, void *data, size_t bytes)
{
    struct message *message = message_fetch(comm, from, bytes);

    if (!message) {
        return -1;
    }
    if (bytes) {
        memcpy(data, message->data, bytes);
    }
    message_give(comm, message);
    return 0;
}

/* The first rank that has entered fewer than `entered` barriers, or -1; lock held. */
static int32_t missing(const struct comm *comm, int64_t entered)
{
    for (int32_t r = 0; r < comm->ranks; r++) {
        if (comm->boxes[r].arrived < entered) {
            return r;
        }
    }
    return -1;
}

int comm_barrier(struct comm *comm, int32_t rank)
{
    struct mailbox *box = &comm->boxes[rank];
    const struct timespec limit = deadline(comm);
    int32_t absent;
    int waited = 0;

    pthread_mutex_lock(&comm->lock);
    const int64_t entered = ++box->arrived;
    for (int32_t r = 0; r < comm->ranks; r++) {
        pthread_cond_signal(&comm->boxes[r].bell);
    }
    while ((absent = missing(comm, entered)) >= 0 && !comm->failed && !waited) {
        waited = pthread_cond_timedwait(&box->bell, &comm->lock, &limit);
    }
    if (absent >= 0) {
        fail(comm, "rank %d: rank %d did not reach the barrier within %g s", (int)rank, (int)absent,
             comm->timeout);
    }
    const int status = comm->failed ? -1 : 0;
    pthread_mutex_unlock(&comm->lock);
    return status;
}
