/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cplayout-trainer: trains one small model in several arrangements of layouts, one after the other,
 * and shows that they agree and what each costs. Exit status: 0 fine, 1 a run failed or the layouts
 * disagree, 2 wrong usage.
 */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "page.h"
#include "report.h"
#include "session.h"
#include "settings.h"
#include "text.h"
#include "train.h"

enum { EXIT_USAGE = 2 };

/* This program is never installed: the plugin is that of its build tree, if it still exists. */
static const char *plugin_path(const struct settings *settings)
{
#ifdef CPLAYOUT_BUILD_PLUGIN
    if (settings->plugin == NULL && access(CPLAYOUT_BUILD_PLUGIN, R_OK) == 0) {
        return CPLAYOUT_BUILD_PLUGIN;
    }
#endif
    return settings->plugin;
}

static int64_t count_runs(const struct settings *settings)
{
    int64_t runs = 0;

    for (size_t i = 0; i < ARRANGEMENTS; i++) {
        runs += settings->chosen[i];
    }
    return runs;
}

/* Runs every chosen arrangement; `results` has room for all, `done` counts those to destroy. */
static int run_all(struct run_args *args, struct run_result *results, size_t *done)
{
    const struct settings *const settings = args->settings;
    char message[512];
    int code = 0;

    for (size_t i = 0; i < ARRANGEMENTS && code == 0; i++) {
        if (settings->chosen[i]) {
            args->arrangement = arrangement_at(i);
            progress_begin(args->progress, args->arrangement->name, settings->steps);
            code = train_run(args, &results[(*done)++], message);
        }
    }
    progress_end(args->progress);
    if (code != 0) {
        (void)fprintf(stderr, "cplayout-trainer: %s: %s\n", args->arrangement->name, message);
    }
    return code;
}

/* Writes the page, if one is wanted, and says where it is: beside JSON on stderr. */
static int save(const struct report *report)
{
    const struct settings *const settings = report->settings;
    char message[512];

    if (settings->report == NULL) {
        return 0;
    }
    if (page_save(report, message) != 0) {
        (void)fprintf(stderr, "cplayout-trainer: %s\n", message);
        return -1;
    }
    (void)fprintf(settings->json ? stderr : stdout, "%sReport: %s/" PAGE_NAME "\n",
                  settings->json ? "" : "\n", settings->report);
    return fflush(stdout);
}

static int show(const struct report *report)
{
    const struct agreement agreement = report_agreement(report);

    if ((report->settings->json ? report_json : report_table)(report) != 0) {
        (void)fprintf(stderr, "cplayout-trainer: cannot write the results\n");
        return EXIT_FAILURE;
    }
    if (save(report) != 0) {
        return EXIT_FAILURE;
    }
    if (agreement.compared && !agreement.holds) {
        (void)fprintf(stderr, "cplayout-trainer: the layouts disagree\n");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

/* What all runs share. */
struct inputs {
    struct packs packs;
    struct text text;
    struct plugin plugin;
};

/* 0, or -1 with a message; inputs_close only after 0. */
static int inputs_open(struct inputs *inputs, const struct settings *settings, char message[512])
{
    *inputs = (struct inputs){.packs = {.lengths = NULL}};
    if (settings->lengths != NULL && packs_read(&inputs->packs, settings->lengths, message) != 0) {
        return -1;
    }
    if (text_read(&inputs->text, settings->texts, settings->text_count, settings->sequence,
                  message) != 0) {
        goto err_packs;
    }
    if (plugin_load(&inputs->plugin, plugin_path(settings), message) != 0) {
        goto err_text;
    }
    if (settings->report != NULL && page_prepare(settings->report, message) != 0) {
        goto err_plugin;
    }
    return 0;

err_plugin:
    plugin_unload(&inputs->plugin);
err_text:
    text_destroy(&inputs->text);
err_packs:
    packs_destroy(&inputs->packs);
    return -1;
}

static void inputs_close(struct inputs *inputs)
{
    plugin_unload(&inputs->plugin);
    text_destroy(&inputs->text);
    packs_destroy(&inputs->packs);
}

static int train_with(const struct inputs *inputs, const struct settings *settings)
{
    struct run_result results[ARRANGEMENTS] = {0};
    struct report report = {.runs = results, .settings = settings, .text = &inputs->text};
    struct progress progress;
    struct run_args args = {.plugin = &inputs->plugin,
                            .settings = settings,
                            .text = &inputs->text,
                            .packs = &inputs->packs,
                            .progress = &progress};
    int code;

    progress_init(&progress, settings->steps * count_runs(settings), settings->sequence);
    code = run_all(&args, results, &report.count) == 0 ? show(&report) : EXIT_FAILURE;
    for (size_t i = 0; i < report.count; i++) {
        run_result_destroy(&results[i]);
    }
    return code;
}

static int train(const struct settings *settings)
{
    struct inputs inputs;
    char message[512];
    int code;

    if (inputs_open(&inputs, settings, message) != 0) {
        (void)fprintf(stderr, "cplayout-trainer: %s\n", message);
        return EXIT_FAILURE;
    }
    openblas_set_num_threads(1); /* ranks are the threads */
    code = train_with(&inputs, settings);
    inputs_close(&inputs);
    return code;
}

int main(int argc, char **argv)
{
    struct settings settings;
    const enum settings_verdict verdict = settings_read(&settings, argc, argv);
    int code = EXIT_USAGE;

    if (verdict == SETTINGS_RUN) {
        code = train(&settings);
    } else if (verdict == SETTINGS_DONE) {
        code = fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    settings_destroy(&settings);
    return code;
}
