/* SPDX-License-Identifier: Apache-2.0 */
#include "sense.h"

#include <stdio.h>
#include <string.h>

#include "units.h"

/* Above this share of the bytes of `dual`, `mirror` is not worth its name. */
static const double mirror_share_little = 0.9;

static bool say_states(const struct report *report, char text[SENSE_BYTES])
{
    const struct run_result *const zigzag = report_find(report, "zigzag");
    const struct run_result *const dual = report_find(report, "dual");
    char times[UNITS_TEXT];
    double ratio;

    if (zigzag == NULL || dual == NULL || dual->linear_state_bytes == 0) {
        return false;
    }
    ratio = (double)zigzag->linear_state_bytes / (double)dual->linear_state_bytes;
    if (ratio < 1.05) {
        return false;
    }
    (void)snprintf(text, SENSE_BYTES,
                   "In 'zigzag' the states of linear layers cross ranks %s times as often as in "
                   "'dual'%s.",
                   units_times(ratio, times),
                   dual->conversion_bytes > 0
                       ? ", which pays for that with conversions around attention"
                       : "");
    return true;
}

/* Why `mirror` saves next to nothing. */
static const char *excuse(const struct report *report, const struct run_result *mirror)
{
    if (mirror->ranks == 2) {
        return ": on two ranks both are the same";
    }
    return report->settings->packed ? ": zigzag deals every document by itself, and slices of the "
                                      "whole pack do not line up with that"
                                    : "";
}

static bool say_mirror(const struct report *report, char text[SENSE_BYTES])
{
    const struct run_result *const dual = report_find(report, "dual");
    const struct run_result *const mirror = report_find(report, "mirror");
    double share;

    if (mirror == NULL || dual == NULL || dual->conversion_bytes == 0) {
        return false;
    }
    share = (double)mirror->conversion_bytes / (double)dual->conversion_bytes;
    if (share > mirror_share_little) {
        (void)snprintf(text, SENSE_BYTES,
                       "'mirror' saves little here, it converts with %.0f %% of the bytes of "
                       "'dual'%s.",
                       100 * share, excuse(report, mirror));
    } else {
        (void)snprintf(text, SENSE_BYTES,
                       "'mirror' %sconverts with %.0f %% of the bytes of 'dual'.",
                       mirror->linear.count <= dual->linear.count
                           ? "scans through as few parts as 'dual' and "
                           : "",
                       100 * share);
    }
    return true;
}

size_t sense_make(const struct report *report, char text[SENSE_MOST][SENSE_BYTES])
{
    size_t count = 0;

    count += say_states(report, text[count]);
    count += say_mirror(report, text[count]);
    return count;
}
