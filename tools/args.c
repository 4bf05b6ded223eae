/* SPDX-License-Identifier: Apache-2.0 */
#include "args.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

/* ---- Values ---------------------------------------------------------------------------------- */

/* The value of an option is wrong. */
static struct problem bad_value(enum option option)
{
    const struct problem problem = {
        .status = EXIT_USAGE,
        .code = "option.type",
        .option = option_name(option),
    };

    return problem;
}

/*
 * Only digits with an optional minus sign. What is no number is wrong usage; a number out of range
 * is invalid input.
 */
static bool parse_integer(struct args *args, enum option option, struct report *report)
{
    const struct option_row *const row = option_row(option);
    const char *const value = args->text[option];
    const size_t sign = value[0] == '-' ? 1 : 0;
    const size_t digits = strspn(value + sign, "0123456789");
    struct problem problem = bad_value(option);
    long long number;

    if (digits == 0) {
        return report_fail(report, &problem, "--%s: '%s' is not an integer", row->name, value);
    }
    if (value[sign + digits] != '\0') {
        return report_fail(report, &problem,
                           "--%s: '%s' is not an integer: '%s' follows the number", row->name,
                           value, value + sign + digits);
    }
    errno = 0;
    number = strtoll(value, NULL, 10);
    if (errno == ERANGE || number < row->minimum || number > row->maximum) {
        problem.status = EXIT_INVALID;
        return report_fail(report, &problem, "--%s: %s is out of range: %" PRId64 " to %" PRId64,
                           row->name, value, row->minimum, row->maximum);
    }
    args->number[option] = number;
    return true;
}

static bool parse_flag(struct args *args, enum option option, struct report *report)
{
    const char *const value = args->text[option];
    const bool yes = strcmp(value, "true") == 0;
    const struct problem problem = bad_value(option);

    if (!yes && strcmp(value, "false") != 0) {
        return report_fail(report, &problem, "--%s: '%s' is neither true nor false",
                           option_name(option), value);
    }
    args->number[option] = yes;
    return true;
}

static bool set_value(struct args *args, enum option option, const char *value,
                      struct report *report)
{
    const char *const before = args->text[option];
    const struct problem problem = bad_value(option);

    if (before != NULL) {
        return strcmp(before, value) == 0 ||
               report_fail(report, &problem, "--%s is given twice, as '%s' and as '%s'",
                           option_name(option), before, value);
    }
    args->text[option] = value;
    switch (option_row(option)->kind) {
    case KIND_INTEGER:
        return parse_integer(args, option, report);
    case KIND_LIST:
        return list_parse(&args->list[option], option, value, report);
    case KIND_FLAG:
        return parse_flag(args, option, report);
    case KIND_TEXT:
        break;
    }
    return true;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static bool fail_unknown(const struct args *args, const char *typed, size_t length,
                         struct report *report)
{
    char name[NAME_LONGEST + 2]; /* one more than any known name, so that a cut one matches none */
    char hint[128] = "";
    const int shown = length < sizeof(name) ? (int)length : (int)sizeof(name) - 1;
    const char *near;

