/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about what the model's layers can run on. They are about several context-parallel ranks.
 */
#include <inttypes.h>

#include "plan/rule.h"

static bool is_headwise(const struct cpl_rules *rules)
{
    return cpl_rule_chosen(rules, CPL_OPTION_LINEAR_CP_MODE, "headwise");
}

static bool is_gpt(const struct cpl_rules *rules)
{
    return cpl_rule_chosen(rules, CPL_OPTION_RECEIVER, "gpt");
}

void cpl_rule_attention_layout_unsupported(struct cpl_rules *rules)
{
    const struct cpl_layout *const layout = rules->registration->named.attention;
    char title[CPL_LAYOUT_BYTES];

    if (!layout->two_chunk_kernels &&
        !cpl_rule_chosen(rules, CPL_OPTION_ATTENTION_ACCEPTS, "any")) {
        cpl_fire(rules, CPL_OPTION_ATTENTION_CP_LAYOUT,
                 cpl_hint("set attention_cp_layout to zigzag, or attention_accepts to any if the "
                          "kernel takes arbitrary fragments"),
                 "attention layout '%s' does not fit a kernel that takes two zigzag chunks",
                 cpl_layout_title(layout, title));
    }
}

void cpl_rule_attention_a2a_heads(struct cpl_rules *rules)
{
    const struct cpl_registration *const r = rules->registration;
    const int64_t heads = cpl_rule_integer(rules, CPL_OPTION_NUM_ATTENTION_HEADS);

    if (cpl_rule_chosen(rules, CPL_OPTION_CP_COMM_TYPE, "a2a") &&
        heads % (r->weight_ranks * r->cp) != 0) {
        cpl_fire(rules, CPL_OPTION_NUM_ATTENTION_HEADS,
                 cpl_hint("set cp_comm_type to p2p or all_gather, or make t x P = %" PRId64
                          " divide the heads",
                          r->weight_ranks * r->cp),
                 "cp_comm_type a2a splits heads: %" PRId64 " over t = %" PRId64 " and P = %" PRId64
                 " ranks leave a rest",
                 heads, r->weight_ranks, r->cp);
    }
}

void cpl_rule_linear_chain_unsupported(struct cpl_rules *rules)
{
    const struct cpl_layout *const layout = rules->registration->named.linear;
    char title[CPL_LAYOUT_BYTES];

    if (!layout->follows_rank && cpl_rule_chosen(rules, CPL_OPTION_LINEAR_CHAIN, "rank")) {
        cpl_fire(rules, CPL_OPTION_LINEAR_CP_LAYOUT,
                 cpl_hint("set linear_chain to table if the scan follows the chain, or "
                          "linear_cp_layout to contiguous"),
                 "linear layout '%s' does not keep slice r on rank r, which linear_chain = rank "
                 "assumes",
                 cpl_layout_title(layout, title));
    }
}

void cpl_rule_linear_headwise_layout(struct cpl_rules *rules)
{
    const struct cpl_layout *const layout = rules->registration->named.linear;
    char title[CPL_LAYOUT_BYTES];

    if (is_headwise(rules) && !layout->follows_rank) {
        cpl_fire(rules, CPL_OPTION_LINEAR_CP_LAYOUT,
                 cpl_hint("set linear_cp_layout to contiguous or zigzag, or linear_cp_mode to "
                          "chunkwise"),
                 "linear layout '%s' is none that a headwise module can undo",
                 cpl_layout_title(layout, title));
    }
}

/* Groups on a tensor-parallel rank must be dealt to P ranks, or each be shared by equally many. */
static void check_groups(struct cpl_rules *rules)
{
    const struct cpl_registration *const r = rules->registration;
    const int64_t groups = cpl_rule_integer(rules, CPL_OPTION_MAMBA_NUM_GROUPS);
    const int64_t local = groups / r->weight_ranks;

    if (groups % r->weight_ranks != 0) {
        cpl_fire(rules, CPL_OPTION_MAMBA_NUM_GROUPS,
                 cpl_hint("tensor_model_parallel_size must divide mamba_num_groups"),
                 "%" PRId64 " groups cannot be split over tensor_model_parallel_size %" PRId64,
                 groups, r->weight_ranks);
    } else if (local % r->cp != 0 && r->cp % local != 0) {
        cpl_fire(rules, CPL_OPTION_MAMBA_NUM_GROUPS,
                 cpl_hint("one of mamba_num_groups / t and P must divide the other"),
                 "%" PRId64 " groups on each of t = %" PRId64
                 " ranks can neither be split over P = %" PRId64 " nor be shared by them evenly",
                 local, r->weight_ranks, r->cp);
    }
}

