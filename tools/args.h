/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: one table of options with their synonyms, and its parser.
 *
 * `--name value` and `--name=value` are alike, and so are `_` and `-` in names. A value may begin
 * with `-`, unless it is itself an option of the verb. A flag stands alone or takes true or false.
 * Long Megatron names are synonyms.
 */
#ifndef CPLAYOUT_TOOLS_ARGS_H
#define CPLAYOUT_TOOLS_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "report.h"
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
    OPTION_SVG,
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
};

struct args {
    const char *verb;               /* "" if there is none */
    unsigned verb_bit;              /* VERB_... */
    const char *text[OPTION_COUNT]; /* as given or the default; NULL = not given */
    int64_t number[OPTION_COUNT];   /* of integers, checked; of flags 0 or 1 */
};

/* The words behind the verb. */
struct words {
    int count;
    char *const *list;
};

/*
 * Parses the words with the options of args->verb_bit. Goes on after a wrong one, so that flags
 * behind it count; the report has the first problem.
 */
bool args_parse(struct args *args, const struct words *words, struct report *report);

/* Checks that the verb has all that it needs and nothing that this version does not support. */
bool args_check(const struct args *args, struct report *report);

/* Name of an option, without the leading dashes. */
const char *args_name(enum option option);

/* Lists the options of a verb. */
void args_print_options(unsigned verb_bit, const struct terminal *terminal);

/* True if `known` is near enough to `typed` to be what was meant. */
bool args_is_near(const char *known, const char *typed);

#endif
