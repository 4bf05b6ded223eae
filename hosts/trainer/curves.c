/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A drawing is an svg without a viewBox, so that text keeps its size on any width: what it holds is
 * placed in percent. Only paths need a viewBox, in an svg inside that is stretched to fit.
 */
#include "curves.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "units.h"

/* Of the stretched box; a path has at most two points for each of THINNED columns. */
enum { BOX = 1000, THINNED = 400, HEIGHT = 220 };

typedef double value_function(const struct report *report, size_t run, int64_t step);

/* One drawing: what is drawn, and the values at its lower and upper edge. */
struct view {
    const struct report *report;
    value_function *value; /* not finite: a gap */
    int64_t steps;
    double low, high;
    bool dots;            /* no lines between the steps */
    const char *left_out; /* name of a run that is not drawn; NULL: none */
};

static double loss_at(const struct report *report, size_t run, int64_t step)
{
    return report->runs[run].loss[step];
}

/* Powers of ten: the least difference drawn, below the precision of a loss, and the place of zero. */
static const double least_exponent = -8;
static const double zero_exponent = -9;

static double difference_at(const struct report *report, size_t run, int64_t step)
{
    const double difference =
        report_loss_difference(&report->runs[run], report_find(report, "single"), step);

    if (difference == 0) {
        return zero_exponent;
    }
    return isfinite(difference) ? fmax(log10(difference), least_exponent) : NAN;
}

/* Lowers low and raises high to hold all values that are finite. */
static void view_hold(struct view *view)
{
    for (size_t run = 0; run < view->report->count; run++) {
        for (int64_t step = 0; step < view->steps; step++) {
            const double value = view->value(view->report, run, step);

            if (isfinite(value)) {
                view->low = fmin(view->low, value);
                view->high = fmax(view->high, value);
            }
        }
    }
}

/* ---- Scales ----------------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten: the least that makes at most `most` intervals of the extent. */
static double nice_interval(double extent, int most)
{
    const double least = extent / most;
    const double power = pow(10, floor(log10(least)));

    for (int i = 0; i < 2; i++) {
        const double interval = (i == 0 ? 2 : 5) * power;

        if (power >= least || interval >= least) {
            return power >= least ? power : interval;
        }
    }
    return 10 * power;
}

/* Extends the view to whole intervals and returns the interval. */
static double view_round(struct view *view)
{
    double interval;

    if (!(view->low <= view->high)) { /* no value is finite */
        view->low = 0;
        view->high = 1;
    }
    if (view->high - view->low < 1e-6 * fmax(1, fabs(view->high))) {
        view->low -= 0.5 * fmax(1, fabs(view->high));
        view->high += 0.5 * fmax(1, fabs(view->high));
    }
    interval = nice_interval(view->high - view->low, 5);
    view->low = floor(view->low / interval) * interval;
    view->high = ceil(view->high / interval) * interval;
    return interval;
}

/* From the top, as a share of the height. */
static double place_y(const struct view *view, double value)
{
    return (view->high - value) / (view->high - view->low);
}

static double place_x(const struct view *view, int64_t step)
{
    return view->steps > 1 ? (double)step / (double)(view->steps - 1) : 0.5;
}

static void draw_level(FILE *out, double place, const char *label)
{
    (void)fprintf(out,
                  "<line class=\"grid\" x1=\"0\" x2=\"100%%\" y1=\"%.1f\" y2=\"%.1f\"/>"
                  "<text class=\"end\" x=\"-8\" y=\"%.1f\">%s</text>\n",
                  HEIGHT * place, HEIGHT * place, HEIGHT * place + 4, label);
}

static void draw_levels(FILE *out, const struct view *view, double interval)
{
    for (double level = view->low; level < view->high + interval / 2; level += interval) {
        char label[32];

        /* What should be zero may be a rounding error. */
        (void)snprintf(label, sizeof(label), "%.4g", fabs(level) < interval / 2 ? 0 : level);
        draw_level(out, place_y(view, level), label);
    }
}

