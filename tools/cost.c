/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `cplayout cost`: what a layout costs in attention, and a conversion in rows and bytes. Here is the
 * verb and its JSON; cost_text.c has the form for people.
 */
#include "cost.h"

#include <stdlib.h>

#include "dtypes.h"
#include "verbs.h"

uint64_t cost_bytes(const struct cost *cost, uint64_t rows)
{
    uint64_t bytes;

    return __builtin_mul_overflow(rows, cost->row_bytes, &bytes) ? UINT64_MAX : bytes;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *pairs_json(const struct cost *cost)
{
    json_t *const array = json_array();

    for (int32_t i = 0; i < cost->cp; i++) {
        if (json_array_append_new(array, json_integer((json_int_t)cost->attention[i].pairs)) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static bool set(json_t *root, const char *key, json_t *value)
{
    return json_object_set_new(root, key, value) == 0;
}

/* What is known only with --to, and only with shapes. */
static bool add_conversion(const struct cost *cost, json_t *root)
{
    if (cost->route == NULL) {
        return true;
    }
    return set(root, "to", json_string(cost->args->text[OPTION_TO])) &&
           set(root, "moved_rows", json_integer((json_int_t)cost->info.moved_rows)) &&
           set(root, "worst_rank_rows", json_integer((json_int_t)cost->info.worst_rank_rows)) &&
           set(root, "peers", json_integer(cost->info.peers)) &&
           set(root, "bytes_total",
               json_integer((json_int_t)cost_bytes(cost, cost->info.moved_rows))) &&
           set(root, "bytes_worst_rank",
               json_integer((json_int_t)cost_bytes(cost, cost->info.worst_rank_rows)));
}

static bool print_json(const struct cost *cost)
{
    json_t *const root =
        json_pack("{s:s,s:I,s:I,s:{s:f,s:o},s:I,s:I}", "layout", cost->args->text[OPTION_LAYOUT],
                  "cp", (json_int_t)cost->args->number[OPTION_CP], "tp",
                  (json_int_t)cost->args->number[OPTION_TP], "attention", "max_over_mean",
                  cost->layout.max_over_mean, "pairs", pairs_json(cost), "padding_rows",
                  (json_int_t)cost->layout.padding_rows, "kv_rows",
                  (json_int_t)cost->layout.key_rows);
    bool fine = root != NULL && add_conversion(cost, root);

    if (fine && cost->break_even >= 0) {
        fine = set(root, "break_even_tokens", json_real(cost->break_even));
    }
    if (!fine) {
        json_decref(root);
        return report_memory(cost->report);
    }
    return report_json(cost->report, root);
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static bool fail_option(struct report *report, enum option option, const char *message)
{
    const struct problem problem = {.status = EXIT_USAGE,
                                    .code = "option.missing",
                                    .option = option_name(option)};

    return report_fail(report, &problem, "%s", message);
}

static bool read_shapes(struct cost *cost)
{
    const char *const dtype = cost->args->text[OPTION_DTYPE];
    const uint64_t hidden = (uint64_t)cost->args->number[OPTION_HIDDEN];
    const struct problem problem = {.status = EXIT_USAGE,
                                    .code = "option.type",
                                    .option = option_name(OPTION_DTYPE)};
    const size_t bytes = dtype_bytes(dtype != NULL ? dtype : "bf16");

    if (bytes == 0) {
        return report_fail(cost->report, &problem, "--dtype: unknown type '%.64s'; types: %s",
                           dtype, dtype_names);
    }
    if (hidden == 0 && dtype != NULL) {
        return fail_option(cost->report, OPTION_HIDDEN, "--dtype needs --hidden");
    }
    if (__builtin_mul_overflow(hidden, bytes, &cost->row_bytes)) {
        return fail_option(cost->report, OPTION_HIDDEN,
                           "--hidden times the bytes of an element overflows");
    }
    return true;
}

/* Share of the busiest rank's rows that a conversion moves. */
static double share_of(const struct cost *cost)
{
    const double rows = (double)cost->info.total_rows /
                        (double)(cost->args->number[OPTION_CP] * cost->args->number[OPTION_TP]);
    const double share = rows > 0 ? (double)cost->info.worst_rank_rows / rows : 0;

    return share < 1 ? share : 1;
}

/* Asked for by --linear-layers; needs the rest. */
static bool find_break_even(struct cost *cost)
{
    const int64_t *const number = cost->args->number;
    const struct cplayout_break_even_args args = {
        .size = sizeof(args),
        .cp = (int32_t)number[OPTION_CP],
        .linear_layers = (int32_t)number[OPTION_LINEAR_LAYERS],
        .conversions = (int32_t)number[OPTION_CONVERSIONS],
        .state_bytes = (uint64_t)number[OPTION_STATE_BYTES],
        .row_bytes = cost->row_bytes,
        .share = share_of(cost),
    };
    struct cplayout_error error = {.size = sizeof(error)};

    if (number[OPTION_LINEAR_LAYERS] == 0) {
        return true;
    }
    if (cost->route == NULL || cost->row_bytes == 0 || number[OPTION_CONVERSIONS] == 0 ||
        number[OPTION_STATE_BYTES] == 0) {
        return fail_option(cost->report, OPTION_LINEAR_LAYERS,
                           "--linear-layers needs --to, --hidden, --conversions and --state-bytes");
    }
    if (cost->info.moved_rows == 0) {
        return true; /* conversions are free: there is no length at which they stop paying */
    }
    error.status = cost->host->plan->break_even(&args, &cost->break_even, &error);
    return error.status == CPLAYOUT_OK || report_plugin(cost->report, NULL, &error);
}

/* ---- The verb -------------------------------------------------------------------------------- */

static bool read_layout(struct cost *cost)
{
    const struct cplayout_plan_interface *const plan = cost->host->plan;
    struct cplayout_error error = {.size = sizeof(error)};
    uint64_t count = 0;

    cost->attention = calloc((size_t)cost->cp, sizeof(*cost->attention));
    if (cost->attention == NULL) {
        return report_memory(cost->report);
    }
    error.status = plan->cost(cost->partition, &cost->layout, &error);
    if (error.status == CPLAYOUT_OK) {
        error.status =
            plan->attention(cost->partition, cost->attention, (uint64_t)cost->cp, &count, &error);
    }
    return error.status == CPLAYOUT_OK || report_plugin(cost->report, NULL, &error);
}

static bool read_conversion(struct cost *cost)
{
    const struct cplayout_plan_interface *const plan = cost->host->plan;
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_partition *target = NULL;

    if (cost->args->text[OPTION_TO] == NULL) {
        return true;
    }
    if (!host_partition(cost->host, cost->args, OPTION_TO, &target, cost->report)) {
        return false;
    }
    error.status =
        plan->route_create(&cost->host->record, cost->partition, target, &cost->route, &error);
    plan->partition_destroy(target);
    if (error.status != CPLAYOUT_OK) {
        return report_plugin(cost->report, NULL, &error);
    }
    plan->route_describe(cost->route, &cost->info);
    return true;
}

bool verb_cost(struct host *host, struct args *args, struct report *report)
{
    struct cost cost = {
        .host = host,
        .args = args,
        .layout = {.size = sizeof(cost.layout)},
        .cp = (int32_t)args->number[OPTION_CP],
        .info = {.size = sizeof(cost.info)},
        .break_even = -1,
        .report = report,
    };
    bool fine;

    if (!read_shapes(&cost) || !host_need_plan(host, report) ||
        !host_partition(host, args, OPTION_LAYOUT, &cost.partition, report)) {
        return false;
    }
    fine = read_layout(&cost) && read_conversion(&cost) && find_break_even(&cost) &&
           (args->number[OPTION_JSON] != 0 ? print_json(&cost) : cost_print_text(&cost));
    free(cost.attention);
    host->plan->route_destroy(cost.route);
    host->plan->partition_destroy(cost.partition);
    return fine;
}
