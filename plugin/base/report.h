/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings of registration and where they go.
 */
#ifndef CPL_BASE_REPORT_H
#define CPL_BASE_REPORT_H

#include <stdint.h>

/* Equal to the severities of the ABI; the entry room asserts it. */
enum cpl_severity {
    CPL_WARNING = 1,
    CPL_ERROR = 2,
};

/* Part of a text, in bytes. */
struct cpl_range {
    uint32_t offset;
    uint32_t length;
};

struct cpl_finding {
    enum cpl_severity severity;
    const char *code;
    const char *option;
    const char *message;
    const char *hint;      /* never NULL */
    const char *value;     /* of the option, "" if it is not set */
    const char *origin;    /* of the value */
    struct cpl_range part; /* of the value, that is at fault */
};

struct cpl_reporter {
    void (*deliver)(void *self, const struct cpl_finding *finding);
    void *self;
};

#endif
