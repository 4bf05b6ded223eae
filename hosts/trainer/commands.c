/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include <inttypes.h>
#include <string.h>

#include "deals.h"
#include "html.h"

/* A pack of more documents is not spelled out. */
enum { DOCUMENTS_MOST = 64 };

/* An option, which no line ends within. */
static void write_flag(FILE *out, const char *flag)
{
    (void)fprintf(out, " <span>%s</span>", flag);
}

static void write_number(FILE *out, const char *flag, int64_t number)
{
    write_flag(out, flag);
    (void)fprintf(out, " %" PRId64, number);
}

/* NULL: the option was not given. */
static void write_word(FILE *out, const char *flag, const char *word)
{
    if (word != NULL) {
        write_flag(out, flag);
        (void)fputc(' ', out);
        html_shell_word(out, word);
    }
}

static void write_layouts(FILE *out, const struct report *report)
{
    write_flag(out, "--layouts");
    for (size_t i = 0; i < report->count; i++) {
        (void)fprintf(out, "%s%s", i > 0 ? "," : " ", report->runs[i].arrangement->name);
    }
}

/* Every file behind an option of its own: its name may begin with a dash. */
static void write_texts(FILE *out, const struct settings *settings)
{
    for (size_t i = 0; i < settings->text_count; i++) {
        write_word(out, "--text", settings->texts[i]);
    }
}

static void write_training(FILE *out, const struct report *report)
{
    const struct settings *const settings = report->settings;

    (void)fputs("<pre><code>./run demo", out);
    write_layouts(out, report);
    write_number(out, "--cp", settings->cp);
    write_number(out, "--steps", settings->steps);
    write_number(out, "--seq", settings->sequence);
    write_number(out, "--seed", (int64_t)settings->seed);
    write_word(out, "--pattern", settings->pattern);
    if (settings->packed) {
        write_flag(out, "--packed");
    }
    write_word(out, "--lengths", settings->lengths);
    if (settings->recompute) {
        write_flag(out, "--recompute");
    }
    write_word(out, "--plugin", settings->plugin);
    write_word(out, "--report", settings->report);
    write_texts(out, settings);
    (void)fputs("</code></pre>\n", out);
}

/* The length, or where the documents of the first pack begin and where the last ends. */
static void write_lengths(FILE *out, const struct report *report, const struct strip *strip)
{
    if (!report->settings->packed) {
        write_number(out, "--seq", report->settings->sequence);
        return;
    }
    write_flag(out, "--cu-seqlens");
    (void)fputc(' ', out);
    for (int64_t i = 0; i < strip->count; i++) {
        if (strip->parts[i].position == 0) {
            (void)fprintf(out, "%" PRId64 ",", strip->parts[i].start);
        }
    }
    (void)fprintf(out, "%" PRId64, report->settings->sequence);
}

static void write_maps(FILE *out, const struct report *report, const struct deals *deals)
{
    (void)fputs("<p>Who holds what, by the command that comes with the plugin:</p>\n<pre><code>",
                out);
    for (size_t i = 0; i < deals->count; i++) {
        if (deals->deal[i].ranks > 1) {
            (void)fputs("./run cplayout map", out);
            write_word(out, "--layout", deals->deal[i].name);
            write_number(out, "--cp", deals->deal[i].ranks);
            write_lengths(out, report, deals->deal[i].strip);
            (void)fputc('\n', out);
        }
    }
    (void)fputs("</code></pre>\n", out);
}

static void write_routes(FILE *out, const struct report *report)
{
    (void)fputs("<p>What moves in front of an attention layer:</p>\n<pre><code>", out);
    for (size_t i = 0; i < report->count; i++) {
        const struct run_result *const run = &report->runs[i];

        if (strcmp(run->arrangement->linear, run->arrangement->attention) != 0) {
            (void)fputs("./run cplayout route", out);
            write_word(out, "--from", run->arrangement->linear);
            write_word(out, "--to", run->arrangement->attention);
            write_number(out, "--cp", run->ranks);
            write_lengths(out, report, &run->linear);
            (void)fputc('\n', out);
        }
    }
    (void)fputs("</code></pre>\n", out);
}

static bool any_route(const struct report *report)
{
    bool any = false;

    for (size_t i = 0; i < report->count; i++) {
        const struct arrangement *const arrangement = report->runs[i].arrangement;

        any = any || (strcmp(arrangement->linear, arrangement->attention) != 0 &&
                      report->runs[i].ranks > 1);
    }
    return any;
}

static bool any_split(const struct deals *deals)
{
    bool any = false;

    for (size_t i = 0; i < deals->count; i++) {
        any = any || deals->deal[i].ranks > 1;
    }
    return any;
}

void commands_write(FILE *out, const struct report *report)
{
    const struct deals deals = deals_collect(report);

    (void)
        fputs("<p>In the top folder of cplayout, which sets up and builds first if need be:</p>\n",
              out);
    write_training(out, report);
    if (deal_documents(&deals.deal[0]) > DOCUMENTS_MOST) {
        return;
    }
    if (any_split(&deals)) {
        write_maps(out, report, &deals);
    }
    if (any_route(report)) {
        write_routes(out, report);
    }
}
