/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a registration rule is, and what rules share: questions about the configuration, and reporting
 * a finding. Rules of one kind are in one file, their table is in rules.c.
 */
#ifndef CPL_PLAN_RULE_H
#define CPL_PLAN_RULE_H

#include "base/report.h"
#include "plan/registration.h"

struct cpl_rules;

/* A set of options, a bit each. */
typedef uint64_t cpl_option_set;

struct cpl_rule {
    const char *code;
    enum cpl_severity severity;
    bool taints;  /* an option that it names is of no use to later rules */
    bool sharded; /* it is about several context-parallel ranks: silent at P = 1 */
    /* It is silent unless all of these are known and right, */
    cpl_option_set needs;
    /* and where one of these is wrong. */
    cpl_option_set reads;
    void (*apply)(struct cpl_rules *rules);
};

/* One pass over the rules. */
struct cpl_rules {
    const struct cpl_registration *registration;
    const struct cpl_reporter *reporter;
    const struct cpl_rule *rule; /* the one that is being applied */
    cpl_option_set tainted;
    int32_t errors;
    struct cpl_error *first; /* the first error */
};

/* What to set instead, for one finding. */
struct cpl_hint {
    char text[256];
};

struct cpl_hint cpl_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reports a finding of the current rule that names an option and its whole value. */
void cpl_fire(struct cpl_rules *rules, enum cpl_option_id option, struct cpl_hint hint,
              const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same about a part of the value. */
void cpl_fire_part(struct cpl_rules *rules, enum cpl_option_id option, struct cpl_range part,
                   struct cpl_hint hint, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The same about a setting under the name that it came with. */
void cpl_fire_entry(struct cpl_rules *rules, const struct cpl_entry *entry, struct cpl_hint hint,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

static inline const char *cpl_rule_name(enum cpl_option_id id)
{
    return cpl_option_spec(id)->name;
}

static inline const struct cpl_option_value *cpl_rule_value(const struct cpl_rules *rules,
                                                            enum cpl_option_id id)
{
    return &rules->registration->options->values[id];
}

static inline int64_t cpl_rule_integer(const struct cpl_rules *rules, enum cpl_option_id id)
{
    return cpl_rule_value(rules, id)->integer;
}

/* Whether a rule may look at an option: it is of its type, no rule has objected to it, and it is known. */
bool cpl_rule_known(const struct cpl_rules *rules, enum cpl_option_id id);

/* Whether a choice is this one. */
bool cpl_rule_chosen(const struct cpl_rules *rules, enum cpl_option_id id, const char *choice);

/* Whether the linear and the attention layout are two, so that there is something to convert. */
bool cpl_rule_layouts_differ(const struct cpl_parts *parts);

/* rules_options.c: names and values. */
void cpl_rule_option_unknown(struct cpl_rules *rules);
void cpl_rule_option_type(struct cpl_rules *rules);
void cpl_rule_layout_unknown(struct cpl_rules *rules);
void cpl_rule_pattern_symbol(struct cpl_rules *rules);
void cpl_rule_pattern_mtp(struct cpl_rules *rules);
void cpl_rule_variable_unknown(struct cpl_rules *rules);
void cpl_rule_option_deprecated(struct cpl_rules *rules);

/* rules_ranks.c: groups of ranks. */
void cpl_rule_world_size(struct cpl_rules *rules);
void cpl_rule_gtp_weight_shards(struct cpl_rules *rules);
void cpl_rule_gtp_needs_sequence_parallel(struct cpl_rules *rules);
void cpl_rule_gtp_shards(struct cpl_rules *rules);
void cpl_rule_group_size(struct cpl_rules *rules);
void cpl_rule_group_not_cartesian(struct cpl_rules *rules);
void cpl_rule_tp_indivisible_heads(struct cpl_rules *rules);
void cpl_rule_sequence_parallel_without_tp(struct cpl_rules *rules);
void cpl_rule_verify_no_channel(struct cpl_rules *rules);

/* rules_layers.c: what the model's layers can run on. */
void cpl_rule_attention_layout_unsupported(struct cpl_rules *rules);
void cpl_rule_attention_a2a_heads(struct cpl_rules *rules);
void cpl_rule_linear_chain_unsupported(struct cpl_rules *rules);
void cpl_rule_linear_headwise_layout(struct cpl_rules *rules);
void cpl_rule_linear_headwise_heads(struct cpl_rules *rules);
void cpl_rule_linear_hybrid_cp(struct cpl_rules *rules);
void cpl_rule_receiver_linear_unsupported(struct cpl_rules *rules);
void cpl_rule_receiver_boundary(struct cpl_rules *rules);
void cpl_rule_receiver_normalised(struct cpl_rules *rules);
void cpl_rule_linear_unused(struct cpl_rules *rules);

/* rules_batch.c: lengths, batches and how they are run. */
void cpl_rule_sequence_indivisible(struct cpl_rules *rules);
void cpl_rule_mask_packed(struct cpl_rules *rules);
void cpl_rule_balancing_overridden(struct cpl_rules *rules);
void cpl_rule_balancing_ignored(struct cpl_rules *rules);
void cpl_rule_cuda_graph_packed(struct cpl_rules *rules);
void cpl_rule_policy_pipeline_rows(struct cpl_rules *rules);
void cpl_rule_policy_padding_in_moe(struct cpl_rules *rules);
void cpl_rule_overlap_length(struct cpl_rules *rules);
void cpl_rule_fp8_rows(struct cpl_rules *rules);

#endif
