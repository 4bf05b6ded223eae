/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about groups of ranks: each where it fires, and the nearest configuration where it does not.
 * group.not_cartesian and verify.no_channel need a communicator: see wires.c and verify.c.
 */
#include "threads/findings.h"

#define CP     "context_parallel_size"
#define TP     "tensor_model_parallel_size"
#define PP     "pipeline_model_parallel_size"
#define WORLD  "world_size"
#define SPLIT  "sequence_parallel"
#define LENGTH "seq_length"
#define WEIGHT "weight_shards"
#define SHARDS "sequence_shards"
#define HEADS  "num_attention_heads"
#define GROUPS "num_query_groups"
#define FORMAT "qkv_format"

#define NEEDS   "gtp.needs_sequence_parallel"
#define WITHOUT "sequence.parallel_without_tp"

static const struct check groups[] = {
    {"group.size: P = 4 in a group of 2",
     2,
     {{CP, "4"}},
     {{"group.size", CP, "2 ranks but context_parallel_size is 4", "a group of 4 ranks"}}},
    {"group.size: the default P = 1 in a group of 2",
     2,
     {{NULL}},
     {{"group.size", CP, "2 ranks but context_parallel_size is 1", "a group of 1 rank,"}}},
    {"group.size is silent for P = 4 in a group of 4", 4, {{CP, "4"}}, {{NULL}}},
    {"group.size: P = 2 and T = 2 in a group of 2",
     2,
     {{CP, "2"}, {TP, "2"}, {SPLIT, "on"}},
     {{"group.size", CP, "2 ranks but context_parallel_size is 2 and rows are split over 2 windows",
       "a group of 4 ranks"}}},
    {"group.size is silent for P = 2 and T = 2 in a group of 4",
     4,
     {{CP, "2"}, {TP, "2"}, {SPLIT, "on"}},
     {{NULL}}},
    {"group.size: T alone in a group of P",
     4,
     {{TP, "2"}, {SPLIT, "1"}},
     {{"group.size", CP, "4 ranks but context_parallel_size is 1", "a group of 2 ranks"}}},
    {"group.size: C = 2 and q = 3 in a group of 2",
     2,
     {{CP, "2"}, {WEIGHT, "3"}, {SHARDS, "3"}},
     {{"group.size", CP, "2 ranks but context_parallel_size is 2, q = 3 and T = 1",
       "a group of 6 ranks"}}},
    {"group.size is silent for C = 2 and q = 3 in a group of 6",
     6,
     {{CP, "2"}, {WEIGHT, "3"}, {SHARDS, "3"}},
     {{NULL}}},
    {"t = 4 without sequence parallelism splits nothing",
     2,
     {{CP, "2"}, {TP, "4"}, {LENGTH, "12"}},
     {{NULL}}},
    {"no rule looks at T where t is wrong",
     2,
     {{CP, "4"}, {TP, "x"}, {SPLIT, "true"}, {LENGTH, "13"}},
     {{"option.type", TP, "'x'", ""}}},
    {"no rule looks at T where sequence_parallel is wrong",
     2,
     {{CP, "4"}, {TP, "2"}, {SPLIT, "x"}, {LENGTH, "13"}},
     {{"option.type", SPLIT, "'x'", "legal: true, false"}}},
};

