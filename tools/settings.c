/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(struct settings *settings)
{
    const uint64_t capacity = settings->capacity == 0 ? 16 : 2 * settings->capacity;
    struct setting *list;

    if (settings->count < settings->capacity) {
        return true;
    }
    list = realloc(settings->list, capacity * sizeof(*list));
    if (list == NULL) {
        return false;
    }
    settings->list = list;
    settings->capacity = capacity;
    return true;
}

/* The name that findings use. NULL if memory ran out. */
static char *spell(struct span typed)
{
    char *const name = strndup(typed.text, typed.length);

    for (char *at = name; at != NULL && *at != '\0'; at++) {
        *at = *at == '-' ? '_' : *at;
    }
    return name;
}

bool settings_add(struct settings *settings, struct span name, const struct span *value,
                  struct report *report)
{
    struct setting *added;

    if (!make_room(settings)) {
        return report_memory(report);
    }
    added = &settings->list[settings->count];
    added->name = spell(name);
    added->value = value != NULL ? strndup(value->text, value->length) : NULL;
    settings->count++; /* settings_free gives back what there is */
    return (added->name != NULL && (value == NULL || added->value != NULL)) ||
           report_memory(report);
}

void settings_free(struct settings *settings)
{
    for (uint64_t i = 0; i < settings->count; i++) {
        free(settings->list[i].name);
        free(settings->list[i].value);
    }
    free(settings->list);
    *settings = (struct settings){.list = NULL};
}
