/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "terminal.h"

static const double loss_limit = 1e-3;
static const double gradient_limit = 1e-5;

/* Below this, losses are compared as they are: nothing is left to learn. */
static const double loss_floor = 1e-3;

/* ---- Agreement -------------------------------------------------------------------------------- */

static const struct run_result *find_run(const struct report *report, const char *name)
{
    for (size_t i = 0; i < report->count; i++) {
        if (strcmp(report->runs[i].arrangement->name, name) == 0) {
            return &report->runs[i];
        }
    }
    return NULL;
}

static double larger(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

static double loss_distance(const struct run_result *run, const struct run_result *reference)
{
    double distance = 0;

    for (int64_t step = 0; step < run->steps; step++) {
        const double expected = reference->loss[step];
        const double scale = larger(fabs(expected), loss_floor);

        distance = larger(fabs(run->loss[step] - expected) / scale, distance);
    }
    return distance;
}

static double gradient_distance(const struct run_result *run, const struct run_result *reference)
{
    double distance = 0;
    double largest = 0;

    for (int64_t i = 0; i < reference->parameters; i++) {
        const double expected = (double)reference->gradient[i];

        distance = larger(fabs((double)run->gradient[i] - expected), distance);
        largest = larger(fabs(expected), largest);
    }
    return distance == 0 ? 0 : distance / largest;
}

struct agreement report_agreement(const struct report *report)
{
    const struct run_result *const single = find_run(report, "single");
    struct agreement agreement = {.compared = single != NULL && report->count > 1};

    for (size_t i = 0; i < report->count; i++) {
        const struct run_result *const run = &report->runs[i];

        if (agreement.compared) {
            agreement.loss = larger(loss_distance(run, single), agreement.loss);
            agreement.gradient = larger(gradient_distance(run, single), agreement.gradient);
        }
    }
    agreement.holds = agreement.loss <= loss_limit && agreement.gradient <= gradient_limit;
    return agreement;
}

/* ---- Table ------------------------------------------------------------------------------------ */

/* "768 KiB", "12.0 MiB"; "-" for nothing. */
static const char *size_text(int64_t bytes, char text[16])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1024;
        unit++;
    }
    if (bytes == 0) {
        (void)snprintf(text, 16, "-");
    } else {
        (void)snprintf(text, 16, unit > 0 && value < 100 ? "%.1f %s" : "%.0f %s", value,
                       units[unit]);
    }
    return text;
}

static const char *bold(bool begin)
{
    if (!terminal_coloured(STDOUT_FILENO)) {
        return "";
    }
    return begin ? "\033[1m" : "\033[0m";
}

static void print_head(const struct report *report)
{
    const struct settings *const settings = report->settings;

    printf("Trained '%s' on text of %zu bytes: steps %" PRId64 ", tokens per step %" PRId64
           ", seed %" PRIu64 ".\n\n",
           settings->pattern, report->text->length, settings->steps, settings->sequence,
           settings->seed);
    printf("%s%-7s %11s %8s %9s  %35s%s\n", bold(true), "", "loss", "", "attention",
           "bytes per step, over all ranks:", bold(false));
    printf("%s%-7s %5s %5s %8s %9s %9s %8s %9s %8s%s\n", bold(true), "layouts", "first", "last",
           "tokens/s", "max/mean", "states", "halos", "keys+vals", "convert", bold(false));
}

static void print_run(const struct run_result *run, int64_t sequence)
{
    char states[16];
    char halos[16];
    char attention[16];
    char conversions[16];

    printf("%-7s %5.3f %5.3f %8.0f %9.2f %9s %8s %9s %8s\n", run->arrangement->name, run->loss[0],
           run->loss[run->steps - 1], (double)(run->steps * sequence) / run->seconds,
           run->attention_max_over_mean, size_text(run->linear_state_bytes, states),
           size_text(run->halo_bytes, halos), size_text(run->attention_bytes, attention),
           size_text(run->conversion_bytes, conversions));
}

