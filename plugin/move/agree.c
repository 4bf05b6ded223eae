/* SPDX-License-Identifier: Apache-2.0 */
#include "move/agree.h"

#include <stdbool.h>
#include <string.h>

/* A host's channel may hand the digests over in any order; each rank's must be there once. */
const struct cpl_digest *cpl_digest_of(const struct cpl_digest *all, int32_t ranks, int32_t rank)
{
    if (all[rank].rank == rank) {
        return &all[rank];
    }
    for (int32_t i = 0; i < ranks; i++) {
        if (all[i].rank == rank) {
            return &all[i];
        }
    }
    return NULL;
}

/* The first word in which two digests differ; CPL_DIGEST_WORDS if there is none. */
static size_t first_difference(const struct cpl_digest *a, const struct cpl_digest *b)
{
    size_t word = 0;

    while (word < CPL_DIGEST_WORDS && a->words[word] == b->words[word]) {
        word++;
    }
    return word;
}

static enum cpl_status compare(const struct cpl_topics *topics, const struct cpl_digest *mine,
                               const struct cpl_digest *theirs, struct cpl_error *error)
{
    size_t word;

    if (theirs->outcome != mine->outcome) {
        const struct cpl_digest *const failed = theirs->outcome != CPL_OK ? theirs : mine;

        return cpl_fail(error, CPL_ERROR_MISMATCH, "rank %d could not %s: %.*s", failed->rank,
                        topics->deed, CPL_REASON_BYTES - 1, failed->reason);
    }
    word = first_difference(mine, theirs);
    if (word < CPL_DIGEST_WORDS) {
        return cpl_fail(error, CPL_ERROR_MISMATCH, "rank %d and rank %d disagree in %s%s",
                        mine->rank, theirs->rank, topics->kind, topics->name(word));
    }
    return CPL_OK;
}

static enum cpl_status compare_all(const struct cpl_transport *transport,
                                   const struct cpl_topics *topics, const struct cpl_digest *mine,
                                   const struct cpl_digest *all, struct cpl_error *error)
{
    enum cpl_status status = CPL_OK;

    for (int32_t rank = 0; rank < transport->ranks && status == CPL_OK; rank++) {
        const struct cpl_digest *const theirs = cpl_digest_of(all, transport->ranks, rank);

        if (theirs == NULL) {
            return cpl_fail(
                error, CPL_ERROR_MISMATCH,
                "rank %d is not among the %d ranks that rank %d reaches: two ranks have "
                "the same number, or allgather is wrong",
                rank, transport->ranks, mine->rank);
        }
        status = compare(topics, mine, theirs, error);
    }
    return status;
}

/* The digest that is given to all: a failed rank's words do not count. */
static struct cpl_digest to_send(const struct cpl_digest *mine)
{
    struct cpl_digest sent = *mine;

    if (sent.outcome != CPL_OK) {
        memset(sent.words, 0, sizeof(sent.words));
    }
    return sent;
}

/* Nothing is compared: peers only learn of a failure. */
static enum cpl_status tell(struct cpl_transport *transport, const struct cpl_topics *topics,
                            const struct cpl_digest *mine, struct cpl_error *error)
{
    if (mine->outcome == CPL_OK) {
        return CPL_OK;
    }
    (void)cpl_fail(error, CPL_ERROR_PEER, "could not %s: %s", topics->deed, mine->reason);
    transport->ops->fail(transport, error);
    return CPL_ERROR_PEER;
}

enum cpl_status cpl_agree(struct cpl_transport *transport, const struct cpl_topics *topics,
                          const struct cpl_digest *mine, struct cpl_digest *all,
                          struct cpl_error *error)
{
    const struct cpl_digest sent = to_send(mine);
    const struct cpl_gather gather = {topics->meeting, &sent, all, sizeof(sent)};
    enum cpl_status status;

    if (!transport->gathers || topics->unverified) {
        return tell(transport, topics, &sent, error);
    }
    status = transport->ops->gather(transport, &gather, error);
    if (status != CPL_OK) {
        transport->ops->fail(transport, error);
        return status;
    }
    /* All ranks see the same digests, so that what is wrong with them is known to all. */
    return compare_all(transport, topics, &sent, all, error);
}