    (void)snprintf(name, sizeof(name), "%.*s", shown, typed);
    near = option_nearest(args->verb_bit, name);
    if (near != NULL) {
        (void)snprintf(hint, sizeof(hint), "did you mean '--%s'?", near);
    } else {
        (void)snprintf(hint, sizeof(hint), "'cplayout %s%s--help' lists the options", args->verb,
                       args->verb[0] != '\0' ? " " : "");
    }
    return report_fail(report,
                       &(struct problem){.status = EXIT_USAGE,
                                         .code = "option.unknown",
                                         .option = name,
                                         .hint = hint},
                       "unknown option '--%.*s'%s%s", length < 200 ? (int)length : 200, typed,
                       args->verb[0] != '\0' ? " of " : "", args->verb);
}

static bool fail_stray(const char *word, struct report *report)
{
    return report_fail(report,
                       &(struct problem){.status = EXIT_USAGE,
                                         .code = "argument.unknown",
                                         .hint = "option names begin with '--'"},
                       "unexpected argument '%s'", word);
}

static bool is_option(unsigned verb_bit, const char *word)
{
    return strncmp(word, "--", 2) == 0 &&
           option_find(verb_bit, word + 2, strcspn(word + 2, "=")) != OPTION_COUNT;
}

/* No value of a configuration begins like this, but a pattern may begin with "--*". */
static bool looks_like_option(const char *word)
{
    return strncmp(word, "--", 2) == 0 && word[2] >= 'a' && word[2] <= 'z';
}

/* The word behind an option if it is its value, else NULL. */
static const char *next_value(const struct args *args, enum option option,
                              const struct words *words, int next)
{
    const char *word;

    if (next >= words->count) {
        return NULL;
    }
    word = words->list[next];
    if (option == OPTION_COUNT) {
        return looks_like_option(word) ? NULL : word;
    }
    if (option_row(option)->kind == KIND_FLAG) {
        return strcmp(word, "true") == 0 || strcmp(word, "false") == 0 ? word : NULL;
    }
    return is_option(args->verb_bit, word) ? NULL : word;
}

/* One option as it stands on the command line. */
struct given {
    enum option option; /* OPTION_COUNT: none of the command's own */
    struct span name;
    const char *value; /* NULL: it has none */
};

static bool take_setting(struct args *args, const struct given *given, struct report *report)
{
    const struct span value = {given->value, given->value != NULL ? strlen(given->value) : 0};

    if (args->verb_bit != VERB_CHECK || given->name.length == 0) {
        return fail_unknown(args, given->name.text, given->name.length, report);
    }
    return settings_add(&args->settings, given->name, given->value != NULL ? &value : NULL, report);
}

static bool take_given(struct args *args, const struct given *given, struct report *report)
{
    if (given->option == OPTION_COUNT) {
        return take_setting(args, given, report);
    }
    if (given->value == NULL && option_row(given->option)->kind != KIND_FLAG) {
        const struct problem problem = bad_value(given->option);

        return report_fail(report, &problem, "--%s needs a value", option_name(given->option));
    }
    return set_value(args, given->option, given->value != NULL ? given->value : "true", report);
}

/* Takes the option at `at` and its value; returns how many words they are. */
static int take_option(struct args *args, const struct words *words, int at, struct report *report)
{
    const char *const typed = words->list[at] + 2;
    struct given given = {.name = {typed, strcspn(typed, "=")}};
    bool apart = false; /* the value is a word of its own */

    given.option = option_find(args->verb_bit, typed, given.name.length);
    if (typed[given.name.length] == '=') {
        given.value = typed + given.name.length + 1;
    } else if (given.option != OPTION_COUNT || args->verb_bit == VERB_CHECK) {
        given.value = next_value(args, given.option, words, at + 1);
        apart = given.value != NULL;
    }
    (void)take_given(args, &given, report);
    return apart ? 2 : 1;
}

bool args_parse(struct args *args, const struct words *words, struct report *report)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        args->number[i] = option_row((enum option)i)->fallback;
    }
    for (int at = 0; at < words->count;) {
        const char *const word = words->list[at];

        if (strncmp(word, "--", 2) == 0) {
            at += take_option(args, words, at, report);
            continue;
        }
        if (strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
            args->number[OPTION_HELP] = 1;
        } else {
            (void)fail_stray(word, report);
        }
        at++;
    }
    return report->status == EXIT_FINE;
}

void args_free(struct args *args)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        list_free(&args->list[i]);
    }
    settings_free(&args->settings);
}

/* ---- What a verb needs ----------------------------------------------------------------------- */

static bool fail_missing(const struct args *args, enum option option, struct report *report)
{
    const struct problem problem = {.status = EXIT_USAGE,
                                    .code = "option.missing",
                                    .option = option_name(option)};

    return report_fail(report, &problem, "%s needs --%s %s%s", args->verb, option_name(option),
                       option_row(option)->value,
                       option == OPTION_SEQ ? " or --cu-seqlens LIST" : "");
}

/* Either one dense length or packed documents. */
static bool check_lengths(const struct args *args, struct report *report)
{
    const bool dense = args->text[OPTION_SEQ] != NULL;
    const bool packed = args->text[OPTION_CU_SEQLENS] != NULL;
    struct problem problem = {.status = EXIT_USAGE,
                              .code = "option.conflict",
                              .option = option_name(OPTION_CU_SEQLENS)};

    if (dense && packed) {
        return report_fail(report, &problem,
                           "--seq and --cu-seqlens exclude each other: the length of one dense "
                           "sequence, or those of packed documents");
    }
    if (!packed && args->text[OPTION_CU_SEQLENS_PADDED] != NULL) {
        problem.code = "option.missing";
        return report_fail(report, &problem, "--cu-seqlens-padded needs --cu-seqlens");
    }
    return dense || packed || fail_missing(args, OPTION_SEQ, report);
}

bool args_check(const struct args *args, struct report *report)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if ((option_row((enum option)i)->required & args->verb_bit) != 0 && args->text[i] == NULL) {
            return fail_missing(args, (enum option)i, report);
        }
    }
    return (args->verb_bit & VERBS_LENGTHS) == 0 || check_lengths(args, report);
}
