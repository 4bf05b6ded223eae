/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names as people type them: `_` and `-` are alike, and a wrong name is often near a right one.
 */
#ifndef CPLAYOUT_TOOLS_NAMES_H
#define CPLAYOUT_TOOLS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum { NAME_LONGEST = 63 }; /* characters; longer names are near to none */

/*
 * Compares a known name, which has dashes, with the first `length` characters of a typed one.
 * `known` may be NULL.
 */
bool name_is(const char *known, const char *typed, size_t length);

/*
 * How many letters must be changed, added, dropped or swapped with their neighbour to turn one name
 * into the other. SIZE_MAX if that is more than `limit` or a name is too long; `known` may be NULL.
 */
size_t name_distance(const char *known, const char *typed, size_t limit);

/* Writes a typed name as configurations spell it, with underscores; no terminating NUL. */
void name_spell(char *to, const char *typed, size_t length);

#endif
