/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

/* Drops the bytes of a UTF-8 character that was cut off at the end. */
static void trim_character(char *text, size_t length)
{
    size_t begin = length;
    size_t bytes = 1;

    while (begin > 0 && ((unsigned char)text[begin - 1] & 0xc0) == 0x80) {
        begin--;
    }
    if (begin == 0 || (unsigned char)text[begin - 1] < 0xc0) {
        return;
    }
    begin--;
    bytes += (unsigned char)text[begin] >= 0xc0;
    bytes += (unsigned char)text[begin] >= 0xe0;
    bytes += (unsigned char)text[begin] >= 0xf0;
    if (length - begin < bytes) {
        text[begin] = '\0';
    }
}

static void write_error(struct cpl_error *error, enum cpl_status status, const char *field,
                        const char *format, va_list args)
{
    int length;

    error->status = status;
    (void)snprintf(error->field, sizeof(error->field), "%s", field);
    length = vsnprintf(error->message, sizeof(error->message), format, args);
    if (length >= CPL_MESSAGE_BYTES) {
        trim_character(error->message, CPL_MESSAGE_BYTES - 1);
    }
}

enum cpl_status cpl_fail(struct cpl_error *error, enum cpl_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_error(error, status, "", format, args);
    va_end(args);
    return status;
}

enum cpl_status cpl_fail_field(struct cpl_error *error, enum cpl_status status, const char *field,
                               const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_error(error, status, field, format, args);
    va_end(args);
    return status;
}

enum cpl_status cpl_fail_memory(struct cpl_error *error, size_t bytes)
{
    return cpl_fail(error, CPL_ERROR_MEMORY, "out of memory: the allocator refused %zu bytes",
                    bytes);
}
