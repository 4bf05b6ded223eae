/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a transport is: one rank's way to reach the other ranks of its group. It carries out the part
 * of an exchange that crosses ranks, and is the control channel on which ranks compare digests. The
 * context owns one, or none if it is alone. One call at a time.
 *
 * Rules for every transport. Ranks make its calls in one order, and it checks what it can: that both
 * sides carry out the same conversion, on rows of one size. No wait is longer than
 * `timeout_seconds`; the message names the rank that did not come. When a call returns, also with an
 * error, nobody reads this rank's input or writes its output any more. Framing follows from route, row
 * bytes, outer count and configuration, never from a pointer or stride.
 */
#ifndef CPL_MOVE_TRANSPORT_H
#define CPL_MOVE_TRANSPORT_H

#include <stdbool.h>

#include "base/error.h"
#include "move/exchange.h"
#include "move/turn.h"

struct cpl_transport {
    const struct cpl_transport_ops *ops;
    int32_t rank; /* logical */
    int32_t ranks;
    bool gathers; /* there is a control channel */
    double timeout_seconds;
};

/* Every rank's `bytes` on its way to all. */
struct cpl_gather {
    enum cpl_meeting meeting; /* what it is for */
    const void *mine;
    void *all; /* [ranks * bytes], in any order of the ranks */
    size_t bytes;
};

struct cpl_transport_ops {
    /* Called where `gathers`. Errors: TIMEOUT, PEER, MISMATCH. */
    enum cpl_status (*gather)(struct cpl_transport *transport, const struct cpl_gather *gather,
                              struct cpl_error *error);

    /*
     * begin: lets peers know that this rank's input is there, without waiting for them. end: receives
     * this rank's rows and waits until its peers have theirs; not called if begin has failed. What is
     * kept is copied in between. Errors: MEMORY (begin only), TIMEOUT, PEER, MISMATCH (rows of another
     * size, another conversion).
     */
    enum cpl_status (*begin)(struct cpl_transport *transport, const struct cpl_exchange *exchange,
                             struct cpl_error *error);
    enum cpl_status (*end)(struct cpl_transport *transport, const struct cpl_exchange *exchange,
                           struct cpl_error *error);

    /* Tells the peers, once, that this rank has failed: their waits end, and their calls fail. */
    void (*fail)(struct cpl_transport *transport, const struct cpl_error *error);

    /* Leaves the group and frees the transport. Peers that wait for this rank get PEER if they can. */
    void (*leave)(struct cpl_transport *transport);
};

#endif
