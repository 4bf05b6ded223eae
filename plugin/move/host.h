/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host transport: rows travel as byte messages over functions of the host. First the ranks that
 * meet exchange small frames, which say what each of them believes this exchange is, while messages
 * are packed; only if all agree do the rows follow. So a message is never met by one of another size.
 */
#ifndef CPL_MOVE_HOST_H
#define CPL_MOVE_HOST_H

#include "base/alloc.h"
#include "move/stage.h"
#include "move/transport.h"

/* Messages of one exchange on their way. Peers are communicator ranks. */
struct cpl_messages {
    const struct cpl_message *list;
    size_t count;
    uint64_t tag;
};

/* What the host offers, brought in by the entry room. On failure `peer` may be a communicator rank. */
struct cpl_host_calls {
    enum cpl_status (*start)(const void *self, const struct cpl_messages *messages, void **request,
                             struct cpl_error *error);
    enum cpl_status (*wait)(const void *self, void *request, double timeout_seconds, int32_t *peer,
                            struct cpl_error *error);
    void (*abort)(const void *self, const struct cpl_error *error); /* NULL: there is none */
    enum cpl_status (*gather)(const void *self, const struct cpl_gather *gather,
                              double timeout_seconds, int32_t *peer,
                              struct cpl_error *error); /* NULL: there is none */
    const void *self;
};

struct cpl_host_args {
    struct cpl_host_calls calls;
    int32_t rank; /* logical */
    int32_t ranks;
    const int32_t *communicator_ranks; /* [ranks], copied; NULL: as the logical ones */
};

/* Errors: ARGUMENT (no such rank, a map that names a rank twice), MEMORY. */
enum cpl_status cpl_host_create(const struct cpl_allocator *allocator,
                                const struct cpl_host_args *args, struct cpl_transport **transport,
                                struct cpl_error *error);

#endif
