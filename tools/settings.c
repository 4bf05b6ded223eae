/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "options.h"

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
static char *full_name(struct span typed)
{
    const char *const synonym = option_synonym(typed.text, typed.length);
    char *const name = synonym != NULL ? strdup(synonym) : strndup(typed.text, typed.length);

    for (char *at = name; at != NULL && *at != '\0'; at++) {
        *at = *at == '-' ? '_' : *at;
    }
    return name;
}

bool settings_add(struct settings *settings, struct span name, const struct span *value,
                  struct report *report)
{
    struct setting added = {.name = NULL};

    if (make_room(settings)) {
        added.name = full_name(name);
        added.value = value != NULL ? strndup(value->text, value->length) : NULL;
    }
    if (added.name == NULL || (value != NULL && added.value == NULL)) {
        free(added.name);
        free(added.value);
        return report_memory(report);
    }
    settings->list[settings->count++] = added;
    return true;
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

/* ---- File ------------------------------------------------------------------------------------ */

struct config {
    const char *path;
    uint64_t line;
    uint64_t before; /* settings that were there before the file */
    struct settings *settings;
    struct report *report;
};

static struct problem config_problem(void)
{
    return (struct problem){.status = EXIT_INVALID,
                            .code = "config.read",
                            .option = option_name(OPTION_CONFIG)};
}

static bool fail_line(const struct config *config, const char *reason)
{
    struct problem problem = config_problem();

    problem.code = "config.line";
    problem.hint = "lines are 'name = value', '#' begins a comment";
    return report_fail(config->report, &problem, "%.512s:%" PRIu64 ": %s", config->path,
                       config->line, reason);
}

static bool fail_file(const struct config *config, const char *what)
{
    const struct problem problem = config_problem();

    return report_fail(config->report, &problem, "cannot %s '%.512s': %s", what, config->path,
                       strerror(errno));
}

static bool is_blank(char letter)
{
    return isspace((unsigned char)letter) != 0;
}

static struct span trim(struct span span)
{
    while (span.length > 0 && is_blank(span.text[0])) {
        span.text++;
        span.length--;
    }
    while (span.length > 0 && is_blank(span.text[span.length - 1])) {
        span.length--;
    }
    return span;
}

static bool is_name(struct span span)
{
    for (size_t i = 0; i < span.length; i++) {
        const unsigned char letter = (unsigned char)span.text[i];

        if (isalnum(letter) == 0 && letter != '_' && letter != '-') {
            return false;
        }
    }
    return span.length > 0;
}

/* Whether the command line has set the name. */
static bool is_overridden(const struct config *config, struct span name)
{
    char *const full = full_name(name);
    bool found = false;

    for (uint64_t i = 0; full != NULL && i < config->before; i++) {
        found = found || strcmp(config->settings->list[i].name, full) == 0;
    }
    free(full);
    return found;
}

static bool take_line(const struct config *config, struct span line)
{
    const char *const equals = memchr(line.text, '=', line.length);
    struct span name;
    struct span value;

    if (equals == NULL) {
        return fail_line(config, "there is no '='");
    }
    name = trim((struct span){line.text, (size_t)(equals - line.text)});
    value = trim((struct span){equals + 1, (size_t)(line.text + line.length - equals) - 1});
    if (name.length == 0) {
        return fail_line(config, "there is no name before '='");
    }
    if (!is_name(name)) {
        return fail_line(config, "names have letters, digits, '_' and '-' only");
    }
    return is_overridden(config, name) ||
           settings_add(config->settings, name, &value, config->report);
}

static bool read_line(struct config *config, struct span line)
{
    config->line++;
    if (memchr(line.text, '\0', line.length) != NULL) {
        return fail_line(config, "it has a NUL byte; this is no text file");
    }
    line.length = strcspn(line.text, "#\n");
    line = trim(line);
    return line.length == 0 || take_line(config, line);
}

static bool read_lines(struct config *config, FILE *file)
{
    char *line = NULL;
    size_t bytes = 0;
    ssize_t length;
    bool fine = true;

    while (fine && (length = getline(&line, &bytes, file)) >= 0) {
        fine = read_line(config, (struct span){line, (size_t)length});
    }
    free(line);
    if (fine && feof(file) == 0) {
        return fail_file(config, "read");
    }
    return fine;
}

bool settings_read(struct settings *settings, const char *path, struct report *report)
{
    struct config config = {.path = path,
                            .before = settings->count,
                            .settings = settings,
                            .report = report};
    FILE *file;
    bool fine;

    if (getauxval(AT_SECURE) != 0) {
        const struct problem problem = config_problem();

        return report_fail(report, &problem, "--config is ignored in set-id processes");
    }
    file = fopen(path, "re");
    if (file == NULL) {
        return fail_file(&config, "open");
    }
    fine = read_lines(&config, file);
    (void)fclose(file);
    return fine;
}
