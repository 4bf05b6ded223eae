/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "base/limits.h"
#include "plan/stream.h"

static const struct cpl_layout *find_entry(const char *name, size_t length)
{
    const struct cpl_layout *entry;

    for (size_t i = 0; (entry = cpl_layout_at(i)) != NULL; i++) {
        if (strlen(entry->name) == length && strncmp(entry->name, name, length) == 0) {
            return entry;
        }
    }
    return NULL;
}

const struct cpl_layout *cpl_layout_find(const char *name)
{
    return find_entry(name, strlen(name));
}

/* ---- Names and parameters ---------------------------------------------------------------------- */

/* Digits alone, from 1 to 2^31 - 1. */
static bool parse_count(const char *text, size_t length, int64_t *count)
{
    int64_t value = 0;

    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        value = 10 * value + (text[i] - '0');
        if (value > INT32_MAX) {
            return false;
        }
    }
    *count = value;
    return value > 0;
}

/* Digits with an optional fraction, above 0 and up to 1000. Not strtod: it follows the locale. */
static bool parse_fraction(const char *text, size_t length, double *fraction)
{
    double value = 0;
    double unit = 1;
    bool digits = false;
    bool point = false;

    for (size_t i = 0; i < length; i++) {
        if (text[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (text[i] < '0' || text[i] > '9' || value > 1000) {
            return false;
        }
        digits = true;
        unit = point ? unit / 10 : 1;
        value = point ? value + unit * (text[i] - '0') : 10 * value + (text[i] - '0');
    }
    *fraction = value;
    return digits && value > 0 && value <= 1000;
}

/* "TOL" or "TOL:CHUNK" */
static bool parse_tolerance(const char *text, struct cpl_layout *layout)
{
    const size_t length = strcspn(text, ":");

    if (!parse_fraction(text, length, &layout->tolerance)) {
        return false;
    }
    return text[length] == '\0' ||
           parse_count(text + length + 1, strlen(text + length + 1), &layout->block);
}

/* What follows the name; NULL if nothing does. */
static bool parse_parameters(const char *text, struct cpl_layout *layout)
{
    switch (layout->parameters) {
    case CPL_PARAMETERS_BLOCK:
        return text != NULL && parse_count(text, strlen(text), &layout->block);
    case CPL_PARAMETERS_TOLERANCE:
        return text == NULL || parse_tolerance(text, layout);
    case CPL_PARAMETERS_NONE:
        break;
    }
    return text == NULL;
}

static const char *parameter_hint(enum cpl_parameters parameters)
{
    switch (parameters) {
    case CPL_PARAMETERS_BLOCK:
        return ", B rows, 1 to 2147483647";
    case CPL_PARAMETERS_TOLERANCE:
        return ", TOL above 0 and up to 1000, CHUNK rows, 1 to 2147483647";
    case CPL_PARAMETERS_NONE:
        break;
    }
    return "";
}

enum cpl_status cpl_layout_parse(const char *text, struct cpl_layout *layout,
                                 struct cpl_error *error)
{
    const size_t length = strcspn(text, ":");
    const struct cpl_layout *const entry = find_entry(text, length);
    struct cpl_layout parsed;
    char names[CPL_LAYOUT_NAMES_BYTES];

    if (entry == NULL) {
        cpl_layout_names(names, sizeof(names));
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "layout",
                              "unknown layout '%.64s'; layouts: %s", text, names);
    }
    parsed = *entry;
    if (!parse_parameters(text[length] == ':' ? text + length + 1 : NULL, &parsed)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "layout",
                              "layout '%.64s' has wrong parameters; it is written %s%s", text,
                              entry->form, parameter_hint(entry->parameters));
    }
    *layout = parsed;
    return CPL_OK;
}

bool cpl_layout_equal(const struct cpl_layout *a, const struct cpl_layout *b)
{
    return a->deal == b->deal && a->per_document == b->per_document && a->block == b->block &&
           !(a->tolerance < b->tolerance) && !(b->tolerance < a->tolerance);
}

const char *cpl_layout_title(const struct cpl_layout *layout, char text[CPL_LAYOUT_BYTES])
{
    switch (layout->parameters) {
    case CPL_PARAMETERS_BLOCK:
        (void)snprintf(text, CPL_LAYOUT_BYTES, "%s:%" PRId64, layout->name, layout->block);
        break;
    case CPL_PARAMETERS_TOLERANCE:
        (void)snprintf(text, CPL_LAYOUT_BYTES, "%s:%g:%" PRId64, layout->name, layout->tolerance,
                       layout->block);
        break;
    case CPL_PARAMETERS_NONE:
        (void)snprintf(text, CPL_LAYOUT_BYTES, "%s", layout->name);
        break;
    }
    return text;
}

bool cpl_layout_deals_documents(const struct cpl_layout *layout, int32_t cp)
{
    return layout->per_document && cp > 1;
}

void cpl_layout_names(char *text, size_t bytes)
{
    const struct cpl_layout *layout;
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; (layout = cpl_layout_at(i)) != NULL && used < bytes; i++) {
        used +=
            (size_t)snprintf(text + used, bytes - used, "%s%s", i > 0 ? ", " : "", layout->form);
    }
}

/* ---- Lengths ----------------------------------------------------------------------------------- */

/* Above all lengths: where units grow beyond them, no length fits. P times as much fits 63 bits. */
static const int64_t unit_most = INT64_C(1) << 46;

