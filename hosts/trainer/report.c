/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "sense.h"
#include "terminal.h"
#include "units.h"

static const double loss_limit = 1e-3;
static const double gradient_limit = 1e-5;

/* Below this, losses are compared as they are: nothing is left to learn. */
static const double loss_floor = 1e-3;

/* ---- Agreement -------------------------------------------------------------------------------- */

const struct run_result *report_find(const struct report *report, const char *name)
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

double report_loss_difference(const struct run_result *run, const struct run_result *reference,
                              int64_t step)
{
    const double expected = reference->loss[step];

    return fabs(run->loss[step] - expected) / larger(fabs(expected), loss_floor);
}

static double loss_distance(const struct run_result *run, const struct run_result *reference)
{
    double distance = 0;

    for (int64_t step = 0; step < run->steps; step++) {
        distance = larger(report_loss_difference(run, reference, step), distance);
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
    const struct run_result *const single = report_find(report, "single");
    struct agreement agreement = {
        .compared = single != NULL && report->count > 1,
        .loss_limit = loss_limit,
        .gradient_limit = gradient_limit,
    };

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

enum { COLUMNS = 88 };

static const char *bold(bool begin)
{
    if (!terminal_coloured(STDOUT_FILENO)) {
        return "";
    }
    return begin ? "\033[1m" : "\033[0m";
}

/* " (11.3 documents)" behind the tokens of a pack. */
static const char *pack_text(const struct report *report, char text[2 * UNITS_TEXT])
{
    char mean[UNITS_TEXT];

    text[0] = '\0';
    if (report->settings->packed) {
        (void)snprintf(text, 2 * UNITS_TEXT, " (%s documents)",
                       units_mean(report->runs[0].documents, mean));
    }
    return text;
}

static void print_head(const struct report *report)
{
    const struct settings *const settings = report->settings;
    char pack[2 * UNITS_TEXT];

    printf("Trained '%s' on text of %zu bytes: steps %" PRId64 ", tokens per step %" PRId64
           "%s, seed %" PRIu64 ".\n\n",
           settings->pattern, report->text->length, settings->steps, settings->sequence,
           pack_text(report, pack), settings->seed);
    printf("%s%-7s %11s %8s %9s  %35s%s\n", bold(true), "", "loss", "", "attention",
           "bytes per step, over all ranks:", bold(false));
    printf("%s%-7s %5s %5s %8s %9s %9s %8s %9s %8s%s\n", bold(true), "layouts", "first", "last",
           "tokens/s", "max/mean", "states", "halos", "keys+vals", "convert", bold(false));
}

static void print_run(const struct run_result *run, int64_t sequence)
{
    char states[UNITS_TEXT];
    char halos[UNITS_TEXT];
    char attention[UNITS_TEXT];
    char conversions[UNITS_TEXT];

    printf("%-7s %5.3f %5.3f %8.0f %9.2f %9s %8s %9s %8s\n", run->arrangement->name, run->loss[0],
           run->loss[run->steps - 1], (double)(run->steps * sequence) / run->seconds,
           run->attention_max_over_mean, units_size(run->linear_state_bytes, states),
           units_size(run->halo_bytes, halos), units_size(run->attention_bytes, attention),
           units_size(run->conversion_bytes, conversions));
}

/* What the names of the table mean. */
static void print_legend(const struct report *report)
{
    printf("\n");
    for (size_t i = 0; i < report->count; i++) {
        const struct run_result *const run = &report->runs[i];

        printf("%-7s P = %d, %s; parts of a scan: %" PRId64 "\n", run->arrangement->name,
               run->ranks, run->arrangement->summary, run->linear.count);
    }
    if (report->settings->packed) {
        char mean[UNITS_TEXT];

        printf("A pack has %s documents on average; parts of a scan are those of the first pack.\n",
               units_mean(report->runs[0].documents, mean));
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

/* Lines end between words. */
static void print_wrapped(const char *text)
{
    int used = 0;

    while (*text != '\0') {
        const int word = (int)strcspn(text, " ");
        const bool fits = used + word <= COLUMNS;

        printf("%s%.*s", used == 0 ? "" : fits ? " " : "\n", word, text);
        used = (fits ? used : 0) + word + 1;
        text += word + (text[word] == ' ');
    }
    printf("\n");
}

static void print_sense(const struct report *report)
{
    char sentences[SENSE_MOST][SENSE_BYTES];
    const size_t count = sense_make(report, sentences);

    for (size_t i = 0; i < count; i++) {
        printf("%s", i == 0 ? "\n" : "");
        print_wrapped(sentences[i]);
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

/* JSON has no word for what is not finite. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *numbers(const double *values, int64_t count)
{
    json_t *const array = json_array();

    for (int64_t i = 0; i < count; i++) {
        (void)json_array_append_new(array, number(values[i]));
    }
    return array;
}

static json_t *run_json(const struct run_result *run)
{
    return json_pack("{s:s, s:i, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:f}", "name",
                     run->arrangement->name, "ranks", run->ranks, "loss",
                     numbers(run->loss, run->steps), "grad_norm",
                     numbers(run->grad_norm, run->steps), "linear_state_bytes",
                     (json_int_t)run->linear_state_bytes, "halo_bytes", (json_int_t)run->halo_bytes,
                     "attention_bytes", (json_int_t)run->attention_bytes, "conversion_bytes",
                     (json_int_t)run->conversion_bytes, "chain_parts",
                     (json_int_t)run->linear.count, "documents", number(run->documents),
                     "attention_pairs", numbers(run->attention_pairs, run->ranks),
                     "attention_max_over_mean", number(run->attention_max_over_mean), "seconds",
                     run->seconds);
}

static json_t *agreement_json(const struct report *report)
{
    const struct agreement agreement = report_agreement(report);

    if (!agreement.compared) {
        return json_null();
    }
    return json_pack("{s:b, s:o, s:o}", "holds", agreement.holds, "loss", number(agreement.loss),
                     "gradient", number(agreement.gradient));
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
