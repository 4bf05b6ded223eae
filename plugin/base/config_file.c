/* SPDX-License-Identifier: Apache-2.0 */
#include "base/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MOST = 1 << 20 };

/* A file that is being read. */
struct config {
    struct cpl_sources *sources;
    const char *path;
    size_t line; /* counts from 1 */
};

/* Part of a text. */
struct span {
    char *text;
    size_t length;
};

/* ---- Lines ----------------------------------------------------------------------------------- */

static enum cpl_status fail_line(const struct config *config, const char *reason,
                                 struct cpl_error *error)
{
    return cpl_fail_field(error, CPL_ERROR_ARGUMENT, CPL_SOURCES_FILE,
                          "%.256s:%zu: %s; lines are 'name = value', '#' begins a comment",
                          config->path, config->line, reason);
}

/* Not isspace: it would follow the host's locale. */
static bool is_blank(char letter)
{
    return letter == ' ' || (letter >= '\t' && letter <= '\r');
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

static bool is_name_letter(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_';
}

/* Writes '_' for '-'. */
static bool normalize_name(struct span name)
{
    for (size_t i = 0; i < name.length; i++) {
        name.text[i] = name.text[i] == '-' ? '_' : name.text[i];
        if (!is_name_letter(name.text[i])) {
            return false;
        }
    }
    return true;
}

/* "run.conf:4" */
static const char *origin_of(const struct config *config)
{
    const size_t bytes = strlen(config->path) + 24;
    char *const text = cpl_arena_take(&config->sources->arena, bytes, 1);

    if (text != NULL) {
        (void)snprintf(text, bytes, "%s:%zu", config->path, config->line);
    }
    return text;
}

static enum cpl_status add_setting(const struct config *config, struct span name, struct span value,
                                   struct cpl_error *error)
{
    const struct cpl_entry entry = {name.text, value.text, origin_of(config), CPL_SOURCE_FILE};

    if (entry.origin == NULL) {
        return cpl_fail_memory(error);
    }
    name.text[name.length] = '\0'; /* on '=' or a blank before it */
    value.text[value.length] = '\0';
    return cpl_sources_add(config->sources, &entry, error);
}

static enum cpl_status read_line(const struct config *config, struct span line,
                                 struct cpl_error *error)
{
    char *const comment = memchr(line.text, '#', line.length);
    struct span name = {.text = line.text};
    struct span value;
    char *equals;

    if (memchr(line.text, '\0', line.length) != NULL) {
        return fail_line(config, "it has a NUL byte, this is no text file", error);
    }
    line.length = comment != NULL ? (size_t)(comment - line.text) : line.length;
    if (trim(line).length == 0) {
        return CPL_OK;
    }
    equals = memchr(line.text, '=', line.length);
    if (equals == NULL) {
        return fail_line(config, "there is no '='", error);
    }
    name.length = (size_t)(equals - line.text);
    name = trim(name);
    value = trim((struct span){equals + 1, line.length - (size_t)(equals + 1 - line.text)});
    if (name.length == 0) {
        return fail_line(config, "there is no name before '='", error);
    }
    return normalize_name(name)
               ? add_setting(config, name, value, error)
               : fail_line(config, "names have letters, digits, '_' and '-' only", error);
}

/* The byte behind `content` is there to be written. */
static enum cpl_status read_lines(struct config *config, struct span content,
                                  struct cpl_error *error)
{
    enum cpl_status status = CPL_OK;

    while (content.length > 0 && status == CPL_OK) {
        const char *const end = memchr(content.text, '\n', content.length);
        const size_t length = end != NULL ? (size_t)(end - content.text) : content.length;
        const size_t taken = end != NULL ? length + 1 : length;

        config->line++;
        status = read_line(config, (struct span){content.text, length}, error);
        content.text += taken;
        content.length -= taken;
    }
    return status;
}

/* ---- File ------------------------------------------------------------------------------------ */

static enum cpl_status fail_file(const char *path, const char *reason, struct cpl_error *error)
{
    return cpl_fail_field(error, CPL_ERROR_ARGUMENT, CPL_SOURCES_FILE, "cannot read '%.256s': %s",
                          path, reason);
}

static enum cpl_status check_file(int file, const char *path, struct cpl_error *error)
{
    struct stat about;

    if (fstat(file, &about) != 0) {
        return fail_file(path, strerror(errno), error);
    }
    return S_ISREG(about.st_mode) ? CPL_OK : fail_file(path, "it is no regular file", error);
}

/* Reads to the end, one byte less than there is room for at most. */
static enum cpl_status read_all(int file, const char *path, struct span *content,
                                struct cpl_error *error)
{
    ssize_t got = 1;

    while (got > 0 && content->length <= FILE_BYTES_MOST) {
        got = read(file, content->text + content->length, FILE_BYTES_MOST + 1 - content->length);
        if (got < 0 && errno != EINTR) {
            return fail_file(path, strerror(errno), error);
        }
        content->length += got > 0 ? (size_t)got : 0;
        got = got < 0 ? 1 : got;
    }
    return content->length <= FILE_BYTES_MOST ? CPL_OK
                                              : fail_file(path, "it is above 1 MiB", error);
}

static enum cpl_status load(struct cpl_sources *sources, int file, const char *path,
                            struct span *content, struct cpl_error *error)
{
    enum cpl_status status = check_file(file, path, error);

    if (status != CPL_OK) {
        return status;
    }
    content->text = cpl_arena_take_raw(&sources->arena, FILE_BYTES_MOST + 2, 1);
    return content->text != NULL ? read_all(file, path, content, error) : cpl_fail_memory(error);
}

enum cpl_status cpl_config_file_read(struct cpl_sources *sources, const char *path,
                                     struct cpl_error *error)
{
    struct config config = {.sources = sources, .path = path};
    struct span content = {.length = 0};
    enum cpl_status status;
    /* Not blocking: a pipe without a writer would hold us. */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (file < 0) {
        return fail_file(path, strerror(errno), error);
    }
    status = load(sources, file, path, &content, error);
    (void)close(file);
    return status == CPL_OK ? read_lines(&config, content, error) : status;
}
