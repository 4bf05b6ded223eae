/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about what the model's layers can run on: each where it fires, and the nearest configuration
 * where it does not.
 */
#include "threads/findings.h"

#define CP        "context_parallel_size"
#define TP        "tensor_model_parallel_size"
#define LINEAR    "linear_cp_layout"
#define ATTENTION "attention_cp_layout"
#define BOUNDARY  "boundary_cp_layout"
#define ACCEPTS   "attention_accepts"
#define COMM      "cp_comm_type"
#define MODE      "linear_cp_mode"
#define CHAIN     "linear_chain"
#define RECEIVER  "receiver"
#define PATTERN   "hybrid_layer_pattern"
#define FREQUENCY "linear_attention_freq"
#define MTP       "mtp_num_layers"
#define HYBRID_CP "hybrid_context_parallel"
#define HEADS     "num_attention_heads"
#define MAMBA     "mamba_num_heads"
#define GROUPS    "mamba_num_groups"

#define UNSUPPORTED "attention.layout_unsupported"
#define NO_CHAIN    "linear.chain_unsupported"
#define HEADWISE    "linear.headwise_layout"
#define SPLIT_HEADS "linear.headwise_heads"
#define IGNORED     "receiver.linear_unsupported"
#define NORMALISED  "receiver.normalised"

static const struct check patterns[] = {
    {"pattern.mtp: parts that differ",
     CHECK_ONLY,
     {{PATTERN, "M*/M/E"}},
     {{"pattern.mtp", MTP, "differ", ""}}},
    {"pattern.mtp is silent for parts that are alike", CHECK_ONLY, {{PATTERN, "M*/M/M"}}, {{NULL}}},
    {"pattern.mtp: 2 parts, but 1 is asked for",
     CHECK_ONLY,
     {{PATTERN, "M*/M/M"}, {MTP, "1"}},
     {{"pattern.mtp", MTP, "2 MTP parts, but mtp_num_layers is 1", "2"}}},
    {"pattern.mtp: 1 part, but 0 are asked for",
     CHECK_ONLY,
     {{PATTERN, "M*/M"}, {MTP, "0"}},
     {{"pattern.mtp", MTP, "1 MTP part, but mtp_num_layers is 0", "1"}}},
    {"pattern.mtp is silent for 2 parts of 2",
     CHECK_ONLY,
     {{PATTERN, "M*/M/M"}, {MTP, "2"}},
     {{NULL}}},
    {"pattern.mtp is silent without parts", CHECK_ONLY, {{PATTERN, "M*"}, {MTP, "2"}}, {{NULL}}},
    {"pattern.mtp: a stage border in a part",
     CHECK_ONLY,
     {{PATTERN, "M*/M|M"}},
     {{"pattern.mtp", MTP, "stage borders", ""}}},
    {"pattern.mtp: a logical layer in a part",
     CHECK_ONLY,
     {{PATTERN, "M*/[M-]"}},
     {{"pattern.mtp", MTP, "logical layers", ""}}},
    {"pattern.mtp is silent for a pattern that cannot be read",
     CHECK_ONLY,
     {{PATTERN, "M?/M/E"}},
     {{"pattern.symbol", PATTERN, "'?' at index 1", ""}}},
};

static const struct check attention[] = {
    {"attention.layout_unsupported: contiguous",
     2,
     {{CP, "2"}, {ATTENTION, "contiguous"}},
     {{UNSUPPORTED, ATTENTION, "'contiguous'", ACCEPTS}}},
    {"attention.layout_unsupported: mirror",
     2,
     {{CP, "2"}, {ATTENTION, "mirror"}},
     {{UNSUPPORTED, ATTENTION, "'mirror'", ACCEPTS}}},
    {"attention.layout_unsupported: zigzag-stream",
     2,
     {{CP, "2"}, {ATTENTION, "zigzag-stream"}},
     {{UNSUPPORTED, ATTENTION, "'zigzag-stream'", ACCEPTS}}},
    {"attention.layout_unsupported: striped and balanced",
     2,
     {{CP, "2"}, {ATTENTION, "striped:4"}},
     {{UNSUPPORTED, ATTENTION, "'striped:4'", ACCEPTS}}},
    {"attention.layout_unsupported is silent where any fragments will do",
     2,
     {{CP, "2"}, {ATTENTION, "contiguous"}, {ACCEPTS, "any"}},
     {{NULL}}},
    {"attention.layout_unsupported is silent for zigzag",
     2,
     {{CP, "2"}, {ATTENTION, "zigzag"}, {LINEAR, "contiguous"}},
     {{NULL}}},
    {"attention.layout_unsupported is silent at P = 1", 1, {{ATTENTION, "contiguous"}}, {{NULL}}},
    {"attention.a2a_heads: 6 heads over P = 4",
     4,
     {{CP, "4"}, {COMM, "a2a"}, {HEADS, "6"}},
     {{"attention.a2a_heads", HEADS, "6 over t = 1 and P = 4", COMM}}},
    {"attention.a2a_heads is silent for 8", 4, {{CP, "4"}, {COMM, "a2a"}, {HEADS, "8"}}, {{NULL}}},
    {"attention.a2a_heads is silent for p2p", 4, {{CP, "4"}, {HEADS, "6"}}, {{NULL}}},
    {"attention.a2a_heads: 8 heads over t = 4 and P = 4",
     CHECK_ONLY,
     {{CP, "4"}, {TP, "4"}, {COMM, "a2a"}, {HEADS, "8"}},
     {{"attention.a2a_heads", HEADS, "8 over t = 4 and P = 4", "t x P = 16"}}},
    {"attention.a2a_heads is silent for 0, unknown", 4, {{CP, "4"}, {COMM, "a2a"}}, {{NULL}}},
};

