/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sources.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/config_file.h"

extern char **environ;

/* Twice the room each time. Old lists stay in the arena. */
static bool make_room(struct cpl_sources *sources)
{
    const size_t count = sources->count;
    struct cpl_entry *list;

    if (sources->list != NULL && (count < 16 || (count & (count - 1)) != 0)) {
        return true;
    }
    list = cpl_arena_take_raw(&sources->arena, count < 16 ? 16 : 2 * count, sizeof(*list));
    if (list != NULL && count > 0) {
        memcpy(list, sources->list, count * sizeof(*list));
    }
    sources->list = list != NULL ? list : sources->list;
    return list != NULL;
}

enum cpl_status cpl_sources_add(struct cpl_sources *sources, const struct cpl_entry *entry,
                                struct cpl_error *error)
{
    if (!make_room(sources)) {
        return cpl_fail_memory(error);
    }
    sources->list[sources->count++] = *entry;
    return CPL_OK;
}

/* ---- Host ------------------------------------------------------------------------------------ */

static enum cpl_status add_host(struct cpl_sources *sources, const struct cpl_host_settings *host,
                                struct cpl_error *error)
{
    enum cpl_status status = CPL_OK;

    for (size_t i = 0; i < host->count && status == CPL_OK; i++) {
        const struct cpl_setting *const setting = &host->list[i];
        const struct cpl_entry entry = {setting->name, setting->value, "host", CPL_SOURCE_HOST};

        if (setting->name == NULL || setting->value == NULL) {
            return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "options",
                                  "options[%zu] has a NULL name or value", i);
        }
        status = cpl_sources_add(sources, &entry, error);
    }
    return status;
}

/* ---- Environment ----------------------------------------------------------------------------- */

/* The first `length` bytes; NULL if there is no memory. */
static char *copy_text(struct cpl_sources *sources, const char *text, size_t length)
{
    char *const copy = cpl_arena_take(&sources->arena, length + 1, 1);

    return copy != NULL ? memcpy(copy, text, length) : NULL;
}

/* Options have small letters, variables capital ones. */
static void lower(char *text)
{
    for (; *text != '\0'; text++) {
        if (*text >= 'A' && *text <= 'Z') {
            *text = (char)(*text - 'A' + 'a');
        }
    }
}

/* `variable` is "CPLAYOUT_SEQ_LENGTH=8"; copied, for the host may change its environment. */
static enum cpl_status add_variable(struct cpl_sources *sources, const char *variable,
                                    struct cpl_error *error)
{
    const size_t prefix = strlen(CPL_SOURCES_PREFIX);
    const size_t length = strcspn(variable, "=");
    const char *const value = variable[length] == '=' ? variable + length + 1 : "";
    struct cpl_entry entry = {.source = CPL_SOURCE_ENVIRONMENT};
    char *name;

    if (value[0] == '\0') {
        return CPL_OK;
    }
    name = copy_text(sources, variable + prefix, length - prefix);
    entry.origin = copy_text(sources, variable, length);
    entry.value = copy_text(sources, value, strlen(value));
    if (name == NULL || entry.origin == NULL || entry.value == NULL) {
        return cpl_fail_memory(error);
    }
    lower(name);
    entry.name = name;
    return strcmp(entry.origin, CPL_SOURCES_FILE) != 0 ? cpl_sources_add(sources, &entry, error)
                                                       : CPL_OK;
}

static enum cpl_status add_environment(struct cpl_sources *sources, struct cpl_error *error)
{
    const size_t prefix = strlen(CPL_SOURCES_PREFIX);
    enum cpl_status status = CPL_OK;

    for (char **at = environ; at != NULL && *at != NULL && status == CPL_OK; at++) {
        if (strncmp(*at, CPL_SOURCES_PREFIX, prefix) == 0) {
            status = add_variable(sources, *at, error);
        }
    }
    return status;
}

static enum cpl_status add_file(struct cpl_sources *sources, struct cpl_error *error)
{
    const char *const path = getenv(CPL_SOURCES_FILE);

    return path != NULL && path[0] != '\0' ? cpl_config_file_read(sources, path, error) : CPL_OK;
}

enum cpl_status cpl_sources_init(struct cpl_sources *sources, const struct cpl_host_settings *host,
                                 struct cpl_error *error)
{
    const bool trusted = getauxval(AT_SECURE) == 0;
    enum cpl_status status;

    *sources = (struct cpl_sources){.list = NULL};
    cpl_arena_init(&sources->arena, &host->allocator);
    status = add_host(sources, host, error);
    if (status == CPL_OK && trusted) {
        status = add_environment(sources, error);
    }
    if (status == CPL_OK && trusted) {
        status = add_file(sources, error);
    }
    if (status != CPL_OK) {
        cpl_sources_fini(sources);
    }
    return status;
}

void cpl_sources_fini(struct cpl_sources *sources)
{
    cpl_arena_fini(&sources->arena);
    *sources = (struct cpl_sources){.list = NULL};
}
