/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local transport: ranks are threads of one process. Rows go straight from the sender's input to
 * the receiver's output, one copy, nothing staged. It is also the control channel of its ranks.
 */
#ifndef CPL_MOVE_LOCAL_H
#define CPL_MOVE_LOCAL_H

#include "move/exchange.h"
#include "move/group.h"

/* One rank's place in a group. The group has been joined. */
struct cpl_local {
    struct cpl_group *group;
    int32_t rank;
    double timeout_seconds;
};

/*
 * Receives this rank's rows and waits until its peers have theirs; the input may be reused when it
 * returns. Collective. Errors: TIMEOUT, PEER, MISMATCH (rows of another size, another conversion).
 */
enum cpl_status cpl_local_exchange(const struct cpl_local *local,
                                   const struct cpl_exchange *exchange, struct cpl_error *error);

enum { CPL_REASON_BYTES = 200 };

/* What every rank must agree on before a batch is used. */
struct cpl_digest {
    uint64_t outcome;              /* status with which this rank comes; if not OK, the rest is 0 */
    char reason[CPL_REASON_BYTES]; /* and this says why; not compared */
    uint64_t configuration;
    uint64_t lengths;
    uint64_t plans;
};

/*
 * Compares digests over all ranks. Collective. Errors: TIMEOUT, PEER, MISMATCH (on every rank,
 * naming a rank that differs and in what).
 */
enum cpl_status cpl_local_compare(const struct cpl_local *local, const struct cpl_digest *digest,
                                  struct cpl_error *error);

#endif
