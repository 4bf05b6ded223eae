/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens go along a box of UNITS that is stretched to the width of the page; a unit is less than a
 * pixel. What is narrower is merged, so that a drawing is bounded however many parts there are.
 */
#include "strips.h"

#include <inttypes.h>
#include <string.h>

#include "deals.h"
#include "html.h"
#include "units.h"

enum { UNITS = 2000, GAP = 2 };

/* Pixels. The ruler shows the documents of a pack. */
enum { RULER = 18, RULER_GAP = 5, AXIS = 22 };

/* What one digit on the ruler takes of the width; documents narrower than their number have none. */
static const double digit_share = 0.022;

/* In words, a rank's ranges and documents stop after so many. */
enum { RANGES_MOST = 12 };

enum { HANDOVERS_MOST = 500 };

/* One drawing. */
struct picture {
    FILE *out;
    const struct deal *deal;
    int64_t tokens;
    int64_t documents; /* at most 1: no ruler */
    int lane;          /* pixels from lane to lane */
    int top;           /* of the first lane */
};

static int lane_height(int32_t ranks)
{
    if (ranks <= 8) {
        return 16;
    }
    return ranks <= 16 ? 10 : ranks <= 32 ? 6 : 4;
}

static struct picture picture_make(FILE *out, const struct deal *deal, int64_t tokens)
{
    const int64_t documents = deal_documents(deal);

    return (struct picture){
        .out = out,
        .deal = deal,
        .tokens = tokens,
        .documents = documents,
        .lane = lane_height(deal->ranks),
        .top = documents > 1 ? RULER + RULER_GAP : 0,
    };
}

static int bottom(const struct picture *picture)
{
    return picture->top + picture->lane * picture->deal->ranks;
}

static int64_t unit_of(const struct picture *picture, int64_t token)
{
    return (int64_t)((double)token * UNITS / (double)picture->tokens + 0.5);
}

static double percent_of(const struct picture *picture, int64_t token)
{
    return 100 * (double)token / (double)picture->tokens;
}

/* ---- Lanes ------------------------------------------------------------------------------------ */

/* A stretch of a lane in units, grown until a gap shows. */
struct stretch {
    int64_t from, to; /* to <= from: nothing yet */
};

static void draw_stretch(const struct picture *picture, const struct stretch *stretch, int y)
{
    if (stretch->to > stretch->from) {
        (void)fprintf(picture->out, "M%" PRId64 " %dh%" PRId64 "v%dh-%" PRId64 "z", stretch->from,
                      y, stretch->to - stretch->from, picture->lane - 1,
                      stretch->to - stretch->from);
    }
}

static void draw_held(const struct picture *picture, int32_t rank)
{
    const struct strip *const strip = picture->deal->strip;
    const int y = picture->top + rank * picture->lane;
    struct stretch stretch = {0, 0};
    char colour[8];

    (void)fprintf(picture->out, "<path class=\"held\" fill=\"%s\" d=\"",
                  html_rank_colour(rank, picture->deal->ranks, colour));
    for (int64_t i = 0; i < strip->count; i++) {
        const struct part *const part = &strip->parts[i];
        const int64_t from = unit_of(picture, part->start);
        const int64_t to = unit_of(picture, part->start + part->length);

        if (part->rank != rank) {
            continue;
        }
        if (stretch.to <= stretch.from || from >= stretch.to + GAP) {
            draw_stretch(picture, &stretch, y);
            stretch.from = from;
        }
        stretch.to = to > from ? to : from + 1;
    }
    draw_stretch(picture, &stretch, y);
    (void)fputs("\"/>\n", picture->out);
}

/* Lines between documents, unless they lie too close to tell apart. */
static void draw_borders(const struct picture *picture)
{
    const struct strip *const strip = picture->deal->strip;
    int64_t last = 0;

    (void)fputs("<path class=\"border\" d=\"", picture->out);
    for (int64_t i = 1; i < strip->count; i++) {
        const int64_t unit = unit_of(picture, strip->parts[i].start);

        if (strip->parts[i].position == 0 && unit >= last + 4 * GAP) {
            (void)fprintf(picture->out, "M%" PRId64 " %dv%d", unit, RULER,
                          bottom(picture) - RULER + 4);
            last = unit;
        }
    }
    (void)fputs("\"/>\n", picture->out);
}