static const struct check worlds[] = {
    {"world.size: 12 ranks for 2 stages x C = 2 x t = 2",
     CHECK_ONLY,
     {{WORLD, "12"}, {PP, "2"}, {CP, "2"}, {TP, "2"}},
     {{"world.size", WORLD, "12 ranks are not a multiple of 8", "a multiple of 8 ranks"}}},
    {"world.size is silent for 16",
     CHECK_ONLY,
     {{WORLD, "16"}, {PP, "2"}, {CP, "2"}, {TP, "2"}},
     {{NULL}}},
    {"world.size is silent for 0, unknown", CHECK_ONLY, {{WORLD, "0"}, {PP, "3"}}, {{NULL}}},
    {"world.size counts weight shards, not q",
     CHECK_ONLY,
     {{WORLD, "64"}, {CP, "2"}, {WEIGHT, "64"}, {SHARDS, "64"}},
     {{"world.size", WORLD, "64 ranks are not a multiple of 128", ""}}},
    {"world.size is silent for the 128 ranks of that",
     CHECK_ONLY,
     {{WORLD, "128"}, {CP, "2"}, {WEIGHT, "64"}, {SHARDS, "64"}},
     {{NULL}}},
    {"world.size is silent where the pipeline is wrong",
     CHECK_ONLY,
     {{WORLD, "12"}, {PP, "0"}, {CP, "8"}},
     {{"option.type", PP, "'0'", ""}}},
    {"world.size: the largest sizes do not overflow",
     CHECK_ONLY,
     {{WORLD, "2147483647"}, {PP, "65536"}, {CP, "65536"}, {WEIGHT, "65536"}},
     {{"world.size", WORLD, "281474976710656", ""}}},
};

static const struct check shards[] = {
    {"gtp.weight_shards: 6 for t = 4",
     CHECK_ONLY,
     {{TP, "4"}, {WEIGHT, "6"}},
     {{"gtp.weight_shards", WEIGHT, "6 weight shards", "a multiple of 4"}}},
    {"gtp.weight_shards is silent for 8", CHECK_ONLY, {{TP, "4"}, {WEIGHT, "8"}}, {{NULL}}},
    {"gtp.weight_shards is silent where they follow from t", CHECK_ONLY, {{TP, "4"}}, {{NULL}}},
    {"gtp.needs_sequence_parallel: 2 sequence shards, t = 2",
     CHECK_ONLY,
     {{TP, "2"}, {WEIGHT, "4"}, {SHARDS, "2"}},
     {{NEEDS, SPLIT, "2 sequence shards", "set sequence_parallel to true"}}},
    {"gtp.needs_sequence_parallel is silent with it",
     CHECK_ONLY,
     {{TP, "2"}, {WEIGHT, "4"}, {SHARDS, "2"}, {SPLIT, "true"}},
     {{NULL}}},
    {"gtp.needs_sequence_parallel is silent for 1 shard",
     CHECK_ONLY,
     {{TP, "2"}, {WEIGHT, "4"}, {SHARDS, "1"}},
     {{NULL}}},
    {"gtp.needs_sequence_parallel is silent for t = 1",
     CHECK_ONLY,
     {{WEIGHT, "4"}, {SHARDS, "4"}},
     {{NULL}}},
    {"gtp.shards: 3 sequence shards for T = 2",
     CHECK_ONLY,
     {{TP, "2"}, {SPLIT, "true"}, {WEIGHT, "12"}, {SHARDS, "3"}},
     {{"gtp.shards", SHARDS, "3 sequence shards are not a multiple of T = 2", "multiple of 2"}}},
    {"gtp.shards: q = 4 for 6 weight shards",
     CHECK_ONLY,
     {{WEIGHT, "6"}, {SHARDS, "4"}},
     {{"gtp.shards", SHARDS, "q = 4", "must divide weight_shards / t = 6"}}},
    {"gtp.shards is silent for q = 3 of 6", CHECK_ONLY, {{WEIGHT, "6"}, {SHARDS, "3"}}, {{NULL}}},
    {"gtp.shards is silent where gtp.needs_sequence_parallel fires",
     CHECK_ONLY,
     {{TP, "2"}, {WEIGHT, "2"}, {SHARDS, "3"}},
     {{NEEDS, SPLIT, "3 sequence shards", ""}}},
    {"gtp.shards is silent where gtp.weight_shards fires",
     CHECK_ONLY,
     {{TP, "2"}, {SPLIT, "true"}, {WEIGHT, "3"}, {SHARDS, "5"}},
     {{"gtp.weight_shards", WEIGHT, "3", ""}}},
    {"P = C x q counts in sequence.indivisible",
     CHECK_ONLY,
     {{CP, "2"}, {WEIGHT, "3"}, {SHARDS, "3"}, {LENGTH, "8"}},
     {{"sequence.indivisible", LENGTH, "8 is not a multiple of 12", "12"}}},
    {"no rule looks at P where the shards are wrong",
     CHECK_ONLY,
     {{CP, "2"}, {WEIGHT, "6"}, {SHARDS, "4"}, {LENGTH, "13"}, {"attention_cp_layout", "mirror"}},
     {{"gtp.shards", SHARDS, "q = 4", ""}}},
};

