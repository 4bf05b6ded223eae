/* SPDX-License-Identifier: Apache-2.0 */
#include "base/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

const char *cpl_option_type_name(enum cpl_option_type type)
{
    static const char *const names[] = {
        [CPL_TYPE_INTEGER] = "integer", [CPL_TYPE_NUMBER] = "number", [CPL_TYPE_BOOL] = "boolean",
        [CPL_TYPE_CHOICE] = "choice",   [CPL_TYPE_LIST] = "list",     [CPL_TYPE_LAYOUT] = "layout",
        [CPL_TYPE_PATTERN] = "pattern",
    };

    return names[type];
}

const char *cpl_option_values(const struct cpl_option_spec *spec,
                              char text[CPL_OPTION_VALUES_BYTES])
{
    text[0] = '\0';
    if (spec->values != NULL) {
        (void)snprintf(text, CPL_OPTION_VALUES_BYTES, "%s", spec->values);
    } else if (spec->type == CPL_TYPE_INTEGER) {
        (void)snprintf(text, CPL_OPTION_VALUES_BYTES, "%" PRId64 " ... %" PRId64, spec->least,
                       spec->most);
    }
    return text;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* The next entry of a list separated by ", ", of `length` bytes; NULL at its end. */
static const char *next_entry(const char *list, size_t *length)
{
    list += *length;
    list += strspn(list, ", ");
    *length = strcspn(list, ",");
    return *list != '\0' ? list : NULL;
}

/* Whether a word is a whole entry. The list may be NULL. */
static bool has_entry(const char *list, const char *word)
{
    const size_t wanted = strlen(word);
    size_t length = 0;

    while (list != NULL && (list = next_entry(list, &length)) != NULL) {
        if (length == wanted && strncmp(list, word, wanted) == 0) {
            return true;
        }
    }
    return false;
}

enum cpl_option_id cpl_option_find(const char *name)
{
    for (enum cpl_option_id id = 0; id < CPL_OPTION_COUNT; id++) {
        const struct cpl_option_spec *const spec = cpl_option_spec(id);

        if (strcmp(spec->name, name) == 0 || has_entry(spec->synonyms, name)) {
            return id;
        }
    }
    return CPL_OPTION_COUNT;
}

bool cpl_option_deprecated(enum cpl_option_id id, const char *name)
{
    return has_entry(cpl_option_spec(id)->deprecated, name);
}

const char *cpl_option_nearest(const char *name)
{
    const char *nearest = NULL;
    size_t best = strlen(name) / 3 + 1;

    for (enum cpl_option_id id = 0; id < CPL_OPTION_COUNT; id++) {
        const char *const known = cpl_option_spec(id)->name;
        const size_t distance = cpl_edit_distance(name, known);

        if (distance <= best) {
            best = distance;
            nearest = known;
        }
    }
    return nearest;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* The whole text as a decimal integer. */
static bool parse_integer(const struct cpl_option_spec *spec, struct cpl_option_value *value)
{
    char *end;

    if (value->text[strspn(value->text, "-0123456789")] != '\0') {
        return false;
    }
    errno = 0;
    value->integer = strtoll(value->text, &end, 10);
    return end != value->text && *end == '\0' && errno == 0 && value->integer >= spec->least &&
           value->integer <= spec->most;
}

/* Digits with an optional fraction. Not strtod: it would follow the host's locale. */
static bool parse_number(const struct cpl_option_spec *spec, struct cpl_option_value *value)
{
    const char *at = value->text;
    double unit = 1;
    bool digits = false;

    for (value->number = 0; *at >= '0' && *at <= '9'; at++) {
        value->number = 10 * value->number + (*at - '0');
        digits = true;
    }
    if (*at == '.') {
        for (at++; *at >= '0' && *at <= '9'; at++) {
            unit /= 10;
            value->number += unit * (*at - '0');
            digits = true;
        }
    }
    return digits && *at == '\0' && value->number > (double)spec->least &&
           value->number <= (double)spec->most;
}

/* Ones and zeros, or one integer; brackets around a list are allowed. */
static bool parse_list(const struct cpl_option_spec *spec, struct cpl_option_value *value)
{
    const char *const text = value->text;
    const size_t open = text[0] == '[';
    const size_t length = strlen(text);
    const bool closed = length > open && text[length - 1] == ']';
    const size_t end = length - closed;

    if (strchr(text, ',') == NULL) {
        return parse_integer(spec, value);
    }
    for (size_t i = open; i < end; i++) {
        const bool digit = text[i] == '0' || text[i] == '1';

        if ((i - open) % 2 == 0 ? !digit : text[i] != ',') {
            return false;
        }
    }
    return open == closed && (end - open) % 2 == 1;
}

static bool parse_bool(struct cpl_option_value *value)
{
    static const char *const words[2][4] = {{"false", "no", "off", "0"},
                                            {"true", "yes", "on", "1"}};

    for (size_t i = 0; i < 8; i++) {
        if (strcmp(value->text, words[i / 4][i % 4]) == 0) {
            value->integer = (int64_t)(i / 4);
            return true;
        }
    }
    return false;
}

static bool parse_value(const struct cpl_option_spec *spec, struct cpl_option_value *value)
{
    switch (spec->type) {
    case CPL_TYPE_INTEGER:
        return parse_integer(spec, value);
    case CPL_TYPE_NUMBER:
        return parse_number(spec, value);
    case CPL_TYPE_BOOL:
        return parse_bool(value);
    case CPL_TYPE_CHOICE:
        return has_entry(spec->values, value->text);
    case CPL_TYPE_LIST:
        return parse_list(spec, value);
    case CPL_TYPE_LAYOUT:
    case CPL_TYPE_PATTERN:
        return true;
    }
    return false;
}

static void set_default(struct cpl_option_value *value, const struct cpl_option_spec *spec)
{
    *value = (struct cpl_option_value){
        .text = spec->default_value,
        .origin = "default",
        .source = CPL_SOURCE_DEFAULT,
    };
    value->usable = spec->default_value[0] == '\0' || parse_value(spec, value);
}

/* A value given again by its source with another text is a conflict for good. */
static void set_value(struct cpl_option_value *value, const struct cpl_option_spec *spec,
                      const struct cpl_entry *entry)
{
    const bool differs = value->given && strcmp(value->text, entry->value) != 0;

    if (value->source < entry->source) {
        return;
    }
    value->conflict = value->conflict || differs;
    value->text = entry->value;
    value->origin = entry->origin;
    value->source = entry->source;
    value->given = true;
    value->usable = parse_value(spec, value) && !value->conflict;
}

enum cpl_status cpl_options_init(struct cpl_options *options, const struct cpl_host_settings *host,
                                 struct cpl_error *error)
{
    const enum cpl_status status = cpl_sources_init(&options->sources, host, error);

    if (status != CPL_OK) {
        return status;
    }
    for (enum cpl_option_id id = 0; id < CPL_OPTION_COUNT; id++) {
        set_default(&options->values[id], cpl_option_spec(id));
    }
    for (size_t i = 0; i < options->sources.count; i++) {
        const struct cpl_entry *const entry = &options->sources.list[i];
        const enum cpl_option_id id = cpl_option_find(entry->name);

        if (id != CPL_OPTION_COUNT) {
            set_value(&options->values[id], cpl_option_spec(id), entry);
        }
    }
    return CPL_OK;
}

void cpl_options_fini(struct cpl_options *options)
{
    cpl_sources_fini(&options->sources);
}

void cpl_options_log(const struct cpl_options *options, const struct cpl_log *log)
{
    for (enum cpl_option_id id = 0; id < CPL_OPTION_COUNT; id++) {
        const struct cpl_option_value *const value = &options->values[id];
        const struct cpl_option_spec *const spec = cpl_option_spec(id);

        if (value->given && strcmp(value->text, spec->default_value) != 0) {
            cpl_log_write(log, CPL_LOG_INFO, "option %s = '%.200s' (%.200s)", spec->name,
                          value->text, value->origin);
        }
    }
}
