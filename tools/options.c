/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "names.h"

enum {
    VERBS_REAL = VERBS_LENGTHS | VERB_INFO | VERB_CHECK,
    VERBS_ALL = VERBS_REAL | VERB_NONE,
};

static const struct option_row rows[OPTION_COUNT] = {
    [OPTION_LAYOUT] = {.name = "layout",
                       .verbs = VERB_MAP | VERB_SHIFT | VERB_COST,
                       .required = VERB_MAP | VERB_SHIFT | VERB_COST,
                       .value = "L",
                       .help = "layout: contiguous, mirror, zigzag, zigzag-stream, striped:B or "
                               "balanced:TOL[:CHUNK]"},
    [OPTION_FROM] = {.name = "from",
                     .verbs = VERB_ROUTE,
                     .required = VERB_ROUTE,
                     .value = "L",
                     .help = "layout that the rows are in"},
    [OPTION_TO] = {.name = "to",
                   .verbs = VERB_ROUTE | VERB_COST,
                   .required = VERB_ROUTE,
                   .value = "L",
                   .help = "layout that they go to"},
    [OPTION_SEQ] = {.name = "seq",
                    .synonym = "seq-length",
                    .kind = KIND_INTEGER,
                    .verbs = VERBS_LENGTHS,
                    .minimum = 1,
                    .maximum = INT64_MAX,
                    .value = "S",
                    .help = "tokens of one dense sequence"},
    [OPTION_CU_SEQLENS] = {.name = "cu-seqlens",
                           .kind = KIND_LIST,
                           .verbs = VERBS_LENGTHS,
                           .value = "LIST",
                           .help = "packed documents instead: where each begins and the last one "
                                   "ends, such as 0,3,8"},
    [OPTION_CU_SEQLENS_PADDED] = {.name = "cu-seqlens-padded",
                                  .kind = KIND_LIST,
                                  .verbs = VERBS_LENGTHS,
                                  .value = "LIST",
                                  .help = "the same with the padding that the input already has "
                                          "(as --cu-seqlens)"},
    [OPTION_CP] = {.name = "cp",
                   .synonym = "context-parallel-size",
                   .kind = KIND_INTEGER,
                   .verbs = VERBS_LENGTHS,
                   .minimum = 1,
                   .maximum = INT32_MAX,
                   .fallback = 1,
                   .value = "P",
                   .help = "context-parallel ranks (1)"},
    [OPTION_TP] = {.name = "tp",
                   .synonym = "tensor-model-parallel-size",
                   .kind = KIND_INTEGER,
                   .verbs = VERBS_LENGTHS,
                   .minimum = 1,
                   .maximum = INT32_MAX,
                   .fallback = 1,
                   .value = "T",
                   .help = "tensor-parallel ranks that split the rows of each of them; 1 without "
                           "sequence parallelism (1)"},
    [OPTION_BY] = {.name = "by",
                   .kind = KIND_INTEGER,
                   .verbs = VERB_SHIFT,
                   .minimum = -INT64_C(0xffffffff),
                   .maximum = INT64_C(0xffffffff),
                   .fallback = 1,
                   .value = "K",
                   .help = "how many tokens later; earlier if it is negative (1)"},
    [OPTION_HIDDEN] = {.name = "hidden",
                       .synonym = "hidden-size",
                       .kind = KIND_INTEGER,
                       .verbs = VERB_COST,
                       .minimum = 1,
                       .maximum = INT32_MAX,
                       .value = "H",
                       .help = "elements of a row, for bytes"},
    [OPTION_DTYPE] = {.name = "dtype",
                      .verbs = VERB_COST,
                      .value = "D",
                      .help = "type of the elements: fp64, fp32, bf16, fp16, fp8, int64, int32 or "
                              "int8 (bf16)"},
    [OPTION_LINEAR_LAYERS] = {.name = "linear-layers",
                              .kind = KIND_INTEGER,
                              .verbs = VERB_COST,
                              .minimum = 1,
                              .maximum = INT32_MAX,
                              .value = "N",
                              .help =
                                  "linear layers of a model, for the length at which converting "
                                  "stops to pay; with --to, --hidden, --conversions and "
                                  "--state-bytes"},
    [OPTION_CONVERSIONS] = {.name = "conversions",
                            .kind = KIND_INTEGER,
                            .verbs = VERB_COST,
                            .minimum = 1,
                            .maximum = INT32_MAX,
                            .value = "N",
                            .help = "conversions of one forward pass (see --linear-layers)"},
    [OPTION_STATE_BYTES] = {.name = "state-bytes",
                            .kind = KIND_INTEGER,
                            .verbs = VERB_COST,
                            .minimum = 1,
                            .maximum = INT64_MAX,
                            .value = "M",
                            .help = "bytes of the recurrent state of one linear layer (see "
                                    "--linear-layers)"},
    [OPTION_SVG] = {.name = "svg",
                    .verbs = VERB_MAP,
                    .value = "FILE",
                    .help = "draw a picture, too"},
    [OPTION_CONFIG] = {.name = "config",
                       .verbs = VERB_CHECK,
                       .value = "FILE",
                       .help = "lines 'name = value'; '#' begins a comment. Options on the command "
                               "line win over the file"},
    [OPTION_PLUGIN] = {.name = "plugin",
                       .verbs = VERBS_REAL,
                       .value = "PATH",
                       .help = "the plugin to ask (the installed libcplayout.so)"},
    [OPTION_JSON] = {.name = "json",
                     .kind = KIND_FLAG,
                     .verbs = VERBS_ALL,
                     .help = "print one JSON object"},
    [OPTION_HELP] = {.name = "help",
                     .kind = KIND_FLAG,
                     .verbs = VERBS_ALL,
                     .help = "print this text (also -h, help)"},
    [OPTION_VERSION] = {.name = "version",
                        .kind = KIND_FLAG,
                        .verbs = VERBS_ALL,
                        .help = "print the version of the command"},
};

