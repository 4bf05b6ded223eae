/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `cplayout check`: hands a configuration to the plugin and shows what it finds. A file of it is the plugin's
 * to read, as in every host.
 *
 * Findings are collected first: JSON begins with whether all is well, and text should not be cut
 * short by a failure.
 */
#include "verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "finding.h"

/* One round of the plugin's check. */
struct checking {
    const struct settings *settings;
    json_t *findings; /* NULL if memory ran out */
    uint64_t errors;
    uint64_t warnings;
    struct report *report;
};

/* ---- Asking the plugin ----------------------------------------------------------------------- */

/* Whether a name is the option's or one of its synonyms. */
static bool is_name_of(const struct cplayout_option_info *info, const char *name)
{
    const size_t length = strlen(name);
    const char *at = info->synonyms;

    if (strcmp(info->name, name) == 0) {
        return true;
    }
    while (*at != '\0') {
        const size_t synonym = strcspn(at, ",");

        if (synonym == length && strncmp(at, name, length) == 0) {
            return true;
        }
        at += synonym;
        at += strspn(at, ", ");
    }
    return false;
}

/* The option as it was typed, where it stands alone; else NULL. */
static const char *stands_alone(const struct settings *settings,
                                const struct cplayout_option_info *info)
{
    for (uint64_t i = 0; i < settings->count; i++) {
        if (settings->list[i].value == NULL && is_name_of(info, settings->list[i].name)) {
            return settings->list[i].name;
        }
    }
    return NULL;
}

/* Only booleans may stand alone. What the plugin does not know is a finding, not wrong usage. */
static void require_value(void *self, const struct cplayout_option_info *info)
{
    const struct checking *const checking = self;
    const char *const alone = stands_alone(checking->settings, info);
    const struct problem problem = {.status = EXIT_USAGE,
                                    .code = "option.type",
                                    .option = info->name};

    if (strcmp(info->type, "boolean") != 0 && alone != NULL) {
        (void)report_fail(checking->report, &problem, "%s needs a value", alone);
    }
}

static void take_finding(void *self, const struct cplayout_diagnostic *diagnostic)
{
    struct checking *const checking = self;
    const bool error = diagnostic->severity == CPLAYOUT_SEVERITY_ERROR;
    json_t *const finding =
        json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:{s:I,s:I}}", "severity",
                  error ? "error" : "warning", "code", report_string(diagnostic->code), "option",
                  report_string(diagnostic->option), "message", report_string(diagnostic->message),
                  "hint", report_string(diagnostic->hint), "value",
                  report_string(diagnostic->value), "origin", report_string(diagnostic->origin),
                  "part", "offset", (json_int_t)diagnostic->part_offset, "length",
                  (json_int_t)diagnostic->part_length);

    checking->errors += error ? 1 : 0;
    checking->warnings += error ? 0 : 1;
    if (json_array_append_new(checking->findings, finding) != 0) {
        json_decref(checking->findings);
        checking->findings = NULL;
    }
}

/* The plugin would log every finding as well. */
static void log_nothing(void *self, int32_t level, const char *message)
{
    (void)self;
    (void)level;
    (void)message;
}

static bool ask_plugin(const struct host *host, const struct cplayout_option *options,
                       struct checking *checking)
{
    struct cplayout_host quiet = host->record;
    struct cplayout_error error = {.size = sizeof(error)};
    const struct cplayout_create_args args = {.size = sizeof(args),
                                              .host = &quiet,
                                              .options = options,
                                              .option_count = checking->settings->count,
                                              .diagnose = take_finding,
                                              .diagnose_self = checking};

    quiet.log = log_nothing;
    error.status = host->core->check(&args, &error);
    if (error.status == CPLAYOUT_OK ||
        (error.status == CPLAYOUT_ERROR_CONFIGURATION && checking->errors > 0)) {
        return checking->findings != NULL || report_memory(checking->report);
    }
    return report_plugin(checking->report,
                         strcmp(error.field, "CPLAYOUT_CONF") == 0 ? option_name(OPTION_CONFIG)
                                                                   : NULL,
                         &error);
}

