/* SPDX-License-Identifier: Apache-2.0 */
#include "settings.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct arrangement arrangements[ARRANGEMENTS] = {
    {"single", true, "zigzag", "zigzag", "rank", "nothing is split"},
    {"zigzag", false, "zigzag", "zigzag", "rank", "all layers in zigzag"},
    {"dual", false, "contiguous", "zigzag", "rank",
     "linear layers contiguous, attention in zigzag"},
    {"mirror", false, "mirror", "zigzag", "table", "linear layers in mirror, attention in zigzag"},
};

enum { RANKS_MOST = 64, STEPS_MOST = 1000000, SEQUENCE_MOST = 1 << 20 };

static const char usage[] =
    "usage: cplayout-trainer [options]\n"
    "\n"
    "Trains a small hybrid language model on bytes of text, with context parallelism by threads\n"
    "and the cplayout plugin, and compares layouts.\n"
    "\n"
    "  --layouts LIST   several with commas, or all (dual):\n"
    "                     single  one rank holds everything\n"
    "                     zigzag  all layers in zigzag\n"
    "                     dual    linear layers contiguous, attention in zigzag\n"
    "                     mirror  linear layers in mirror, attention in zigzag\n"
    "  --cp P           ranks that share a sequence (4)\n"
    "  --steps N        training steps (60)\n"
    "  --seq S          tokens of one sequence or pack (1024)\n"
    "  --packed         train on packs of documents, most of them short and a few long\n"
    "  --lengths FILE   with --packed: their lengths, one per line, in turn\n"
    "  --recompute      keep no activations but each layer's input; run layers again in backward\n"
    "  --seed N         of parameters and samples (1)\n"
    "  --pattern STR    one symbol per layer: M linear attention, * attention, - MLP (M-M*-M-M*-)\n"
    "  --text FILE...   train on these files (the licence texts of the system)\n"
    "  --plugin PATH    the plugin to load\n"
    "  --report DIR     also write an HTML report, DIR/index.html\n"
    "  --json           results as one JSON object on stdout\n"
    "  --help           this text\n";

enum option_key {
    KEY_LAYOUTS = 256,
    KEY_CP,
    KEY_STEPS,
    KEY_SEQ,
    KEY_SEED,
    KEY_PATTERN,
    KEY_TEXT,
    KEY_PLUGIN,
    KEY_PACKED,
    KEY_LENGTHS,
    KEY_RECOMPUTE,
    KEY_JSON,
    KEY_REPORT,
    KEY_HELP,
};

static const struct option options[] = {
    {"layouts", required_argument, NULL, KEY_LAYOUTS},
    {"cp", required_argument, NULL, KEY_CP},
    {"steps", required_argument, NULL, KEY_STEPS},
    {"seq", required_argument, NULL, KEY_SEQ},
    {"seed", required_argument, NULL, KEY_SEED},
    {"pattern", required_argument, NULL, KEY_PATTERN},
    {"text", required_argument, NULL, KEY_TEXT},
    {"plugin", required_argument, NULL, KEY_PLUGIN},
    {"packed", no_argument, NULL, KEY_PACKED},
    {"lengths", required_argument, NULL, KEY_LENGTHS},
    {"recompute", no_argument, NULL, KEY_RECOMPUTE},
    {"json", no_argument, NULL, KEY_JSON},
    {"report", required_argument, NULL, KEY_REPORT},
    {"help", no_argument, NULL, KEY_HELP},
    {NULL, 0, NULL, 0},
};

const struct arrangement *arrangement_at(size_t index)
{
    return &arrangements[index];
}

/* A whole number in a range; the message names option and value. */
static bool read_number(const char *option, const char *text, int64_t least, int64_t most,
                        int64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || *number < least || *number > most) {
        (void)fprintf(stderr,
                      "cplayout-trainer: %s must be a whole number from %lld to %lld, not '%s'\n",
                      option, (long long)least, (long long)most, text);
        return false;
    }
    return true;
}

static bool choose(struct settings *settings, const char *name, size_t length)
{
    const bool all = length == strlen("all") && strncmp(name, "all", length) == 0;
    bool found = all;

    for (size_t i = 0; i < ARRANGEMENTS; i++) {
        const bool named = strlen(arrangements[i].name) == length &&
                           strncmp(arrangements[i].name, name, length) == 0;

        settings->chosen[i] = settings->chosen[i] || named || all;
        found = found || named;
    }
    return found;
}

static bool read_layouts(struct settings *settings, const char *list)
{
    memset(settings->chosen, 0, sizeof(settings->chosen));
    for (const char *name = list;; name++) {
        const size_t length = strcspn(name, ",");

        if (!choose(settings, name, length)) {
            (void)fprintf(stderr,
                          "cplayout-trainer: unknown layouts '%.*s'; choose from single, zigzag, "
                          "dual, mirror, all\n",
                          (int)length, name);
            return false;
        }
        name += length;
        if (*name == '\0') {
            return true;
        }
    }
}