static const struct check chains[] = {
    {"linear.chain_unsupported: mirror",
     2,
     {{CP, "2"}, {LINEAR, "mirror"}},
     {{NO_CHAIN, LINEAR, "'mirror'", CHAIN}}},
    {"linear.chain_unsupported: balanced",
     2,
     {{CP, "2"}, {LINEAR, "balanced:0.1"}},
     {{NO_CHAIN, LINEAR, "'balanced:0.1", CHAIN}}},
    {"linear.chain_unsupported is silent where the scan follows the chain",
     2,
     {{CP, "2"}, {LINEAR, "mirror"}, {CHAIN, "table"}},
     {{NULL}}},
    {"linear.chain_unsupported is silent for contiguous",
     2,
     {{CP, "2"}, {LINEAR, "contiguous"}, {CHAIN, "rank"}},
     {{NULL}}},
    {"linear.chain_unsupported is silent for a boundary in mirror",
     2,
     {{CP, "2"}, {LINEAR, "contiguous"}, {BOUNDARY, "mirror"}},
     {{NULL}}},
};

static const struct check headwise[] = {
    {"linear.headwise_layout: mirror",
     2,
     {{CP, "2"}, {LINEAR, "mirror"}, {CHAIN, "table"}, {MODE, "headwise"}},
     {{HEADWISE, LINEAR, "'mirror'", MODE}}},
    {"linear.headwise_layout is silent for contiguous",
     2,
     {{CP, "2"}, {LINEAR, "contiguous"}, {MODE, "headwise"}},
     {{NULL}}},
    {"linear.headwise_layout is silent for zigzag", 2, {{CP, "2"}, {MODE, "headwise"}}, {{NULL}}},
    {"linear.headwise_layout is silent for chunkwise",
     2,
     {{CP, "2"}, {LINEAR, "mirror"}, {CHAIN, "table"}, {MODE, "chunkwise"}},
     {{NULL}}},
    {"linear.headwise_heads: 6 heads over P = 4",
     4,
     {{CP, "4"}, {MODE, "headwise"}, {MAMBA, "6"}},
     {{SPLIT_HEADS, MAMBA, "6 over t = 1 and P = 4", "t x P = 4"}}},
    {"linear.headwise_heads is silent for 8",
     4,
     {{CP, "4"}, {MODE, "headwise"}, {MAMBA, "8"}},
     {{NULL}}},
    {"linear.headwise_heads is silent for chunkwise", 4, {{CP, "4"}, {MAMBA, "6"}}, {{NULL}}},
    {"linear.headwise_heads: 6 groups, t = 4",
     CHECK_ONLY,
     {{CP, "2"}, {TP, "4"}, {MODE, "headwise"}, {GROUPS, "6"}},
     {{SPLIT_HEADS, GROUPS, "6 groups cannot be split over tensor_model_parallel_size 4", ""}}},
    {"linear.headwise_heads: 6 groups on a rank, P = 4",
     4,
     {{CP, "4"}, {MODE, "headwise"}, {GROUPS, "6"}},
     {{SPLIT_HEADS, GROUPS, "6 groups", "must divide the other"}}},
    {"linear.headwise_heads is silent for 2 groups that 4 ranks share",
     4,
     {{CP, "4"}, {MODE, "headwise"}, {GROUPS, "2"}},
     {{NULL}}},
    {"linear.headwise_heads is silent for 8 groups over 4 ranks",
     4,
     {{CP, "4"}, {MODE, "headwise"}, {GROUPS, "8"}},
     {{NULL}}},
    {"linear.headwise_heads: heads and groups",
     4,
     {{CP, "4"}, {MODE, "headwise"}, {MAMBA, "6"}, {GROUPS, "3"}},
     {{SPLIT_HEADS, MAMBA, "6", ""}, {SPLIT_HEADS, GROUPS, "3", ""}}},
    {"linear.hybrid_cp: contiguous",
     2,
     {{CP, "2"}, {LINEAR, "contiguous"}, {HYBRID_CP, "true"}},
     {{"linear.hybrid_cp", LINEAR, "'contiguous'", HYBRID_CP}}},
    {"linear.hybrid_cp under Megatron's other name",
     2,
     {{CP, "2"}, {LINEAR, "contiguous"}, {"dynamic_context_parallel", "true"}},
     {{"linear.hybrid_cp", LINEAR, "'contiguous'", HYBRID_CP}}},
    {"linear.hybrid_cp is silent for zigzag", 2, {{CP, "2"}, {HYBRID_CP, "true"}}, {{NULL}}},
    {"linear.hybrid_cp is silent without it",
     2,
     {{CP, "2"}, {LINEAR, "contiguous"}, {HYBRID_CP, "false"}},
     {{NULL}}},
};

