/* SPDX-License-Identifier: Apache-2.0 */
#include "base/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/nearest.h"

static const struct cpl_option_spec specs[CPL_OPTION_COUNT] = {
    [CPL_OPTION_CONTEXT_PARALLEL_SIZE] =
        {
            .name = "context_parallel_size",
            .type = CPL_TYPE_INTEGER,
            .default_value = "1",
            .values = "1 ... 65536",
            .help = "ranks that share one sequence (P)",
            .least = 1,
            .most = CPL_RANKS_MOST,
        },
    [CPL_OPTION_TENSOR_MODEL_PARALLEL_SIZE] =
        {
            .name = "tensor_model_parallel_size",
            .type = CPL_TYPE_INTEGER,
            .default_value = "1",
            .values = "1 ... 65536",
            .help = "ranks that share every layer's weights (t)",
            .least = 1,
            .most = CPL_RANKS_MOST,
        },
    [CPL_OPTION_SEQUENCE_PARALLEL] =
        {
            .name = "sequence_parallel",
            .type = CPL_TYPE_BOOL,
            .default_value = "false",
            .values = "true, false",
            .help = "rows are split over tensor-parallel ranks too (T = t, else 1)",
        },
    [CPL_OPTION_LINEAR_CP_LAYOUT] =
        {
            .name = "linear_cp_layout",
            .type = CPL_TYPE_LAYOUT,
            .default_value = "zigzag",
            .help = "layout of every layer but attention",
        },
    [CPL_OPTION_ATTENTION_CP_LAYOUT] =
        {
            .name = "attention_cp_layout",
            .type = CPL_TYPE_LAYOUT,
            .default_value = "zigzag",
            .help = "layout of softmax attention layers",
        },
    [CPL_OPTION_BOUNDARY_CP_LAYOUT] =
        {
            .name = "boundary_cp_layout",
            .type = CPL_TYPE_LAYOUT,
            .default_value = "",
            .help = "layout in which a layer stack receives and returns hidden states; the linear "
                    "layout if not set",
        },
    [CPL_OPTION_ATTENTION_ACCEPTS] =
        {
            .name = "attention_accepts",
            .type = CPL_TYPE_CHOICE,
            .default_value = "zigzag",
            .values = "zigzag, any",
            .help = "what the attention kernel can run on: two zigzag chunks, or any fragments",
        },
    [CPL_OPTION_LINEAR_CHAIN] =
        {
            .name = "linear_chain",
            .type = CPL_TYPE_CHOICE,
            .default_value = "rank",
            .values = "rank, table",
            .help = "how the scan finds its neighbours: slice r on rank r, or by the chain",
        },
    [CPL_OPTION_HYBRID_LAYER_PATTERN] =
        {
            .name = "hybrid_layer_pattern",
            .type = CPL_TYPE_PATTERN,
            .default_value = "",
            .values = "M G K L linear, * + D C H W attention, - MLP, E mixture of experts",
            .help = "one symbol per layer; unknown if not set",
        },
    [CPL_OPTION_QKV_FORMAT] =
        {
            .name = "qkv_format",
            .type = CPL_TYPE_CHOICE,
            .default_value = "sbhd",
            .values = "sbhd, bshd, thd",
            .help = "order of activations; thd: packed documents",
        },
    [CPL_OPTION_SEQ_LENGTH] =
        {
            .name = "seq_length",
            .type = CPL_TYPE_INTEGER,
            .default_value = "0",
            .values = "0 ... 4294967295",
            .help = "tokens of one sequence (S); 0 if unknown",
            .least = 0,
            .most = INT64_C(0xffffffff),
        },
    [CPL_OPTION_VERIFY_PLANS] =
        {
            .name = "verify_plans",
            .type = CPL_TYPE_CHOICE,
            .default_value = "always",
            .values = "always, first, never",
            .help = "when ranks compare their plans: for every batch, the first one only, or not",
        },
    [CPL_OPTION_TIMEOUT_SECONDS] =
        {
            .name = "timeout_seconds",
            .type = CPL_TYPE_NUMBER,
            .default_value = "600",
            .values = "above 0, up to 1000000",
            .help = "longest wait for another rank",
            .least = 0,
            .most = 1000000,
        },
    [CPL_OPTION_PAD_TOKEN_ID] =
        {
            .name = "pad_token_id",
            .type = CPL_TYPE_INTEGER,
            .default_value = "0",
            .values = "-2147483648 ... 2147483647",
            .help = "what padding holds in the field tokens",
            .least = INT32_MIN,
            .most = INT32_MAX,
        },
    [CPL_OPTION_PAD_LABEL] =
        {
            .name = "pad_label",
            .type = CPL_TYPE_INTEGER,
            .default_value = "-100",
            .values = "-2147483648 ... 2147483647",
            .help = "what padding holds in the field labels",
            .least = INT32_MIN,
            .most = INT32_MAX,
        },
};

const struct cpl_option_spec *cpl_option_spec(enum cpl_option_id id)
{
    return &specs[id];
}

