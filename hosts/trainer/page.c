/* SPDX-License-Identifier: Apache-2.0 */
#include "page.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "balance.h"
#include "commands.h"
#include "curves.h"
#include "folder.h"
#include "html.h"
#include "sense.h"
#include "skeleton.h"
#include "strips.h"
#include "units.h"
#include "volumes.h"

/* ---- Head ------------------------------------------------------------------------------------- */

static void write_title(FILE *out, const struct report *report)
{
    static const char *const counts[] = {"no", "one", "two", "three", "four"};

    (void)fprintf(out, "One model, %s arrangement%s of layouts",
                  counts[report->count <= ARRANGEMENTS ? report->count : 0],
                  report->count == 1 ? "" : "s");
}

static void write_date(FILE *out, const struct report *report)
{
    const time_t now = time(NULL);
    struct tm parts;
    char text[64];

    (void)report;
    if (gmtime_r(&now, &parts) != NULL &&
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &parts) > 0) {
        (void)fputs(text, out);
    }
}

static void write_facts(FILE *out, const struct report *report)
{
    const struct settings *const settings = report->settings;
    char text[UNITS_TEXT];

    (void)fprintf(out, "<span>%s step%s</span> ", units_count(settings->steps, text),
                  settings->steps == 1 ? "" : "s");
    (void)fprintf(out, "<span>%s tokens per step</span> ", units_count(settings->sequence, text));
    if (settings->packed) {
        (void)fprintf(out, "<span>in packs of %s documents</span> ",
                      units_mean(report->runs[0].documents, text));
    }
    (void)fprintf(out, "<span>text of %s bytes</span> ",
                  units_count((int64_t)report->text->length, text));
    (void)fprintf(out, "<span>%d rank%s</span> <span>seed %" PRIu64 "</span>%s", settings->cp,
                  settings->cp == 1 ? "" : "s", settings->seed,
                  settings->recompute ? " <span>layers run again in backward</span>" : "");
}

static const char *layer_class(char symbol)
{
    return symbol == 'M' ? "linear" : symbol == '*' ? "attention" : "mlp";
}

static void write_model(FILE *out, const struct report *report)
{
    (void)fputs("<ol class=\"model\" aria-label=\"Layers of the model\">", out);
    for (const char *symbol = report->settings->pattern; *symbol != '\0'; symbol++) {
        (void)fprintf(out, "<li class=\"%s\">%c</li>", layer_class(*symbol), *symbol);
    }
    (void)fputs("</ol>\n<p class=\"key\">M linear attention, * softmax attention, - MLP</p>\n",
                out);
}

static void write_verdict(FILE *out, const struct report *report)
{
    const struct agreement agreement = report_agreement(report);

    if (!agreement.compared) {
        (void)fputs("<p class=\"verdict none\">No comparison: that needs the run 'single' and "
                    "another one.</p>\n",
                    out);
        return;
    }
    if (!isfinite(agreement.loss) || !isfinite(agreement.gradient)) {
        (void)fputs("<p class=\"verdict bad\"><strong>✗ The layouts disagree.</strong> Some losses "
                    "or gradients are no numbers.</p>\n",
                    out);
        return;
    }
    (void)fprintf(out,
                  "<p class=\"verdict %s\"><strong>%s</strong> Losses differ from 'single' by at "
                  "most <span class=\"number\">%.1e</span> (limit "
                  "<span class=\"number\">%.0e</span>), gradients of step 1 by at most "
                  "<span class=\"number\">%.1e</span> of the largest (limit "
                  "<span class=\"number\">%.0e</span>).</p>\n",
                  agreement.holds ? "good" : "bad",
                  agreement.holds ? "✓ The layouts agree." : "✗ The layouts disagree.",
                  agreement.loss, agreement.loss_limit, agreement.gradient,
                  agreement.gradient_limit);
}

static void write_findings(FILE *out, const struct report *report)
{
    char sentences[SENSE_MOST][SENSE_BYTES];
    const size_t count = sense_make(report, sentences);

    if (count > 0) {
        (void)fputs("<ul class=\"findings\">\n", out);
        for (size_t i = 0; i < count; i++) {
            (void)fputs("<li>", out);
            html_text(out, sentences[i]);
            (void)fputs("</li>\n", out);
        }
        (void)fputs("</ul>\n", out);
    }
}