static void draw_powers(FILE *out, const struct view *view)
{
    for (double exponent = view->low; exponent <= view->high; exponent++) {
        char label[64];

        (void)snprintf(label, sizeof(label), "10<tspan dy=\"-4\" font-size=\"9\">%.0f</tspan>",
                       exponent);
        draw_level(out, place_y(view, exponent), exponent == zero_exponent ? "equal" : label);
    }
}

static void draw_step(FILE *out, const struct view *view, int64_t step)
{
    char text[UNITS_TEXT];

    (void)fprintf(out, "<text class=\"mid\" x=\"%.2f%%\" y=\"%d\">%s</text>\n",
                  100 * place_x(view, step - 1), HEIGHT + 18, units_count(step, text));
}

/* Steps count from 1. */
static void draw_steps(FILE *out, const struct view *view)
{
    const double extent = (double)view->steps;
    const int64_t interval = view->steps > 5 ? (int64_t)nice_interval(extent, 5) : 1;

    (void)fprintf(out, "<line class=\"axis\" x1=\"0\" x2=\"100%%\" y1=\"%d\" y2=\"%d\"/>\n", HEIGHT,
                  HEIGHT);
    if (interval > 1) {
        draw_step(out, view, 1);
    }
    for (int64_t step = interval; step <= view->steps; step += interval) {
        draw_step(out, view, step);
    }
    (void)fprintf(out, "<text class=\"mid\" x=\"50%%\" y=\"%d\">step</text>\n", HEIGHT + 36);
}

/* ---- Curves ----------------------------------------------------------------------------------- */

/* Where a path stands; a gap lifts the pen. */
struct pen {
    FILE *out;
    const struct view *view;
    size_t run;
    bool down;
};

static void pen_go(struct pen *pen, int64_t step)
{
    const double value = pen->view->value(pen->view->report, pen->run, step);

    if (!isfinite(value)) {
        pen->down = false;
        return;
    }
    /* h0: a point alone is drawn as a dot. */
    (void)fprintf(pen->out, "%s%.1f %.1f%s", pen->down ? "L" : "M", BOX * place_x(pen->view, step),
                  BOX * place_y(pen->view, value), pen->down ? "" : "h0");
    pen->down = !pen->view->dots;
}

/* The steps of the least and of the largest finite value in [begin, end), in their order; `begin` for
 * both if there is none. */
static void find_extremes(const struct pen *pen, int64_t begin, int64_t end, int64_t extremes[2])
{
    int64_t least = begin;
    int64_t largest = begin;
    double low = INFINITY;
    double high = -INFINITY;

    for (int64_t step = begin; step < end; step++) {
        const double value = pen->view->value(pen->view->report, pen->run, step);

        if (isfinite(value) && value < low) {
            low = value;
            least = step;
        }
        if (isfinite(value) && value > high) {
            high = value;
            largest = step;
        }
    }
    extremes[0] = least < largest ? least : largest;
    extremes[1] = least < largest ? largest : least;
}

/* Steps that share a column are drawn by their extremes. */
static void draw_path(struct pen *pen)
{
    const int64_t steps = pen->view->steps;
    const int64_t columns = steps < 2 * THINNED ? steps : THINNED;

    for (int64_t column = 0; column < columns; column++) {
        const int64_t begin = steps * column / columns;
        int64_t extremes[2];

        find_extremes(pen, begin, steps * (column + 1) / columns, extremes);
        pen_go(pen, extremes[0]);
        if (extremes[1] != extremes[0]) {
            pen_go(pen, extremes[1]);
        }
    }
}

static bool is_drawn(const struct view *view, const char *name)
{
    return view->left_out == NULL || strcmp(name, view->left_out) != 0;
}

static void draw_curves(FILE *out, const struct view *view)
{
    (void)fprintf(out,
                  "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" width=\"100%%\" "
                  "height=\"%d\">\n",
                  BOX, BOX, HEIGHT);
    for (size_t run = 0; run < view->report->count; run++) {
        const char *const name = view->report->runs[run].arrangement->name;
        struct pen pen = {.out = out, .view = view, .run = run};

        if (is_drawn(view, name)) {
            (void)fprintf(out, "<path class=\"curve %srun-%s\" d=\"", view->dots ? "dots " : "",
                          name);
            draw_path(&pen);
            (void)fputs("\"/>\n", out);
        }
    }
    (void)fputs("</svg>\n", out);
}

