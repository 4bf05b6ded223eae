/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes of a registration that is right: which options ranks must agree in, P under sequence
 * shards, and the layouts of the receiver gpt.
 */
#include <stdio.h>
#include <string.h>

#include "threads/host.h"

enum { SETTINGS = 6, RANKS_MOST = 8 };

/* One registration of a rank of a group. */
struct entry {
    struct cplayout_option settings[SETTINGS];
    struct cplayout_context *context;
    struct cplayout_error error;
    int32_t status;
};

struct roll {
    struct cplayout_local_group *group;
    struct entry entries[RANKS_MOST];
};

static void enrol(void *self, int32_t rank)
{
    struct roll *const roll = self;
    struct entry *const entry = &roll->entries[rank];
    struct cplayout_host record = host_record();
    struct cplayout_create_args args = {.size = sizeof(args),
                                        .host = &record,
                                        .options = entry->settings};

    while (args.option_count < SETTINGS && entry->settings[args.option_count].name != NULL) {
        args.option_count++;
    }
    record.local_group = roll->group;
    record.rank = rank;
    entry->error = (struct cplayout_error){.size = sizeof(entry->error)};
    entry->status = host_core()->create(&args, &entry->context, &entry->error);
}

static void roll_open(struct roll *roll, int32_t ranks)
{
    tap_require(host_core()->local_group_create(NULL, ranks, &roll->group, NULL) == CPLAYOUT_OK,
                "no group");
    tap_ranks(ranks, enrol, roll);
}

static void roll_close(struct roll *roll)
{
    for (int32_t i = 0; i < RANKS_MOST; i++) {
        host_core()->destroy(roll->entries[i].context);
    }
    host_core()->local_group_destroy(roll->group);
    *roll = (struct roll){.group = NULL};
}

/* ---- Agreement ------------------------------------------------------------------------------- */

/* Two legal values of an option that are two configurations, with what makes them legal. */
struct difference {
    const char *option;
    const char *values[2];
    struct cplayout_option beside[3];
};

#define BESIDE   \
    {            \
        {        \
            NULL \
        }        \
    }

/* Every option but the sizes, which the group's size settles, and timeout_seconds. */
static const struct difference differences[] = {
    {"pipeline_model_parallel_size", {"1", "2"}, BESIDE},
    {"tensor_model_parallel_size", {"1", "2"}, BESIDE},
    {"world_size", {"0", "2"}, BESIDE},
    {"linear_cp_layout", {"zigzag", "contiguous"}, BESIDE},
    {"attention_cp_layout", {"zigzag", "contiguous"}, {{"attention_accepts", "any"}}},
    {"attention_cp_layout",
     {"balanced:0.0624847449", "balanced:0.0624847448"},
     {{"attention_accepts", "any"}}},
    {"boundary_cp_layout", {"zigzag", "contiguous"}, BESIDE},
    {"attention_accepts", {"zigzag", "any"}, BESIDE},
    {"cp_comm_type", {"p2p", "a2a"}, BESIDE},
    {"linear_cp_mode", {"chunkwise", "headwise"}, BESIDE},
    {"linear_chain", {"rank", "table"}, BESIDE},
    {"receiver", {"hybrid", "gpt"}, BESIDE},
    {"hybrid_layer_pattern", {"M*", "M*M"}, BESIDE},
    {"linear_attention_freq", {"2", "3"}, BESIDE},
    {"linear_attention_freq", {"0,1", "1,1"}, BESIDE},
    {"mtp_num_layers", {"0", "1"}, BESIDE},
    {"hybrid_context_parallel", {"false", "true"}, BESIDE},
    {"qkv_format", {"sbhd", "thd"}, BESIDE},
    {"seq_length", {"8", "16"}, BESIDE},
    {"micro_batch_size", {"1", "2"}, BESIDE},
    {"use_per_sequence_balancing", {"false", "true"}, BESIDE},
    {"attention_mask_in_batch", {"false", "true"}, BESIDE},
    {"hidden_size", {"64", "128"}, BESIDE},
    {"num_attention_heads", {"4", "8"}, BESIDE},
    {"num_query_groups", {"4", "8"}, BESIDE},
    {"mamba_num_heads", {"4", "8"}, BESIDE},
    {"mamba_num_groups", {"4", "8"}, BESIDE},
    {"activation_dtype", {"bf16", "fp32"}, BESIDE},
    {"fp8_recipe", {"none", "mxfp8"}, BESIDE},
    {"row_unit", {"1", "2"}, BESIDE},
    {"cuda_graph", {"none", "partial"}, BESIDE},
    {"graph_capacity", {"0", "64"}, BESIDE},
    {"weight_shards", {"1", "2"}, BESIDE},
    {"tp_comm_overlap", {"false", "true"}, BESIDE},
    {"max_sequence_length", {"0", "16"}, BESIDE},
    {"schedule_policy", {"strict", "minimal"}, BESIDE},
    {"verify_plans", {"always", "first"}, BESIDE},
    {"pad_token_id", {"0", "1"}, BESIDE},
    {"pad_label", {"-100", "-1"}, BESIDE},
};