/* What the names of the table mean. */
static void print_legend(const struct report *report)
{
    printf("\n");
    for (size_t i = 0; i < report->count; i++) {
        const struct run_result *const run = &report->runs[i];

        printf("%-7s P = %d, %s; parts of a scan: %" PRId64 "\n", run->arrangement->name,
               run->ranks, run->arrangement->summary, run->chain_parts);
    }
    printf("tokens/s tells about this machine, with ranks as threads; bytes are exact.\n");
}

static void print_agreement(const struct agreement *agreement)
{
    if (agreement->compared) {
        printf("\n%s%s.%s Losses differ from 'single' by at most %.1e (limit %.0e),\n"
               "gradients of step 1 by at most %.1e of the largest (limit %.0e).\n",
               bold(true), agreement->holds ? "The layouts agree" : "THE LAYOUTS DISAGREE",
               bold(false), agreement->loss, loss_limit, agreement->gradient, gradient_limit);
    }
}

/* What the numbers say about the runs that are there. */
static void print_sense(const struct report *report)
{
    const struct run_result *const zigzag = find_run(report, "zigzag");
    const struct run_result *const dual = find_run(report, "dual");
    const struct run_result *const mirror = find_run(report, "mirror");

    if (zigzag != NULL && dual != NULL && dual->linear_state_bytes > 0) {
        printf("\nIn zigzag the states of linear layers cross ranks %.2g times as often as in "
               "'dual',\nwhich pays for that with conversions around attention.\n",
               (double)zigzag->linear_state_bytes / (double)dual->linear_state_bytes);
    }
    if (mirror != NULL && dual != NULL && mirror->conversion_bytes < dual->conversion_bytes) {
        printf("'mirror' scans through as few parts as 'dual' and converts with %.0f %% of its "
               "bytes.\n",
               100 * (double)mirror->conversion_bytes / (double)dual->conversion_bytes);
    }
}

int report_table(const struct report *report)
{
    const struct agreement agreement = report_agreement(report);

    print_head(report);
    for (size_t i = 0; i < report->count; i++) {
        print_run(&report->runs[i], report->settings->sequence);
    }
    print_legend(report);
    print_agreement(&agreement);
    print_sense(report);
    return fflush(stdout) == 0 && ferror(stdout) == 0 ? 0 : -1;
}

/* ---- JSON ------------------------------------------------------------------------------------- */

static json_t *numbers(const double *values, int64_t count)
{
    json_t *const array = json_array();

    for (int64_t i = 0; i < count; i++) {
        /* JSON has no word for what is not finite. */
        (void)json_array_append_new(array,
                                    isfinite(values[i]) ? json_real(values[i]) : json_null());
    }
    return array;
}

static json_t *run_json(const struct run_result *run)
{
    return json_pack("{s:s, s:i, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:f, s:f}", "name",
                     run->arrangement->name, "ranks", run->ranks, "loss",
                     numbers(run->loss, run->steps), "grad_norm",
                     numbers(run->grad_norm, run->steps), "linear_state_bytes",
                     (json_int_t)run->linear_state_bytes, "halo_bytes", (json_int_t)run->halo_bytes,
                     "attention_bytes", (json_int_t)run->attention_bytes, "conversion_bytes",
                     (json_int_t)run->conversion_bytes, "chain_parts", (json_int_t)run->chain_parts,
                     "attention_max_over_mean", run->attention_max_over_mean, "seconds",
                     run->seconds);
}

static json_t *agreement_json(const struct report *report)
{
    const struct agreement agreement = report_agreement(report);

    if (!agreement.compared) {
        return json_null();
    }
    return json_pack("{s:b, s:f, s:f}", "holds", agreement.holds, "loss", agreement.loss,
                     "gradient", agreement.gradient);
}

int report_json(const struct report *report)
{
    json_t *const runs = json_array();
    json_t *root;
    int code;

    for (size_t i = 0; i < report->count; i++) {
        (void)json_array_append_new(runs, run_json(&report->runs[i]));
    }
    root = json_pack("{s:o, s:o}", "runs", runs, "agreement", agreement_json(report));
    code = root != NULL ? json_dumpf(root, stdout, JSON_COMPACT) : -1;
    json_decref(root);
    return code == 0 && printf("\n") > 0 && fflush(stdout) == 0 ? 0 : -1;
}