static const struct check heads[] = {
    {"tp.indivisible_heads: 6 heads, t = 4",
     CHECK_ONLY,
     {{TP, "4"}, {HEADS, "6"}},
     {{"tp.indivisible_heads", HEADS, "6 attention heads", "must divide"}}},
    {"tp.indivisible_heads is silent for 8", CHECK_ONLY, {{TP, "4"}, {HEADS, "8"}}, {{NULL}}},
    {"tp.indivisible_heads: 6 groups, t = 4",
     CHECK_ONLY,
     {{TP, "4"}, {GROUPS, "6"}},
     {{"tp.indivisible_heads", GROUPS, "6 query groups", "must divide the other"}}},
    {"tp.indivisible_heads is silent for 2 groups that 4 ranks share",
     CHECK_ONLY,
     {{TP, "4"}, {GROUPS, "2"}},
     {{NULL}}},
    {"tp.indivisible_heads is silent for 8 groups over 4 ranks",
     CHECK_ONLY,
     {{TP, "4"}, {GROUPS, "8"}},
     {{NULL}}},
    {"tp.indivisible_heads: both, in the order of the options",
     CHECK_ONLY,
     {{TP, "4"}, {GROUPS, "3"}, {HEADS, "9"}},
     {{"tp.indivisible_heads", HEADS, "9", ""}, {"tp.indivisible_heads", GROUPS, "3", ""}}},
    {"tp.indivisible_heads is silent for 0, unknown",
     CHECK_ONLY,
     {{TP, "4"}, {GROUPS, "0"}, {HEADS, "0"}},
     {{NULL}}},
};

static const struct check splits[] = {
    {"sequence.parallel_without_tp",
     1,
     {{SPLIT, "true"}},
     {{WITHOUT, SPLIT, "tensor_model_parallel_size is 1", TP}}},
    {"sequence.parallel_without_tp is silent for t = 2", 2, {{SPLIT, "true"}, {TP, "2"}}, {{NULL}}},
    {"a warning comes after the errors, and the record holds the error",
     2,
     {{CP, "2"}, {SPLIT, "true"}, {LENGTH, "13"}},
     {{"sequence.indivisible", LENGTH, "13", ""}, {WITHOUT, SPLIT, "", ""}}},
    {"option.type: P * T is above 65536",
     CHECK_ONLY,
     {{CP, "65536"}, {TP, "2"}, {SPLIT, "true"}},
     {{"option.type", CP, "65536 * 2", "at most 65536 ranks"}}},
    {"P * t is above 65536, but T is 1", CHECK_ONLY, {{CP, "65536"}, {TP, "2"}}, {{NULL}}},
    {"option.type: P * T is above 65536 by sequence shards",
     CHECK_ONLY,
     {{CP, "65536"}, {WEIGHT, "2"}, {SHARDS, "2"}},
     {{"option.type", CP, "P * T = 131072", "at most 65536 ranks"}}},
};

int main(void)
{
    FINDINGS_TEST_ALL(groups)
    FINDINGS_TEST_ALL(worlds)
    FINDINGS_TEST_ALL(shards)
    FINDINGS_TEST_ALL(heads)
    FINDINGS_TEST_ALL(splits)
    return tap_end();
}
