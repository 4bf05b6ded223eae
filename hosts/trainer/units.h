/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as people read them.
 */
#ifndef TRAINER_UNITS_H
#define TRAINER_UNITS_H

#include <stdint.h>

enum { UNITS_TEXT = 32 };

/* "768 KiB", "12.0 MiB"; "-" for nothing. All return `text`. */
const char *units_size(int64_t bytes, char text[UNITS_TEXT]);

/* "1048576" with a narrow space (UTF-8) between groups of three digits. */
const char *units_count(int64_t count, char text[UNITS_TEXT]);

/* "1.5", "15", "1500": two digits below ten, whole numbers above. */
const char *units_times(double ratio, char text[UNITS_TEXT]);

/* "11.3", "1"; one decimal unless the number is whole. */
const char *units_mean(double mean, char text[UNITS_TEXT]);

#endif