static void draw_legend(FILE *out, const struct view *view)
{
    (void)fputs("<ul class=\"legend\">", out);
    for (size_t run = 0; run < view->report->count; run++) {
        const char *const name = view->report->runs[run].arrangement->name;

        if (is_drawn(view, name)) {
            (void)fprintf(out,
                          "<li%s><svg aria-hidden=\"true\"><path class=\"curve %srun-%s\" "
                          "d=\"M7 7h%d\"/></svg>%s</li>",
                          view->dots ? " class=\"dots-key\"" : "", view->dots ? "dots " : "", name,
                          view->dots ? 0 : 24, name);
        }
    }
    (void)fputs("</ul>\n", out);
}

static void open_plot(FILE *out, const char *label)
{
    (void)fprintf(out,
                  "<div class=\"plot\"><svg role=\"img\" aria-label=\"%s\" height=\"%d\">"
                  "<title>%s</title>\n",
                  label, HEIGHT + 42, label);
}

/* ---- Drawings --------------------------------------------------------------------------------- */

static int64_t count_gaps(const struct report *report)
{
    int64_t gaps = 0;

    for (size_t run = 0; run < report->count; run++) {
        for (int64_t step = 0; step < report->runs[run].steps; step++) {
            gaps += !isfinite(report->runs[run].loss[step]);
        }
    }
    return gaps;
}

void curves_loss(FILE *out, const struct report *report)
{
    struct view view = {.report = report,
                        .value = loss_at,
                        .steps = report->settings->steps,
                        .low = INFINITY,
                        .high = -INFINITY};
    const int64_t gaps = count_gaps(report);
    double interval;

    view_hold(&view);
    interval = view_round(&view);
    (void)fputs("<figure><figcaption><strong>Loss by step</strong>, nats per byte</figcaption>\n",
                out);
    open_plot(out, "Loss of every run by step; a table below has the numbers");
    draw_levels(out, &view, interval);
    draw_steps(out, &view);
    draw_curves(out, &view);
    (void)fputs("</svg></div>\n", out);
    draw_legend(out, &view);
    if (gaps > 0) {
        (void)fprintf(out,
                      "<p class=\"key\">%" PRId64 " losses are no numbers; they leave gaps.</p>\n",
                      gaps);
    }
    (void)fputs("</figure>\n", out);
}

static void draw_limit(FILE *out, const struct view *view, double limit)
{
    const double y = HEIGHT * place_y(view, log10(limit));

    (void)fprintf(out,
                  "<line class=\"limit\" x1=\"0\" x2=\"100%%\" y1=\"%.1f\" y2=\"%.1f\"/>"
                  "<text class=\"limit end\" x=\"100%%\" y=\"%.1f\">limit %.0e</text>\n",
                  y, y, y - 6, limit);
}

void curves_difference(FILE *out, const struct report *report)
{
    const struct agreement agreement = report_agreement(report);
    struct view view = {.report = report,
                        .value = difference_at,
                        .steps = report->settings->steps,
                        .low = zero_exponent,
                        .high = -2,
                        .dots = true,
                        .left_out = "single"};

    if (!agreement.compared) {
        return;
    }
    view_hold(&view);
    view.low = floor(view.low);
    view.high = ceil(view.high);
    (void)fputs("<figure><figcaption><strong>Distance from 'single'</strong>, relative. Sums in "
                "another order round differently; an error in the layouts would show above the "
                "limit.</figcaption>\n",
                out);
    open_plot(out, "Relative difference of the losses from those of the run single, by step");
    draw_powers(out, &view);
    draw_steps(out, &view);
    draw_limit(out, &view, agreement.loss_limit);
    draw_curves(out, &view);
    (void)fputs("</svg></div>\n", out);
    draw_legend(out, &view);
    (void)fputs("</figure>\n", out);
}