/* From lane to lane where a state is handed over; so many that they would fill the drawing say nothing. */
static void draw_handovers(const struct picture *picture)
{
    const struct strip *const strip = picture->deal->strip;
    const int middle = picture->top + picture->lane / 2;

    (void)fputs("<path class=\"handover\" d=\"", picture->out);
    for (int64_t i = 0; i < strip->count && strip->count <= HANDOVERS_MOST; i++) {
        if (deal_crosses(picture->deal, i)) {
            (void)fprintf(picture->out, "M%" PRId64 " %dV%d",
                          unit_of(picture, strip->parts[i].start),
                          middle + strip->parts[i - 1].rank * picture->lane,
                          middle + strip->parts[i].rank * picture->lane);
        }
    }
    (void)fputs("\"/>\n", picture->out);
}

static void draw_lanes(const struct picture *picture)
{
    const int height = bottom(picture) + AXIS;

    (void)fprintf(picture->out,
                  "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" width=\"100%%\" "
                  "height=\"%d\">\n",
                  UNITS, height, height);
    for (int32_t rank = 0; rank < picture->deal->ranks; rank++) {
        (void)fprintf(picture->out,
                      "<rect class=\"lane\" x=\"0\" y=\"%d\" width=\"%d\" height=\"%d\"/>",
                      picture->top + rank * picture->lane, UNITS, picture->lane - 1);
        draw_held(picture, rank);
    }
    if (picture->documents > 1) {
        draw_borders(picture);
    }
    draw_handovers(picture);
    (void)fputs("</svg>\n", picture->out);
}

/* As many ranks as there is room for. */
static void draw_ranks(const struct picture *picture)
{
    const int32_t every = (14 + picture->lane - 1) / picture->lane;

    for (int32_t rank = 0; rank < picture->deal->ranks; rank += every) {
        (void)fprintf(picture->out, "<text class=\"end\" x=\"-7\" y=\"%d\">%s%d</text>\n",
                      picture->top + rank * picture->lane + picture->lane / 2 + 4,
                      rank == 0 ? "rank " : "", rank);
    }
}

/* ---- Documents and tokens --------------------------------------------------------------------- */

/* Where the document of part `i` ends, and with *next the first part of the one behind it. */
static int64_t document_end(const struct picture *picture, int64_t i, int64_t *next)
{
    const struct strip *const strip = picture->deal->strip;

    for (*next = i + 1; *next < strip->count; (*next)++) {
        if (strip->parts[*next].position == 0) {
            return strip->parts[*next].start;
        }
    }
    return picture->tokens;
}

static void draw_document(const struct picture *picture, int64_t from, int64_t to, int64_t number)
{
    const double share = (double)(to - from) / (double)picture->tokens;
    const int digits = snprintf(NULL, 0, "%" PRId64, number);

    (void)fprintf(picture->out,
                  "<rect class=\"document%s\" x=\"%.2f%%\" y=\"0.5\" width=\"%.2f%%\" "
                  "height=\"%d\"/>",
                  number % 2 == 1 ? "" : " odd", percent_of(picture, from), 100 * share, RULER - 1);
    if (share >= digit_share * digits) {
        (void)fprintf(picture->out, "<text class=\"mid\" x=\"%.2f%%\" y=\"%d\">%" PRId64 "</text>",
                      percent_of(picture, from) + 50 * share, RULER - 5, number);
    }
    (void)fputc('\n', picture->out);
}

/* Documents narrower than a pixel or two are drawn as one with those behind them. */
static void draw_documents(const struct picture *picture)
{
    int64_t from = 0;
    int64_t next = 0;

    for (int64_t i = 0, number = 1; i < picture->deal->strip->count; i = next, number++) {
        const int64_t end = document_end(picture, i, &next);

        if (unit_of(picture, end) >= unit_of(picture, from) + 2 * GAP || end == picture->tokens) {
            draw_document(picture, from, end, number);
            from = end;
        }
    }
}

/* The first and the last token, and quarters between. */
static void draw_axis(const struct picture *picture)
{
    const int y = bottom(picture) + 15;
    char text[UNITS_TEXT];

    for (int quarter = 0; quarter <= 4; quarter++) {
        const int64_t token = picture->tokens * quarter / 4;

        (void)fprintf(picture->out, "<text class=\"%s\" x=\"%d%%\" y=\"%d\">%s%s</text>\n",
                      quarter == 0   ? "start"
                      : quarter == 4 ? "end"
                                     : "mid",
                      25 * quarter, y, quarter == 0 ? "token " : "", units_count(token, text));
    }
}