/* lcm, or unit_most. Both are positive and at most unit_most. */
static int64_t common_unit(int64_t a, int64_t b)
{
    int64_t product;

    return __builtin_mul_overflow(a / cpl_gcd(a, b), b, &product) || product > unit_most ? unit_most
                                                                                         : product;
}

int64_t cpl_rows_unit(const struct cpl_shape *shape)
{
    return common_unit(shape->tp, shape->row_unit > 0 ? shape->row_unit : 1);
}

int64_t cpl_layout_unit(const struct cpl_layout *layout, const struct cpl_shape *shape)
{
    const int64_t grain = layout->blocks ? layout->block : layout->chunks;
    const int64_t rows = cpl_rows_unit(shape);

    return shape->cp > 1 ? shape->cp * common_unit(rows, grain) : rows;
}

int64_t cpl_layouts_unit(const struct cpl_layout *const *layouts, int32_t count,
                         const struct cpl_shape *shape)
{
    int64_t unit = 1;

    for (int32_t i = 0; i < count; i++) {
        unit = common_unit(unit, cpl_layout_unit(layouts[i], shape));
    }
    return unit;
}

enum cpl_status cpl_tokens_check(uint64_t tokens, const char *field, struct cpl_error *error)
{
    if (tokens < 1 || tokens > (uint64_t)cpl_tokens_most) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, field,
                              "sequence length must be 1 to %" PRId64 ", not %" PRIu64,
                              cpl_tokens_most, tokens);
    }
    return CPL_OK;
}

void cpl_nearest_lengths(char text[64], int64_t length, int64_t unit)
{
    const int64_t below = length / unit * unit;

    if (below == 0) {
        (void)snprintf(text, 64, "%" PRId64, unit);
    } else {
        (void)snprintf(text, 64, "%" PRId64 " and %" PRId64, below, below + unit);
    }
}

const char *cpl_shape_title(const struct cpl_shape *shape, char text[CPL_SHAPE_BYTES])
{
    if (shape->row_unit > 1) {
        (void)snprintf(text, CPL_SHAPE_BYTES, "P = %d, T = %d and row_unit = %" PRId64, shape->cp,
                       shape->tp, shape->row_unit);
    } else {
        (void)snprintf(text, CPL_SHAPE_BYTES, "P = %d and T = %d", shape->cp, shape->tp);
    }
    return text;
}

enum cpl_status cpl_ranks_check(const struct cpl_shape *shape, struct cpl_error *error)
{
    if (shape->cp < 1) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "cp",
                              "context-parallel size P must be at least 1, not %d", shape->cp);
    }
    if (shape->tp < 1) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "tp",
                              "tensor-parallel size T must be at least 1, not %d", shape->tp);
    }
    if ((int64_t)shape->cp * shape->tp > CPL_RANKS_MOST) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "cp", "P * T = %d * %d is above %d ranks",
                              shape->cp, shape->tp, CPL_RANKS_MOST);
    }
    return CPL_OK;
}

/* Blocks each make a fragment, wherever they lie; more would fill the memory of a machine. */
enum { BLOCKS_MOST = 1 << 22 };

static enum cpl_status check_blocks(const struct cpl_layout *layout, int64_t rows,
                                    struct cpl_error *error)
{
    char title[CPL_LAYOUT_BYTES];

    if (!layout->blocks || rows / layout->block <= BLOCKS_MOST) {
        return CPL_OK;
    }
    return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "layout",
                          "layout '%s' cuts %" PRId64 " rows into %" PRId64
                          " blocks, at most %d are supported; take larger ones",
                          cpl_layout_title(layout, title), rows, rows / layout->block, BLOCKS_MOST);
}

/* What has to divide: S, or the rows of a stream that the layout cuts as it is. */
static enum cpl_status check_length(const struct cpl_layout *layout, const struct cpl_shape *shape,
                                    int64_t length, struct cpl_error *error)
{
    const int64_t unit = cpl_layout_unit(layout, shape);
    char title[CPL_LAYOUT_BYTES];
    char ranks[CPL_SHAPE_BYTES];
    char nearest[64];

    if (length % unit == 0) {
        return shape->cp > 1 ? check_blocks(layout, length, error) : CPL_OK;
    }
    cpl_nearest_lengths(nearest, length, unit);
    return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "sequence",
                          "%s %" PRId64 " is not a multiple of %" PRId64
                          ", which layout '%s' needs with %s; nearest: %s",
                          shape->stream != NULL ? "length of the pack" : "sequence length", length,
                          unit, cpl_layout_title(layout, title), cpl_shape_title(shape, ranks),
                          nearest);
}

enum cpl_status cpl_shape_check(const struct cpl_layout *layout, const struct cpl_shape *shape,
                                struct cpl_error *error)
{
    const enum cpl_status status = cpl_ranks_check(shape, error);

    if (status != CPL_OK) {
        return status;
    }
    if (shape->stream != NULL) {
        return cpl_layout_deals_documents(layout, shape->cp)
                   ? CPL_OK
                   : check_length(layout, shape, shape->stream->rows, error);
    }
    if (shape->tokens < 1 || shape->tokens > cpl_tokens_most) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "sequence",
                              "sequence length must be 1 to %" PRId64 ", not %" PRId64,
                              cpl_tokens_most, shape->tokens);
    }
    return check_length(layout, shape, shape->tokens, error);
}
