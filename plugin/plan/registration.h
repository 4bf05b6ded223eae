/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A configuration as the rules see it: what follows from the options, such as P and the layouts. What
 * cannot be known, because an option is unknown or unusable, is 0 or NULL.
 */
#ifndef CPL_PLAN_REGISTRATION_H
#define CPL_PLAN_REGISTRATION_H

#include "base/options.h"
#include "plan/layout.h"
#include "plan/pattern.h"

/* What a rank knows of its group beside the options. */
struct cpl_group_facts {
    int32_t ranks;    /* of the exchange's group; 0 if unknown */
    bool mute;        /* it has no channel to compare plans on */
    int32_t twins[2]; /* two logical ranks that are one communicator rank; equal: there are none */
};

/* The layouts of a model's parts; pointers may be equal. */
struct cpl_parts {
    const struct cpl_layout *linear;
    const struct cpl_layout *attention;
    const struct cpl_layout *boundary;
};

struct cpl_registration {
    const struct cpl_options *options;
    struct cpl_group_facts group;
    int64_t configured_cp; /* C */
    int64_t extra_shards;  /* q */
    int64_t cp;            /* P = C * q */
    int64_t weight_ranks;  /* t, tensor_model_parallel_size */
    int64_t tp;            /* T: ranks that rows are split over */
    int64_t weight_shards;
    int64_t sequence_shards;
    struct cpl_parts
        named; /* as the options say; the boundary layout is the linear one by default */
    struct cpl_parts used; /* what is left of them: the receiver gpt takes the attention layout */
    struct cpl_pattern layers; /* of hybrid_layer_pattern, if it is known and right */
    bool has_pattern;
    bool has_linear_layers;      /* the pattern or linear_attention_freq has some */
    struct cpl_layout parsed[3]; /* which the pointers lead to */
};

/* `options` is borrowed. The record must stay where it is. */
void cpl_registration_init(struct cpl_registration *registration, const struct cpl_options *options,
                           const struct cpl_group_facts *group);

/* P and T, where they are known, with the row unit. */
struct cpl_shape cpl_registration_shape(const struct cpl_registration *registration);

#endif