/* ---- Words ------------------------------------------------------------------------------------ */

/* "linear layers of dual", with the runs by name. */
static bool write_users(FILE *out, const struct report *report, const char *what,
                        const bool of[ARRANGEMENTS])
{
    bool any = false;

    for (size_t i = 0; i < report->count; i++) {
        if (of[i]) {
            (void)fprintf(out, "%s%s", any ? ", " : what, report->runs[i].arrangement->name);
            any = true;
        }
    }
    return any;
}

static void write_caption(const struct picture *picture, const struct report *report)
{
    const struct deal *const deal = picture->deal;
    FILE *const out = picture->out;
    char text[UNITS_TEXT];

    (void)fprintf(out, "<figcaption><strong>%s</strong>", deal->name);
    (void)fputs(write_users(out, report, ": linear layers of ", deal->linear_of) ? "; " : ": ",
                out);
    if (!write_users(out, report, "attention of ", deal->attention_of)) {
        (void)fputs("no attention", out);
    }
    (void)fprintf(out, ". %s part%s", units_count(deal->strip->count, text),
                  deal->strip->count == 1 ? "" : "s");
    if (picture->documents > 1) {
        (void)fprintf(out, " of %s documents", units_count(picture->documents, text));
    }
    if (deal->ranks > 1) {
        (void)fprintf(out, ", a scan crosses ranks %s times",
                      units_count(deal_crossings(deal), text));
    }
    (void)fputs(".</figcaption>\n", out);
}

static void write_range(FILE *out, const struct part *part, bool first)
{
    (void)fprintf(out, part->length > 1 ? "%s%" PRId64 "–&NoBreak;%" PRId64 : "%s%" PRId64,
                  first ? "" : ", ", part->start, part->start + part->length - 1);
}

static void write_rank(FILE *out, const struct deal *deal, int32_t rank)
{
    char text[UNITS_TEXT];
    int64_t count = 0;

    (void)fprintf(out, "<tr><th scope=\"row\">%d</th><td>%s</td><td class=\"text\">", rank,
                  units_count(deal_tokens(deal, rank), text));
    for (int64_t i = 0; i < deal->strip->count; i++) {
        const struct part *const part = &deal->strip->parts[i];

        if (part->rank == rank && count++ < RANGES_MOST) {
            write_range(out, part, count == 1);
        }
    }
    if (count > RANGES_MOST) {
        (void)fprintf(out, " and %" PRId64 " more", count - RANGES_MOST);
    }
    (void)fputs("</td></tr>\n", out);
}

static void write_ranks(FILE *out, const struct deal *deal)
{
    (void)fprintf(out, "<details><summary>%s in numbers</summary><div class=\"scroll\"><table>\n",
                  deal->name);
    (void)fprintf(out,
                  "<caption>What every rank holds in %s</caption><thead><tr><th "
                  "scope=\"col\">rank</th><th scope=\"col\">tokens</th><th scope=\"col\" "
                  "style=\"text-align:left\">which</th></tr></thead><tbody>\n",
                  deal->name);
    for (int32_t rank = 0; rank < deal->ranks; rank++) {
        write_rank(out, deal, rank);
    }
    (void)fputs("</tbody></table></div></details>\n", out);
}

static void write_figure(FILE *out, const struct report *report, const struct deal *deal)
{
    const struct picture picture = picture_make(out, deal, report->settings->sequence);

    (void)fputs("<figure>", out);
    write_caption(&picture, report);
    (void)fprintf(out,
                  "<div class=\"plot strip\"><svg role=\"img\" aria-label=\"Layout %s: which of %d "
                  "ranks holds which tokens, in %" PRId64
                  " parts; a table below has the ranges\" height=\"%d\">\n",
                  deal->name, deal->ranks, deal->strip->count, bottom(&picture) + AXIS);
    draw_lanes(&picture);
    draw_ranks(&picture);
    if (picture.documents > 1) {
        draw_documents(&picture);
    }
    draw_axis(&picture);
    (void)fputs("</svg></div>", out);
    write_ranks(out, deal);
    (void)fputs("</figure>\n", out);
}

void strips_write(FILE *out, const struct report *report)
{
    const struct deals deals = deals_collect(report);

    for (size_t i = 0; i < deals.count; i++) {
        write_figure(out, report, &deals.deal[i]);
    }
}
