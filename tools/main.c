/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `cplayout` command: answers questions about layouts by asking the plugin.
 *
 * This file has the table of verbs and the way from a command line to one of them. Exit status: 0
 * fine, 1 the input is invalid, 2 wrong usage.
 */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "host.h"
#include "report.h"
#include "terminal.h"
#include "verbs.h"

static const char version[] = PACKAGE_VERSION; /* of the command; configure defines it */

struct verb {
    const char *name;
    unsigned bit;
    bool (*run)(struct host *host, const struct args *args, struct report *report);
    const char *usage;
    const char *help;
};

static const struct verb verbs[] = {
    {"map", VERB_MAP, verb_map, "--layout L --seq S [--cp P] [--tp T]",
     "which rank holds which tokens"},
    {"route", VERB_ROUTE, verb_route, "--from L --to L --seq S [--cp P] [--tp T]",
     "what moves between two layouts"},
    {"info", VERB_INFO, verb_info, "", "the plugin's version, interfaces and options"},
};

enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

/* Verbs of the manual that this version does not have. */
static const char *const later[] = {"shift", "cost", "plan", "grid", "check", "trace"};

enum { LATER = sizeof(later) / sizeof(later[0]) };

static const struct verb *find_verb(const char *name)
{
    for (int i = 0; i < VERBS; i++) {
        if (strcmp(verbs[i].name, name) == 0) {
            return &verbs[i];
        }
    }
    return NULL;
}

static bool is_later(const char *name)
{
    for (int i = 0; i < LATER; i++) {
        if (strcmp(later[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static const char *nearest_verb(const char *name)
{
    for (int i = 0; i < VERBS; i++) {
        if (args_is_near(verbs[i].name, name)) {
            return verbs[i].name;
        }
    }
    return NULL;
}

/* ---- Help ------------------------------------------------------------------------------------ */

static void print_usage(const struct terminal *terminal)
{
    (void)fputs("usage: cplayout VERB [options]\n\n", stdout);
    for (int i = 0; i < VERBS; i++) {
        (void)printf("  %-6s  ", verbs[i].name);
        terminal_wrap(terminal, 10, verbs[i].help);
    }
    (void)fputs("\n'cplayout VERB --help' describes a verb.\n\n", stdout);
}

static void print_help(const struct verb *verb)
{
    const struct terminal terminal = terminal_detect();

    if (verb == NULL) {
        print_usage(&terminal);
    } else {
        (void)printf("usage: cplayout %s%s%s [options]\n\n%s\n\n", verb->name,
                     verb->usage[0] != '\0' ? " " : "", verb->usage, verb->help);
    }
    args_print_options(verb != NULL ? verb->bit : (unsigned)VERB_NONE, &terminal);
}

static bool print_version(bool json, struct report *report)
{
    if (json) {
        return report_json(report, json_pack("{s:s,s:{s:i,s:i,s:i}}", "version", version, "abi",
                                             "major", CPLAYOUT_ABI_MAJOR, "minor",
                                             CPLAYOUT_ABI_MINOR, "draft", CPLAYOUT_ABI_DRAFT));
    }
    (void)printf("cplayout %s (ABI %d.%d draft %d)\n", version, CPLAYOUT_ABI_MAJOR,
                 CPLAYOUT_ABI_MINOR, CPLAYOUT_ABI_DRAFT);
    return true;
}

/* ---- From words to a verb -------------------------------------------------------------------- */

static bool fail_verb(const char *name, struct report *report)
{
    const char *const near = nearest_verb(name);
    char hint[128];

    if (near != NULL && !is_later(name)) {
        (void)snprintf(hint, sizeof(hint), "did you mean '%s'?", near);
    } else {
        (void)snprintf(hint, sizeof(hint), "'cplayout --help' lists the verbs");
    }
    return report_fail(report,
                       &(struct problem){.status = EXIT_USAGE,
                                         .code = is_later(name) ? "unsupported" : "verb.unknown",
                                         .hint = hint},
                       is_later(name) ? "the verb '%s' is not supported by this version"
                                      : "unknown verb '%s'",
                       name);
}

static bool run_verb(const struct verb *verb, const struct args *args, struct report *report)
{
    struct host host;
    bool fine;

    if (!args_check(args, report) || !host_open(&host, args, report)) {
        return false;
    }
    fine = verb->run(&host, args, report);
    host_close(&host);
    return fine;
}

/* Help comes first, so that it is there whatever else is given. */
static bool answer(const struct verb *verb, const struct args *args, struct report *report)
{
    if (args->number[OPTION_HELP] != 0) {
        print_help(verb);
        return true;
    }
    if (args->number[OPTION_VERSION] != 0) {
        return print_version(args->number[OPTION_JSON] != 0, report);
    }
    if (verb == NULL) {
        return report_fail(report,
                           &(struct problem){.status = EXIT_USAGE,
                                             .code = "verb.missing",
                                             .hint = "'cplayout --help' lists the verbs"},
                           "a verb is missing");
    }
    return run_verb(verb, args, report);
}

int main(int argc, char **argv)
{
    const bool has_verb = argc > 1 && argv[1][0] != '-';
    const int first = has_verb ? 2 : 1;
    const struct verb *const verb = has_verb ? find_verb(argv[1]) : NULL;
    const struct words words = {.count = argc > first ? argc - first : 0, .list = argv + first};
    struct args args = {.verb = verb != NULL ? verb->name : "",
                        .verb_bit = verb != NULL ? verb->bit : (unsigned)VERB_NONE};
    struct report report = {.status = EXIT_FINE};

    if (has_verb && verb == NULL) {
        (void)fail_verb(argv[1], &report); /* the options are still parsed, for --json */
    }
    if (args_parse(&args, &words, &report)) {
        (void)answer(verb, &args, &report);
    }
    return report_finish(&report, args.number[OPTION_JSON] != 0);
}
