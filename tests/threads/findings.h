/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registrations and what must come of them, for tests of the rules: all findings come in one pass, in
 * the order of the rules, each with its parts, in the log as well, and the first error is in the record.
 * What `check` finds is what `create` finds, but for rules that need a group.
 */
#ifndef TESTS_THREADS_FINDINGS_H
#define TESTS_THREADS_FINDINGS_H

#include "threads/host.h"

enum { SETTINGS_MOST = 12, FINDINGS_MOST = 10 };

/* The group of a registration, where it is no number of ranks. */
enum { ALONE = 0, CHECK_ONLY = -1 };

/* Severity follows from the code: the list of warnings is in findings.c. */
struct finding {
    const char *code;
    const char *option;
    const char *message; /* a part of it */
    const char *hint;    /* a part of it */
};

/* One registration and what must come of it. */
struct check {
    const char *name;
    int32_t group; /* ranks of the local group, ALONE, or CHECK_ONLY: nobody registers */
    struct cplayout_option settings[SETTINGS_MOST];
    struct finding expected[FINDINGS_MOST];
};

/* Runs it as a test of its own. */
void findings_test(const struct check *check);

/* Runs a table of them. */
#define FINDINGS_TEST_ALL(checks)                                       \
    for (size_t i = 0; i < sizeof(checks) / sizeof((checks)[0]); i++) { \
        findings_test(&(checks)[i]);                                    \
    }

#endif