static const struct check receivers[] = {
    {"receiver.linear_unsupported: linear layers in the pattern",
     2,
     {{CP, "2"}, {RECEIVER, "gpt"}, {LINEAR, "contiguous"}, {PATTERN, "M*"}},
     {{IGNORED, LINEAR, "'contiguous'", ""}}},
    {"receiver.linear_unsupported: linear layers by frequency",
     2,
     {{CP, "2"}, {RECEIVER, "gpt"}, {LINEAR, "contiguous"}, {FREQUENCY, "4"}},
     {{IGNORED, LINEAR, "'contiguous'", ""}}},
    {"receiver.linear_unsupported: linear layers by list",
     2,
     {{CP, "2"}, {RECEIVER, "gpt"}, {LINEAR, "contiguous"}, {FREQUENCY, "[0,1,0]"}},
     {{IGNORED, LINEAR, "'contiguous'", ""}}},
    {"receiver.normalised: a frequency of 1 has no linear layer",
     2,
     {{CP, "2"}, {RECEIVER, "gpt"}, {LINEAR, "contiguous"}, {FREQUENCY, "1"}},
     {{NORMALISED, LINEAR, "becomes 'zigzag' instead of 'contiguous'", PATTERN}}},
    {"receiver.normalised: a list of zeros has no linear layer",
     2,
     {{CP, "2"}, {RECEIVER, "gpt"}, {LINEAR, "contiguous"}, {FREQUENCY, "0,0"}},
     {{NORMALISED, LINEAR, "becomes 'zigzag' instead of 'contiguous'", PATTERN}}},
    {"receiver.linear_unsupported is silent where the layouts are equal",
     2,
     {{CP, "2"}, {RECEIVER, "gpt"}, {PATTERN, "M*"}},
     {{NULL}}},
    {"receiver.linear_unsupported is silent for hybrid",
     2,
     {{CP, "2"}, {LINEAR, "contiguous"}, {PATTERN, "M*"}},
     {{NULL}}},
    {"receiver.boundary: another one than attention's",
     2,
     {{CP, "2"}, {RECEIVER, "gpt"}, {BOUNDARY, "contiguous"}},
     {{"receiver.boundary", BOUNDARY, "'contiguous'", "zigzag"}}},
    {"receiver.boundary is silent for attention's",
     2,
     {{CP, "2"}, {RECEIVER, "gpt"}, {BOUNDARY, "zigzag"}},
     {{NULL}}},
    {"receiver.boundary is silent where it follows from the linear layout",
     2,
     {{CP, "2"}, {RECEIVER, "gpt"}, {LINEAR, "contiguous"}},
     {{NORMALISED, LINEAR, "becomes 'zigzag'", PATTERN}}},
    {"receiver.boundary is silent for hybrid", 2, {{CP, "2"}, {BOUNDARY, "mirror"}}, {{NULL}}},
    {"receiver.normalised is silent at P = 1",
     1,
     {{RECEIVER, "gpt"}, {LINEAR, "contiguous"}},
     {{NULL}}},
    {"no receiver rule looks at a pattern that is wrong",
     2,
     {{CP, "2"}, {RECEIVER, "gpt"}, {LINEAR, "contiguous"}, {PATTERN, "M?"}},
     {{"pattern.symbol", PATTERN, "'?'", ""}}},
    {"linear.unused: no linear layer in the pattern",
     2,
     {{CP, "2"}, {LINEAR, "contiguous"}, {PATTERN, "*-*E"}},
     {{"linear.unused", LINEAR, "no layer of hybrid_layer_pattern is linear", "zigzag"}}},
    {"linear.unused is silent with one",
     2,
     {{CP, "2"}, {LINEAR, "contiguous"}, {PATTERN, "*-M"}},
     {{NULL}}},
    {"linear.unused is silent without a pattern", 2, {{CP, "2"}, {LINEAR, "contiguous"}}, {{NULL}}},
    {"linear.unused is silent where the layouts are equal",
     2,
     {{CP, "2"}, {PATTERN, "*-*"}},
     {{NULL}}},
};

int main(void)
{
    FINDINGS_TEST_ALL(patterns)
    FINDINGS_TEST_ALL(attention)
    FINDINGS_TEST_ALL(chains)
    FINDINGS_TEST_ALL(headwise)
    FINDINGS_TEST_ALL(receivers)
    return tap_end();
}
