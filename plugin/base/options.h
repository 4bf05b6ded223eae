/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option table and the values of one registration. The table in options.c is the only place that
 * knows names, types, defaults, ranges and help. Parsing is silent: a value that cannot be used is
 * marked, and the rules report it.
 */
#ifndef CPL_BASE_OPTIONS_H
#define CPL_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum cpl_option_id {
    CPL_OPTION_CONTEXT_PARALLEL_SIZE,
    CPL_OPTION_TENSOR_MODEL_PARALLEL_SIZE,
    CPL_OPTION_SEQUENCE_PARALLEL,
    CPL_OPTION_LINEAR_CP_LAYOUT,
    CPL_OPTION_ATTENTION_CP_LAYOUT,
    CPL_OPTION_BOUNDARY_CP_LAYOUT,
    CPL_OPTION_ATTENTION_ACCEPTS,
    CPL_OPTION_LINEAR_CHAIN,
    CPL_OPTION_HYBRID_LAYER_PATTERN,
    CPL_OPTION_QKV_FORMAT,
    CPL_OPTION_SEQ_LENGTH,
    CPL_OPTION_VERIFY_PLANS,
    CPL_OPTION_TIMEOUT_SECONDS,
    CPL_OPTION_PAD_TOKEN_ID,
    CPL_OPTION_PAD_LABEL,
    CPL_OPTION_COUNT,
};

enum cpl_option_type {
    CPL_TYPE_INTEGER,
    CPL_TYPE_NUMBER,
    CPL_TYPE_BOOL,   /* `integer` is 0 or 1 */
    CPL_TYPE_CHOICE, /* one of `values`, separated by ", " */
    CPL_TYPE_LAYOUT, /* checked by a rule: this room knows no layouts */
    CPL_TYPE_PATTERN,
};

struct cpl_option_spec {
    const char *name;
    enum cpl_option_type type;
    const char *default_value;
    const char *values; /* for people, and of a choice the legal values; NULL for layouts */
    const char *help;
    int64_t least; /* integers and numbers */
    int64_t most;
};

/* An option as the host gave it. */
struct cpl_setting {
    const char *name;
    const char *value;
};

struct cpl_option_value {
    const char *text; /* the setting's value or the default */
    int64_t integer;
    double number;
    bool given;
    bool conflict; /* given more than once, with different values */
    bool usable;   /* of its type, in range, no conflict */
};

struct cpl_options {
    const struct cpl_setting *given; /* borrowed */
    size_t given_count;
    struct cpl_option_value values[CPL_OPTION_COUNT];
};

const struct cpl_option_spec *cpl_option_spec(enum cpl_option_id id);
const char *cpl_option_type_name(enum cpl_option_type type);

/* CPL_OPTION_COUNT if there is no such option. */
enum cpl_option_id cpl_option_find(const char *name);

/* The name nearest to one that is unknown, NULL if none is near. */
const char *cpl_option_nearest(const char *name);

/* Fills in values and defaults. `given` must outlive the options. Errors: ARGUMENT (a NULL string). */
enum cpl_status cpl_options_parse(struct cpl_options *options, const struct cpl_setting *given,
                                  size_t count, struct cpl_error *error);

#endif
