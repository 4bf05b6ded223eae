/* SPDX-License-Identifier: Apache-2.0 */
#include "args.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind {
    KIND_TEXT,
    KIND_INTEGER,
    KIND_FLAG,
    KIND_LATER, /* an option of the command's manual that this version does not have yet */
};

enum {
    VERBS_LENGTHS = VERB_MAP | VERB_ROUTE,
    VERBS_REAL = VERB_MAP | VERB_ROUTE | VERB_INFO,
    VERBS_ALL = VERBS_REAL | VERB_NONE,
};

struct row {
    const char *name;
    const char *synonym; /* Megatron's name; NULL if there is none */
    enum kind kind;
    unsigned verbs;    /* that take it */
    unsigned required; /* verbs that cannot do without */
    int64_t maximum;   /* of an integer; the minimum is 1 */
    int64_t fallback;  /* of an integer that is not given */
    const char *value; /* what stands for the value in the help */
    const char *help;
};

static const struct row rows[OPTION_COUNT] = {
    [OPTION_LAYOUT] = {.name = "layout",
                       .verbs = VERB_MAP,
                       .required = VERB_MAP,
                       .value = "L",
                       .help = "layout: contiguous, mirror or zigzag"},
    [OPTION_FROM] = {.name = "from",
                     .verbs = VERB_ROUTE,
                     .required = VERB_ROUTE,
                     .value = "L",
                     .help = "layout that the rows are in"},
    [OPTION_TO] = {.name = "to",
                   .verbs = VERB_ROUTE,
                   .required = VERB_ROUTE,
                   .value = "L",
                   .help = "layout that they go to"},
    [OPTION_SEQ] = {.name = "seq",
                    .synonym = "seq-length",
                    .kind = KIND_INTEGER,
                    .verbs = VERBS_LENGTHS,
                    .required = VERBS_LENGTHS,
                    .maximum = INT64_MAX,
                    .value = "S",
                    .help = "tokens of one dense sequence"},
    [OPTION_CU_SEQLENS] = {.name = "cu-seqlens", .kind = KIND_LATER, .verbs = VERBS_LENGTHS},
    [OPTION_CU_SEQLENS_PADDED] = {.name = "cu-seqlens-padded",
                                  .kind = KIND_LATER,
                                  .verbs = VERBS_LENGTHS},
    [OPTION_CP] = {.name = "cp",
                   .synonym = "context-parallel-size",
                   .kind = KIND_INTEGER,
                   .verbs = VERBS_LENGTHS,
                   .maximum = INT32_MAX,
                   .fallback = 1,
                   .value = "P",
                   .help = "context-parallel ranks (1)"},
    [OPTION_TP] = {.name = "tp",
                   .synonym = "tensor-model-parallel-size",
                   .kind = KIND_INTEGER,
                   .verbs = VERBS_LENGTHS,
                   .maximum = INT32_MAX,
                   .fallback = 1,
                   .value = "T",
                   .help = "tensor-parallel ranks that split the rows of each of them; 1 without "
                           "sequence parallelism (1)"},
    [OPTION_SVG] = {.name = "svg", .kind = KIND_LATER, .verbs = VERB_MAP},
    [OPTION_PLUGIN] = {.name = "plugin",
                       .verbs = VERBS_REAL,
                       .value = "PATH",
                       .help = "the plugin to ask (the installed libcplayout.so)"},
    [OPTION_JSON] = {.name = "json",
                     .kind = KIND_FLAG,
                     .verbs = VERBS_ALL,
                     .help = "print one JSON object"},
    [OPTION_HELP] = {.name = "help",
                     .kind = KIND_FLAG,
                     .verbs = VERBS_ALL,
                     .help = "print this text"},
    [OPTION_VERSION] = {.name = "version",
                        .kind = KIND_FLAG,
                        .verbs = VERBS_ALL,
                        .help = "print the version of the command"},
};

/* ---- Names ----------------------------------------------------------------------------------- */

