/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of options agrees with what create accepts, and create refuses wrong arguments before it
 * looks at any option.
 */
#include <stdio.h>
#include <string.h>

#include "threads/host.h"

enum { OPTIONS_MOST = 64, ARGUMENT = CPLAYOUT_ERROR_ARGUMENT };

/* ---- The list ------------------------------------------------------------------------------- */

/* Strings of an option are valid during the visit alone. */
struct listing {
    int32_t count;
    struct cplayout_option_info infos[OPTIONS_MOST];
    char texts[OPTIONS_MOST][5][256];
};

static const char *keep(struct listing *listing, int32_t which, const char *text)
{
    char *const kept = listing->texts[listing->count][which];

    CHECK(strlen(text) < sizeof(listing->texts[0][0]), "'%s' is long", text);
    (void)snprintf(kept, sizeof(listing->texts[0][0]), "%s", text);
    return kept;
}

static void add_option(void *self, const struct cplayout_option_info *info)
{
    struct listing *const listing = self;

    CHECK(info->size == sizeof(*info), "an option's record has size %d", (int)info->size);
    if (CHECK(listing->count < OPTIONS_MOST, "more than %d options", OPTIONS_MOST)) {
        listing->infos[listing->count] = (struct cplayout_option_info){
            .name = keep(listing, 0, info->name),
            .type = keep(listing, 1, info->type),
            .default_value = keep(listing, 2, info->default_value),
            .values = keep(listing, 3, info->values),
            .help = keep(listing, 4, info->help),
        };
        listing->count++;
    }
}

static const struct cplayout_option_info *find(const struct listing *listing, const char *name)
{
    for (int32_t i = 0; i < listing->count; i++) {
        if (strcmp(listing->infos[i].name, name) == 0) {
            return &listing->infos[i];
        }
    }
    return NULL;
}

static int32_t create_with(const struct cplayout_option *option)
{
    const struct cplayout_host record = host_record();
    const struct cplayout_create_args args = {.size = sizeof(args),
                                              .host = &record,
                                              .options = option,
                                              .option_count = 1};
    struct cplayout_context *context = NULL;
    const int32_t status = host_core()->create(&args, &context, NULL);

    host_core()->destroy(context);
    return status;
}

static void check_option(const struct cplayout_option_info *info)
{
    static const char *const types[] = {"integer", "number", "boolean", "layout",
                                        "choice",  "list",   "pattern"};
    const struct cplayout_option option = {info->name, info->default_value};
    bool typed = false;

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        typed = typed || strcmp(info->type, types[i]) == 0;
    }
    CHECK(typed, "%s is of type '%s'", info->name, info->type);
    CHECK(info->values[0] != '\0' && info->help[0] != '\0', "%s lacks values or help", info->name);
    if (info->default_value[0] != '\0') {
        CHECK(create_with(&option) == CPLAYOUT_OK, "%s does not accept its default '%s'",
              info->name, info->default_value);
    }
}

static void test_listing(void)
{
    static const struct cplayout_option known[] = {
        {"context_parallel_size", "1"},
        {"tensor_model_parallel_size", "1"},
        {"pipeline_model_parallel_size", "1"},
        {"world_size", "0"},
        {"sequence_parallel", "false"},
        {"linear_cp_layout", "zigzag"},
        {"attention_cp_layout", "zigzag"},
        {"boundary_cp_layout", ""},
        {"attention_accepts", "zigzag"},
        {"cp_comm_type", "p2p"},
        {"linear_cp_mode", "chunkwise"},
        {"linear_chain", "rank"},
        {"receiver", "hybrid"},
        {"hybrid_layer_pattern", ""},
        {"linear_attention_freq", "0"},
        {"mtp_num_layers", "0"},
        {"hybrid_context_parallel", "false"},
        {"qkv_format", "sbhd"},
        {"seq_length", "0"},
        {"micro_batch_size", "1"},
        {"use_per_sequence_balancing", "false"},
        {"attention_mask_in_batch", "false"},
        {"hidden_size", "0"},
        {"num_attention_heads", "0"},
        {"num_query_groups", "0"},
        {"mamba_num_heads", "0"},
        {"mamba_num_groups", "0"},
        {"activation_dtype", "bf16"},
        {"fp8_recipe", "none"},
        {"row_unit", "1"},
        {"cuda_graph", "none"},
        {"graph_capacity", "0"},
        {"weight_shards", ""},
        {"sequence_shards", ""},
        {"tp_comm_overlap", "false"},
        {"max_sequence_length", "0"},
        {"schedule_policy", "strict"},
        {"verify_plans", "always"},
        {"timeout_seconds", "600"},
        {"pad_token_id", "0"},
        {"pad_label", "-100"},
    };
    struct listing listing = {0};

    tap_test("the list of options, with types and defaults that create accepts");
    host_core()->options(add_option, &listing);
    CHECK(listing.count == sizeof(known) / sizeof(known[0]), "%d options", listing.count);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const struct cplayout_option_info *const info = find(&listing, known[i].name);

        if (CHECK(info != NULL, "%s is not listed", known[i].name)) {
            CHECK(strcmp(info->default_value, known[i].value) == 0, "the default of %s is '%s'",
                  known[i].name, info->default_value);
            check_option(info);
        }
    }
}

