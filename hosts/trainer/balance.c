/* SPDX-License-Identifier: Apache-2.0 */
#include "balance.h"

#include <string.h>

#include "deals.h"
#include "html.h"
#include "units.h"

/* Pixels: of the highest bar, and below the bars for the ranks. */
enum { HEIGHT = 110, HEAD = 18, FOOT = 22 };

/* Up to here every bar has its value, and its rank, beside it. */
enum { VALUES_MOST = 8, RANKS_MOST = 10 };

static double largest_work(const struct deal *deal)
{
    double largest = 0;

    for (int32_t rank = 0; rank < deal->ranks; rank++) {
        const double work = deal_work(deal, rank);

        largest = work > largest ? work : largest;
    }
    return largest;
}

/* The busiest rank over the mean: of a step, where attention ran so, averaged over the steps. */
static double max_over_mean(const struct deal *deal)
{
    return deal->attention != NULL ? deal->attention->attention_max_over_mean
                                   : largest_work(deal) / deal_mean_work(deal);
}

/* Of all panels, so that they share one scale; at least 1, where the mean is. */
static double largest_share(const struct deals *deals)
{
    double largest = 1;

    for (size_t i = 0; i < deals->count; i++) {
        const double share = largest_work(&deals->deal[i]) / deal_mean_work(&deals->deal[i]);

        largest = share > largest ? share : largest;
    }
    return largest;
}

static void draw_value(FILE *out, const struct deal *deal, int32_t rank, double scale)
{
    const double middle = 100 * (rank + 0.5) / deal->ranks;
    const double share = deal_work(deal, rank) / deal_mean_work(deal);
    const double top = HEAD + HEIGHT - HEIGHT * share / scale;

    if (deal->ranks <= VALUES_MOST) {
        (void)fprintf(out, "<text class=\"mid value\" x=\"%.2f%%\" y=\"%.1f\">%.2f</text>", middle,
                      top - 5, share);
    }
    if (deal->ranks <= RANKS_MOST || rank == 0 || rank == deal->ranks - 1) {
        (void)fprintf(out, "<text class=\"mid\" x=\"%.2f%%\" y=\"%d\">%d</text>", middle,
                      HEAD + HEIGHT + 15, rank);
    }
    (void)fputc('\n', out);
}

static void draw_bar(FILE *out, const struct deal *deal, int32_t rank, double scale)
{
    const double height = HEIGHT * deal_work(deal, rank) / deal_mean_work(deal) / scale;
    const double top = HEAD + HEIGHT - height;
    const double width = 100.0 / deal->ranks;
    char colour[8];

    (void)fprintf(
        out,
        "<rect class=\"%s\" fill=\"%s\" x=\"%.2f%%\" y=\"%.1f\" width=\"%.2f%%\" height=\"%.1f\"/>",
        deal->attention != NULL ? "work" : "idle", html_rank_colour(rank, deal->ranks, colour),
        (rank + 0.14) * width, top, 0.72 * width, height);
}

static void draw_mean(FILE *out, double scale)
{
    const double y = HEAD + HEIGHT - HEIGHT / scale;

    (void)fprintf(out,
                  "<line class=\"axis\" x1=\"0\" x2=\"100%%\" y1=\"%d\" y2=\"%d\"/>"
                  "<line class=\"mean\" x1=\"0\" x2=\"100%%\" y1=\"%.1f\" y2=\"%.1f\"/>"
                  "<text class=\"end\" x=\"-7\" y=\"%.1f\">mean</text>"
                  "<text class=\"end\" x=\"-7\" y=\"%d\">rank</text>\n",
                  HEAD + HEIGHT, HEAD + HEIGHT, y, y, y + 4, HEAD + HEIGHT + 15);
}

static void draw_panel(FILE *out, const struct deal *deal, double scale)
{
    (void)fprintf(out, "<figure><h3>%s</h3><p>Busiest rank: %.2f × mean. %s</p>\n", deal->name,
                  max_over_mean(deal),
                  deal->attention != NULL ? "Attention ran in it; all steps."
                                          : "Had attention run in it; first step, hatched.");
    (void)fprintf(out,
                  "<div class=\"plot\"><svg role=\"img\" aria-label=\"Attention work of %d ranks "
                  "in %s relative to the mean; the busiest rank has %.2f times the mean\" "
                  "height=\"%d\">\n",
                  deal->ranks, deal->name, max_over_mean(deal), HEAD + HEIGHT + FOOT);
    for (int32_t rank = 0; rank < deal->ranks; rank++) {
        draw_bar(out, deal, rank, scale);
    }
    draw_mean(out, scale);
    for (int32_t rank = 0; rank < deal->ranks; rank++) {
        draw_value(out, deal, rank, scale);
    }
    (void)fputs("</svg></div></figure>\n", out);
}

/* Layouts on one rank have nothing to balance. */
static struct deals split_deals(const struct report *report)
{
    const struct deals all = deals_collect(report);
    struct deals split = {.count = 0};

    for (size_t i = 0; i < all.count; i++) {
        if (all.deal[i].ranks > 1) {
            split.deal[split.count++] = all.deal[i];
        }
    }
    return split;
}

void balance_chart(FILE *out, const struct report *report)
{
    const struct deals deals = split_deals(report);
    const double scale = largest_share(&deals);

    if (deals.count == 0) {
        (void)fputs("<p>One rank does all of it here.</p>\n", out);
        return;
    }
    (void)fputs("<div class=\"panels\">\n", out);
    for (size_t i = 0; i < deals.count; i++) {
        draw_panel(out, &deals.deal[i], scale);
    }
    (void)fputs("</div>\n", out);
}

static void write_rank(FILE *out, const struct deals *deals, int32_t rank)
{
    (void)fprintf(out, "<tr><th scope=\"row\">%d</th>", rank);
    for (size_t i = 0; i < deals->count; i++) {
        const struct deal *const deal = &deals->deal[i];
        const double work = deal_work(deal, rank);
        char text[UNITS_TEXT];

        (void)fprintf(out, "<td>%s</td><td>%.2f</td>", units_count((int64_t)(work + 0.5), text),
                      work / deal_mean_work(deal));
    }
    (void)fputs("</tr>\n", out);
}

void balance_table(FILE *out, const struct report *report)
{
    const struct deals deals = split_deals(report);

    if (deals.count == 0) {
        return;
    }
    (void)fputs("<details><summary>Attention work in numbers</summary><div class=\"scroll\"><table>"
                "<caption>Pairs of query and key, and their share of the mean</caption>"
                "<thead><tr><th scope=\"col\">rank</th>",
                out);
    for (size_t i = 0; i < deals.count; i++) {
        (void)fprintf(out, "<th scope=\"col\">%s</th><th scope=\"col\">× mean</th>",
                      deals.deal[i].name);
    }
    (void)fputs("</tr></thead><tbody>\n", out);
    for (int32_t rank = 0; rank < deals.deal[0].ranks; rank++) {
        write_rank(out, &deals, rank);
    }
    (void)fputs("</tbody></table></div></details>\n", out);
}