const char *args_name(enum option option)
{
    return rows[option].name;
}

static char dashed(char letter)
{
    return letter == '_' ? '-' : letter;
}

/* Compares a known name with the first `length` characters of a typed one. */
static bool same_name(const char *known, const char *typed, size_t length)
{
    if (known == NULL || strlen(known) != length) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (known[i] != dashed(typed[i])) {
            return false;
        }
    }
    return true;
}

/* OPTION_COUNT if the verb has no such option. */
static enum option find_option(unsigned verb_bit, const char *typed, size_t length)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if ((rows[i].verbs & verb_bit) != 0 &&
            (same_name(rows[i].name, typed, length) || same_name(rows[i].synonym, typed, length))) {
            return (enum option)i;
        }
    }
    return OPTION_COUNT;
}

static bool is_option(unsigned verb_bit, const char *word)
{
    return strncmp(word, "--", 2) == 0 &&
           find_option(verb_bit, word + 2, strcspn(word + 2, "=")) != OPTION_COUNT;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

enum { NAME_LONGEST = 63 };

/* Edit distance of two names of at most NAME_LONGEST characters. */
static size_t distance(const char *a, const char *b)
{
    const size_t width = strlen(b);
    size_t row[NAME_LONGEST + 1]; /* of the characters of `a` so far from each start of `b` */

    for (size_t j = 0; j <= width; j++) {
        row[j] = j;
    }
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0]++;

        for (size_t j = 0; j < width; j++) {
            const size_t replaced = diagonal + (dashed(a[i]) != dashed(b[j]));

            diagonal = row[j + 1];
            row[j + 1] = least(replaced, least(row[j], row[j + 1]) + 1);
        }
    }
    return row[width];
}

/* SIZE_MAX if the names have too little in common for a hint. */
static size_t nearness(const char *known, const char *typed)
{
    const size_t length = strlen(typed);
    const size_t limit = length < 5 ? 1 : length / 3;
    size_t steps;

    if (known == NULL || length > NAME_LONGEST || strlen(known) > NAME_LONGEST) {
        return SIZE_MAX;
    }
    steps = distance(known, typed);
    return steps <= limit ? steps : SIZE_MAX;
}

bool args_is_near(const char *known, const char *typed)
{
    return nearness(known, typed) != SIZE_MAX;
}

static const char *nearest(unsigned verb_bit, const char *typed)
{
    const char *best = NULL;
    size_t best_steps = SIZE_MAX;

    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *const names[] = {rows[i].name, rows[i].synonym};

        for (int k = 0; k < 2 && (rows[i].verbs & verb_bit) != 0; k++) {
            const size_t steps = nearness(names[k], typed);

            if (steps < best_steps) {
                best = names[k];
                best_steps = steps;
            }
        }
    }
    return best;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* The value of an option is wrong. */
static struct problem bad_value(enum option option)
{
    const struct problem problem = {
        .status = EXIT_USAGE,
        .code = "option.type",
        .option = args_name(option),
    };

    return problem;
}

/*
 * Only digits with an optional minus sign. What is no number is wrong usage; a number out of range
 * is invalid input.
 */
static bool parse_integer(struct args *args, enum option option, struct report *report)
{
    const struct row *const row = &rows[option];
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
    if (errno == ERANGE || number < 1 || number > row->maximum) {
        problem.status = EXIT_INVALID;
        return report_fail(report, &problem, "--%s: %s is out of range: 1 to %" PRId64, row->name,
                           value, row->maximum);
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
                           rows[option].name, value);
    }
    args->number[option] = yes;
    return true;
}

static bool set_value(struct args *args, enum option option, const char *value,
                      struct report *report)
{
    const char *const before = args->text[option];
    const struct problem problem = bad_value(option);

