/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plan/rule.h"

#define SET(option) (UINT64_C(1) << CPL_OPTION_##option)

_Static_assert(CPL_OPTION_COUNT <= 64, "a set of options has a bit for each");

/* What P and T follow from. */
#define RANKS \
    (SET(CONTEXT_PARALLEL_SIZE) | SET(TENSOR_MODEL_PARALLEL_SIZE) | SET(SEQUENCE_PARALLEL))
#define LAYOUTS (SET(LINEAR_CP_LAYOUT) | SET(ATTENTION_CP_LAYOUT))
#define LAYERS  (SET(HYBRID_LAYER_PATTERN) | SET(LINEAR_ATTENTION_FREQ))

static const struct cpl_rule rules[] = {
    {
        .code = "option.unknown",
        .severity = CPL_ERROR,
        .apply = cpl_rule_option_unknown,
    },
    {
        .code = "option.type",
        .severity = CPL_ERROR,
        .taints = true,
        .apply = cpl_rule_option_type,
    },
    {
        .code = "layout.unknown",
        .severity = CPL_ERROR,
        .taints = true,
        .apply = cpl_rule_layout_unknown,
    },
    {
        .code = "pattern.symbol",
        .severity = CPL_ERROR,
        .taints = true,
        .needs = SET(HYBRID_LAYER_PATTERN),
        .apply = cpl_rule_pattern_symbol,
    },
    {
        .code = "pattern.mtp",
        .severity = CPL_ERROR,
        .needs = SET(HYBRID_LAYER_PATTERN) | SET(MTP_NUM_LAYERS),
        .apply = cpl_rule_pattern_mtp,
    },
    {
        .code = "world.size",
        .severity = CPL_ERROR,
        .needs = SET(WORLD_SIZE) | SET(PIPELINE_MODEL_PARALLEL_SIZE) | SET(CONTEXT_PARALLEL_SIZE) |
                 SET(TENSOR_MODEL_PARALLEL_SIZE),
        .reads = SET(WEIGHT_SHARDS),
        .apply = cpl_rule_world_size,
    },
    {
        .code = "gtp.weight_shards",
        .severity = CPL_ERROR,
        .taints = true,
        .needs = SET(TENSOR_MODEL_PARALLEL_SIZE),
        .reads = SET(WEIGHT_SHARDS),
        .apply = cpl_rule_gtp_weight_shards,
    },
    {
        .code = "gtp.needs_sequence_parallel",
        .severity = CPL_ERROR,
        .taints = true,
        .needs = SET(TENSOR_MODEL_PARALLEL_SIZE) | SET(SEQUENCE_PARALLEL),
        .reads = SET(SEQUENCE_SHARDS),
        .apply = cpl_rule_gtp_needs_sequence_parallel,
    },
    {
        .code = "gtp.shards",
        .severity = CPL_ERROR,
        .taints = true,
        .needs = SET(TENSOR_MODEL_PARALLEL_SIZE) | SET(SEQUENCE_PARALLEL),
        .reads = SET(SEQUENCE_SHARDS) | SET(WEIGHT_SHARDS),
        .apply = cpl_rule_gtp_shards,
    },
    {
        .code = "group.size",
        .severity = CPL_ERROR,
        .needs = RANKS,
        .reads = SET(SEQUENCE_SHARDS),
        .apply = cpl_rule_group_size,
    },
    {
        .code = "group.not_cartesian",
        .severity = CPL_ERROR,
        .apply = cpl_rule_group_not_cartesian,
    },
    {
        .code = "tp.indivisible_heads",
        .severity = CPL_ERROR,
        .needs = SET(TENSOR_MODEL_PARALLEL_SIZE),
        .apply = cpl_rule_tp_indivisible_heads,
    },
    {
        .code = "attention.layout_unsupported",
        .severity = CPL_ERROR,
        .sharded = true,
        .needs = SET(ATTENTION_CP_LAYOUT) | SET(ATTENTION_ACCEPTS),
        .apply = cpl_rule_attention_layout_unsupported,
    },
    {
        .code = "attention.a2a_heads",
        .severity = CPL_ERROR,
        .sharded = true,
        .needs = SET(CP_COMM_TYPE) | SET(NUM_ATTENTION_HEADS),
        .apply = cpl_rule_attention_a2a_heads,
    },
    {
        .code = "linear.chain_unsupported",
        .severity = CPL_ERROR,
        .sharded = true,
        .needs = SET(LINEAR_CP_LAYOUT) | SET(LINEAR_CHAIN),
        .apply = cpl_rule_linear_chain_unsupported,
    },
    {
        .code = "linear.headwise_layout",
        .severity = CPL_ERROR,
        .sharded = true,
        .needs = SET(LINEAR_CP_LAYOUT) | SET(LINEAR_CP_MODE),
        .apply = cpl_rule_linear_headwise_layout,
    },
    {
        .code = "linear.headwise_heads",
        .severity = CPL_ERROR,
        .sharded = true,
        .needs = SET(LINEAR_CP_MODE),
        .apply = cpl_rule_linear_headwise_heads,
    },
    {
        .code = "linear.hybrid_cp",
        .severity = CPL_ERROR,
        .sharded = true,
        .needs = SET(LINEAR_CP_LAYOUT) | SET(HYBRID_CONTEXT_PARALLEL),
        .apply = cpl_rule_linear_hybrid_cp,
    },
    {
        .code = "receiver.linear_unsupported",
        .severity = CPL_ERROR,
        .sharded = true,
        .needs = SET(RECEIVER) | LAYOUTS,
        .reads = LAYERS,
        .apply = cpl_rule_receiver_linear_unsupported,
    },
    {
        .code = "receiver.boundary",
        .severity = CPL_ERROR,
        .sharded = true,
        .needs = SET(RECEIVER) | SET(ATTENTION_CP_LAYOUT),
        .reads = SET(BOUNDARY_CP_LAYOUT),
        .apply = cpl_rule_receiver_boundary,
    },
    {
        .code = "receiver.normalised",
        .severity = CPL_WARNING,
        .sharded = true,
        .needs = SET(RECEIVER) | LAYOUTS,
        .reads = LAYERS,
        .apply = cpl_rule_receiver_normalised,
    },
    {
        .code = "linear.unused",
        .severity = CPL_WARNING,
        .sharded = true,
        .needs = SET(RECEIVER) | LAYOUTS | SET(HYBRID_LAYER_PATTERN),
        .apply = cpl_rule_linear_unused,
    },
    {
        .code = "sequence.indivisible",
        .severity = CPL_ERROR,
        .needs = RANKS | LAYOUTS | SET(SEQ_LENGTH) | SET(QKV_FORMAT) | SET(ROW_UNIT),
        .reads = SET(SEQUENCE_SHARDS) | SET(BOUNDARY_CP_LAYOUT) | SET(RECEIVER),
        .apply = cpl_rule_sequence_indivisible,
    },
    {
        .code = "sequence.parallel_without_tp",
        .severity = CPL_WARNING,
        .needs = SET(SEQUENCE_PARALLEL) | SET(TENSOR_MODEL_PARALLEL_SIZE),
        .apply = cpl_rule_sequence_parallel_without_tp,
    },
    {
        .code = "mask.packed",
        .severity = CPL_ERROR,
        .sharded = true,
        .needs = SET(ATTENTION_MASK_IN_BATCH) | SET(QKV_FORMAT),
        .apply = cpl_rule_mask_packed,
    },
    {
        .code = "balancing.overridden",
        .severity = CPL_WARNING,
        .sharded = true,
        .needs = SET(USE_PER_SEQUENCE_BALANCING) | SET(LINEAR_CP_LAYOUT),
        .apply = cpl_rule_balancing_overridden,
    },
    {
        .code = "balancing.ignored",
        .severity = CPL_WARNING,
        .sharded = true,
        .needs = SET(USE_PER_SEQUENCE_BALANCING) | SET(LINEAR_CP_LAYOUT) | SET(QKV_FORMAT),
        .apply = cpl_rule_balancing_ignored,
    },
    {
        .code = "cuda_graph.packed",
        .severity = CPL_ERROR,
        .sharded = true,
        .needs = SET(CUDA_GRAPH) | SET(QKV_FORMAT) | LAYOUTS,
        .reads = SET(GRAPH_CAPACITY) | SET(RECEIVER),
        .apply = cpl_rule_cuda_graph_packed,
    },
    {
        .code = "policy.pipeline_rows",
        .severity = CPL_ERROR,
        .sharded = true,
        .needs = SET(SCHEDULE_POLICY) | SET(PIPELINE_MODEL_PARALLEL_SIZE) | SET(QKV_FORMAT),
        .apply = cpl_rule_policy_pipeline_rows,
    },
    {
        .code = "policy.padding_in_moe",
        .severity = CPL_WARNING,
        .sharded = true,
        .needs = SET(SCHEDULE_POLICY) | SET(QKV_FORMAT) | SET(HYBRID_LAYER_PATTERN),
        .apply = cpl_rule_policy_padding_in_moe,
    },
    {
        .code = "overlap.length",
        .severity = CPL_ERROR,
        .needs = SET(TP_COMM_OVERLAP) | SET(SEQ_LENGTH) | SET(MAX_SEQUENCE_LENGTH),
        .apply = cpl_rule_overlap_length,
    },
    {
        .code = "fp8.rows",
        .severity = CPL_WARNING,
        .needs = RANKS | SET(FP8_RECIPE) | SET(SEQ_LENGTH) | SET(MICRO_BATCH_SIZE),
        .reads = SET(SEQUENCE_SHARDS),
        .apply = cpl_rule_fp8_rows,
    },
    {
        .code = "verify.no_channel",
        .severity = CPL_WARNING,
        .needs = SET(VERIFY_PLANS),
        .apply = cpl_rule_verify_no_channel,
    },
    {
        .code = "option.deprecated",
        .severity = CPL_WARNING,
        .apply = cpl_rule_option_deprecated,
    },
    {
        .code = "variable.unknown",
        .severity = CPL_WARNING,
        .apply = cpl_rule_variable_unknown,
    },
};

