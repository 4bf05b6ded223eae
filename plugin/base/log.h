/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the plugin says what it found: the host's log function, or stderr for warnings and errors.
 * Lines are finished before they leave. Any thread.
 */
#ifndef CPL_BASE_LOG_H
#define CPL_BASE_LOG_H

#include <stdint.h>

/* Equal to the levels of the ABI; the entry room asserts it. */
enum cpl_log_level {
    CPL_LOG_NONE = 0,
    CPL_LOG_ERROR = 1,
    CPL_LOG_WARNING = 2,
    CPL_LOG_INFO = 3,
    CPL_LOG_TRACE = 4,
};

struct cpl_log {
    void (*write)(void *self, int32_t level, const char *message);
    void *self;
    int32_t level; /* lines above it are not formatted */
};

/* Warnings and errors to stderr. */
struct cpl_log cpl_log_default(void);

void cpl_log_write(const struct cpl_log *log, enum cpl_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
