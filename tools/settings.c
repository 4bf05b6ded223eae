/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <stdlib.h>
#include <string.h>

#include "names.h"

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

/* Both texts in one block: the name, then the value. NULL if memory ran out. */
static char *join(struct span name, const struct span *value)
{
    const size_t rest = value != NULL ? value->length + 1 : 0;
    char *const block = calloc(name.length + 1 + rest, 1);

    if (block == NULL) {
        return NULL;
    }
    name_spell(block, name.text, name.length);
    if (value != NULL) {
        memcpy(block + name.length + 1, value->text, value->length);
    }
    return block;
}

bool settings_add(struct settings *settings, struct span name, const struct span *value,
                  struct report *report)
{
    char *const block = make_room(settings) ? join(name, value) : NULL;

    if (block == NULL) {
        return report_memory(report);
    }
    settings->list[settings->count].name = block;
    settings->list[settings->count].value = value != NULL ? block + name.length + 1 : NULL;
    settings->count++;
    return true;
}

void settings_free(struct settings *settings)
{
    for (uint64_t i = 0; i < settings->count; i++) {
        free(settings->list[i].name);
    }
    free(settings->list);
    *settings = (struct settings){.list = NULL};
}
