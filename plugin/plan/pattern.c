/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/pattern.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

static const struct {
    const char *symbols;
    enum cpl_layer_kind kind;
} kinds[] = {
    {"MGKL", CPL_LAYER_LINEAR},
    {"*+DCHW", CPL_LAYER_ATTENTION},
    {"-E", CPL_LAYER_LOCAL},
};

enum cpl_layer_kind cpl_layer_kind(char symbol)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (symbol != '\0' && strchr(kinds[i].symbols, symbol) != NULL) {
            return kinds[i].kind;
        }
    }
    return CPL_LAYER_UNKNOWN;
}

/* A pattern that is being read. */
struct reader {
    const char *text;
    size_t at;
    size_t *index; /* of what is wrong */
    struct cpl_error *error;
};

static enum cpl_status fail_at(const struct reader *reader, size_t at, const char *reason)
{
    *reader->index = at;
    return cpl_fail(reader->error, CPL_ERROR_ARGUMENT, "symbol '%c' at index %zu %s",
                    reader->text[at], at, reason);
}

static enum cpl_status fail_unknown(const struct reader *reader)
{
    const char symbol = reader->text[reader->at];

    *reader->index = reader->at;
    if (symbol < 0x20 || symbol > 0x7e) {
        return cpl_fail(reader->error, CPL_ERROR_ARGUMENT,
                        "unknown layer symbol 0x%02x at index %zu", (unsigned)(unsigned char)symbol,
                        reader->at);
    }
    return cpl_fail(reader->error, CPL_ERROR_ARGUMENT, "unknown layer symbol '%c' at index %zu",
                    symbol, reader->at);
}

/* Reads the layers from here on, of which there may be none. */
static void read_layers(struct reader *reader, struct cpl_pattern *pattern)
{
    enum cpl_layer_kind kind;

    while ((kind = cpl_layer_kind(reader->text[reader->at])) != CPL_LAYER_UNKNOWN) {
        pattern->linear_layers += kind == CPL_LAYER_LINEAR;
        pattern->experts += reader->text[reader->at] == 'E';
        reader->at++;
    }
}

static enum cpl_status read_logical_layer(struct reader *reader, struct cpl_pattern *pattern)
{
    const size_t open = reader->at++;
    const size_t first = reader->at;
    char symbol;

    read_layers(reader, pattern);
    symbol = reader->text[reader->at];
    if (symbol == '\0') {
        return fail_at(reader, open, "is not closed by ']'");
    }
    if (symbol != ']') {
        return strchr("[|/", symbol) != NULL
                   ? fail_at(reader, reader->at, "must not be inside '[...]'")
                   : fail_unknown(reader);
    }
    if (reader->at == first) {
        return fail_at(reader, open, "begins a logical layer without layers");
    }
    reader->at++;
    return CPL_OK;
}

/* Up to the end or the first '/'. */
static enum cpl_status read_main(struct reader *reader, struct cpl_pattern *pattern)
{
    enum cpl_status status = CPL_OK;

    for (;;) {
        read_layers(reader, pattern);
        switch (reader->text[reader->at]) {
        case '\0':
        case '/':
            return CPL_OK;
        case '|':
            reader->at++;
            break;
        case '[':
            status = read_logical_layer(reader, pattern);
            break;
        case ']':
            return fail_at(reader, reader->at, "has no '[' before it");
        default:
            return fail_unknown(reader);
        }
        if (status != CPL_OK) {
            return status;
        }
    }
}

/* One part and the '/' before it. Symbols of the main part alone are the affair of a rule. */
static enum cpl_status read_mtp(struct reader *reader, struct cpl_pattern *pattern)
{
    const size_t slash = reader->at++;
    const size_t first = reader->at;
    const size_t linear = pattern->linear_layers;

    read_layers(reader, pattern);
    while (reader->text[reader->at] != '\0' && strchr("|[]", reader->text[reader->at]) != NULL) {
        pattern->mtp_alike = false;
        reader->at++;
        read_layers(reader, pattern);
    }
    pattern->linear_layers = linear; /* MTP layers run in the attention layout */
    pattern->mtp_parts++;
    if (reader->text[reader->at] != '\0' && reader->text[reader->at] != '/') {
        return fail_unknown(reader);
    }
    return reader->at > first ? CPL_OK
                              : fail_at(reader, slash, "begins an MTP part without layers");
}

/* Whether the parts behind every '/' are equal. */
static bool are_alike(const char *part)
{
    const char *const first = part;
    const size_t length = strcspn(first, "/");

    while (part[length] == '/') {
        part += length + 1;
        if (strcspn(part, "/") != length || strncmp(part, first, length) != 0) {
            return false;
        }
    }
    return true;
}

enum cpl_status cpl_pattern_parse(const char *text, struct cpl_pattern *pattern, size_t *index,
                                  struct cpl_error *error)
{
    struct reader reader = {.text = text, .index = index, .error = error};
    const char *const slash = strchr(text, '/');
    enum cpl_status status;

    *index = 0;
    *pattern = (struct cpl_pattern){.mtp_alike = slash == NULL || are_alike(slash + 1)};
    if (strlen(text) > INT32_MAX) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT, "a pattern of %zu layers is too long",
                        strlen(text));
    }
    status = read_main(&reader, pattern);
    while (status == CPL_OK && text[reader.at] == '/') {
        status = read_mtp(&reader, pattern);
    }
    return status;
}
