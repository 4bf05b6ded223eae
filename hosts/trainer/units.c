/* SPDX-License-Identifier: Apache-2.0 */
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *units_size(int64_t bytes, char text[UNITS_TEXT])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1024;
        unit++;
    }
    if (bytes == 0) {
        (void)snprintf(text, UNITS_TEXT, "-");
    } else {
        (void)snprintf(text, UNITS_TEXT, unit > 0 && value < 100 ? "%.1f %s" : "%.0f %s", value,
                       units[unit]);
    }
    return text;
}

const char *units_count(int64_t count, char text[UNITS_TEXT])
{
    static const char space[] = "\xe2\x80\xaf";
    char digits[UNITS_TEXT];
    const size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, (uint64_t)count);
    size_t used = 0;

    for (size_t i = 0; i < length && used + sizeof(space) + 1 < UNITS_TEXT; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            memcpy(text + used, space, sizeof(space) - 1);
            used += sizeof(space) - 1;
        }
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

const char *units_times(double ratio, char text[UNITS_TEXT])
{
    (void)snprintf(text, UNITS_TEXT, ratio < 9.95 ? "%.2g" : "%.0f", ratio);
    return text;
}

const char *units_mean(double mean, char text[UNITS_TEXT])
{
    (void)snprintf(text, UNITS_TEXT, fabs(mean - round(mean)) < 0.05 ? "%.0f" : "%.1f", mean);
    return text;
}