/* Two ranks, P = 2, that say `names` = `values`, and what goes beside. */
static void seat_two(struct roll *roll, const char *const *names, const char *const *values,
                     const struct cplayout_option *beside)
{
    for (int32_t rank = 0; rank < 2; rank++) {
        struct cplayout_option *const settings = roll->entries[rank].settings;

        settings[0] = (struct cplayout_option){"context_parallel_size", "2"};
        settings[1] = (struct cplayout_option){names[rank], values[rank]};
        for (int32_t i = 0; beside != NULL && i < 3; i++) {
            settings[2 + i] = beside[i];
        }
    }
    roll_open(roll, 2);
}

static void test_difference(const struct difference *difference)
{
    const char *const names[] = {difference->option, difference->option};
    struct roll roll = {.group = NULL};
    char text[128];

    tap_test("ranks must agree in %s: %s and %s", difference->option, difference->values[0],
             difference->values[1]);
    (void)snprintf(text, sizeof(text), "disagree in option %s", difference->option);
    seat_two(&roll, names, difference->values, difference->beside);
    for (int32_t rank = 0; rank < 2; rank++) {
        CHECK(roll.entries[rank].status == CPLAYOUT_ERROR_MISMATCH &&
                  strstr(roll.entries[rank].error.message, text) != NULL,
              "rank %d: status %d: %s", rank, roll.entries[rank].status,
              roll.entries[rank].error.message);
    }
    roll_close(&roll);
}

static void test_spellings(void)
{
    static const struct {
        const char *names[2];
        const char *values[2];
    } same[] = {
        {{"seq_length", "seq_length"}, {"8", "008"}},
        {{"tp_comm_overlap", "tp_comm_overlap"}, {"yes", "1"}},
        {{"linear_attention_freq", "linear_attention_freq"}, {"0,1", "[0,1]"}},
        {{"linear_attention_freq", "linear_attention_freq"}, {"3", "03"}},
        {{"attention_cp_layout", "boundary_cp_layout"}, {"zigzag", "zigzag"}},
        {{"dynamic_context_parallel", "hybrid_context_parallel"}, {"on", "true"}},
        {{"hybrid_override_pattern", "hybrid_layer_pattern"}, {"M*", "M*"}},
        {{"timeout_seconds", "timeout_seconds"}, {"20", "30"}},
        {{"weight_shards", "sequence_shards"}, {"1", "1"}},
    };
    struct roll roll = {.group = NULL};

    tap_test("ranks agree in values, however they spell them");
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        seat_two(&roll, same[i].names, same[i].values, NULL);
        for (int32_t rank = 0; rank < 2; rank++) {
            CHECK(roll.entries[rank].status == CPLAYOUT_OK, "%s = %s: %s", same[i].names[rank],
                  same[i].values[rank], roll.entries[rank].error.message);
        }
        roll_close(&roll);
    }
}

