/* SPDX-License-Identifier: Apache-2.0 */
#include "threads/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "threads/gathering.h"
#include "threads/mail.h"
#include "threads/tap.h"

enum {
    FAULTS_MOST = 4,
    STRANGER = 424242,
    REASON_BYTES = sizeof(((struct cplayout_error *)NULL)->message)
};

/* One rank's end of the wire. */
struct end {
    struct wire *wire;
    int32_t rank;
    struct cplayout_communicator communicator;
    pthread_cond_t changed;
    struct wire_counts counts;
    struct request *requests;
    bool busy;   /* one of its functions runs */
    bool failed; /* one of its functions has returned an error */
};

struct wire {
    struct wire_traits traits;
    int32_t ranks;
    int32_t *map;
    pthread_mutex_t mutex; /* guards everything that changes */
    struct mail mail;
    struct gathering gathering;
    struct end *ends;
    struct wire_fault faults[FAULTS_MOST];
    int32_t fault_count;
    bool troubled; /* something failed: messages may be left */
    bool aborted;
    int32_t aborter;
    char reason[REASON_BYTES]; /* with which it was aborted */
};

/* ---- Clock, errors ------------------------------------------------------------------ */

static struct timespec deadline_after(double seconds)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    now.tv_sec += (time_t)seconds;
    now.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    now.tv_sec += now.tv_nsec / 1000000000L;
    now.tv_nsec %= 1000000000L;
    return now;
}

static int32_t fail(struct end *end, int32_t status, struct cplayout_error *error,
                    const char *reason)
{
    end->failed = true;
    end->wire->troubled = true;
    if (CHECK(error != NULL && error->size >= sizeof(*error), "a function gets no error record")) {
        (void)snprintf(error->message, sizeof(error->message), "%s", reason);
    }
    return status;
}

static int32_t fail_aborted(struct end *end, int32_t *peer, struct cplayout_error *error)
{
    struct wire *const wire = end->wire;

    if (peer != NULL) {
        *peer = wire->map[wire->aborter];
    }
    return fail(end, CPLAYOUT_ERROR_PEER, error, wire->reason);
}

static int32_t fail_late(struct end *end, int32_t late, int32_t *peer, double seconds,
                         struct cplayout_error *error)
{
    char reason[128];

    *peer = end->wire->map[late];
    (void)snprintf(reason, sizeof(reason), "process %d is silent for %g s", *peer, seconds);
    return fail(end, CPLAYOUT_ERROR_TIMEOUT, error, reason);
}

/* ---- Calls ---------------------------------------------------------------------------------- */

/* The fault of this call, or NULL. It has been counted. */
static const struct wire_fault *fault_of(const struct end *end, enum wire_point point)
{
    const struct wire *const wire = end->wire;

    for (int32_t i = 0; i < wire->fault_count; i++) {
        const struct wire_fault *const fault = &wire->faults[i];

        if (fault->rank == end->rank && fault->point == point &&
            fault->call == end->counts.calls[point]) {
            return fault;
        }
    }
    return NULL;
}

static bool does(const struct wire_fault *fault, enum wire_deed deed)
{
    return fault != NULL && fault->deed == deed;
}

/* Locks, counts, and checks that the plugin may call now. */
static const struct wire_fault *enter(struct end *end, enum wire_point point)
{
    const struct wire_fault *fault;

    (void)pthread_mutex_lock(&end->wire->mutex);
    CHECK(!end->busy, "rank %d: two functions of one context at once", end->rank);
    CHECK(!end->failed, "rank %d: function %d after one has failed", end->rank, point);
    CHECK(end->counts.aborts == 0, "rank %d: function %d after abort", end->rank, point);
    end->busy = true;
    end->counts.calls[point]++;
    fault = fault_of(end, point);
    if (does(fault, WIRE_DELAY)) {
        (void)pthread_mutex_unlock(&end->wire->mutex);
        (void)usleep((useconds_t)fault->delay_microsec);
        (void)pthread_mutex_lock(&end->wire->mutex);
    }
    return fault;
}

static int32_t leave(struct end *end, int32_t status)
{
    end->busy = false;
    (void)pthread_mutex_unlock(&end->wire->mutex);
    return status;
}

