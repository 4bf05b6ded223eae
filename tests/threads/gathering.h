/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gatherings of the wire (wire.h): what every rank shows to all. Nothing here locks: the wire does.
 */
#ifndef TESTS_THREADS_GATHERING_H
#define TESTS_THREADS_GATHERING_H

#include <stdint.h>

#include <cplayout/communicator.h>

/*
 * What one rank has shown. Two parts are kept: a rank that is one gathering ahead must not overwrite
 * what others still read, and nobody can be two ahead.
 */
struct shown {
    uint64_t count; /* gatherings so far */
    unsigned char *part[2];
    uint64_t bytes[2];
};

struct gathering {
    int32_t ranks;
    struct shown *shown; /* [ranks] */
};

void gathering_init(struct gathering *gathering, int32_t ranks);
void gathering_fini(struct gathering *gathering);

/* Shows a rank's part of its next gathering. */
void gathering_show(struct gathering *gathering, int32_t rank,
                    const struct cplayout_allgather *gather);

/* A rank that has not shown its part of the last gathering of `rank`, or -1. */
int32_t gathering_missing(const struct gathering *gathering, int32_t rank);

/*
 * Writes all parts for `rank`, in an order that is not the logical one. Returns a rank whose part has
 * another size, or -1.
 */
int32_t gathering_collect(const struct gathering *gathering, int32_t rank,
                          const struct cplayout_allgather *gather);

#endif