/* ---- Findings -------------------------------------------------------------------------------- */

struct cpl_hint cpl_hint(const char *format, ...)
{
    struct cpl_hint made;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(made.text, sizeof(made.text), format, args);
    va_end(args);
    cpl_clean_text(made.text);
    return made;
}

/* Severity and code are the rule's. */
static void report(struct cpl_rules *run, struct cpl_finding *finding, const char *format,
                   va_list args)
{
    char message[384];

    (void)vsnprintf(message, sizeof(message), format, args);
    cpl_clean_text(message);
    finding->severity = run->rule->severity;
    finding->code = run->rule->code;
    finding->message = message;
    run->reporter->deliver(run->reporter->self, finding);
    if (finding->severity == CPL_ERROR && run->errors++ == 0) {
        (void)cpl_fail_field(run->first, CPL_ERROR_CONFIGURATION, finding->option, "%s: %s (%s)",
                             finding->code, message, finding->hint);
    }
}

static void report_part(struct cpl_rules *run, enum cpl_option_id option, struct cpl_range part,
                        const struct cpl_hint *hint, const char *format, va_list args)
{
    const struct cpl_option_value *const value = cpl_rule_value(run, option);
    struct cpl_finding finding = {
        .option = cpl_rule_name(option),
        .hint = hint->text,
        .value = value->text,
        .origin = value->origin,
        .part = part,
    };

    report(run, &finding, format, args);
    if (run->rule->taints) {
        run->tainted |= UINT64_C(1) << option;
    }
}

