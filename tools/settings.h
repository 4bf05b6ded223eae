/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A configuration as text: names and values for the plugin to judge, from the command line and from
 * a file. Only the form is checked here, never whether a name or a value is legal.
 */
#ifndef CPLAYOUT_TOOLS_SETTINGS_H
#define CPLAYOUT_TOOLS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report.h"

struct setting {
    char *name;  /* as findings spell it: Megatron's name, with underscores */
    char *value; /* NULL: the option stands alone */
};

/* Starts as zero. */
struct settings {
    struct setting *list;
    uint64_t count;
    uint64_t capacity;
};

/* Part of a line or of a word. */
struct span {
    const char *text;
    size_t length;
};

/* Appends a setting. Texts are copied, `value` may be NULL; short names such as "cp" get long. */
bool settings_add(struct settings *settings, struct span name, const struct span *value,
                  struct report *report);

/*
 * Appends what a file says in lines `name = value`, but for names that are set already. A line of
 * another form is a problem that names the file and the line.
 */
bool settings_read(struct settings *settings, const char *path, struct report *report);

void settings_free(struct settings *settings);

#endif
