/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `cplayout` command: answers questions about layouts by asking the plugin.
 *
 * This file has the table of verbs and the way from a command line to one of them. Exit status: 0
 * fine, 1 the input is invalid, 2 wrong usage.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "host.h"
#include "names.h"
#include "report.h"
#include "terminal.h"
#include "verbs.h"

static const char version[] = PACKAGE_VERSION; /* of the command; configure defines it */

struct verb {
    const char *name;
    unsigned bit;
    bool (*run)(struct host *host, struct args *args, struct report *report);
    const char *usage;
    const char *summary;
    const char *details;
};

static const char usage[] = "usage: cplayout VERB [options]\n";

static const struct verb verbs[] = {
    {"map", VERB_MAP, verb_map, "--layout L (--seq S | --cu-seqlens LIST) [--cp P] [--tp T]",
     "which rank holds which tokens", ""},
    {"route", VERB_ROUTE, verb_route,
     "--from L --to L (--seq S | --cu-seqlens LIST) [--cp P] [--tp T]",
     "what moves between two layouts", ""},
    {"shift", VERB_SHIFT, verb_shift,
     "--layout L [--by K] (--seq S | --cu-seqlens LIST) [--cp P] [--tp T]",
     "where the token some tokens later is, for every row", ""},
    {"cost", VERB_COST, verb_cost,
     "--layout L [--to L] (--seq S | --cu-seqlens LIST) [--cp P] [--tp T] [--hidden H --dtype D]",
     "what a layout costs in attention, and a conversion in rows and bytes", ""},
    {"check", VERB_CHECK, verb_check, "[--NAME VALUE ...] [--config FILE]",
     "whether a configuration is valid",
     "NAME is an option of the plugin; 'cplayout info' lists them. --cp, --tp and --seq stand for "
     "the long names, and a boolean may stand alone. Exit status 1 means that there is an error."},
    {"info", VERB_INFO, verb_info, "", "the plugin's version, interfaces and options", ""},
};

enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

/* Verbs of the manual that this version does not have. */
static const char *const later[] = {"plan", "grid", "trace"};

enum { LATER = sizeof(later) / sizeof(later[0]) };

static const char help_verb[] = "help"; /* describes the verb behind it */

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

/* Half a name is near as well. SIZE_MAX if a verb is far from what was typed. */
static size_t verb_distance(const char *verb, const char *typed)
{
    const size_t length = strlen(typed);

    if (length > 1 && strncmp(verb, typed, length) == 0) {
        return 0;
    }
    return name_distance(verb, typed, length < 4 ? 1 : 2);
}

static const char *nearest_verb(const char *typed)
{
    size_t least = verb_distance(help_verb, typed);
    const char *nearest = least != SIZE_MAX ? help_verb : NULL;

    for (int i = 0; i < VERBS; i++) {
        const size_t steps = verb_distance(verbs[i].name, typed);

        if (steps < least) {
            least = steps;
            nearest = verbs[i].name;
        }
    }
    return nearest;
}

/* ---- Help ------------------------------------------------------------------------------------ */

static void print_verbs(const struct terminal *terminal)
{
    (void)puts(usage);
    for (int i = 0; i < VERBS; i++) {
        (void)printf("  %-6s  ", verbs[i].name);
        terminal_wrap(terminal, 10, verbs[i].summary);
    }
    (void)fputs("\n'cplayout help VERB' describes a verb.\n\n", stdout);
}

static void print_help(const struct verb *verb)
{
    const struct terminal terminal = terminal_detect();

    if (verb == NULL) {
        print_verbs(&terminal);
    } else {
        (void)printf("usage: cplayout %s%s%s [options]\n\n%s", verb->name,
                     verb->usage[0] != '\0' ? " " : "", verb->usage, verb->summary);
        if (verb->details[0] != '\0') {
            (void)fputs("\n\n", stdout);
            terminal_wrap(&terminal, 0, verb->details);
            (void)putchar('\n');
        } else {
            (void)fputs("\n\n", stdout);
        }
    }
    options_print(verb != NULL ? verb->bit : (unsigned)VERB_NONE, &terminal);
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

static bool fail_no_verb(struct report *report)
{
    const struct problem problem = {.status = EXIT_USAGE,
                                    .code = "verb.missing",
                                    .hint = "'cplayout --help' says more"};

    (void)fprintf(stderr, "%s\n", usage);
    for (int i = 0; i < VERBS; i++) {
        (void)fprintf(stderr, "  %-6s  %s\n", verbs[i].name, verbs[i].summary);
    }
    (void)fputc('\n', stderr);
    return report_fail(report, &problem, "a verb is missing");
}

static bool run_verb(const struct verb *verb, struct args *args, struct report *report)
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
static bool answer(const struct verb *verb, struct args *args, struct report *report)
{
    if (args->number[OPTION_HELP] != 0) {
        print_help(verb);
        return true;
    }
    if (args->number[OPTION_VERSION] != 0) {
        return print_version(args->number[OPTION_JSON] != 0, report);
    }
    if (verb == NULL) {
        return fail_no_verb(report);
    }
    return run_verb(verb, args, report);
}

/* What the first words ask for. */
struct request {
    const char *name; /* NULL: no verb */
    const struct verb *verb;
    bool help;
    int first; /* word behind it */
};

static bool is_word(int argc, char **argv, int at)
{
    return argc > at && argv[at][0] != '-';
}

static struct request take_request(int argc, char **argv)
{
    struct request request = {.first = 1};

    while (is_word(argc, argv, request.first) && strcmp(argv[request.first], help_verb) == 0) {
        request.help = true;
        request.first++;
    }
    if (is_word(argc, argv, request.first)) {
        request.name = argv[request.first++];
        request.verb = find_verb(request.name);
    }
    return request;
}

int main(int argc, char **argv)
{
    const struct request request = take_request(argc, argv);
    const struct verb *const verb = request.verb;
    const struct words words = {.count = argc > request.first ? argc - request.first : 0,
                                .list = argv + request.first};
    struct args args = {.verb = verb != NULL ? verb->name : "",
                        .verb_bit = verb != NULL ? verb->bit : (unsigned)VERB_NONE};
    struct report report = {.status = EXIT_FINE};
    int status;

    if (request.name != NULL && verb == NULL) {
        (void)fail_verb(request.name, &report); /* the options are still parsed, for --json */
    }
    if (args_parse(&args, &words, &report)) {
        args.number[OPTION_HELP] = request.help ? 1 : args.number[OPTION_HELP];
        (void)answer(verb, &args, &report);
    }
    status = report_finish(&report, args.number[OPTION_JSON] != 0);
    args_free(&args);
    return status;
}
