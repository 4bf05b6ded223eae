/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option table, in the order in which options are listed and findings name them. Names follow
 * Megatron-LM where it has one.
 */
#include "base/options.h"

#include <stddef.h>

#include "base/limits.h"

static const struct cpl_option_spec specs[CPL_OPTION_COUNT] = {
    [CPL_OPTION_CONTEXT_PARALLEL_SIZE] =
        {
            .name = "context_parallel_size",
            .synonyms = "cp",
            .type = CPL_TYPE_INTEGER,
            .default_value = "1",
            .help = "ranks that share one sequence, as configured (C)",
            .least = 1,
            .most = CPL_RANKS_MOST,
        },
    [CPL_OPTION_TENSOR_MODEL_PARALLEL_SIZE] =
        {
            .name = "tensor_model_parallel_size",
            .synonyms = "tp",
            .type = CPL_TYPE_INTEGER,
            .default_value = "1",
            .help = "ranks that share every layer's weights (t)",
            .least = 1,
            .most = CPL_RANKS_MOST,
        },
    [CPL_OPTION_PIPELINE_MODEL_PARALLEL_SIZE] =
        {
            .name = "pipeline_model_parallel_size",
            .synonyms = "pp",
            .type = CPL_TYPE_INTEGER,
            .default_value = "1",
            .help = "pipeline stages",
            .least = 1,
            .most = CPL_RANKS_MOST,
        },
    [CPL_OPTION_WORLD_SIZE] =
        {
            .name = "world_size",
            .type = CPL_TYPE_INTEGER,
            .default_value = "0",
            .help = "ranks of the whole job; 0 if unknown",
            .least = 0,
            .most = INT32_MAX,
            .unknown = true,
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
            .help =
                "layout in which a layer stack receives and returns hidden states; the linear layout if not set",
        },
    [CPL_OPTION_ATTENTION_ACCEPTS] =
        {
            .name = "attention_accepts",
            .type = CPL_TYPE_CHOICE,
            .default_value = "zigzag",
            .values = "zigzag, any",
            .help = "what the attention kernel can run on: two zigzag chunks, or any fragments",
        },
    [CPL_OPTION_CP_COMM_TYPE] =
        {
            .name = "cp_comm_type",
            .type = CPL_TYPE_CHOICE,
            .default_value = "p2p",
            .values = "p2p, all_gather, a2a",
            .help = "how attention gets keys and values of other ranks",
        },
    [CPL_OPTION_LINEAR_CP_MODE] =
        {
            .name = "linear_cp_mode",
            .type = CPL_TYPE_CHOICE,
            .default_value = "chunkwise",
            .values = "chunkwise, headwise",
            .help =
                "how linear attention is split: by rows, or by heads, where the module gathers the sequence and undoes zigzag itself",
        },
    [CPL_OPTION_LINEAR_CHAIN] =
        {
            .name = "linear_chain",
            .type = CPL_TYPE_CHOICE,
            .default_value = "rank",
            .values = "rank, table",
            .help = "how the scan finds its neighbours: slice r on rank r, or by the chain",
        },
    [CPL_OPTION_RECEIVER] =
        {
            .name = "receiver",
            .type = CPL_TYPE_CHOICE,
            .default_value = "hybrid",
            .values = "hybrid, gpt",
            .help =
                "what the model takes: the boundary view and an attention view, or one batch in the attention layout",
        },
    [CPL_OPTION_HYBRID_LAYER_PATTERN] =
        {
            .name = "hybrid_layer_pattern",
            .synonyms = "hybrid_override_pattern",
            .deprecated = "hybrid_override_pattern",
            .type = CPL_TYPE_PATTERN,
            .default_value = "",
            .values =
                "M G K L linear, * + D C H W attention, - MLP, E mixture of experts, | stage border, / MTP part, [ ] one logical layer",
            .help = "one symbol per layer; unknown if not set",
            .unknown = true,
        },
    [CPL_OPTION_LINEAR_ATTENTION_FREQ] =
        {
            .name = "linear_attention_freq",
            .type = CPL_TYPE_LIST,
            .default_value = "0",
            .values = "0 ... 2147483647, list of 0 and 1",
            .help =
                "linear layers of a GPT model: every N-th layer is softmax attention, or 1 linear and 0 softmax per layer; 0 if there are none",
            .most = INT32_MAX,
        },
    [CPL_OPTION_MTP_NUM_LAYERS] =
        {
            .name = "mtp_num_layers",
            .type = CPL_TYPE_INTEGER,
            .default_value = "0",
            .help = "multi-token prediction parts",
            .least = 0,
            .most = INT32_MAX,
        },
    [CPL_OPTION_HYBRID_CONTEXT_PARALLEL] =
        {
            .name = "hybrid_context_parallel",
            .synonyms = "dynamic_context_parallel",
            .type = CPL_TYPE_BOOL,
            .default_value = "false",
            .values = "true, false",
            .help = "every sample has a context-parallel size of its own",
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
            .synonyms = "seq",
            .type = CPL_TYPE_INTEGER,
            .default_value = "0",
            .help = "tokens of one sequence (S); 0 if unknown",
            .least = 0,
            .most = INT64_C(0xffffffff),
            .unknown = true,
        },
    [CPL_OPTION_MICRO_BATCH_SIZE] =
        {
            .name = "micro_batch_size",
            .type = CPL_TYPE_INTEGER,
            .default_value = "1",
            .help = "sequences of one batch (B)",
            .least = 1,
            .most = INT32_MAX,
        },
    [CPL_OPTION_USE_PER_SEQUENCE_BALANCING] =
        {
            .name = "use_per_sequence_balancing",
            .type = CPL_TYPE_BOOL,
            .default_value = "false",
            .values = "true, false",
            .help =
                "asks for zigzag over the whole stream as Megatron-LM does; checked only: name zigzag-stream instead",
        },
    [CPL_OPTION_ATTENTION_MASK_IN_BATCH] =
        {
            .name = "attention_mask_in_batch",
            .type = CPL_TYPE_BOOL,
            .default_value = "false",
            .values = "true, false",
            .help = "batches carry a dense attention mask",
        },
    [CPL_OPTION_HIDDEN_SIZE] =
        {
            .name = "hidden_size",
            .type = CPL_TYPE_INTEGER,
            .default_value = "0",
            .help = "elements of a hidden state; 0 if unknown",
            .least = 0,
            .most = INT32_MAX,
            .unknown = true,
        },
    [CPL_OPTION_NUM_ATTENTION_HEADS] =
        {
            .name = "num_attention_heads",
            .type = CPL_TYPE_INTEGER,
            .default_value = "0",
            .help = "heads of softmax attention; 0 if unknown",
            .least = 0,
            .most = INT32_MAX,
            .unknown = true,
        },
    [CPL_OPTION_NUM_QUERY_GROUPS] =
        {
            .name = "num_query_groups",
            .type = CPL_TYPE_INTEGER,
            .default_value = "0",
            .help = "key/value heads of softmax attention; 0 if unknown",
            .least = 0,
            .most = INT32_MAX,
            .unknown = true,
        },
    [CPL_OPTION_MAMBA_NUM_HEADS] =
        {
            .name = "mamba_num_heads",
            .type = CPL_TYPE_INTEGER,
            .default_value = "0",
            .help = "heads of linear attention; 0 if unknown",
            .least = 0,
            .most = INT32_MAX,
            .unknown = true,
        },
    [CPL_OPTION_MAMBA_NUM_GROUPS] =
        {
            .name = "mamba_num_groups",
            .type = CPL_TYPE_INTEGER,
            .default_value = "0",
            .help = "groups of linear attention that share B and C; 0 if unknown",
            .least = 0,
            .most = INT32_MAX,
            .unknown = true,
        },
    [CPL_OPTION_ACTIVATION_DTYPE] =
        {
            .name = "activation_dtype",
            .type = CPL_TYPE_CHOICE,
            .default_value = "bf16",
            .values = "fp32, fp16, bf16",
            .help = "type of activations",
        },
    [CPL_OPTION_FP8_RECIPE] =
        {
            .name = "fp8_recipe",
            .type = CPL_TYPE_CHOICE,
            .default_value = "none",
            .values = "none, tensorwise, blockwise, mxfp8",
            .help = "how matrix products are quantised",
        },
    [CPL_OPTION_ROW_UNIT] =
        {
            .name = "row_unit",
            .type = CPL_TYPE_INTEGER,
            .default_value = "1",
            .help = "rows of a context-parallel rank are a multiple of it",
            .least = 1,
            .most = INT32_MAX,
        },
    [CPL_OPTION_CUDA_GRAPH] =
        {
            .name = "cuda_graph",
            .type = CPL_TYPE_CHOICE,
            .default_value = "none",
            .values = "none, partial, full_iteration",
            .help = "what is captured in CUDA graphs",
        },
    [CPL_OPTION_GRAPH_CAPACITY] =
        {
            .name = "graph_capacity",
            .type = CPL_TYPE_INTEGER,
            .default_value = "0",
            .help =
                "rows of messages of fixed capacity, so that packed conversions can replay; 0 for none",
            .least = 0,
            .most = INT64_C(0xffffffff),
        },
    [CPL_OPTION_WEIGHT_SHARDS] =
        {
            .name = "weight_shards",
            .type = CPL_TYPE_INTEGER,
            .default_value = "",
            .help = "ranks that a weight is sharded over; t if not set",
            .least = 1,
            .most = CPL_RANKS_MOST,
        },
    [CPL_OPTION_SEQUENCE_SHARDS] =
        {
            .name = "sequence_shards",
            .synonyms = "tensor_parallel_num_sequence_shards",
            .type = CPL_TYPE_INTEGER,
            .default_value = "",
            .help =
                "parts of a sequence inside a weight group; T if not set. P = C x sequence_shards / T",
            .least = 1,
            .most = CPL_RANKS_MOST,
        },
    [CPL_OPTION_TP_COMM_OVERLAP] =
        {
            .name = "tp_comm_overlap",
            .type = CPL_TYPE_BOOL,
            .default_value = "false",
            .values = "true, false",
            .help =
                "tensor-parallel communication overlaps with products, in buffers of one length",
        },
    [CPL_OPTION_MAX_SEQUENCE_LENGTH] =
        {
            .name = "max_sequence_length",
            .type = CPL_TYPE_INTEGER,
            .default_value = "0",
            .help = "length of those buffers; 0 if unknown",
            .least = 0,
            .most = INT64_C(0xffffffff),
            .unknown = true,
        },
    [CPL_OPTION_SCHEDULE_POLICY] =
        {
            .name = "schedule_policy",
            .type = CPL_TYPE_CHOICE,
            .default_value = "strict",
            .values = "strict, minimal",
            .help =
                "strict: stages begin and end in the boundary layout; minimal: MLP takes the current layout, stages hand over as they are",
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
            .help = "what padding holds in the field tokens",
            .least = INT32_MIN,
            .most = INT32_MAX,
        },
    [CPL_OPTION_PAD_LABEL] =
        {
            .name = "pad_label",
            .type = CPL_TYPE_INTEGER,
            .default_value = "-100",
            .help = "what padding holds in the field labels",
            .least = INT32_MIN,
            .most = INT32_MAX,
        },
};

const struct cpl_option_spec *cpl_option_spec(enum cpl_option_id id)
{
    return &specs[id];
}
