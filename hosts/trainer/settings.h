/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the user asks for: the command line, and the four arrangements of layouts.
 */
#ifndef TRAINER_SETTINGS_H
#define TRAINER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who runs in which layout. */
struct arrangement {
    const char *name;
    bool alone;               /* one rank, whatever --cp says */
    const char *linear;       /* layout of all layers but attention */
    const char *attention;    /* layout of attention */
    const char *linear_chain; /* how the plugin is told that the scan finds its neighbours */
    const char *summary;
};

enum { ARRANGEMENTS = 4 };

/* The longest wait of a rank for another, inside the plugin and out. */
enum { TIMEOUT_SECONDS = 120 };

const struct arrangement *arrangement_at(size_t index);

struct settings {
    const char *plugin; /* NULL: the loader's default */
    char **texts;       /* [text_count], of the command line */
    size_t text_count;
    const char *pattern;
    bool chosen[ARRANGEMENTS]; /* by arrangement_at */
    int32_t cp;                /* P of the arrangements that are not alone */
    int64_t steps;
    int64_t sequence; /* tokens per step: of one sequence, or of a pack */
    uint64_t seed;
    bool packed;         /* documents back to back instead of one sequence */
    const char *lengths; /* file with their lengths; NULL: drawn */
    bool recompute;      /* layers run again in backward */
    bool json;
    const char *report; /* folder for the HTML report; NULL: none */
};

enum settings_verdict { SETTINGS_RUN, SETTINGS_DONE, SETTINGS_WRONG };

/*
 * Reads the command line. DONE: help was printed. WRONG: one message was printed to stderr.
 * settings_destroy frees what it holds in all three cases.
 */
enum settings_verdict settings_read(struct settings *settings, int argc, char **argv);
void settings_destroy(struct settings *settings);

#endif
