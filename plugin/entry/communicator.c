/* SPDX-License-Identifier: Apache-2.0 */
#include "entry/communicator.h"

#include <stddef.h>

#include "entry/entry.h"

_Static_assert((int)CPL_MESSAGE_SEND == (int)CPLAYOUT_MESSAGE_SEND, "direction");
_Static_assert((int)CPL_MESSAGE_RECEIVE == (int)CPLAYOUT_MESSAGE_RECEIVE, "direction");
_Static_assert(sizeof(struct cpl_message) == sizeof(struct cplayout_message), "message");
_Static_assert(offsetof(struct cpl_message, bytes) == offsetof(struct cplayout_message, bytes),
               "message");
_Static_assert(offsetof(struct cpl_message, peer) == offsetof(struct cplayout_message, peer),
               "message");
_Static_assert(offsetof(struct cpl_message, direction) ==
                   offsetof(struct cplayout_message, direction),
               "message");

static const struct cplayout_communicator *communicator_of(const void *self)
{
    return self;
}

/* An error record for a function of the host; its texts may be left as they are. */
static struct cplayout_error empty_record(void)
{
    return (struct cplayout_error){.size = sizeof(struct cplayout_error)};
}

/* What a function of the host returned. Codes that say nothing about ranks mean that it has failed. */
static enum cpl_status status_in(int32_t code, struct cplayout_error *record, const char *function,
                                 struct cpl_error *error)
{
    const bool known = code == CPLAYOUT_ERROR_TIMEOUT || code == CPLAYOUT_ERROR_MISMATCH;

    if (code == CPLAYOUT_OK) {
        return CPL_OK;
    }
    record->message[sizeof(record->message) - 1] = '\0';
    cpl_clean_text(record->message);
    if (record->message[0] == '\0') {
        return cpl_fail(error, known ? (enum cpl_status)code : CPL_ERROR_PEER,
                        "the communicator's %s returned %d", function, code);
    }
    return cpl_fail(error, known ? (enum cpl_status)code : CPL_ERROR_PEER, "%s", record->message);
}

static enum cpl_status call_start(const void *self, const struct cpl_messages *messages,
                                  void **request, struct cpl_error *error)
{
    const struct cplayout_communicator *const communicator = communicator_of(self);
    const struct cplayout_messages given = {
        .size = sizeof(given),
        .list = (const struct cplayout_message *)messages->list,
        .count = messages->count,
        .tag = messages->tag,
    };
    struct cplayout_error record = empty_record();
    const int32_t code = communicator->start(communicator->self, &given, request, &record);

    return status_in(code, &record, "start", error);
}

static enum cpl_status call_wait(const void *self, void *request, double timeout_seconds,
                                 int32_t *peer, struct cpl_error *error)
{
    const struct cplayout_communicator *const communicator = communicator_of(self);
    struct cplayout_error record = empty_record();
    const int32_t code =
        communicator->wait(communicator->self, request, timeout_seconds, peer, &record);

    return status_in(code, &record, "wait", error);
}

static void call_abort(const void *self, const struct cpl_error *error)
{
    const struct cplayout_communicator *const communicator = communicator_of(self);

    communicator->abort(communicator->self, (int32_t)error->status, error->message);
}

static enum cpl_status call_gather(const void *self, const struct cpl_gather *gather,
                                   double timeout_seconds, int32_t *peer, struct cpl_error *error)
{
    const struct cplayout_communicator *const communicator = communicator_of(self);
    const struct cplayout_allgather given = {
        .size = sizeof(given),
        .mine = gather->mine,
        .all = gather->all,
        .bytes = gather->bytes,
        .timeout_seconds = timeout_seconds,
    };
    struct cplayout_error record = empty_record();
    const int32_t code = communicator->allgather(communicator->self, &given, peer, &record);

    return status_in(code, &record, "allgather", error);
}

enum cpl_status cpl_communicator_in(const struct cplayout_communicator *communicator,
                                    struct cpl_host_calls *calls, struct cpl_error *error)
{
    struct cplayout_communicator copy;
    const struct cpl_incoming incoming = {"communicator", &copy, sizeof(copy)};
    enum cpl_status status = cpl_copy_in(&incoming, communicator, error);

    if (status != CPL_OK) {
        return status;
    }
    if (copy.start == NULL || copy.wait == NULL) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "communicator",
                              "communicator.%s must not be NULL",
                              copy.start == NULL ? "start" : "wait");
    }
    *calls = (struct cpl_host_calls){
        .start = call_start,
        .wait = call_wait,
        .abort = copy.abort != NULL ? call_abort : NULL,
        .gather = copy.allgather != NULL ? call_gather : NULL,
        .self = communicator,
    };
    return CPL_OK;
}
