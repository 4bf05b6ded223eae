/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of the command's own options: names, Megatron's synonyms, which verb takes them.
 *
 * The options of a configuration, which `check` takes too, are the plugin's and not in this table.
 */
#ifndef CPLAYOUT_TOOLS_OPTIONS_H
#define CPLAYOUT_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "terminal.h"

enum option {
    OPTION_LAYOUT,
    OPTION_FROM,
    OPTION_TO,
    OPTION_SEQ,
    OPTION_CU_SEQLENS,
    OPTION_CU_SEQLENS_PADDED,
    OPTION_CP,
    OPTION_TP,
    OPTION_BY,
    OPTION_HIDDEN,
    OPTION_DTYPE,
    OPTION_LINEAR_LAYERS,
    OPTION_CONVERSIONS,
    OPTION_STATE_BYTES,
    OPTION_SVG,
    OPTION_CONFIG,
    OPTION_PLUGIN,
    OPTION_JSON,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_COUNT,
};

/* Bits that say which verbs take an option. */
enum {
    VERB_NONE = 1u << 0, /* `cplayout --version` and the like */
    VERB_MAP = 1u << 1,
    VERB_ROUTE = 1u << 2,
    VERB_INFO = 1u << 3,
    VERB_CHECK = 1u << 4,
    VERB_SHIFT = 1u << 5,
    VERB_COST = 1u << 6,
    VERBS_LENGTHS = VERB_MAP | VERB_ROUTE | VERB_SHIFT | VERB_COST, /* need lengths and ranks */
};

enum option_kind {
    KIND_TEXT,
    KIND_INTEGER,
    KIND_LIST, /* of int32, with commas */
    KIND_FLAG,
};

struct option_row {
    const char *name;
    const char *synonym; /* Megatron's name; NULL if there is none */
    enum option_kind kind;
    unsigned verbs;    /* that take it */
    unsigned required; /* verbs that cannot do without */
    int64_t minimum;   /* of an integer */
    int64_t maximum;
    int64_t fallback;  /* of an integer that is not given */
    const char *value; /* what stands for the value in the help */
    const char *help;
};

const struct option_row *option_row(enum option option);

/* Name of an option, without the leading dashes. */
const char *option_name(enum option option);

/* The option with these `length` characters as its name; OPTION_COUNT if the verb has none. */
enum option option_find(unsigned verb_bit, const char *typed, size_t length);

/* The nearest name that the verb has, or NULL if none is near. */
const char *option_nearest(unsigned verb_bit, const char *typed);

/* Lists the options of a verb. */
void options_print(unsigned verb_bit, const struct terminal *terminal);

#endif
