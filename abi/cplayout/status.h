/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status codes and the error record.
 *
 * Every function that can fail returns a status and, when the caller passes an error record, fills
 * it. The record belongs to the caller: nothing is allocated and nothing has to be freed. Passing
 * NULL for the record is always allowed.
 */
#ifndef CPLAYOUT_STATUS_H
#define CPLAYOUT_STATUS_H

#include <stdint.h>

/* Statuses. A value that is not in this list comes from a newer peer: treat it as a failure. */
enum {
    CPLAYOUT_OK = 0,
    CPLAYOUT_ERROR_ARGUMENT = 1,      /* an argument of this call is wrong */
    CPLAYOUT_ERROR_CONFIGURATION = 2, /* registration found errors; all were reported */
    CPLAYOUT_ERROR_UNSUPPORTED = 3,   /* legal, but not offered by this build or version */
    CPLAYOUT_ERROR_MEMORY = 4,        /* the allocator returned NULL */
    CPLAYOUT_ERROR_CAPACITY = 5,      /* the caller's array is too short; the count says how long */
    CPLAYOUT_ERROR_TIMEOUT = 6,       /* a peer did not come in time; the message names it. Over a
                                       * communicator it may be one that waits for that one */
    CPLAYOUT_ERROR_PEER = 7,          /* a peer left or failed; the message names it and says why */
    CPLAYOUT_ERROR_MISMATCH = 8,      /* ranks disagree about what they do together */
    CPLAYOUT_ERROR_VERSION = 9,       /* host and plugin cannot work together */
    CPLAYOUT_ERROR_LOAD = 10,         /* the plugin's file could not be loaded (loader only) */
    CPLAYOUT_ERROR_FORKED = 11,       /* the object belongs to the parent of this process */
};

/* Where an error was found. */
enum {
    CPLAYOUT_ORIGIN_NONE = 0,
    CPLAYOUT_ORIGIN_PLUGIN = 1, /* found by the plugin itself; native_code is 0 */
    CPLAYOUT_ORIGIN_LOADER = 2, /* found by loader.h before the plugin was reached */
};

#define CPLAYOUT_FIELD_BYTES   48
#define CPLAYOUT_MESSAGE_BYTES 440

/*
 * What went wrong. The caller sets size to sizeof(struct cplayout_error) and nothing else; a
 * function that succeeds leaves the record alone. The plugin writes no further than `size`: a smaller
 * record receives what fits, and texts end within it.
 */
struct cplayout_error {
    uint64_t size;                        /* in: bytes the caller owns */
    int32_t status;                       /* out: the value that the function returned */
    int32_t origin;                       /* out: CPLAYOUT_ORIGIN_... */
    int64_t native_code;                  /* out: code of the origin, 0 if it has none */
    char field[CPLAYOUT_FIELD_BYTES];     /* out: the argument or option at fault, "" if none */
    char message[CPLAYOUT_MESSAGE_BYTES]; /* out: UTF-8, terminated, names field, values, rule */
};

#endif
