/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options and diagnostics: the configuration crosses the boundary as text.
 *
 * Names follow Megatron-LM where it has one. `create` takes any number of options; an option that is
 * not given has its default. An option given twice with different values is an error.
 */
#ifndef CPLAYOUT_OPTIONS_H
#define CPLAYOUT_OPTIONS_H

#include <stdint.h>

struct cplayout_option {
    const char *name;
    const char *value;
};

/* Describes one option of the plugin. Strings are valid during the call that delivers it. */
struct cplayout_option_info {
    uint64_t size;
    const char *name;
    const char *type;          /* "integer", "number", "boolean", "layout", "choice", "pattern" */
    const char *default_value; /* "" where none is set: the help says what then holds */
    const char *values;        /* legal values or range, for people */
    const char *help;
};

/* Called once per option, in table order. */
typedef void (*cplayout_option_fn)(void *self, const struct cplayout_option_info *info);

enum {
    CPLAYOUT_SEVERITY_WARNING = 1,
    CPLAYOUT_SEVERITY_ERROR = 2,
};

/* One finding of registration. Strings are valid during the call that delivers it. */
struct cplayout_diagnostic {
    uint64_t size;
    int32_t severity;
    int32_t reserved;
    const char *code;    /* the rule, such as "layout.unknown" */
    const char *option;  /* the option that should change */
    const char *message; /* what is wrong, with the actual values */
    const char *hint;    /* what to set; never NULL, may be "" */
};

/* Called once per finding, in the order of the rules, on the thread that called the plugin. */
typedef void (*cplayout_diagnostic_fn)(void *self, const struct cplayout_diagnostic *diagnostic);

#endif