/* ---- Arguments of create -------------------------------------------------------------------- */

static void count_finding(void *self, const struct cplayout_diagnostic *diagnostic)
{
    (void)diagnostic;
    ++*(int32_t *)self;
}

/* Checks that create refuses, with a message, without a context and without a finding. */
static void refuse(struct cplayout_create_args *args, int32_t expected, const char *text)
{
    struct cplayout_context *context = NULL;
    struct cplayout_error error = {.size = sizeof(error)};
    int32_t findings = 0;
    int32_t status;

    args->diagnose = count_finding;
    args->diagnose_self = &findings;
    status = host_core()->create(args, &context, &error);
    CHECK(status == expected && error.status == status && context == NULL && findings == 0,
          "status %d, %d findings: %s", status, findings, error.message);
    CHECK(strstr(error.message, text) != NULL, "'%s' is not in '%s'", text, error.message);
}

static void test_create(void)
{
    static const struct cplayout_option nameless[] = {{"seq_length", "8"}, {NULL, "8"}};
    static const struct cplayout_option valueless[] = {{"seq_length", NULL}};
    const struct cplayout_host record = host_record();
    struct cplayout_create_args args = {.size = sizeof(args), .host = &record};
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_context *context = NULL;

    tap_test("wrong arguments of create");
    CHECK(host_core()->create(NULL, &context, &error) == ARGUMENT &&
              strstr(error.message, "args") != NULL,
          "'%s'", error.message);
    CHECK(host_core()->create(&args, NULL, &error) == ARGUMENT &&
              strstr(error.message, "context") != NULL,
          "'%s'", error.message);
    args.option_count = 1;
    refuse(&args, ARGUMENT, "options must not be NULL");
    args.options = valueless;
    refuse(&args, ARGUMENT, "options[0]");
    args.options = nameless;
    args.option_count = 2;
    refuse(&args, ARGUMENT, "options[1]");
    args.size -= 8;
    refuse(&args, ARGUMENT, "args.size is");
    args.size = 0;
    refuse(&args, ARGUMENT, "args.size is 0");
}

static void test_host(void)
{
    struct cplayout_host record = host_record();
    struct cplayout_create_args args = {.size = sizeof(args), .host = &record};

    tap_test("wrong host records of create");
    record.size -= 8;
    refuse(&args, ARGUMENT, "host.size is");
    record = host_record();
    record.draft++;
    refuse(&args, CPLAYOUT_ERROR_VERSION, "draft");
}

/* Structs of a newer host: right as long as what is new is zero. */
static void test_newer(void)
{
    struct {
        struct cplayout_host record;
        uint64_t tail;
    } host = {.record = host_record()};
    struct {
        struct cplayout_create_args args;
        uint64_t tail;
    } grown = {.args = {.size = sizeof(grown), .host = &host.record}};
    struct cplayout_context *context = NULL;

    tap_test("arguments and host record of a newer host");
    host.record.size = sizeof(host);
    CHECK(host_core()->create(&grown.args, &context, NULL) == CPLAYOUT_OK, "refused");
    host_core()->destroy(context);
    grown.tail = 1;
    refuse(&grown.args, ARGUMENT, "args");
    grown.tail = 0;
    host.tail = 1;
    grown.args.size = sizeof(grown.args);
    refuse(&grown.args, ARGUMENT, "not zero");
}

/* ---- Interfaces ----------------------------------------------------------------------------- */

static void test_interfaces(void)
{
    const struct cplayout_core *const core = host_core();

    tap_test("interfaces by name and revision");
    CHECK(core->get_interface(CPLAYOUT_PLAN_INTERFACE) == (const void *)host_plan(), "plan/1");
    CHECK(core->get_interface(CPLAYOUT_BATCH_INTERFACE) == (const void *)host_views(), "batch/1");
    CHECK(host_plan()->size == sizeof(struct cplayout_plan_interface), "size of plan/1");
    CHECK(host_views()->size == sizeof(struct cplayout_batch_interface), "size of batch/1");
    CHECK(core->get_interface("plan/2") == NULL, "plan/2 exists");
    CHECK(core->get_interface("plan") == NULL, "plan exists");
    CHECK(core->get_interface("") == NULL, "'' exists");
    CHECK(core->get_interface(NULL) == NULL, "NULL exists");
}

int main(void)
{
    test_listing();
    test_create();
    test_host();
    test_newer();
    test_interfaces();
    return tap_end();
}
