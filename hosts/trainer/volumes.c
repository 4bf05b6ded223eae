/* SPDX-License-Identifier: Apache-2.0 */
#include "volumes.h"

#include <math.h>

#include "units.h"

enum { ROW = 26, BAR = 17 };

/* One kind of traffic. */
struct kind {
    const char *name;
    const char *meaning;
    int64_t (*bytes)(const struct run_result *run);
};

static int64_t states(const struct run_result *run)
{
    return run->linear_state_bytes;
}

static int64_t halos(const struct run_result *run)
{
    return run->halo_bytes;
}

static int64_t keys_and_values(const struct run_result *run)
{
    return run->attention_bytes;
}

static int64_t conversions(const struct run_result *run)
{
    return run->conversion_bytes;
}

static int64_t all_bytes(const struct run_result *run)
{
    return states(run) + halos(run) + keys_and_values(run) + conversions(run);
}

static const struct kind kinds[] = {
    {"States",
     "What the scan of a linear layer hands on where a part ends and another rank goes on. Fewer "
     "parts cost less, and the ranks wait for each other less often.",
     states},
    {"Halos",
     "The last rows in front of a part, which the short convolution before a scan looks back at. "
     "They cross wherever states do.",
     halos},
    {"Keys and values",
     "Every rank collects the keys and values of the others, and returns their gradients. Those "
     "that split the sequence all run attention in zigzag, so they pay the same.",
     keys_and_values},
    {"Conversions",
     "Rows of hidden states that the plugin moves to another rank around attention. Where linear "
     "layers and attention share a layout, nothing moves.",
     conversions},
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* ---- Bars ------------------------------------------------------------------------------------- */

static int64_t largest(const struct report *report, const struct kind *kind)
{
    int64_t most = 1;

    for (size_t i = 0; i < report->count; i++) {
        const int64_t bytes = kind->bytes(&report->runs[i]);

        most = bytes > most ? bytes : most;
    }
    return most;
}

static void draw_bar(FILE *out, const struct report *report, size_t run, const struct kind *kind)
{
    const char *const name = report->runs[run].arrangement->name;
    const int64_t bytes = kind->bytes(&report->runs[run]);
    const double width = 100 * (double)bytes / (double)largest(report, kind);
    const int y = (int)run * ROW;
    char text[UNITS_TEXT];

    (void)fprintf(out, "<text class=\"end\" x=\"-8\" y=\"%d\">%s</text>", y + BAR - 4, name);
    if (bytes > 0) {
        (void)fprintf(out,
                      "<rect class=\"bar run-%s\" x=\"0\" y=\"%d\" width=\"%.2f%%\" height=\"%d\" "
                      "rx=\"2\"/>",
                      name, y, width, BAR);
    }
    (void)fprintf(out, "<text class=\"value\" x=\"%.2f%%\" dx=\"7\" y=\"%d\">%s</text>\n", width,
                  y + BAR - 4, bytes > 0 ? units_size(bytes, text) : "none");
}

static void draw_kind(FILE *out, const struct report *report, const struct kind *kind)
{
    const int height = (int)report->count * ROW;

    (void)fprintf(out,
                  "<figure><h3>%s</h3><p>%s</p>\n<div class=\"bars\"><svg role=\"img\" "
                  "aria-label=\"%s in bytes per step, by run\" height=\"%d\" width=\"100%%\" "
                  "style=\"display:block;overflow:visible\">\n",
                  kind->name, kind->meaning, kind->name, height);
    (void)fprintf(out, "<line class=\"axis\" x1=\"0\" x2=\"0\" y1=\"-3\" y2=\"%d\"/>\n",
                  height - ROW + BAR + 3);
    for (size_t run = 0; run < report->count; run++) {
        draw_bar(out, report, run, kind);
    }
    (void)fputs("</svg></div></figure>\n", out);
}

void volumes_chart(FILE *out, const struct report *report)
{
    (void)fputs("<div class=\"panels wide\">\n", out);
    for (size_t i = 0; i < KINDS; i++) {
        draw_kind(out, report, &kinds[i]);
    }
    (void)fputs("</div>\n", out);
}

/* ---- Table ------------------------------------------------------------------------------------ */

typedef const char *text_function(const struct run_result *run, char text[UNITS_TEXT]);

static void write_row(FILE *out, const struct report *report, const char *name,
                      text_function *text_of)
{
    (void)fprintf(out, "<tr><th scope=\"row\">%s</th>", name);
    for (size_t i = 0; i < report->count; i++) {
        char text[UNITS_TEXT];

        (void)fprintf(out, "<td>%s</td>", text_of(&report->runs[i], text));
    }
    (void)fputs("</tr>\n", out);
}

static const char *ranks_text(const struct run_result *run, char text[UNITS_TEXT])
{
    return units_count(run->ranks, text);
}

static const char *linear_text(const struct run_result *run, char text[UNITS_TEXT])
{
    (void)snprintf(text, UNITS_TEXT, "%s", run->ranks > 1 ? run->arrangement->linear : "–");
    return text;
}

static const char *attention_text(const struct run_result *run, char text[UNITS_TEXT])
{
    (void)snprintf(text, UNITS_TEXT, "%s", run->ranks > 1 ? run->arrangement->attention : "–");
    return text;
}

static const char *loss_text(double loss, char text[UNITS_TEXT])
{
    (void)snprintf(text, UNITS_TEXT, isfinite(loss) ? "%.4f" : "none", loss);
    return text;
}

static const char *first_text(const struct run_result *run, char text[UNITS_TEXT])
{
    return loss_text(run->loss[0], text);
}

static const char *last_text(const struct run_result *run, char text[UNITS_TEXT])
{
    return loss_text(run->loss[run->steps - 1], text);
}

static const char *seconds_text(const struct run_result *run, char text[UNITS_TEXT])
{
    (void)snprintf(text, UNITS_TEXT, run->seconds < 100 ? "%.1f" : "%.0f", run->seconds);
    return text;
}

static const char *balance_text(const struct run_result *run, char text[UNITS_TEXT])
{
    (void)snprintf(text, UNITS_TEXT, "%.2f", run->attention_max_over_mean);
    return text;
}

static const char *parts_text(const struct run_result *run, char text[UNITS_TEXT])
{
    return units_count(run->linear.count, text);
}

static void write_speeds(FILE *out, const struct report *report)
{
    (void)fputs("<tr><th scope=\"row\">tokens per second</th>", out);
    for (size_t i = 0; i < report->count; i++) {
        const struct run_result *const run = &report->runs[i];
        const double tokens = (double)run->steps * (double)report->settings->sequence;
        char text[UNITS_TEXT];

        (void)fprintf(out, "<td>%s</td>", units_count((int64_t)(tokens / run->seconds), text));
    }
    (void)fputs("</tr>\n", out);
}

static void write_bytes(FILE *out, const struct report *report, const char *name,
                        int64_t (*bytes)(const struct run_result *run))
{
    (void)fprintf(out, "<tr><th scope=\"row\">%s</th>", name);
    for (size_t i = 0; i < report->count; i++) {
        const int64_t value = bytes(&report->runs[i]);
        char text[UNITS_TEXT];

        (void)fprintf(out, "<td>%s</td>", value > 0 ? units_size(value, text) : "–");
    }
    (void)fputs("</tr>\n", out);
}

void volumes_table(FILE *out, const struct report *report)
{
    (void)fputs("<div class=\"scroll\"><table class=\"full\"><thead><tr><th scope=\"col\">run</th>",
                out);
    for (size_t i = 0; i < report->count; i++) {
        (void)fprintf(out, "<th scope=\"col\">%s</th>", report->runs[i].arrangement->name);
    }
    (void)fputs("</tr></thead><tbody>\n", out);
    write_row(out, report, "ranks", ranks_text);
    write_row(out, report, "linear layers", linear_text);
    write_row(out, report, "attention", attention_text);
    write_row(out, report, "first loss", first_text);
    write_row(out, report, "last loss", last_text);
    write_row(out, report, "seconds", seconds_text);
    write_speeds(out, report);
    write_row(out, report, "busiest rank / mean", balance_text);
    write_row(out, report, "parts of a scan", parts_text);
    for (size_t i = 0; i < KINDS; i++) {
        write_bytes(out, report, kinds[i].name, kinds[i].bytes);
    }
    write_bytes(out, report, "all four", all_bytes);
    (void)fputs("</tbody></table></div>\n", out);
}