const char *cpl_option_type_name(enum cpl_option_type type)
{
    static const char *const names[] = {
        [CPL_TYPE_INTEGER] = "integer", [CPL_TYPE_NUMBER] = "number",
        [CPL_TYPE_BOOL] = "boolean",    [CPL_TYPE_CHOICE] = "choice",
        [CPL_TYPE_LAYOUT] = "layout",   [CPL_TYPE_PATTERN] = "pattern",
    };

    return names[type];
}

enum cpl_option_id cpl_option_find(const char *name)
{
    enum cpl_option_id id = 0;

    while (id < CPL_OPTION_COUNT && strcmp(specs[id].name, name) != 0) {
        id++;
    }
    return id;
}

const char *cpl_option_nearest(const char *name)
{
    const char *nearest = NULL;
    size_t best = strlen(name) / 3 + 1;

    for (enum cpl_option_id id = 0; id < CPL_OPTION_COUNT; id++) {
        const size_t distance = cpl_edit_distance(name, specs[id].name);

        if (distance <= best) {
            best = distance;
            nearest = specs[id].name;
        }
    }
    return nearest;
}

/* The whole text as a decimal integer. */
static bool parse_integer(const struct cpl_option_spec *spec, struct cpl_option_value *value)
{
    char *end;

    if (value->text[strspn(value->text, "-0123456789")] != '\0') {
        return false;
    }
    errno = 0;
    value->integer = strtoll(value->text, &end, 10);
    return end != value->text && *end == '\0' && errno == 0 && value->integer >= spec->least &&
           value->integer <= spec->most;
}

/* Digits with an optional fraction. Not strtod: it would follow the host's locale. */
static bool parse_number(const struct cpl_option_spec *spec, struct cpl_option_value *value)
{
    const char *at = value->text;
    double unit = 1;
    bool digits = false;

    for (value->number = 0; *at >= '0' && *at <= '9'; at++) {
        value->number = 10 * value->number + (*at - '0');
        digits = true;
    }
    if (*at == '.') {
        for (at++; *at >= '0' && *at <= '9'; at++) {
            unit /= 10;
            value->number += unit * (*at - '0');
            digits = true;
        }
    }
    return digits && *at == '\0' && value->number > (double)spec->least &&
           value->number <= (double)spec->most;
}

/* One whole entry of the list in `values`. */
static bool parse_choice(const struct cpl_option_spec *spec, const struct cpl_option_value *value)
{
    const char *choice = spec->values;

    while (*choice != '\0') {
        const size_t length = strcspn(choice, ",");

        if (strlen(value->text) == length && strncmp(choice, value->text, length) == 0) {
            return true;
        }
        choice += length;
        choice += strspn(choice, ", ");
    }
    return false;
}

static bool parse_bool(struct cpl_option_value *value)
{
    static const char *const words[2][4] = {{"false", "no", "off", "0"},
                                            {"true", "yes", "on", "1"}};

    for (size_t i = 0; i < 8; i++) {
        if (strcmp(value->text, words[i / 4][i % 4]) == 0) {
            value->integer = (int64_t)(i / 4);
            return true;
        }
    }
    return false;
}

static bool parse_value(const struct cpl_option_spec *spec, struct cpl_option_value *value)
{
    switch (spec->type) {
    case CPL_TYPE_INTEGER:
        return parse_integer(spec, value);
    case CPL_TYPE_NUMBER:
        return parse_number(spec, value);
    case CPL_TYPE_BOOL:
        return parse_bool(value);
    case CPL_TYPE_CHOICE:
        return parse_choice(spec, value);
    case CPL_TYPE_LAYOUT:
    case CPL_TYPE_PATTERN:
        return true;
    }
    return false;
}

/* A value given again with another text is a conflict for good. */
static void set_value(struct cpl_options *options, enum cpl_option_id id, const char *text)
{
    struct cpl_option_value *const value = &options->values[id];
    const bool differs = value->given && strcmp(value->text, text) != 0;

    value->conflict = value->conflict || differs;
    value->text = text;
    value->given = true;
    value->usable = parse_value(&specs[id], value) && !value->conflict;
}

enum cpl_status cpl_options_parse(struct cpl_options *options, const struct cpl_setting *given,
                                  size_t count, struct cpl_error *error)
{
    *options = (struct cpl_options){.given = given, .given_count = count};
    for (enum cpl_option_id id = 0; id < CPL_OPTION_COUNT; id++) {
        options->values[id].text = specs[id].default_value;
        options->values[id].usable = parse_value(&specs[id], &options->values[id]);
    }
    for (size_t i = 0; i < count; i++) {
        enum cpl_option_id id;

        if (given[i].name == NULL || given[i].value == NULL) {
            return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "options",
                                  "options[%zu] has a NULL name or value", i);
        }
        id = cpl_option_find(given[i].name);
        if (id != CPL_OPTION_COUNT) {
            set_value(options, id, given[i].value);
        }
    }
    return CPL_OK;
}
