/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that are lists of int32 with commas between them, such as 0,3,8.
 */
#ifndef CPLAYOUT_TOOLS_LISTS_H
#define CPLAYOUT_TOOLS_LISTS_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"
#include "report.h"

struct list {
    int32_t *values; /* [count], owned */
    uint64_t count;
};

/*
 * Parses the value of an option into an empty list; every entry is an integer without blanks. If
 * one is none or out of range, the report names the option, the entry's index and its text.
 */
bool list_parse(struct list *list, enum option option, const char *text, struct report *report);

void list_free(struct list *list);

#endif
