/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A communicator for tests: the functions of communicator.h over threads and mailboxes. It keeps the
 * host's side of the contract to the letter, and checks the plugin's: whatever the plugin must not do
 * fails the running test. It can be slow, lose messages and fail where a test wants it to.
 *
 * Ranks here are logical ranks; the plugin sees communicator ranks, which are others and have gaps.
 */
#ifndef TESTS_THREADS_WIRE_H
#define TESTS_THREADS_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include <cplayout/communicator.h>

struct wire;

/* How messages travel. */
enum wire_mode {
    WIRE_EAGER,      /* what is sent is copied in start and needs nobody */
    WIRE_RENDEZVOUS, /* it is read from the sender's memory when the receiver is there */
};

/* What kind of communicator it is. All zero: the usual one. */
struct wire_traits {
    enum wire_mode mode;
    bool plain_map;    /* communicator ranks are logical ranks, and the host gives no map */
    bool no_abort;     /* abort is NULL */
    bool no_allgather; /* allgather is NULL */
};

enum wire_point { WIRE_START, WIRE_WAIT, WIRE_ALLGATHER, WIRE_POINTS };

enum wire_deed {
    WIRE_FAIL,  /* the call returns `status` */
    WIRE_DROP,  /* start: what it sends never arrives; allgather: this rank's part */
    WIRE_DELAY, /* the call sleeps before it does anything */
};

/* Something that goes wrong at one call of one rank. */
struct wire_fault {
    int32_t rank;
    enum wire_point point;
    enum wire_deed deed;
    int64_t call;           /* which one at this point, from 1 */
    int32_t status;         /* FAIL */
    bool blames;            /* FAIL: `peer` is named */
    int32_t peer;           /* logical rank; -1: a process that is none of the group */
    bool silent;            /* FAIL: without a reason */
    int32_t delay_microsec; /* DELAY */
};

/* What the plugin has done on one rank. Messages and bytes are those it has sent. */
struct wire_counts {
    int64_t calls[WIRE_POINTS];
    int64_t aborts;
    int64_t messages;
    int64_t bytes;
};

/* The text with which a fault fails. */
#define WIRE_FAULT_TEXT "the cable is out"

/* `traits` may be NULL. Ends the program if there is no memory. */
struct wire *wire_create(int32_t ranks, const struct wire_traits *traits);

/* Checks that every request has been waited for and, if nothing failed, every message received. */
void wire_destroy(struct wire *wire);

/* What a rank's host record needs; valid until wire_destroy. */
const struct cplayout_communicator *wire_communicator(struct wire *wire, int32_t rank);
const int32_t *wire_map(const struct wire *wire); /* NULL with plain_map */

/* A few at most, and before the rank calls anything. */
void wire_arm(struct wire *wire, const struct wire_fault *fault);

struct wire_counts wire_counts(struct wire *wire, int32_t rank);

#endif
