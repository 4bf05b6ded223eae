/* SPDX-License-Identifier: Apache-2.0 */
#include "lists.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRY_SHOWN = 64 }; /* characters of a wrong entry in a message */

struct entry {
    enum option option;
    uint64_t index;
    const char *text;
    size_t length;
};

static bool fail_entry(const struct entry *entry, const char *reason, struct report *report)
{
    const struct problem problem = {.status = EXIT_USAGE,
                                    .code = "option.type",
                                    .option = option_name(entry->option)};
    const int shown = entry->length < ENTRY_SHOWN ? (int)entry->length : ENTRY_SHOWN;

    return report_fail(report, &problem, "--%s: entry [%" PRIu64 "], '%.*s'%s, %s",
                       option_name(entry->option), entry->index, shown, entry->text,
                       entry->length > ENTRY_SHOWN ? "..." : "", reason);
}

static bool parse_entry(const struct entry *entry, int32_t *value, struct report *report)
{
    const size_t sign = entry->text[0] == '-' ? 1 : 0;
    const size_t digits = strspn(entry->text + sign, "0123456789");
    long long number;

    if (entry->length == 0) {
        return fail_entry(entry, "is empty", report);
    }
    if (digits == 0 || sign + digits != entry->length) {
        return fail_entry(entry, "is not an integer", report);
    }
    errno = 0;
    number = strtoll(entry->text, NULL, 10);
    if (errno == ERANGE || number < INT32_MIN || number > INT32_MAX) {
        return fail_entry(entry, "is out of range: offsets are int32, at most 2147483647", report);
    }
    *value = (int32_t)number;
    return true;
}

static uint64_t count_entries(const char *text)
{
    uint64_t count = 1;

    for (; *text != '\0'; text++) {
        count += *text == ',';
    }
    return count;
}

bool list_parse(struct list *list, enum option option, const char *text, struct report *report)
{
    const uint64_t count = count_entries(text);
    struct entry entry = {.option = option, .text = text};

    list->values = calloc(count, sizeof(*list->values));
    if (list->values == NULL) {
        return report_memory(report);
    }
    for (; entry.index < count; entry.index++) {
        entry.length = strcspn(entry.text, ",");
        if (!parse_entry(&entry, &list->values[entry.index], report)) {
            list_free(list);
            return false;
        }
        entry.text += entry.length + 1;
    }
    list->count = count;
    return true;
}

void list_free(struct list *list)
{
    free(list->values);
    *list = (struct list){.values = NULL};
}