/* ---- Sizes and layouts ----------------------------------------------------------------------- */

static const struct cplayout_option *shards(void)
{
    static const struct cplayout_option options[SETTINGS] = {
        {"context_parallel_size", "2"},     {"weight_shards", "3"},
        {"sequence_shards", "3"},           {"seq_length", "24"},
        {"linear_cp_layout", "contiguous"},
    };

    return options;
}

static void check_sharded(const struct entry *entry)
{
    struct cplayout_partition_info info = {.size = sizeof(info)};
    const struct cplayout_partition *partition = NULL;
    const struct cplayout_batch_args args = {.size = sizeof(args)};
    struct cplayout_batch *batch = NULL;

    CHECK(host_core()->batch_create(entry->context, &args, &batch, NULL) == CPLAYOUT_OK &&
              host_views()->view_partition(batch, 0, &partition, NULL) == CPLAYOUT_OK,
          "no batch");
    host_plan()->partition_describe(partition, &info);
    CHECK(info.cp == 6 && info.tp == 1 && info.rows == 24, "P = %d and T = %d", info.cp, info.tp);
    host_core()->batch_destroy(batch);
}

static void make_batch(void *self, int32_t rank)
{
    const struct roll *const roll = self;

    check_sharded(&roll->entries[rank]);
}

static void test_shards(void)
{
    struct roll roll = {.group = NULL};
    int32_t created = 0;

    tap_test("P = C x q: 2 x 3 ranks share a sequence");
    for (int32_t rank = 0; rank < 6; rank++) {
        memcpy(roll.entries[rank].settings, shards(), sizeof(roll.entries[rank].settings));
    }
    roll_open(&roll, 6);
    for (int32_t rank = 0; rank < 6; rank++) {
        created += CHECK(roll.entries[rank].status == CPLAYOUT_OK, "rank %d: %s", rank,
                         roll.entries[rank].error.message);
    }
    if (created == 6) {
        tap_ranks(6, make_batch, &roll);
    }
    roll_close(&roll);
}

/* The handle of a role, -1 if there is none. */
static int32_t handle_of(struct cplayout_context *context, const char *name)
{
    int32_t layout = -1;

    (void)host_core()->layout(context, name, &layout, NULL);
    return layout;
}

static void test_receivers(void)
{
    static const struct cplayout_option settings[2][SETTINGS] = {
        {{"context_parallel_size", "2"}, {"linear_cp_layout", "contiguous"}, {"receiver", "gpt"}},
        {{"context_parallel_size", "2"}, {"linear_cp_layout", "contiguous"}},
    };
    struct roll roll = {.group = NULL};

    for (int32_t hybrid = 0; hybrid < 2; hybrid++) {
        tap_test("receiver %s has %s", hybrid ? "hybrid" : "gpt",
                 hybrid ? "two layouts" : "attention's layout alone");
        memcpy(roll.entries[0].settings, settings[hybrid], sizeof(settings[0]));
        memcpy(roll.entries[1].settings, settings[hybrid], sizeof(settings[0]));
        roll_open(&roll, 2);
        if (CHECK(roll.entries[0].status == CPLAYOUT_OK, "%s", roll.entries[0].error.message)) {
            struct cplayout_context *const context = roll.entries[0].context;

            CHECK((handle_of(context, "linear") == handle_of(context, "attention")) == !hybrid &&
                      handle_of(context, "boundary") == handle_of(context, "linear") &&
                      handle_of(context, "attention") == handle_of(context, "zigzag"),
                  "linear %d, attention %d, boundary %d", handle_of(context, "linear"),
                  handle_of(context, "attention"), handle_of(context, "boundary"));
        }
        roll_close(&roll);
    }
}

int main(void)
{
    for (size_t i = 0; i < sizeof(differences) / sizeof(differences[0]); i++) {
        test_difference(&differences[i]);
    }
    test_spellings();
    test_shards();
    test_receivers();
    return tap_end();
}