static int32_t fail_fault(struct end *end, const struct wire_fault *fault, int32_t *peer,
                          struct cplayout_error *error)
{
    if (peer != NULL && fault->blames) {
        *peer = fault->peer >= 0 ? end->wire->map[fault->peer] : STRANGER;
    }
    return fail(end, fault->status, error, fault->silent ? "" : WIRE_FAULT_TEXT);
}

/* One step of waiting. Whether there is time left. */
static bool rest(struct end *end, const struct timespec *deadline)
{
    return pthread_cond_timedwait(&end->changed, &end->wire->mutex, deadline) != ETIMEDOUT;
}

static void wake_all(struct wire *wire)
{
    for (int32_t rank = 0; rank < wire->ranks; rank++) {
        (void)pthread_cond_broadcast(&wire->ends[rank].changed);
    }
}

/* ---- Messages ------------------------------------------------------------------------------- */

static int32_t logical_rank(const struct wire *wire, int32_t communicator_rank)
{
    for (int32_t rank = 0; rank < wire->ranks; rank++) {
        if (wire->map[rank] == communicator_rank) {
            return rank;
        }
    }
    return -1;
}

static bool check_message(const struct end *end, const struct cplayout_messages *messages,
                          uint64_t index)
{
    const struct cplayout_message *const message = &messages->list[index];
    const int32_t peer = logical_rank(end->wire, message->peer);
    bool good = CHECK(peer >= 0 && peer != end->rank, "rank %d: a message for or from process %d",
                      end->rank, message->peer);

    good = CHECK(message->bytes > 0 && message->data != NULL,
                 "rank %d: a message of %" PRIu64 " bytes at %p", end->rank, message->bytes,
                 message->data) &&
           good;
    good = CHECK(message->direction == CPLAYOUT_MESSAGE_SEND ||
                     message->direction == CPLAYOUT_MESSAGE_RECEIVE,
                 "rank %d: a message in direction %d", end->rank, message->direction) &&
           good;
    for (uint64_t i = 0; i < index; i++) {
        good = CHECK(messages->list[i].peer != message->peer ||
                         messages->list[i].direction != message->direction,
                     "rank %d: two messages one way, peer %d", end->rank, peer) &&
               good;
    }
    return good;
}

static bool check_messages(const struct end *end, const struct cplayout_messages *messages)
{
    bool good = CHECK(messages->size >= sizeof(*messages) && messages->count > 0 &&
                          messages->list != NULL && messages->stream == NULL,
                      "rank %d: start with %" PRIu64 " messages", end->rank, messages->count);

    for (uint64_t i = 0; i < messages->count && good; i++) {
        good = check_message(end, messages, i);
    }
    return good;
}

/* The messages with logical ranks, as mailboxes know them. */
static struct request *open_request(struct end *end, const struct cplayout_messages *messages)
{
    struct request *const request = mail_open(end->rank, messages);

    for (uint64_t i = 0; i < request->count; i++) {
        struct cplayout_message *const message = &request->messages[i];
        const bool sends = message->direction == CPLAYOUT_MESSAGE_SEND;

        message->peer = logical_rank(end->wire, message->peer);
        end->counts.messages += sends;
        end->counts.bytes += sends ? (int64_t)message->bytes : 0;
    }
    request->changed = &end->changed;
    request->next = end->requests;
    end->requests = request;
    return request;
}

static int32_t start(void *self, const struct cplayout_messages *messages, void **request,
                     struct cplayout_error *error)
{
    struct end *const end = self;
    const struct wire_fault *const fault = enter(end, WIRE_START);
    struct request *opened;

    if (!check_messages(end, messages)) {
        return leave(end, fail(end, CPLAYOUT_ERROR_ARGUMENT, error, "no such messages"));
    }
    if (end->wire->aborted) {
        return leave(end, fail_aborted(end, NULL, error));
    }
    if (does(fault, WIRE_FAIL)) {
        return leave(end, fail_fault(end, fault, NULL, error));
    }
    opened = open_request(end, messages);
    end->wire->troubled = end->wire->troubled || does(fault, WIRE_DROP);
    mail_post(&end->wire->mail, opened, does(fault, WIRE_DROP));
    *request = opened;
    return leave(end, CPLAYOUT_OK);
}

/* ---- Waiting -------------------------------------------------------------------------------- */