const struct option_row *option_row(enum option option)
{
    return &rows[option];
}

const char *option_name(enum option option)
{
    return rows[option].name;
}

enum option option_find(unsigned verb_bit, const char *typed, size_t length)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if ((rows[i].verbs & verb_bit) != 0 &&
            (name_is(rows[i].name, typed, length) || name_is(rows[i].synonym, typed, length))) {
            return (enum option)i;
        }
    }
    return OPTION_COUNT;
}

const char *option_nearest(unsigned verb_bit, const char *typed)
{
    const size_t limit = strlen(typed) < 5 ? 1 : strlen(typed) / 3;
    const char *best = NULL;
    size_t best_steps = SIZE_MAX;

    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *const names[] = {rows[i].name, rows[i].synonym};

        for (int k = 0; k < 2 && (rows[i].verbs & verb_bit) != 0; k++) {
            const size_t steps = name_distance(names[k], typed, limit);

            if (steps < best_steps) {
                best = names[k];
                best_steps = steps;
            }
        }
    }
    return best;
}

static void print_row(const struct option_row *row, const struct terminal *terminal)
{
    enum { INDENT = 18 };
    const int used = printf("  --%s %s", row->name, row->value != NULL ? row->value : "");

    if (used < INDENT) {
        (void)printf("%*s", INDENT - used, "");
    } else {
        (void)printf("\n%*s", INDENT, "");
    }
    terminal_wrap(terminal, INDENT, row->help);
    if (row->synonym != NULL) {
        (void)printf("%*salso: --%s\n", INDENT, "", row->synonym);
    }
}

void options_print(unsigned verb_bit, const struct terminal *terminal)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        if ((rows[i].verbs & verb_bit) != 0) {
            print_row(&rows[i], terminal);
        }
    }
}
