/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/registration.h"

#include <string.h>

static const struct cpl_option_value *value_of(const struct cpl_registration *registration,
                                               enum cpl_option_id id)
{
    return &registration->options->values[id];
}

/* 0 if it is not usable, or not set. */
static int64_t integer_of(const struct cpl_registration *registration, enum cpl_option_id id)
{
    const struct cpl_option_value *const value = value_of(registration, id);

    return value->usable ? value->integer : 0;
}

static bool is_choice(const struct cpl_registration *registration, enum cpl_option_id id,
                      const char *choice)
{
    const struct cpl_option_value *const value = value_of(registration, id);

    return value->usable && strcmp(value->text, choice) == 0;
}

/* An integer that has another one's value where it is not set. */
static int64_t integer_or(const struct cpl_registration *registration, enum cpl_option_id id,
                          int64_t otherwise)
{
    return value_of(registration, id)->given ? integer_of(registration, id) : otherwise;
}

static void init_ranks(struct cpl_registration *registration)
{
    const struct cpl_option_value *const split =
        value_of(registration, CPL_OPTION_SEQUENCE_PARALLEL);
    const int64_t t = integer_of(registration, CPL_OPTION_TENSOR_MODEL_PARALLEL_SIZE);
    const int64_t tp = split->usable && split->integer == 0 ? 1 : t;

    registration->configured_cp = integer_of(registration, CPL_OPTION_CONTEXT_PARALLEL_SIZE);
    registration->weight_ranks = t;
    registration->tp = split->usable ? tp : 0;
    registration->weight_shards = integer_or(registration, CPL_OPTION_WEIGHT_SHARDS, t);
    registration->sequence_shards =
        integer_or(registration, CPL_OPTION_SEQUENCE_SHARDS, registration->tp);
    if (registration->tp > 0 && registration->sequence_shards % registration->tp == 0) {
        registration->extra_shards = registration->sequence_shards / registration->tp;
    }
    registration->cp = registration->configured_cp * registration->extra_shards;
}

/* NULL if the option is not usable or names no layout. */
static const struct cpl_layout *parse_layout(const struct cpl_registration *registration,
                                             enum cpl_option_id id, struct cpl_layout *layout)
{
    const struct cpl_option_value *const value = value_of(registration, id);
    struct cpl_error error;

    return value->usable && cpl_layout_parse(value->text, layout, &error) == CPL_OK ? layout : NULL;
}

static void init_layouts(struct cpl_registration *registration)
{
    struct cpl_parts *const named = &registration->named;
    struct cpl_layout *const parsed = registration->parsed;

    named->linear = parse_layout(registration, CPL_OPTION_LINEAR_CP_LAYOUT, &parsed[0]);
    named->attention = parse_layout(registration, CPL_OPTION_ATTENTION_CP_LAYOUT, &parsed[1]);
    named->boundary = value_of(registration, CPL_OPTION_BOUNDARY_CP_LAYOUT)->given
                          ? parse_layout(registration, CPL_OPTION_BOUNDARY_CP_LAYOUT, &parsed[2])
                          : named->linear;
    registration->used = *named;
    if (is_choice(registration, CPL_OPTION_RECEIVER, "gpt")) {
        registration->used.linear = named->attention;
        registration->used.boundary = named->attention;
    }
}

/* Every N-th layer is softmax attention, or 1 stands for a linear layer. */
static bool is_linear_frequency(const struct cpl_option_value *value)
{
    return value->usable && (strchr(value->text, ',') != NULL ? strchr(value->text, '1') != NULL
                                                              : value->integer > 1);
}

static void init_layers(struct cpl_registration *registration)
{
    const struct cpl_option_value *const pattern =
        value_of(registration, CPL_OPTION_HYBRID_LAYER_PATTERN);
    struct cpl_error error;
    size_t index;

    registration->has_pattern =
        pattern->usable && pattern->text[0] != '\0' &&
        cpl_pattern_parse(pattern->text, &registration->layers, &index, &error) == CPL_OK;
    registration->has_linear_layers =
        (registration->has_pattern && registration->layers.linear_layers > 0) ||
        is_linear_frequency(value_of(registration, CPL_OPTION_LINEAR_ATTENTION_FREQ));
}

void cpl_registration_init(struct cpl_registration *registration, const struct cpl_options *options,
                           const struct cpl_group_facts *group)
{
    *registration = (struct cpl_registration){.options = options, .group = *group};
    init_ranks(registration);
    init_layouts(registration);
    init_layers(registration);
}

struct cpl_shape cpl_registration_shape(const struct cpl_registration *registration)
{
    return (struct cpl_shape){
        .cp = (int32_t)registration->cp,
        .tp = (int32_t)registration->tp,
        .row_unit = integer_of(registration, CPL_OPTION_ROW_UNIT),
    };
}