static void close_request(struct end *end, struct request *request)
{
    struct request **link = &end->requests;

    while (*link != request) {
        link = &(*link)->next;
    }
    *link = request->next;
    CHECK(mail_close(&end->wire->mail, request), "rank %d changed what it sends before wait",
          end->rank);
}

static bool knows(const struct end *end, const void *request)
{
    const struct request *known = end->requests;

    while (known != NULL && known != request) {
        known = known->next;
    }
    return known != NULL;
}

static int32_t await(struct end *end, struct request *request, double seconds, int32_t *peer,
                     struct cplayout_error *error)
{
    const struct timespec deadline = deadline_after(seconds);
    bool in_time = true;

    while (!end->wire->aborted && request->open > 0 && request->status == CPLAYOUT_OK && in_time) {
        in_time = rest(end, &deadline);
    }
    if (request->status != CPLAYOUT_OK) {
        *peer = end->wire->map[request->peer];
        return fail(end, request->status, error, request->reason);
    }
    if (end->wire->aborted) {
        return fail_aborted(end, peer, error);
    }
    if (request->open > 0) {
        return fail_late(end, mail_late_peer(&end->wire->mail, request), peer, seconds, error);
    }
    return CPLAYOUT_OK;
}

static int32_t wait_for(void *self, void *request, double timeout_seconds, int32_t *peer,
                        struct cplayout_error *error)
{
    struct end *const end = self;
    const struct wire_fault *const fault = enter(end, WIRE_WAIT);
    int32_t status;

    CHECK(*peer == -1 && timeout_seconds >= 0, "rank %d: wait for %g s, peer %d", end->rank,
          timeout_seconds, *peer);
    if (!CHECK(knows(end, request), "rank %d waits for no request, or again", end->rank)) {
        return leave(end, fail(end, CPLAYOUT_ERROR_ARGUMENT, error, "no such request"));
    }
    status = does(fault, WIRE_FAIL) ? fail_fault(end, fault, peer, error)
                                    : await(end, request, timeout_seconds, peer, error);
    close_request(end, request);
    return leave(end, status);
}

static void abort_all(void *self, int32_t status, const char *message)
{
    struct end *const end = self;
    struct wire *const wire = end->wire;

    (void)pthread_mutex_lock(&wire->mutex);
    CHECK(++end->counts.aborts == 1, "rank %d aborts again", end->rank);
    CHECK(!end->busy && end->requests == NULL, "rank %d aborts before wait", end->rank);
    CHECK(status != CPLAYOUT_OK && message != NULL && message[0] != '\0',
          "rank %d aborts with status %d", end->rank, status);
    wire->troubled = true;
    if (!wire->aborted && message != NULL) {
        wire->aborted = true;
        wire->aborter = end->rank;
        (void)snprintf(wire->reason, sizeof(wire->reason), "%s", message);
        wake_all(wire);
    }
    (void)pthread_mutex_unlock(&wire->mutex);
}

/* ---- Gathering ------------------------------------------------------------------------------ */

static int32_t collect(struct end *end, const struct cplayout_allgather *gather, int32_t *peer,
                       struct cplayout_error *error)
{
    const int32_t misfit = gathering_collect(&end->wire->gathering, end->rank, gather);

    if (misfit < 0) {
        return CPLAYOUT_OK;
    }
    *peer = end->wire->map[misfit];
    return fail(end, CPLAYOUT_ERROR_MISMATCH, error, "parts of different sizes");
}

static int32_t await_parts(struct end *end, const struct cplayout_allgather *gather, int32_t *peer,
                           struct cplayout_error *error)
{
    const struct timespec deadline = deadline_after(gather->timeout_seconds);
    const struct gathering *const gathering = &end->wire->gathering;
    bool in_time = true;

    while (!end->wire->aborted && gathering_missing(gathering, end->rank) >= 0 && in_time) {
        in_time = rest(end, &deadline);
    }
    if (end->wire->aborted) {
        return fail_aborted(end, peer, error);
    }
    if (gathering_missing(gathering, end->rank) >= 0) {
        return fail_late(end, gathering_missing(gathering, end->rank), peer,
                         gather->timeout_seconds, error);
    }
    return collect(end, gather, peer, error);
}

