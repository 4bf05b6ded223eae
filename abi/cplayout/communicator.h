/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The communicator: how ranks that are processes reach each other. The host implements these
 * functions on what it has (MPI, torch.distributed, sockets); the plugin calls them and links none
 * of it. Ranks that are threads of one process take a local group instead (core.h).
 *
 * A context calls the functions on the threads that call it, one at a time. Contexts that share a
 * communicator may do so at once where the host calls them at once. The functions must not call the
 * plugin back. They return CPLAYOUT_OK or an error: TIMEOUT, PEER, MISMATCH or another status, with
 * the reason in error->message (the plugin has set error->size); any of them ends the context.
 *
 * Order. All ranks of a context make its calls in the same order, each with the same tag on both
 * sides of a message. Between two ranks there is at most one message each way per call, so tags may
 * be folded into the range that a library allows.
 */
#ifndef CPLAYOUT_COMMUNICATOR_H
#define CPLAYOUT_COMMUNICATOR_H

#include <stdint.h>

#include <cplayout/status.h>

enum {
    CPLAYOUT_MESSAGE_SEND = 0,
    CPLAYOUT_MESSAGE_RECEIVE = 1,
};

/* Consecutive bytes for or from one rank. */
struct cplayout_message {
    void *data;        /* host memory, any alignment; read only if it is sent */
    uint64_t bytes;    /* > 0, and equal on both sides; may be above 2^31 */
    int32_t peer;      /* communicator rank */
    int32_t direction; /* CPLAYOUT_MESSAGE_... */
};

/* The messages of this rank in one exchange. */
struct cplayout_messages {
    uint64_t size;
    const struct cplayout_message *list; /* [count]; valid during start only, the data until wait */
    uint64_t count;                      /* > 0 */
    uint64_t tag;
    void *stream; /* NULL: host memory */
};

/*
 * Begins to send and to receive all messages, without waiting for a peer, and stores a request of
 * the host's own making. After an error there is no request.
 */
typedef int32_t (*cplayout_exchange_start_fn)(void *self, const struct cplayout_messages *messages,
                                              void **request, struct cplayout_error *error);

/*
 * Waits until all messages of a request have been sent and received. The request ends in any case:
 * when this function returns, also with an error, no message's data is read or written any more.
 * TIMEOUT after `timeout_seconds`. After an error `peer` may name the communicator rank at fault; it
 * is -1 before the call.
 */
typedef int32_t (*cplayout_exchange_wait_fn)(void *self, void *request, double timeout_seconds,
                                             int32_t *peer, struct cplayout_error *error);

/*
 * Tells every other rank that this one has failed: their waits, and all calls from then on, return
 * PEER with the message. Called at most once per context, before the failing call returns. A host that has no
 * gentler way may end the program.
 */
typedef void (*cplayout_abort_fn)(void *self, int32_t status, const char *message);

/* One gathering of host memory from all ranks of the context. */
struct cplayout_allgather {
    uint64_t size;
    const void *mine; /* [bytes] */
    void *all;        /* [ranks * bytes]; every rank's, this one's too, in any order of the ranks */
    uint64_t bytes;   /* equal on all ranks; under a thousand */
    double timeout_seconds; /* TIMEOUT after it */
};

/* Gathers. `peer` as in cplayout_exchange_wait_fn. */
typedef int32_t (*cplayout_allgather_fn)(void *self, const struct cplayout_allgather *gather,
                                         int32_t *peer, struct cplayout_error *error);

struct cplayout_communicator {
    uint64_t size;
    void *self;
    cplayout_exchange_start_fn start; /* start and wait are mandatory */
    cplayout_exchange_wait_fn wait;
    cplayout_abort_fn abort; /* NULL: other ranks wait until their time is up */
    /* The control channel, on which ranks compare what they are about to do. NULL: nothing is
     * compared before rows move, and registration says so (verify.no_channel). */
    cplayout_allgather_fn allgather;
};

#endif
