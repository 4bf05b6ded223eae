/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves what a layer pattern means: every one of the 256 characters is known or unknown as the
 * command's list says, the first bad or misplaced one is named with its index, and the counts of
 * layers and MTP parts are those of patterns read by eye.
 */
#include <criterion/criterion.h>

#include "plan/pattern.h"
#include "unit/support.h"

static const char linear[] = "MGKL";
static const char attention[] = "*+DCHW";
static const char local[] = "-E";
static const char structure[] = "|/[]";

static bool is_one_of(char symbol, const char *symbols)
{
    return symbol != '\0' && strchr(symbols, symbol) != NULL;
}

static enum cpl_layer_kind kind_of(char symbol)
{
    if (is_one_of(symbol, linear)) {
        return CPL_LAYER_LINEAR;
    }
    if (is_one_of(symbol, attention)) {
        return CPL_LAYER_ATTENTION;
    }
    return is_one_of(symbol, local) ? CPL_LAYER_LOCAL : CPL_LAYER_UNKNOWN;
}

Test(pattern, knows_every_symbol_and_no_other)
{
    for (int code = 0; code < 256; code++) {
        const char symbol = (char)code;

        cr_assert_eq(cpl_layer_kind(symbol), kind_of(symbol), "symbol 0x%02x", (unsigned)code);
    }
}

/* The message names the symbol: as it is, or by its code where it cannot be printed. */
static bool names_symbol(const char *message, char symbol)
{
    char text[8];
    const bool printable = symbol >= ' ' && symbol <= '~';

    if (printable) {
        (void)snprintf(text, sizeof(text), "'%c'", symbol);
    } else {
        (void)snprintf(text, sizeof(text), "0x%02x", (unsigned)(unsigned char)symbol);
    }
    return strstr(message, text) != NULL;
}

static void check_printable(const char *message)
{
    for (const char *byte = message; *byte != '\0'; byte++) {
        cr_assert(*byte >= ' ' && *byte <= '~', "the message holds byte 0x%02x",
                  (unsigned)(unsigned char)*byte);
    }
}

static void check_symbol(char symbol, size_t index)
{
    struct cpl_error error = {0};
    struct cpl_pattern parsed;
    char pattern[160];
    size_t found;

    memset(pattern, 'M', sizeof(pattern));
    pattern[index] = symbol;
    pattern[index + 1] = '?'; /* a later bad symbol is not the one to name */
    pattern[index + 2] = '\0';
    cr_assert_eq(cpl_pattern_parse(pattern, &parsed, &found, &error), CPL_ERROR_ARGUMENT);
    if (kind_of(symbol) != CPL_LAYER_UNKNOWN) {
        cr_assert_eq(found, index + 1);
        pattern[index + 1] = '\0';
        cr_assert_eq(cpl_pattern_parse(pattern, &parsed, &found, &error), CPL_OK, "'%s'", pattern);
        return;
    }
    cr_assert_eq(found, index);
    cr_assert(message_names(error.message, (int64_t)index), "index %zu: %s", index, error.message);
    cr_assert(names_symbol(error.message, symbol), "0x%02x: %s", (unsigned)(unsigned char)symbol,
              error.message);
    check_printable(error.message);
}

Test(pattern, names_the_first_bad_symbol_and_its_index)
{
    const size_t indices[] = {0, 1, 7, 131};

    for (size_t i = 0; i < sizeof(indices) / sizeof(indices[0]); i++) {
        for (int code = 1; code < 256; code++) {
            if (!is_one_of((char)code, structure)) {
                check_symbol((char)code, indices[i]);
            }
        }
    }
}

/* Patterns that are wrong, and where. */
static const struct {
    const char *text;
    size_t index;
    const char *message;
} misplaced[] = {
    {"M?", 1, "unknown layer symbol '?'"},
    {"M|?", 2, "unknown layer symbol '?'"},
    {"M/?", 2, "unknown layer symbol '?'"},
    {"[M?]", 2, "unknown layer symbol '?'"},
    {"M]", 1, "no '['"},
    {"]", 0, "no '['"},
    {"[M", 0, "not closed"},
    {"M[M-", 1, "not closed"},
    {"[", 0, "not closed"},
    {"M[]", 1, "without layers"},
    {"[M[*]]", 2, "inside"},
    {"[M|*]", 2, "inside"},
    {"[M/*]", 2, "inside"},
    {"M/", 1, "without layers"},
    {"M//*", 1, "without layers"},
    {"M/*/", 3, "without layers"},
    {"M/*/ ", 4, "unknown layer symbol ' '"},
    {"M m", 1, "unknown layer symbol ' '"},
};

Test(pattern, names_what_is_misplaced)
{
    for (size_t i = 0; i < sizeof(misplaced) / sizeof(misplaced[0]); i++) {
        struct cpl_error error = {0};
        struct cpl_pattern parsed;
        size_t index = 99;

        cr_assert_eq(cpl_pattern_parse(misplaced[i].text, &parsed, &index, &error),
                     CPL_ERROR_ARGUMENT, "'%s'", misplaced[i].text);
        cr_assert_eq(index, misplaced[i].index, "'%s': index %zu", misplaced[i].text, index);
        cr_assert(strstr(error.message, misplaced[i].message) != NULL, "'%s': %s",
                  misplaced[i].text, error.message);
        cr_assert(message_names(error.message, (int64_t)index), "'%s': %s", misplaced[i].text,
                  error.message);
    }
}

/* Patterns that are right, and what is in them. */
static const struct {
    const char *text;
    struct cpl_pattern expected;
} right[] = {
    {"", {0, 0, 0, true}},
    {"MGKL*+DCHW-E", {4, 1, 0, true}},
    {"M-M*|*-M-", {3, 0, 0, true}},
    {"||", {0, 0, 0, true}},
    {"[M*]-[G-]", {2, 0, 0, true}},
    {"*-*-", {0, 0, 0, true}},
    {"M*E/*E", {1, 2, 1, true}},
    {"M*/ME/ME", {1, 2, 2, true}}, /* linear layers of an MTP part are none: attention's layout */
    {"M*/*E/*-", {1, 1, 2, false}},
    {"M*/*/**", {1, 0, 2, false}},
    {"M*/**/*", {1, 0, 2, false}},
    {"M*/*|*", {1, 0, 1, false}},
    {"M*/[*E]", {1, 1, 1, false}},
    {"M*|*/*E/*E/*E", {1, 3, 3, true}},
    {"/*", {0, 0, 1, true}},
};

Test(pattern, counts_layers_and_parts)
{
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        const struct cpl_pattern *const expected = &right[i].expected;
        struct cpl_error error = {0};
        struct cpl_pattern parsed;
        size_t index;

        cr_assert_eq(cpl_pattern_parse(right[i].text, &parsed, &index, &error), CPL_OK, "'%s': %s",
                     right[i].text, error.message);
        cr_assert_eq(parsed.linear_layers, expected->linear_layers, "'%s'", right[i].text);
        cr_assert_eq(parsed.experts, expected->experts, "'%s'", right[i].text);
        cr_assert_eq(parsed.mtp_parts, expected->mtp_parts, "'%s'", right[i].text);
        cr_assert_eq(parsed.mtp_alike, expected->mtp_alike, "'%s'", right[i].text);
    }
}
