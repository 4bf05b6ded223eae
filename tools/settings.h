/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A configuration as text: names and values of the command line for the plugin to judge. Whether a name
 * or a value is legal is not checked here.
 */
#ifndef CPLAYOUT_TOOLS_SETTINGS_H
#define CPLAYOUT_TOOLS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report.h"

struct setting {
    char *name;        /* as findings spell it, with underscores; owns the value's memory, too */
    const char *value; /* NULL: the option stands alone */
};

/* Starts as zero. */
struct settings {
    struct setting *list;
    uint64_t count;
    uint64_t capacity;
};

/* Part of a word. */
struct span {
    const char *text;
    size_t length;
};

/* Appends a setting. Texts are copied, `value` may be NULL. */
bool settings_add(struct settings *settings, struct span name, const struct span *value,
                  struct report *report);

void settings_free(struct settings *settings);

#endif
