/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/pattern.h"

#include <limits.h>
#include <string.h>

static const struct {
    const char *symbols;
    enum cpl_layer_kind kind;
} kinds[] = {
    {"MGKL", CPL_LAYER_LINEAR},
    {"*+DCHW", CPL_LAYER_ATTENTION},
    {"-E", CPL_LAYER_LOCAL},
};

enum cpl_layer_kind cpl_layer_kind(char symbol)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (symbol != '\0' && strchr(kinds[i].symbols, symbol) != NULL) {
            return kinds[i].kind;
        }
    }
    return CPL_LAYER_UNKNOWN;
}

static enum cpl_status fail_symbol(char symbol, size_t index, struct cpl_error *error)
{
    if (strchr("|/[]", symbol) != NULL) {
        return cpl_fail(error, CPL_ERROR_UNSUPPORTED,
                        "symbol '%c' at index %zu: pipeline stages, MTP parts and logical layers "
                        "are not supported by this version",
                        symbol, index);
    }
    if (symbol < 0x20 || symbol > 0x7e) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT, "unknown layer symbol 0x%02x at index %zu",
                        (unsigned)(unsigned char)symbol, index);
    }
    return cpl_fail(error, CPL_ERROR_ARGUMENT, "unknown layer symbol '%c' at index %zu", symbol,
                    index);
}

enum cpl_status cpl_pattern_check(const char *pattern, struct cpl_error *error)
{
    const size_t length = strlen(pattern);

    if (length > INT32_MAX) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT, "a pattern of %zu layers is too long", length);
    }
    for (size_t i = 0; i < length; i++) {
        if (cpl_layer_kind(pattern[i]) == CPL_LAYER_UNKNOWN) {
            return fail_symbol(pattern[i], i, error);
        }
    }
    return CPL_OK;
}
