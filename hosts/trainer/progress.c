/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "terminal.h"

enum { CELLS_MOST = 24, CELLS_LEAST = 4 };

void progress_init(struct progress *progress, int64_t total, int64_t sequence)
{
    *progress = (struct progress){
        .visible = isatty(STDERR_FILENO) == 1,
        .coloured = terminal_coloured(STDERR_FILENO),
        .name = "",
        .sequence = sequence,
        .total = total,
        .begin_all = clock_seconds(),
    };
}

void progress_begin(struct progress *progress, const char *name, int64_t steps)
{
    progress->before += progress->steps;
    progress->name = name;
    progress->steps = steps;
    progress->begin = clock_seconds();
}

/* The bar, which fills over all runs. */
static void draw_bar(const struct progress *progress, int cells, double fraction)
{
    const int full = (int)(fraction * cells);

    (void)fputs(progress->coloured ? "\033[36m" : "", stderr);
    for (int i = 0; i < cells; i++) {
        (void)fputc(i < full ? '#' : '.', stderr);
    }
    (void)fputs(progress->coloured ? "\033[0m " : " ", stderr);
}

/* The bar takes what the text leaves; the text is cut before it would wrap. */
static void draw(const struct progress *progress, const char *text, double fraction)
{
    const int columns = terminal_columns(STDERR_FILENO) - 1;
    const int room = columns - (int)strlen(text) - 1;
    const int cells = room < CELLS_MOST ? room : CELLS_MOST;

    (void)fputc('\r', stderr);
    if (cells >= CELLS_LEAST) {
        draw_bar(progress, cells, fraction);
    }
    (void)fprintf(stderr, "%.*s\033[K", columns, text);
    (void)fflush(stderr);
}

void progress_show(const struct progress *progress, int64_t done, double loss)
{
    int64_t all_done;
    double time;
    double speed;
    double left;
    char text[128];

    if (progress == NULL || !progress->visible) {
        return;
    }
    all_done = progress->before + done;
    time = clock_seconds();
    speed = (double)(done * progress->sequence) / (time - progress->begin + 1e-9);
    /* Runs differ in speed little enough for one guess over all of them. */
    left = (time - progress->begin_all) / (double)all_done * (double)(progress->total - all_done);
    (void)snprintf(text, sizeof(text), "%.0f s left  %s %lld/%lld  loss %.3f  %.0f tok/s", left,
                   progress->name, (long long)done, (long long)progress->steps, loss, speed);
    draw(progress, text, (double)all_done / (double)progress->total);
}

void progress_end(const struct progress *progress)
{
    if (progress->visible) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
    }
}
