/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the command ends: what went wrong, told to people and to scripts, and the exit status.
 *
 * The first problem counts; what fails after it, because of it, is dropped. Nothing is printed
 * before the end, since the option that asks for JSON may come last.
 */
#ifndef CPLAYOUT_TOOLS_REPORT_H
#define CPLAYOUT_TOOLS_REPORT_H

#include <stdbool.h>

#include <jansson.h>

#include <cplayout/status.h>

enum exit_status {
    EXIT_FINE = 0,
    EXIT_INVALID = 1, /* the input or the configuration is invalid */
    EXIT_USAGE = 2,   /* the command was called in a wrong way */
};

struct report {
    enum exit_status status;
    char code[32];   /* the rule, such as "option.unknown" */
    char option[64]; /* the option that should change, without dashes; "" if it is none */
    char message[1024];
    char hint[256];
    bool answered; /* the answer on standard output already tells the problem */
};

/* Where a problem belongs, and what to do about it. */
struct problem {
    enum exit_status status;
    const char *code;
    const char *option; /* NULL: none */
    const char *hint;   /* NULL: none */
};

/* Notes a problem, unless there is one already, and returns false. Texts are copied. */
bool report_fail(struct report *report, const struct problem *problem, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The command's own memory ran out. Returns false. */
bool report_memory(struct report *report);

/* Passes on what the plugin or the loader said, word by word. Returns false. */
bool report_plugin(struct report *report, const char *option, const struct cplayout_error *error);

/* A copy of any text that a terminal and JSON can take. NULL means that memory ran out. */
char *report_text(const char *text);

/* A JSON string of any text; what JSON cannot hold becomes '?'. NULL means that memory ran out. */
json_t *report_string(const char *text);

/* Prints an object on standard output and drops it. NULL means that memory ran out. */
bool report_json(struct report *report, json_t *root);

/* Prints the problem if there is one and returns the exit status. */
int report_finish(struct report *report, bool json);

#endif
