/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

static void write_stderr(void *self, int32_t level, const char *message)
{
    (void)self;
    (void)fprintf(stderr, "cplayout: %s: %s\n", level == CPL_LOG_ERROR ? "error" : "warning",
                  message);
}

struct cpl_log cpl_log_default(void)
{
    return (struct cpl_log){.write = write_stderr, .level = CPL_LOG_WARNING};
}

void cpl_log_write(const struct cpl_log *log, enum cpl_log_level level, const char *format, ...)
{
    char line[768];
    va_list args;

    if ((int32_t)level > log->level) {
        return;
    }
    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    cpl_clean_text(line);
    log->write(log->self, (int32_t)level, line);
}
