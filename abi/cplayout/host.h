/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host record: what a host gives the plugin that is not text.
 *
 * The host fills in what it has, sets the rest to zero and passes the record to the query function,
 * to `create` and to the functions of plan/1. The record and its strings are borrowed for the call.
 * The functions and their `self` pointers must stay valid as long as any object made with them.
 */
#ifndef CPLAYOUT_HOST_H
#define CPLAYOUT_HOST_H

#include <stdint.h>

#include <cplayout/version.h>

struct cplayout_core;
struct cplayout_communicator;
struct cplayout_local_group;

/* Log levels. A message is delivered when its level is not above cplayout_host.log_level. */
enum {
    CPLAYOUT_LOG_NONE = 0,
    CPLAYOUT_LOG_ERROR = 1,
    CPLAYOUT_LOG_WARNING = 2,
    CPLAYOUT_LOG_INFO = 3,
    CPLAYOUT_LOG_TRACE = 4,
};

/*
 * Receives one finished line without line feed. Called on the thread that called the plugin.
 * Must not call back into the plugin. `message` is valid during the call.
 */
typedef void (*cplayout_log_fn)(void *self, int32_t level, const char *message);

/*
 * Returns `bytes` (> 0) of memory aligned to 16 bytes or more, or NULL. Any thread that calls the
 * plugin may call it, several at once.
 */
typedef void *(*cplayout_allocate_fn)(void *self, uint64_t bytes);

/* Takes back what cplayout_allocate_fn gave; `bytes` is the size that was asked for. */
typedef void (*cplayout_release_fn)(void *self, void *memory, uint64_t bytes);

/* In place of a rank: of a rank that holds no part of the language model, such as an image encoder's. It
 * has no context; create refuses it. */
#define CPLAYOUT_RANK_OUTSIDE (-1)

struct cplayout_host {
    uint64_t size;      /* sizeof(struct cplayout_host) of the host's headers */
    uint32_t abi_minor; /* CPLAYOUT_ABI_MINOR of the host's headers */
    uint32_t draft;     /* CPLAYOUT_ABI_DRAFT of the host's headers */
    const char *name;   /* of the host, for messages; NULL = "host" */

    /* Log: NULL = errors and warnings go to stderr. */
    cplayout_log_fn log;
    void *log_self;
    int32_t log_level; /* CPLAYOUT_LOG_... ; read only when log is given */

    /* Place of this context in its group of P * T ranks: logical rank (core.h), 0 ... ranks - 1.
     * Read by create. Leave both 0 for a group of one. */
    int32_t rank; /* or CPLAYOUT_RANK_OUTSIDE */
    int32_t ranks;
    int32_t reserved; /* 0 */

    /* Allocator: both or neither; NULL = malloc and free. All memory of the plugin goes through it,
     * except that a local group uses the allocator of the host that created it. */
    cplayout_allocate_fn allocate;
    cplayout_release_fn release;
    void *allocator_self;

    /*
     * The way to move data, read by create: one of the two, neither for a group of one.
     *
     * Local group: ranks are threads of this process and share it. create takes a reference of its
     * own.
     */
    struct cplayout_local_group *local_group;
    /* Communicator (communicator.h): must stay as it is until every context made with it is gone. */
    const struct cplayout_communicator *communicator;
    /* [ranks], copied: communicator rank of each logical rank, distinct and not negative. NULL: they
     * are the same. */
    const int32_t *communicator_ranks;

    /* For layers only: the table of the next plugin. Hosts leave it NULL. */
    const struct cplayout_core *next;
};

#endif
