/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_utf8(const char *text)
{
    json_t *const string = json_string(text);
    const bool valid = string != NULL;

    json_decref(string);
    return valid;
}

/*
 * Messages repeat what the user typed. Control characters would reach the terminal, and bytes that
 * are no UTF-8 cannot be JSON.
 */
static void make_printable(char *text)
{
    const bool valid = is_utf8(text);

    for (char *at = text; *at != '\0'; at++) {
        const unsigned char byte = (unsigned char)*at;

        if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !valid)) {
            *at = '?';
        } else if (byte == 0xc2 && (unsigned char)at[1] < 0xa0) {
            at[0] = '?';
            at[1] = '?'; /* U+0080 to U+009F control terminals as well */
        }
    }
}

static void put(char *field, size_t bytes, const char *text)
{
    (void)snprintf(field, bytes, "%s", text != NULL ? text : "");
    make_printable(field);
}

/* As configurations spell option names. */
static void use_underscores(char *name)
{
    for (; *name != '\0'; name++) {
        *name = *name == '-' ? '_' : *name;
    }
}

bool report_fail(struct report *report, const struct problem *problem, const char *format, ...)
{
    va_list args;

    if (report->status != EXIT_FINE) {
        return false;
    }
    report->status = problem->status;
    put(report->code, sizeof(report->code), problem->code);
    put(report->option, sizeof(report->option), problem->option);
    use_underscores(report->option);
    put(report->hint, sizeof(report->hint), problem->hint);
    va_start(args, format);
    (void)vsnprintf(report->message, sizeof(report->message), format, args);
    va_end(args);
    make_printable(report->message);
    return false;
}

bool report_memory(struct report *report)
{
    return report_fail(report, &(struct problem){.status = EXIT_INVALID, .code = "memory"},
                       "out of memory");
}

static const char *code_of(int32_t status)
{
    static const char *const codes[] = {
        [CPLAYOUT_ERROR_ARGUMENT] = "argument",
        [CPLAYOUT_ERROR_CONFIGURATION] = "configuration",
        [CPLAYOUT_ERROR_UNSUPPORTED] = "unsupported",
        [CPLAYOUT_ERROR_MEMORY] = "memory",
        [CPLAYOUT_ERROR_VERSION] = "plugin.version",
        [CPLAYOUT_ERROR_LOAD] = "plugin.load",
    };
    const size_t count = sizeof(codes) / sizeof(codes[0]);

    if (status < 0 || (size_t)status >= count || codes[status] == NULL) {
        return "plugin";
    }
    return codes[status];
}

bool report_plugin(struct report *report, const char *option, const struct cplayout_error *error)
{
    const struct problem problem = {
        .status = EXIT_INVALID,
        .code = code_of(error->status),
        .option = option,
    };

    return report_fail(report, &problem, "%s",
                       error->message[0] != '\0' ? error->message
                                                 : "the plugin failed without a reason");
}

char *report_text(const char *text)
{
    char *const copy = strdup(text);

    if (copy != NULL) {
        make_printable(copy);
    }
    return copy;
}

json_t *report_string(const char *text)
{
    char *const copy = report_text(text);
    json_t *string;

    if (copy == NULL) {
        return NULL;
    }
    string = json_string(copy);
    free(copy);
    return string;
}

bool report_json(struct report *report, json_t *root)
{
    int written;

    if (root == NULL) {
        return report_memory(report);
    }
    written = json_dumpf(root, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
    json_decref(root);
    if (written != 0 && ferror(stdout) == 0) {
        return report_memory(report);
    }
    (void)putchar('\n');
    return true;
}

/* Nobody should take half an output for a whole one: a full disk is a failure. */
static void flush_output(struct report *report)
{
    const bool failed = ferror(stdout) != 0;

    if (fflush(stdout) != 0 || failed) {
        (void)report_fail(report, &(struct problem){.status = EXIT_INVALID, .code = "output"},
                          "cannot write the output: %s", strerror(errno));
    }
}

static void print_problem(const struct report *report, bool json)
{
    (void)fprintf(stderr, "cplayout: %s\n", report->message);
    if (report->hint[0] != '\0') {
        (void)fprintf(stderr, "cplayout: hint: %s\n", report->hint);
    }
    if (json) {
        json_t *const root =
            json_pack("{s:{s:s,s:s,s:s,s:s}}", "error", "code", report->code, "option",
                      report->option, "message", report->message, "hint", report->hint);

        (void)json_dumpf(root, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
        (void)putchar('\n');
        json_decref(root);
        (void)fflush(stdout);
    }
}

int report_finish(struct report *report, bool json)
{
    flush_output(report);
    if (report->status != EXIT_FINE) {
        print_problem(report, json && !report->answered);
    }
    return (int)report->status;
}
