/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of the command line.
 *
 * `--name value` and `--name=value` are alike, and so are `_` and `-` in names. A value may begin
 * with `-`, unless it is itself an option. A flag stands alone or takes true or false. Long
 * names of Megatron are synonyms. The words -h and help are --help.
 *
 * `check` takes every other option as a part of the configuration: whether it exists, and whether
 * it may stand alone, is for the plugin to say.
 */
#ifndef CPLAYOUT_TOOLS_ARGS_H
#define CPLAYOUT_TOOLS_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "lists.h"
#include "options.h"
#include "report.h"
#include "settings.h"

struct args {
    const char *verb;               /* "" if there is none */
    unsigned verb_bit;              /* VERB_... */
    const char *text[OPTION_COUNT]; /* as given; NULL = not given */
    int64_t number[OPTION_COUNT];   /* of integers, checked; of flags 0 or 1 */
    struct list list[OPTION_COUNT]; /* of lists */
    struct settings settings;       /* of `check` */
};

/* The words behind the verb. */
struct words {
    int count;
    char *const *list;
};

/*
 * Parses the words with the options of args->verb_bit into `args`, which is otherwise zero. Goes on
 * after a wrong one, so that flags behind it count; the report has the first problem. args_free
 * gives back what it holds in any case.
 */
bool args_parse(struct args *args, const struct words *words, struct report *report);
void args_free(struct args *args);

/* Checks that the verb has all that it needs. */
bool args_check(const struct args *args, struct report *report);

#endif
