/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { BAR_CELLS = 24, TEXT_COLUMNS = 52 };

static double now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool is_plain(void)
{
    const char *const term = getenv("TERM");
    const char *const no_color = getenv("NO_COLOR");

    return (no_color != NULL && no_color[0] != '\0') || term == NULL || strcmp(term, "dumb") == 0;
}

void progress_init(struct progress *progress, int64_t total, int64_t sequence)
{
    *progress = (struct progress){
        .visible = isatty(STDERR_FILENO) == 1,
        .coloured = !is_plain(),
        .name = "",
        .sequence = sequence,
        .total = total,
        .begin_all = now(),
    };
}

void progress_begin(struct progress *progress, const char *name, int64_t steps)
{
    progress->before += progress->steps;
    progress->name = name;
    progress->steps = steps;
    progress->begin = now();
}

static int columns(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void draw_bar(const struct progress *progress, double fraction)
{
    const int room = columns() - TEXT_COLUMNS;
    const int cells = room < BAR_CELLS ? (room > 0 ? room : 0) : BAR_CELLS;
    const int full = (int)(fraction * cells);

    (void)fputs(progress->coloured ? "\033[36m" : "", stderr);
    for (int i = 0; i < cells; i++) {
        (void)fputc(i < full ? '#' : '.', stderr);
    }
    (void)fputs(progress->coloured ? "\033[0m" : "", stderr);
}

void progress_show(struct progress *progress, int64_t done, double loss)
{
    double time;
    double speed;
    double left;

    if (progress == NULL || !progress->visible) {
        return;
    }
    time = now();
    speed = (double)(done * progress->sequence) / (time - progress->begin + 1e-9);
    /* Runs differ in speed little enough for one guess over all of them. */
    left = (time - progress->begin_all) / (double)(progress->before + done) *
           (double)(progress->total - progress->before - done);
    (void)fprintf(stderr, "\r%-7s ", progress->name);
    draw_bar(progress, (double)done / (double)progress->steps);
    (void)fprintf(stderr, " %3lld/%lld  loss %.3f  %6.0f tok/s  %3.0f s left\033[K",
                  (long long)done, (long long)progress->steps, loss, speed, left);
    (void)fflush(stderr);
}

void progress_end(struct progress *progress)
{
    if (progress->visible) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
    }
}
