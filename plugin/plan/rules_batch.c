/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about lengths, batches and how they are run.
 */
#include <inttypes.h>

#include "plan/rule.h"

static bool is_packed(const struct cpl_rules *rules)
{
    return cpl_rule_chosen(rules, CPL_OPTION_QKV_FORMAT, "thd");
}

static bool is_zigzag(const struct cpl_layout *layout)
{
    return cpl_layout_equal(layout, cpl_layout_find("zigzag"));
}

/* Packed documents are padded, not cut: their lengths are a batch's affair. */
void cpl_rule_sequence_indivisible(struct cpl_rules *rules)
{
    const struct cpl_parts *const used = &rules->registration->used;
    const struct cpl_layout *const layouts[] = {used->linear, used->attention, used->boundary};
    const struct cpl_shape shape = cpl_registration_shape(rules->registration);
    const int64_t length = cpl_rule_integer(rules, CPL_OPTION_SEQ_LENGTH);
    char ranks[CPL_SHAPE_BYTES];
    char nearest[64];
    int64_t unit;

    if (is_packed(rules)) {
        return;
    }
    unit = cpl_layouts_unit(layouts, 3, &shape);
    if (length % unit != 0) {
        cpl_nearest_lengths(nearest, length, unit);
        cpl_fire(rules, CPL_OPTION_SEQ_LENGTH, cpl_hint("nearest lengths: %s", nearest),
                 "seq_length %" PRId64 " is not a multiple of %" PRId64
                 ", which the layouts in use need with %s",
                 length, unit, cpl_shape_title(&shape, ranks));
    }
}

void cpl_rule_mask_packed(struct cpl_rules *rules)
{
    if (is_packed(rules) && cpl_rule_integer(rules, CPL_OPTION_ATTENTION_MASK_IN_BATCH) != 0) {
        cpl_fire(rules, CPL_OPTION_ATTENTION_MASK_IN_BATCH,
                 cpl_hint("leave the mask out: cu_seqlens say what a token may see"),
                 "a dense attention mask does not fit packed documents (qkv_format thd)");
    }
}

void cpl_rule_balancing_overridden(struct cpl_rules *rules)
{
    const struct cpl_layout *const layout = rules->registration->named.linear;
    char title[CPL_LAYOUT_BYTES];

    if (cpl_rule_integer(rules, CPL_OPTION_USE_PER_SEQUENCE_BALANCING) != 0 && !is_zigzag(layout)) {
        cpl_fire(rules, CPL_OPTION_USE_PER_SEQUENCE_BALANCING,
                 cpl_hint("set use_per_sequence_balancing to false"),
                 "use_per_sequence_balancing is ignored: the linear layout '%s' wins",
                 cpl_layout_title(layout, title));
    }
}

void cpl_rule_balancing_ignored(struct cpl_rules *rules)
{
    if (cpl_rule_integer(rules, CPL_OPTION_USE_PER_SEQUENCE_BALANCING) != 0 && is_packed(rules) &&
        is_zigzag(rules->registration->named.linear)) {
        cpl_fire(rules, CPL_OPTION_USE_PER_SEQUENCE_BALANCING,
                 cpl_hint("name the layout zigzag-stream to ignore documents"),
                 "use_per_sequence_balancing is ignored: packed zigzag cuts every document");
    }
}

void cpl_rule_cuda_graph_packed(struct cpl_rules *rules)
{
    if (cpl_rule_chosen(rules, CPL_OPTION_CUDA_GRAPH, "full_iteration") && is_packed(rules) &&
        cpl_rule_layouts_differ(&rules->registration->used) &&
        cpl_rule_integer(rules, CPL_OPTION_GRAPH_CAPACITY) == 0) {
        cpl_fire(
            rules, CPL_OPTION_CUDA_GRAPH,
            cpl_hint("set graph_capacity to the rows that a rank sends at most, or cuda_graph to "
                     "partial"),
            "cuda_graph full_iteration cannot replay packed conversions, whose sizes differ from "
            "batch to batch");
    }
}

void cpl_rule_policy_pipeline_rows(struct cpl_rules *rules)
{
    const int64_t stages = cpl_rule_integer(rules, CPL_OPTION_PIPELINE_MODEL_PARALLEL_SIZE);

    if (cpl_rule_chosen(rules, CPL_OPTION_SCHEDULE_POLICY, "minimal") && stages > 1 &&
        is_packed(rules)) {
        cpl_fire(rules, CPL_OPTION_SCHEDULE_POLICY, cpl_hint("set schedule_policy to strict"),
                 "schedule_policy minimal hands packed rows on in the current layout: their number "
                 "would differ between the %" PRId64 " pipeline stages",
                 stages);
    }
}

void cpl_rule_policy_padding_in_moe(struct cpl_rules *rules)
{
    if (cpl_rule_chosen(rules, CPL_OPTION_SCHEDULE_POLICY, "minimal") && is_packed(rules) &&
        rules->registration->layers.experts > 0) {
        cpl_fire(rules, CPL_OPTION_SCHEDULE_POLICY,
                 cpl_hint("give the router the padding mask of the view, or set schedule_policy to "
                          "strict"),
                 "schedule_policy minimal runs mixtures of experts on packed zigzag rows: added "
                 "padding reaches the router");
    }
}

void cpl_rule_overlap_length(struct cpl_rules *rules)
{
    const int64_t length = cpl_rule_integer(rules, CPL_OPTION_SEQ_LENGTH);
    const int64_t buffers = cpl_rule_integer(rules, CPL_OPTION_MAX_SEQUENCE_LENGTH);

    if (cpl_rule_integer(rules, CPL_OPTION_TP_COMM_OVERLAP) != 0 && length != buffers) {
        cpl_fire(rules, CPL_OPTION_MAX_SEQUENCE_LENGTH,
                 cpl_hint("set max_sequence_length to %" PRId64 ", or tp_comm_overlap to false",
                          length),
                 "tp_comm_overlap has buffers for %" PRId64 " tokens, but seq_length is %" PRId64,
                 buffers, length);
    }
}

void cpl_rule_fp8_rows(struct cpl_rules *rules)
{
    const int64_t unit = cpl_rule_chosen(rules, CPL_OPTION_FP8_RECIPE, "mxfp8") ? 32 : 16;
    const int64_t cp = rules->registration->cp;
    const int64_t length = cpl_rule_integer(rules, CPL_OPTION_SEQ_LENGTH);
    const int64_t batch = cpl_rule_integer(rules, CPL_OPTION_MICRO_BATCH_SIZE);

    /* Below 2^32 x 2^31; P rows of which `unit` are left over make the same rest as one. */
    if (!cpl_rule_chosen(rules, CPL_OPTION_FP8_RECIPE, "none") &&
        length * batch % (cp * unit) != 0) {
        cpl_fire(rules, CPL_OPTION_FP8_RECIPE,
                 cpl_hint("make seq_length / P x micro_batch_size a multiple of %" PRId64, unit),
                 "%s products need multiples of %" PRId64 " rows: seq_length %" PRId64
                 " / P = %" PRId64 " x micro_batch_size %" PRId64 " is none",
                 cpl_rule_value(rules, CPL_OPTION_FP8_RECIPE)->text, unit, length, cp, batch);
    }
}