void cpl_rule_linear_headwise_heads(struct cpl_rules *rules)
{
    const struct cpl_registration *const r = rules->registration;
    const int64_t heads = cpl_rule_integer(rules, CPL_OPTION_MAMBA_NUM_HEADS);
    const int64_t ranks = r->weight_ranks * r->cp;

    if (!is_headwise(rules)) {
        return;
    }
    if (cpl_rule_known(rules, CPL_OPTION_MAMBA_NUM_HEADS) && heads % ranks != 0) {
        cpl_fire(rules, CPL_OPTION_MAMBA_NUM_HEADS,
                 cpl_hint("set linear_cp_mode to chunkwise, or make t x P = %" PRId64
                          " divide the heads",
                          ranks),
                 "linear_cp_mode headwise splits heads: %" PRId64 " over t = %" PRId64
                 " and P = %" PRId64 " ranks leave a rest",
                 heads, r->weight_ranks, r->cp);
    }
    if (cpl_rule_known(rules, CPL_OPTION_MAMBA_NUM_GROUPS)) {
        check_groups(rules);
    }
}

void cpl_rule_linear_hybrid_cp(struct cpl_rules *rules)
{
    const struct cpl_layout *const layout = rules->registration->named.linear;
    char title[CPL_LAYOUT_BYTES];

    if (cpl_rule_integer(rules, CPL_OPTION_HYBRID_CONTEXT_PARALLEL) != 0 &&
        !cpl_layout_equal(layout, cpl_layout_find("zigzag"))) {
        cpl_fire(rules, CPL_OPTION_LINEAR_CP_LAYOUT,
                 cpl_hint("set linear_cp_layout to zigzag, or hybrid_context_parallel to false"),
                 "linear layout '%s' does not go with hybrid_context_parallel",
                 cpl_layout_title(layout, title));
    }
}

void cpl_rule_receiver_linear_unsupported(struct cpl_rules *rules)
{
    const struct cpl_registration *const r = rules->registration;
    char linear[CPL_LAYOUT_BYTES];
    char attention[CPL_LAYOUT_BYTES];

    if (is_gpt(rules) && cpl_rule_layouts_differ(&r->named) && r->has_linear_layers) {
        cpl_fire(
            rules, CPL_OPTION_LINEAR_CP_LAYOUT,
            cpl_hint("set linear_cp_layout to %s, or receiver to hybrid",
                     cpl_layout_title(r->named.attention, attention)),
            "receiver gpt takes one batch in layout '%s': linear layers would read rows in the "
            "wrong order, not in '%s'",
            attention, cpl_layout_title(r->named.linear, linear));
    }
}

void cpl_rule_receiver_boundary(struct cpl_rules *rules)
{
    const struct cpl_parts *const named = &rules->registration->named;
    char boundary[CPL_LAYOUT_BYTES];
    char attention[CPL_LAYOUT_BYTES];

    if (is_gpt(rules) && cpl_rule_value(rules, CPL_OPTION_BOUNDARY_CP_LAYOUT)->given &&
        !cpl_layout_equal(named->boundary, named->attention)) {
        cpl_fire(
            rules, CPL_OPTION_BOUNDARY_CP_LAYOUT,
            cpl_hint("leave boundary_cp_layout out, or set it to %s",
                     cpl_layout_title(named->attention, attention)),
            "receiver gpt takes one batch in the attention layout '%s', but the boundary layout "
            "is '%s'",
            attention, cpl_layout_title(named->boundary, boundary));
    }
}

void cpl_rule_receiver_normalised(struct cpl_rules *rules)
{
    const struct cpl_registration *const r = rules->registration;
    char linear[CPL_LAYOUT_BYTES];
    char attention[CPL_LAYOUT_BYTES];

    if (is_gpt(rules) && cpl_rule_layouts_differ(&r->named) && !r->has_linear_layers) {
        cpl_fire(rules, CPL_OPTION_LINEAR_CP_LAYOUT,
                 cpl_hint("name the linear layers if there are any: hybrid_layer_pattern or "
                          "linear_attention_freq"),
                 "receiver gpt takes one batch: the linear layout becomes '%s' instead of '%s'",
                 cpl_layout_title(r->named.attention, attention),
                 cpl_layout_title(r->named.linear, linear));
    }
}

void cpl_rule_linear_unused(struct cpl_rules *rules)
{
    const struct cpl_registration *const r = rules->registration;
    char linear[CPL_LAYOUT_BYTES];
    char attention[CPL_LAYOUT_BYTES];

    if (!is_gpt(rules) && cpl_rule_layouts_differ(&r->named) && r->layers.linear_layers == 0) {
        cpl_fire(rules, CPL_OPTION_LINEAR_CP_LAYOUT,
                 cpl_hint("set linear_cp_layout to %s as well",
                          cpl_layout_title(r->named.attention, attention)),
                 "no layer of hybrid_layer_pattern is linear: every attention layer converts from "
                 "'%s' to '%s' and back for nothing",
                 cpl_layout_title(r->named.linear, linear), attention);
    }
}