/* ---- Table of losses -------------------------------------------------------------------------- */

enum { LOSS_ROWS = 8 };

static void write_losses(FILE *out, const struct report *report, int64_t step)
{
    (void)fprintf(out, "<tr><th scope=\"row\">%" PRId64 "</th>", step + 1);
    for (size_t i = 0; i < report->count; i++) {
        const double loss = report->runs[i].loss[step];

        (void)fprintf(out, isfinite(loss) ? "<td>%.6f</td>" : "<td>none</td>", loss);
    }
    (void)fputs("</tr>\n", out);
}

/* Some steps at equal distances, the first and the last among them. */
static void write_loss_table(FILE *out, const struct report *report)
{
    const int64_t steps = report->settings->steps;
    const int64_t rows = steps < LOSS_ROWS ? steps : LOSS_ROWS;

    (void)fputs("<details><summary>Losses in numbers</summary><div class=\"scroll\"><table>"
                "<caption>Loss in nats per byte</caption>"
                "<thead><tr><th scope=\"col\">step</th>",
                out);
    for (size_t i = 0; i < report->count; i++) {
        (void)fprintf(out, "<th scope=\"col\">%s</th>", report->runs[i].arrangement->name);
    }
    (void)fputs("</tr></thead><tbody>\n", out);
    for (int64_t row = 0; row < rows; row++) {
        write_losses(out, report, rows > 1 ? row * (steps - 1) / (rows - 1) : 0);
    }
    (void)fputs("</tbody></table></div></details>\n", out);
}

static void write_strips_note(FILE *out, const struct report *report)
{
    if (report->settings->packed) {
        (void)fputs(" Drawn is the pack of the first step, its documents numbered above; nothing "
                    "is handed over a document's border.",
                    out);
    }
}

/* ---- Skeleton --------------------------------------------------------------------------------- */

struct filler {
    const char *name;
    void (*write)(FILE *out, const struct report *report);
};

static const struct filler fillers[] = {
    {"title", write_title},           {"date", write_date},
    {"facts", write_facts},           {"model", write_model},
    {"verdict", write_verdict},       {"findings", write_findings},
    {"strips", strips_write},         {"strips_note", write_strips_note},
    {"loss_chart", curves_loss},      {"difference_chart", curves_difference},
    {"loss_table", write_loss_table}, {"balance_chart", balance_chart},
    {"balance_table", balance_table}, {"bytes_chart", volumes_chart},
    {"summary_table", volumes_table}, {"commands", commands_write},
};

static void fill(FILE *out, const struct report *report, const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(fillers) / sizeof(fillers[0]); i++) {
        if (strlen(fillers[i].name) == length && memcmp(fillers[i].name, name, length) == 0) {
            fillers[i].write(out, report);
        }
    }
}

static void write_page(FILE *out, const struct report *report)
{
    const char *text = skeleton;
    const char *open;

    while ((open = strstr(text, "{{")) != NULL) {
        const char *const name = open + 2;
        const char *const close = strstr(name, "}}");

        if (close == NULL) {
            break;
        }
        (void)fwrite(text, 1, (size_t)(open - text), out);
        fill(out, report, name, (size_t)(close - name));
        text = close + 2;
    }
    (void)fputs(text, out);
}

/* ---- File ------------------------------------------------------------------------------------- */

int page_prepare(const char *folder, char message[512])
{
    return folder_prepare(folder, PAGE_NAME, message);
}

/* All of it is made in memory first: what can fail there does not touch the folder. */
int page_save(const struct report *report, char message[512])
{
    char *data = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&data, &size);
    int code = -1;

    (void)snprintf(message, 512, "out of memory for the report");
    if (out != NULL) {
        bool failed;

        write_page(out, report);
        failed = ferror(out) != 0;
        failed = fclose(out) != 0 || failed;
        if (!failed) {
            code = folder_replace(report->settings->report, PAGE_NAME, data, size, message);
        }
    }
    free(data);
    return code;
}
