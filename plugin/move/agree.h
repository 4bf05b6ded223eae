/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agreement: ranks compare digests of what they are about to do together, so that a rank which
 * disagrees is an error on every rank and never a hang later.
 */
#ifndef CPL_MOVE_AGREE_H
#define CPL_MOVE_AGREE_H

#include "move/transport.h"

enum { CPL_REASON_BYTES = 200, CPL_DIGEST_WORDS = 64, CPL_PAYLOAD_WORDS = 16 };

/* What one rank says. A rank that has failed already says only that, and why. */
struct cpl_digest {
    int32_t rank;
    int32_t outcome; /* status with which this rank comes */
    char reason[CPL_REASON_BYTES];
    uint64_t words[CPL_DIGEST_WORDS];    /* all must be equal; 0 where there are fewer topics */
    uint64_t payload[CPL_PAYLOAD_WORDS]; /* what ranks tell each other, and nobody compares */
};

/* What the words are about. */
struct cpl_topics {
    enum cpl_meeting meeting;
    const char *deed;                 /* "register", for messages */
    const char *kind;                 /* "option ", before the name of a word */
    const char *(*name)(size_t word); /* "seq_length" */
    bool unverified;                  /* nothing is compared */
};

/*
 * Compares digests over all ranks; `all` has room for one per rank. Where nothing is compared, or
 * there is no control channel, it only tells the peers if this rank has failed. Collective.
 * Errors: TIMEOUT, PEER, MISMATCH (on every rank, naming one that differs and in what). The peers know
 * of them.
 */
enum cpl_status cpl_agree(struct cpl_transport *transport, const struct cpl_topics *topics,
                          const struct cpl_digest *mine, struct cpl_digest *all,
                          struct cpl_error *error);

/* The digest of a rank, which is there after an agreement. */
const struct cpl_digest *cpl_digest_of(const struct cpl_digest *all, int32_t ranks, int32_t rank);

#endif
