/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about groups of ranks.
 */
#include <inttypes.h>

#include "plan/rule.h"

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

void cpl_rule_world_size(struct cpl_rules *rules)
{
    const struct cpl_registration *const r = rules->registration;
    const int64_t world = cpl_rule_integer(rules, CPL_OPTION_WORLD_SIZE);
    const int64_t stages = cpl_rule_integer(rules, CPL_OPTION_PIPELINE_MODEL_PARALLEL_SIZE);
    const int64_t ranks = stages * r->configured_cp * r->weight_shards; /* each is at most 2^16 */

    if (world % ranks != 0) {
        cpl_fire(rules, CPL_OPTION_WORLD_SIZE,
                 cpl_hint("start a multiple of %" PRId64 " ranks, or change the sizes", ranks),
                 "%" PRId64 " ranks are not a multiple of %" PRId64 " = %" PRId64
                 " pipeline stages x C = %" PRId64 " x %" PRId64 " weight shards",
                 world, ranks, stages, r->configured_cp, r->weight_shards);
    }
}

void cpl_rule_gtp_weight_shards(struct cpl_rules *rules)
{
    const struct cpl_registration *const r = rules->registration;

    if (r->weight_shards % r->weight_ranks != 0) {
        cpl_fire(rules, CPL_OPTION_WEIGHT_SHARDS,
                 cpl_hint("set a multiple of %" PRId64, r->weight_ranks),
                 "%" PRId64
                 " weight shards are not a multiple of tensor_model_parallel_size %" PRId64,
                 r->weight_shards, r->weight_ranks);
    }
}

void cpl_rule_gtp_needs_sequence_parallel(struct cpl_rules *rules)
{
    const struct cpl_registration *const r = rules->registration;

    if (r->sequence_shards > 1 && r->weight_ranks > 1 && r->tp == 1) {
        cpl_fire(rules, CPL_OPTION_SEQUENCE_PARALLEL, cpl_hint("set sequence_parallel to true"),
                 "%" PRId64 " sequence shards with tensor_model_parallel_size %" PRId64
                 " need sequence_parallel",
                 r->sequence_shards, r->weight_ranks);
    }
}

void cpl_rule_gtp_shards(struct cpl_rules *rules)
{
    const struct cpl_registration *const r = rules->registration;
    const int64_t per_rank = r->weight_shards / r->weight_ranks;

    if (r->extra_shards == 0) {
        cpl_fire(rules, CPL_OPTION_SEQUENCE_SHARDS, cpl_hint("set a multiple of %" PRId64, r->tp),
                 "%" PRId64 " sequence shards are not a multiple of T = %" PRId64,
                 r->sequence_shards, r->tp);
    } else if (per_rank % r->extra_shards != 0) {
        cpl_fire(rules, CPL_OPTION_SEQUENCE_SHARDS,
                 cpl_hint("sequence_shards / T must divide weight_shards / t = %" PRId64, per_rank),
                 "%" PRId64 " sequence shards make q = %" PRId64
                 ", which does not divide the %" PRId64 " weight shards of a tensor-parallel rank",
                 r->sequence_shards, r->extra_shards, per_rank);
    }
}

/* " x 4 sequence shards and T = 2", what makes a group larger than C. */
static struct cpl_hint other_factors(const struct cpl_registration *r)
{
    if (r->extra_shards > 1) {
        return cpl_hint(", q = %" PRId64 " and T = %" PRId64, r->extra_shards, r->tp);
    }
    return r->tp > 1 ? cpl_hint(" and rows are split over %" PRId64 " windows each", r->tp)
                     : cpl_hint("%s", "");
}

void cpl_rule_group_size(struct cpl_rules *rules)
{
    const struct cpl_registration *const r = rules->registration;
    const int64_t wanted = r->cp * r->tp;
    const struct cpl_hint factors = other_factors(r);

    if (r->group.ranks != 0 && r->group.ranks != wanted) {
        cpl_fire(rules, CPL_OPTION_CONTEXT_PARALLEL_SIZE,
                 cpl_hint("give a group of %" PRId64 " rank%s, or change the sizes", wanted,
                          plural(wanted)),
                 "the group has %d rank%s but context_parallel_size is %" PRId64 "%s",
                 r->group.ranks, plural(r->group.ranks), r->configured_cp, factors.text);
    }
}

void cpl_rule_group_not_cartesian(struct cpl_rules *rules)
{
    const int32_t *const twins = rules->registration->group.twins;

    if (twins[0] != twins[1]) {
        cpl_fire(rules, CPL_OPTION_TENSOR_MODEL_PARALLEL_SIZE,
                 cpl_hint(
                     "TP and CP groups must be the rows and columns of one grid, logical rank = "
                     "cp_rank * T + tp_rank, each a communicator rank of its own"),
                 "the TP and CP ranks form no grid: logical ranks %d and %d are one communicator "
                 "rank",
                 twins[0], twins[1]);
    }
}

void cpl_rule_tp_indivisible_heads(struct cpl_rules *rules)
{
    const int64_t t = rules->registration->weight_ranks;
    const int64_t heads = cpl_rule_integer(rules, CPL_OPTION_NUM_ATTENTION_HEADS);
    const int64_t groups = cpl_rule_integer(rules, CPL_OPTION_NUM_QUERY_GROUPS);

    if (cpl_rule_known(rules, CPL_OPTION_NUM_ATTENTION_HEADS) && heads % t != 0) {
        cpl_fire(rules, CPL_OPTION_NUM_ATTENTION_HEADS,
                 cpl_hint("tensor_model_parallel_size must divide num_attention_heads"),
                 "%" PRId64
                 " attention heads cannot be split over tensor_model_parallel_size %" PRId64,
                 heads, t);
    }
    if (cpl_rule_known(rules, CPL_OPTION_NUM_QUERY_GROUPS) && groups % t != 0 && t % groups != 0) {
        cpl_fire(rules, CPL_OPTION_NUM_QUERY_GROUPS,
                 cpl_hint("one of num_query_groups and tensor_model_parallel_size must divide the "
                          "other"),
                 "%" PRId64
                 " query groups can neither be split over tensor_model_parallel_size %" PRId64
                 " nor be shared by its ranks evenly",
                 groups, t);
    }
}

void cpl_rule_sequence_parallel_without_tp(struct cpl_rules *rules)
{
    if (rules->registration->weight_ranks == 1 &&
        cpl_rule_integer(rules, CPL_OPTION_SEQUENCE_PARALLEL) != 0) {
        cpl_fire(rules, CPL_OPTION_SEQUENCE_PARALLEL,
                 cpl_hint("set tensor_model_parallel_size, or leave sequence_parallel out"),
                 "sequence_parallel has nothing to split over: tensor_model_parallel_size is 1");
    }
}

void cpl_rule_verify_no_channel(struct cpl_rules *rules)
{
    const struct cpl_group_facts *const group = &rules->registration->group;

    if (group->mute && group->ranks > 1 &&
        !cpl_rule_chosen(rules, CPL_OPTION_VERIFY_PLANS, "never")) {
        cpl_fire(rules, CPL_OPTION_VERIFY_PLANS,
                 cpl_hint("give the communicator an allgather, or set verify_plans to never"),
                 "verify_plans is %s, but the communicator has no allgather: ranks cannot compare "
                 "their plans",
                 cpl_rule_value(rules, CPL_OPTION_VERIFY_PLANS)->text);
    }
}
