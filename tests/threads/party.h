/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A party: ranks as threads that register with the same options and then do the same, for tests of what
 * a few lines of options and one small batch must give. Fields are int64, so that a view is a list of
 * numbers.
 */
#ifndef TESTS_THREADS_PARTY_H
#define TESTS_THREADS_PARTY_H

#include "threads/host.h"

enum { PARTY_OPTIONS_MOST = 10, PARTY_FIELDS_MOST = 12, PARTY_ROWS_MOST = 256 };

/* One rank. */
struct guest {
    int32_t rank;
    struct cplayout_context *context;
    struct cplayout_batch *batch; /* the test's; destroyed with the guest */
    struct cplayout_error error;
    void *self; /* the test's */
};

struct party {
    int32_t ranks;
    struct cplayout_option options[PARTY_OPTIONS_MOST];
    const struct cplayout_field_declaration *declared; /* [declared_count] */
    uint64_t declared_count;
    void (*body)(struct guest *guest);
    void *self;
};

/* Registers all ranks, runs the body on each and ends them. */
void party_run(const struct party *party);

/* A field of a batch with its tensor: int64 in `memory`, of the shape given. */
struct party_field {
    const char *name;
    int64_t *memory;
    int32_t ndim;
    int64_t shape[4];
};

/* What a batch is made of. */
struct party_batch {
    uint64_t sequence_length;
    const struct cplayout_lengths *samples; /* [sample_count] */
    uint64_t sample_count;
    struct party_field fields[PARTY_FIELDS_MOST]; /* to the first without a name */
};

/* Creates guest->batch; the status, with guest->error. */
int32_t guest_batch(struct guest *guest, const struct party_batch *wanted);

/* Creates it, and fails the test if that fails. */
bool guest_batch_made(struct guest *guest, const struct party_batch *wanted);

/* The handle of a layout or role, -1 and a failed check if there is none. */
int32_t guest_layout(struct guest *guest, const char *name);

/* Fills a view into int64 of its shape; returns how many numbers, -1 and a failed check on errors. */
int64_t guest_view(struct guest *guest, const char *layout, const char *field,
                   int64_t values[PARTY_ROWS_MOST]);

/* Checks that a view holds these numbers, `count` of them. */
void guest_expects(struct guest *guest, const char *layout, const char *field,
                   const int64_t *values, int64_t count);

/* Checks that a view is refused, with a text in the message. */
void guest_refused(struct guest *guest, const char *layout, const char *field, const char *text);

#endif