    if (before != NULL && strcmp(before, value) != 0) {
        return report_fail(report, &problem, "--%s is given twice, as '%s' and as '%s'",
                           rows[option].name, before, value);
    }
    args->text[option] = value;
    switch (rows[option].kind) {
    case KIND_INTEGER:
        return parse_integer(args, option, report);
    case KIND_FLAG:
        return parse_flag(args, option, report);
    case KIND_TEXT:
    case KIND_LATER:
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
    const char *near;

    (void)snprintf(name, sizeof(name), "%.*s", (int)least(length, sizeof(name) - 1), typed);
    near = nearest(args->verb_bit, name);
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
                       "unknown option '--%.*s'%s%s", (int)least(length, 200), typed,
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

/* The word behind an option if it is its value, else NULL. */
static const char *next_value(const struct args *args, enum option option,
                              const struct words *words, int next)
{
    const char *word;

    if (next >= words->count) {
        return NULL;
    }
    word = words->list[next];
    if (rows[option].kind == KIND_FLAG) {
        return strcmp(word, "true") == 0 || strcmp(word, "false") == 0 ? word : NULL;
    }
    return is_option(args->verb_bit, word) ? NULL : word;
}

/* Takes the option at `at` and its value; returns how many words they are. */
static int take_option(struct args *args, const struct words *words, int at, struct report *report)
{
    const char *const typed = words->list[at] + 2;
    const size_t length = strcspn(typed, "=");
    const enum option option = find_option(args->verb_bit, typed, length);
    const char *value;

    if (option == OPTION_COUNT) {
        (void)fail_unknown(args, typed, length, report);
        return 1;
    }
    if (typed[length] == '=') {
        (void)set_value(args, option, typed + length + 1, report);
        return 1;
    }
    value = next_value(args, option, words, at + 1);
    if (value != NULL) {
        (void)set_value(args, option, value, report);
        return 2;
    }
    if (rows[option].kind == KIND_FLAG) {
        (void)set_value(args, option, "true", report);
    } else {
        const struct problem problem = bad_value(option);

        (void)report_fail(report, &problem, "--%s needs a value", rows[option].name);
    }
    return 1;
}

bool args_parse(struct args *args, const struct words *words, struct report *report)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        args->text[i] = NULL;
        args->number[i] = rows[i].fallback;
    }
    for (int at = 0; at < words->count;) {
        if (strncmp(words->list[at], "--", 2) == 0) {
            at += take_option(args, words, at, report);
        } else {
            (void)fail_stray(words->list[at], report);
            at++;
        }
    }
    return report->status == EXIT_FINE;
}

bool args_check(const struct args *args, struct report *report)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (args->text[i] != NULL && rows[i].kind == KIND_LATER) {
            return report_fail(report,
                               &(struct problem){.status = EXIT_INVALID,
                                                 .code = "unsupported",
                                                 .option = args_name((enum option)i)},
                               "--%s is not supported by this version", rows[i].name);
        }
    }
    for (int i = 0; i < OPTION_COUNT; i++) {
        if ((rows[i].required & args->verb_bit) != 0 && args->text[i] == NULL) {
            return report_fail(report,
                               &(struct problem){.status = EXIT_USAGE,
                                                 .code = "option.missing",
                                                 .option = args_name((enum option)i)},
                               "%s needs --%s %s", args->verb, rows[i].name, rows[i].value);
        }
    }
    return true;
}

/* ---- Help ------------------------------------------------------------------------------------ */

static void print_option(const struct row *row, const struct terminal *terminal)
{
    enum { INDENT = 18 };
    const int used = printf("  --%s %s", row->name, row->value != NULL ? row->value : "");

    (void)printf("%*s", used < INDENT ? INDENT - used : 1, "");
    terminal_wrap(terminal, INDENT, row->help);
    if (row->synonym != NULL) {
        (void)printf("%*salso: --%s\n", INDENT, "", row->synonym);
    }
}

void args_print_options(unsigned verb_bit, const struct terminal *terminal)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if ((rows[i].verbs & verb_bit) != 0 && rows[i].kind != KIND_LATER) {
            print_option(&rows[i], terminal);
        }
    }
}