static bool check_settings(const struct host *host, struct checking *checking)
{
    const struct settings *const settings = checking->settings;
    struct cplayout_option *options;
    bool fine;

    host->core->options(require_value, checking);
    if (checking->report->status != EXIT_FINE) {
        return false;
    }
    options = calloc(settings->count + 1, sizeof(*options)); /* of none, calloc may give NULL */
    if (options == NULL) {
        return report_memory(checking->report);
    }
    for (uint64_t i = 0; i < settings->count; i++) {
        const struct setting *const setting = &settings->list[i];

        options[i].name = setting->name;
        options[i].value = setting->value != NULL ? setting->value : "true";
    }
    fine = ask_plugin(host, options, checking);
    free(options);
    return fine;
}

/* ---- Answer ---------------------------------------------------------------------------------- */

static void format_count(const struct checking *checking, char text[64])
{
    char errors[24] = "no";
    char warnings[24] = "no";

    if (checking->errors > 0) {
        (void)snprintf(errors, sizeof(errors), "%" PRIu64, checking->errors);
    }
    if (checking->warnings > 0) {
        (void)snprintf(warnings, sizeof(warnings), "%" PRIu64, checking->warnings);
    }
    (void)snprintf(text, 64, "%s error%s, %s warning%s", errors, checking->errors == 1 ? "" : "s",
                   warnings, checking->warnings == 1 ? "" : "s");
}

static const char *member(const json_t *finding, const char *key)
{
    return json_string_value(json_object_get(finding, key));
}

static bool print_finding(const struct terminal *terminal, const json_t *finding)
{
    const json_t *const part = json_object_get(finding, "part");
    const struct cplayout_diagnostic diagnostic = {
        .size = sizeof(diagnostic),
        .severity = strcmp(member(finding, "severity"), "error") == 0 ? CPLAYOUT_SEVERITY_ERROR
                                                                      : CPLAYOUT_SEVERITY_WARNING,
        .code = member(finding, "code"),
        .option = member(finding, "option"),
        .message = member(finding, "message"),
        .hint = member(finding, "hint"),
        .value = member(finding, "value"),
        .origin = member(finding, "origin"),
        .part_offset = (uint32_t)json_integer_value(json_object_get(part, "offset")),
        .part_length = (uint32_t)json_integer_value(json_object_get(part, "length")),
    };

    return finding_print(terminal, &diagnostic);
}

/* The count is the reason of exit status 1, and reasons go to standard error. */
static bool print_text(const struct checking *checking)
{
    const struct terminal terminal = terminal_detect();
    char count[64];
    size_t index;
    json_t *finding;

    json_array_foreach(checking->findings, index, finding)
    {
        if (!print_finding(&terminal, finding)) {
            return report_memory(checking->report);
        }
    }
    if (checking->errors == 0) {
        format_count(checking, count);
        (void)printf("%s\n", count);
    }
    return true;
}

static bool fail_errors(const struct checking *checking)
{
    const struct problem problem = {.status = EXIT_INVALID, .code = "configuration"};
    char count[64];

    format_count(checking, count);
    checking->report->answered = true;
    return report_fail(checking->report, &problem, "%s", count);
}

/* The plugin reads the file that this variable names, and knows which source is the stronger one. */
static bool name_file(const char *path, struct report *report)
{
    const struct problem problem = {.status = EXIT_INVALID,
                                    .code = "config.read",
                                    .option = option_name(OPTION_CONFIG)};

    if (path == NULL) {
        return true;
    }
    if (getauxval(AT_SECURE) != 0) {
        return report_fail(report, &problem, "--config is ignored in set-id processes");
    }
    if (path[0] == '\0') {
        return report_fail(report, &problem, "cannot read '': No such file or directory");
    }
    return setenv("CPLAYOUT_CONF", path, 1) == 0 || report_memory(report);
}

bool verb_check(struct host *host, struct args *args, struct report *report)
{
    struct checking checking = {.settings = &args->settings,
                                .findings = json_array(),
                                .report = report};
    bool fine = name_file(args->text[OPTION_CONFIG], report) && check_settings(host, &checking);

    if (fine && args->number[OPTION_JSON] != 0) {
        fine = report_json(report, json_pack("{s:b,s:O}", "ok", checking.errors == 0 ? 1 : 0,
                                             "diagnostics", checking.findings));
    } else if (fine) {
        fine = print_text(&checking);
    }
    json_decref(checking.findings);
    return fine && (checking.errors == 0 || fail_errors(&checking));
}