static int32_t allgather(void *self, const struct cplayout_allgather *gather, int32_t *peer,
                         struct cplayout_error *error)
{
    struct end *const end = self;
    const struct wire_fault *const fault = enter(end, WIRE_ALLGATHER);

    CHECK(gather->size >= sizeof(*gather) && gather->mine != NULL && gather->all != NULL &&
              gather->bytes > 0 && gather->timeout_seconds > 0 && *peer == -1,
          "rank %d: a gathering of %" PRIu64 " bytes for %g s", end->rank, gather->bytes,
          gather->timeout_seconds);
    if (does(fault, WIRE_FAIL)) {
        return leave(end, fail_fault(end, fault, peer, error));
    }
    if (end->wire->aborted) {
        return leave(end, fail_aborted(end, peer, error));
    }
    if (does(fault, WIRE_DROP)) {
        (void)usleep((useconds_t)(1e6 * gather->timeout_seconds));
        return leave(end, fail_late(end, end->rank == 0, peer, gather->timeout_seconds, error));
    }
    gathering_show(&end->wire->gathering, end->rank, gather);
    wake_all(end->wire);
    return leave(end, await_parts(end, gather, peer, error));
}

/* ---- Life ----------------------------------------------------------------------------------- */

/* Distinct, in another order than logical ranks, with gaps. */
static int32_t mapped(const struct wire *wire, int32_t rank)
{
    return wire->traits.plain_map ? rank : 5 + 3 * (wire->ranks - 1 - rank) + rank % 2;
}

static void init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

static void init_end(struct wire *wire, int32_t rank)
{
    struct end *const end = &wire->ends[rank];

    end->wire = wire;
    end->rank = rank;
    wire->map[rank] = mapped(wire, rank);
    init_condition(&end->changed);
    end->communicator = (struct cplayout_communicator){
        .size = sizeof(end->communicator),
        .self = end,
        .start = start,
        .wait = wait_for,
        .abort = wire->traits.no_abort ? NULL : abort_all,
        .allgather = wire->traits.no_allgather ? NULL : allgather,
    };
}

struct wire *wire_create(int32_t ranks, const struct wire_traits *traits)
{
    struct wire *const wire = mail_take(sizeof(*wire));

    wire->ranks = ranks;
    wire->traits = traits != NULL ? *traits : (struct wire_traits){0};
    wire->map = mail_take((size_t)ranks * sizeof(*wire->map));
    wire->ends = mail_take((size_t)ranks * sizeof(*wire->ends));
    gathering_init(&wire->gathering, ranks);
    mail_init(&wire->mail, ranks, wire->map, wire->traits.mode == WIRE_EAGER);
    (void)pthread_mutex_init(&wire->mutex, NULL);
    for (int32_t rank = 0; rank < ranks; rank++) {
        init_end(wire, rank);
    }
    return wire;
}

static void fini_end(struct end *end)
{
    CHECK(end->requests == NULL, "rank %d has not waited for a request", end->rank);
    (void)pthread_cond_destroy(&end->changed);
}

void wire_destroy(struct wire *wire)
{
    if (wire == NULL) {
        return;
    }
    CHECK(wire->troubled || mail_is_empty(&wire->mail), "a message was sent that nobody took");
    gathering_fini(&wire->gathering);
    mail_fini(&wire->mail);
    for (int32_t rank = 0; rank < wire->ranks; rank++) {
        fini_end(&wire->ends[rank]);
    }
    (void)pthread_mutex_destroy(&wire->mutex);
    free(wire->ends);
    free(wire->map);
    free(wire);
}

const struct cplayout_communicator *wire_communicator(struct wire *wire, int32_t rank)
{
    return &wire->ends[rank].communicator;
}

const int32_t *wire_map(const struct wire *wire)
{
    return wire->traits.plain_map ? NULL : wire->map;
}

void wire_arm(struct wire *wire, const struct wire_fault *fault)
{
    tap_require(wire->fault_count < FAULTS_MOST, "more than %d faults", FAULTS_MOST);
    wire->faults[wire->fault_count++] = *fault;
}

struct wire_counts wire_counts(struct wire *wire, int32_t rank)
{
    struct wire_counts counts;

    (void)pthread_mutex_lock(&wire->mutex);
    counts = wire->ends[rank].counts;
    (void)pthread_mutex_unlock(&wire->mutex);
    return counts;
}
