/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options and diagnostics: the configuration crosses the boundary as text.
 *
 * Names follow Megatron-LM where it has one. `create` takes any number of options. An option that the
 * host does not give has the value of the environment variable CPLAYOUT_<NAME>, in capital letters,
 * if it is set and not empty; else that of the file whose path is in CPLAYOUT_CONF, with lines 'name =
 * value' and comments from '#' on; else its default. Neither is looked at in set-id processes. An
 * option given twice by one of these with different values is an error. At log level INFO `create`
 * tells where every value comes from that is not the default.
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
    const char *type; /* "integer", "number", "boolean", "layout", "choice", "list", "pattern" */
    const char *default_value; /* "" where none is set: the help says what then holds */
    const char *values;        /* legal values or range, for people */
    const char *help;
    const char *synonyms;   /* other names, separated by ", "; "" if there are none */
    const char *deprecated; /* those of the synonyms that are out of use */
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
    const char *value;   /* of the option, "" if it is not set */
    const char *origin; /* of the value: "host", "CPLAYOUT_SEQ_LENGTH", "run.conf:4" or "default" */
    uint32_t part_offset; /* the part of the value that is at fault, in bytes */
    uint32_t part_length;
};

/* Called once per finding, in the order of the rules, on the thread that called the plugin. */
typedef void (*cplayout_diagnostic_fn)(void *self, const struct cplayout_diagnostic *diagnostic);

#endif
