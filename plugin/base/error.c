/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* How many bytes a UTF-8 character has that begins with this one. */
static size_t character_bytes(unsigned char first)
{
    if (first < 0xc0) {
        return 1;
    }
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* Where the last character begins. */
static size_t last_character(const char *text, size_t length)
{
    size_t begin = length > 0 ? length - 1 : 0;

    while (begin > 0 && ((unsigned char)text[begin] & 0xc0) == 0x80) {
        begin--;
    }
    return begin;
}

void cpl_clean_text(char *text)
{
    const size_t length = strlen(text);
    const size_t last = last_character(text, length);

    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)text[i];

        text[i] = byte < 0x20 || byte == 0x7f ? '?' : text[i];
    }
    if (length - last < character_bytes((unsigned char)text[last])) {
        text[last] = '\0';
    }
}

static void write_error(struct cpl_error *error, enum cpl_status status, const char *field,
                        const char *format, va_list args)
{
    error->status = status;
    (void)snprintf(error->field, sizeof(error->field), "%s", field);
    (void)vsnprintf(error->message, sizeof(error->message), format, args);
    cpl_clean_text(error->field);
    cpl_clean_text(error->message);
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

enum cpl_status cpl_fail_memory(struct cpl_error *error)
{
    return cpl_fail(error, CPL_ERROR_MEMORY, "out of memory: the allocator returned NULL");
}
