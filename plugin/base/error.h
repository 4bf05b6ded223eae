/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one error path: a status and a message. Whoever detects a problem first writes the message;
 * everyone above returns the status unchanged. The entry room copies the message into the caller's
 * record and logs it.
 */
#ifndef CPL_BASE_ERROR_H
#define CPL_BASE_ERROR_H

#include <stddef.h>
#include <stdint.h>

/* Equal to the statuses of the ABI; the entry room asserts it. */
enum cpl_status {
    CPL_OK = 0,
    CPL_ERROR_ARGUMENT = 1,
    CPL_ERROR_CONFIGURATION = 2,
    CPL_ERROR_UNSUPPORTED = 3,
    CPL_ERROR_MEMORY = 4,
    CPL_ERROR_CAPACITY = 5,
    CPL_ERROR_TIMEOUT = 6,
    CPL_ERROR_PEER = 7,
    CPL_ERROR_MISMATCH = 8,
    CPL_ERROR_VERSION = 9,
    CPL_ERROR_FORKED = 11,
};

/* Equal to those of the ABI; the entry room asserts it. */
#define CPL_FIELD_BYTES   48
#define CPL_MESSAGE_BYTES 440

struct cpl_error {
    enum cpl_status status;
    char field[CPL_FIELD_BYTES]; /* the argument or option at fault, "" if none */
    char message[CPL_MESSAGE_BYTES];
};

/* Writes the message and returns `status`. A message that is too long is cut. */
enum cpl_status cpl_fail(struct cpl_error *error, enum cpl_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, naming the argument or option at fault. */
enum cpl_status cpl_fail_field(struct cpl_error *error, enum cpl_status status, const char *field,
                               const char *format, ...) __attribute__((format(printf, 4, 5)));

/*
 * Makes a text that repeats what came from outside fit for one line of output: control characters
 * become '?', and a UTF-8 character that was cut at the end is dropped.
 */
void cpl_clean_text(char *text);

/* The message for an allocation that failed. */
enum cpl_status cpl_fail_memory(struct cpl_error *error);

#endif