static bool read_pattern(struct settings *settings, const char *pattern)
{
    const size_t known = strspn(pattern, "M*-");

    if (pattern[0] == '\0') {
        (void)fprintf(stderr, "cplayout-trainer: --pattern must name at least one layer\n");
        return false;
    }
    if (pattern[known] != '\0') {
        (void)fprintf(stderr,
                      "cplayout-trainer: unknown layer symbol '%c' at index %zu of --pattern "
                      "'%s'; known: M linear attention, * attention, - MLP\n",
                      pattern[known], known, pattern);
        return false;
    }
    settings->pattern = pattern;
    return true;
}

static bool read_report(struct settings *settings, const char *folder)
{
    if (folder[0] == '\0') {
        (void)fprintf(stderr, "cplayout-trainer: --report must name a folder\n");
        return false;
    }
    settings->report = folder;
    return true;
}

static bool read_switch(struct settings *settings, int key, const char *value)
{
    settings->packed = settings->packed || key == KEY_PACKED;
    settings->recompute = settings->recompute || key == KEY_RECOMPUTE;
    settings->json = settings->json || key == KEY_JSON;
    if (key == KEY_LENGTHS) {
        settings->lengths = value;
    }
    return true;
}

/* What no option says alone. */
static bool check_settings(const struct settings *settings)
{
    if (settings->lengths != NULL && !settings->packed) {
        (void)fprintf(stderr, "cplayout-trainer: --lengths needs --packed\n");
        return false;
    }
    return true;
}

static bool read_option(struct settings *settings, int key, char *value)
{
    int64_t number = 0;
    bool good;

    switch (key) {
    case KEY_LAYOUTS:
        return read_layouts(settings, value);
    case KEY_CP:
        good = read_number("--cp", value, 1, RANKS_MOST, &number);
        settings->cp = (int32_t)number;
        return good;
    case KEY_STEPS:
        return read_number("--steps", value, 1, STEPS_MOST, &settings->steps);
    case KEY_SEQ:
        return read_number("--seq", value, 1, SEQUENCE_MOST, &settings->sequence);
    case KEY_SEED:
        good = read_number("--seed", value, 0, INT64_MAX, &number);
        settings->seed = (uint64_t)number;
        return good;
    case KEY_PATTERN:
        return read_pattern(settings, value);
    case KEY_TEXT:
        settings->texts[settings->text_count++] = value;
        return true;
    case KEY_REPORT:
        return read_report(settings, value);
    case KEY_PLUGIN:
        settings->plugin = value;
        return true;
    default:
        return read_switch(settings, key, value);
    }
}

/* Words that follow --text FILE without an option are more files. */
static bool read_rest(struct settings *settings, int count, char **words)
{
    for (int i = 0; i < count; i++) {
        if (settings->text_count == 0) {
            (void)fprintf(stderr,
                          "cplayout-trainer: unexpected argument '%s'; --help lists the "
                          "options\n",
                          words[i]);
            return false;
        }
        settings->texts[settings->text_count++] = words[i];
    }
    return true;
}

/* Short options do not exist: getopt reports each of their letters in optopt. */
static bool fail_option(char **argv, int key)
{
    const char letter[] = {'-', (char)optopt, '\0'};
    const bool is_letter = optopt > 0 && optopt < KEY_LAYOUTS;

    (void)fprintf(stderr,
                  key == ':' ? "cplayout-trainer: option '%s' needs a value\n"
                             : "cplayout-trainer: unknown option '%s'; --help lists the options\n",
                  is_letter ? letter : argv[optind - 1]);
    return false;
}

static enum settings_verdict read_options(struct settings *settings, int argc, char **argv)
{
    int key;

    opterr = 0;
    while ((key = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        bool good;

        if (key == KEY_HELP) {
            (void)fputs(usage, stdout);
            return SETTINGS_DONE;
        }
        good =
            key == ':' || key == '?' ? fail_option(argv, key) : read_option(settings, key, optarg);
        if (!good) {
            return SETTINGS_WRONG;
        }
    }
    return read_rest(settings, argc - optind, argv + optind) && check_settings(settings)
               ? SETTINGS_RUN
               : SETTINGS_WRONG;
}

enum settings_verdict settings_read(struct settings *settings, int argc, char **argv)
{
    *settings = (struct settings){
        .pattern = "M-M*-M-M*-",
        .chosen = {false, false, true, false},
        .cp = 4,
        .steps = 60,
        .sequence = 1024,
        .seed = 1,
        .texts = calloc((size_t)argc + 1, sizeof(char *)),
    };
    if (settings->texts == NULL) {
        (void)fprintf(stderr, "cplayout-trainer: out of memory\n");
        return SETTINGS_WRONG;
    }
    return read_options(settings, argc, argv);
}

void settings_destroy(struct settings *settings)
{
    free(settings->texts);
    settings->texts = NULL;
}