void cpl_fire(struct cpl_rules *run, enum cpl_option_id option, struct cpl_hint hint,
              const char *format, ...)
{
    const struct cpl_range whole = {0, (uint32_t)strlen(cpl_rule_value(run, option)->text)};
    va_list args;

    va_start(args, format);
    report_part(run, option, whole, &hint, format, args);
    va_end(args);
}

void cpl_fire_part(struct cpl_rules *run, enum cpl_option_id option, struct cpl_range part,
                   struct cpl_hint hint, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    report_part(run, option, part, &hint, format, args);
    va_end(args);
}

void cpl_fire_entry(struct cpl_rules *run, const struct cpl_entry *entry, struct cpl_hint hint,
                    const char *format, ...)
{
    struct cpl_finding finding = {
        .option = entry->name,
        .hint = hint.text,
        .value = entry->value,
        .origin = entry->origin,
        .part = {0, (uint32_t)strlen(entry->value)},
    };
    va_list args;

    va_start(args, format);
    report(run, &finding, format, args);
    va_end(args);
}

/* ---- Questions ------------------------------------------------------------------------------- */

static bool is_right(const struct cpl_rules *run, enum cpl_option_id id)
{
    return cpl_rule_value(run, id)->usable && (run->tainted & UINT64_C(1) << id) == 0;
}

bool cpl_rule_known(const struct cpl_rules *run, enum cpl_option_id id)
{
    const struct cpl_option_spec *const spec = cpl_option_spec(id);
    const struct cpl_option_value *const value = cpl_rule_value(run, id);
    const bool empty =
        spec->type == CPL_TYPE_INTEGER ? value->integer == 0 : value->text[0] == '\0';

    return is_right(run, id) && !(spec->unknown && empty);
}

bool cpl_rule_chosen(const struct cpl_rules *run, enum cpl_option_id id, const char *choice)
{
    return strcmp(cpl_rule_value(run, id)->text, choice) == 0;
}

bool cpl_rule_layouts_differ(const struct cpl_parts *parts)
{
    return !cpl_layout_equal(parts->linear, parts->attention);
}

/* ---- One pass -------------------------------------------------------------------------------- */

/* Whether a rule may look at the configuration at all. */
static bool applies(const struct cpl_rules *run, const struct cpl_rule *rule)
{
    const cpl_option_set ranks = rule->sharded ? RANKS | SET(SEQUENCE_SHARDS) : 0;

    for (enum cpl_option_id id = 0; id < CPL_OPTION_COUNT; id++) {
        const cpl_option_set bit = UINT64_C(1) << id;

        if ((rule->needs & bit) != 0 && !cpl_rule_known(run, id)) {
            return false;
        }
        if (((rule->reads | ranks) & bit) != 0 && !is_right(run, id)) {
            return false;
        }
    }
    return !rule->sharded || run->registration->cp > 1;
}

enum cpl_status cpl_rules_apply(const struct cpl_registration *registration,
                                const struct cpl_reporter *reporter, struct cpl_error *error)
{
    struct cpl_rules run = {.registration = registration, .reporter = reporter, .first = error};

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        run.rule = &rules[i];
        if (applies(&run, run.rule)) {
            run.rule->apply(&run);
        }
    }
    return run.errors == 0 ? CPL_OK : CPL_ERROR_CONFIGURATION;
}
