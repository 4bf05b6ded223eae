/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Near-miss hints: which known name did the user probably mean?
 */
#ifndef CPL_BASE_NEAREST_H
#define CPL_BASE_NEAREST_H

#include <stddef.h>

/* Edit distance (Levenshtein) of two names; names above 63 characters are infinitely far. */
size_t cpl_edit_distance(const char *a, const char *b);

#endif
