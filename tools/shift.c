/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `cplayout shift`: for every local row the position of the token that comes some tokens later in the
 * same document. Labels are a shift by 1.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "terminal.h"
#include "verbs.h"

enum { JSON_ROWS_MOST = 1 << 24 }; /* one number per row: about 700 MiB while it is printed */

struct shift {
    const struct host *host;
    const struct args *args;
    struct cplayout_partition *source;
    struct cplayout_partition *target; /* a table: the shifted rows */
    int32_t ranks;
    struct report *report;
};

/* ---- JSON ------------------------------------------------------------------------------------ */

/* One number per row. */
static json_t *targets_json(const struct fragments *fragments)
{
    json_t *const array = json_array();

    for (uint64_t i = 0; i < fragments->count; i++) {
        const struct cplayout_fragment *const fragment = &fragments->list[i];

        for (int64_t row = 0; row < fragment->length; row++) {
            const int64_t position = fragment->start < 0 ? -1 : fragment->start + row;

            if (json_array_append_new(array, json_integer((json_int_t)position)) != 0) {
                json_decref(array);
                return NULL;
            }
        }
    }
    return array;
}

static bool append_ranks(const struct shift *shift, json_t *ranks)
{
    struct fragments fragments = {.list = NULL};
    bool fine = true;

    for (int32_t rank = 0; fine && rank < shift->ranks; rank++) {
        const struct fragments_of of = {.partition = shift->target, .rank = rank};

        fine = host_fragments(shift->host, &of, &fragments, shift->report) &&
               json_array_append_new(ranks, json_pack("{s:i,s:o}", "rank", rank, "targets",
                                                      targets_json(&fragments))) == 0;
    }
    free(fragments.list);
    return fine;
}

static bool print_json(const struct shift *shift)
{
    const struct args *const args = shift->args;
    json_t *const ranks = json_array();

    if (!append_ranks(shift, ranks)) {
        json_decref(ranks);
        return report_memory(shift->report); /* kept only if nothing was reported before */
    }
    return report_json(shift->report,
                       json_pack("{s:s,s:I,s:I,s:I,s:o}", "layout", args->text[OPTION_LAYOUT], "by",
                                 (json_int_t)args->number[OPTION_BY], "cp",
                                 (json_int_t)args->number[OPTION_CP], "tp",
                                 (json_int_t)args->number[OPTION_TP], "ranks", ranks));
}

/* ---- Text ------------------------------------------------------------------------------------ */

/* "8-11" for the tokens of a fragment, "-" or "3 x -" for rows that have none. */
static void print_fragment(const struct cplayout_fragment *fragment)
{
    if (fragment->start >= 0 && fragment->length > 1) {
        (void)printf("%" PRId64 "-%" PRId64, fragment->start,
                     fragment->start + fragment->length - 1);
    } else if (fragment->start >= 0) {
        (void)printf("%" PRId64, fragment->start);
    } else if (fragment->length > 1) {
        (void)printf("%" PRId64 " x -", fragment->length);
    } else {
        (void)putchar('-');
    }
}

static bool print_rank(const struct shift *shift, int32_t rank, struct fragments *fragments)
{
    const struct fragments_of of = {.partition = shift->target, .rank = rank};
    const int width = terminal_digits((uint64_t)shift->ranks - 1);

    if (!host_fragments(shift->host, &of, fragments, shift->report)) {
        return false;
    }
    (void)printf("rank %*" PRId32 "  ", width, rank);
    for (uint64_t i = 0; i < fragments->count; i++) {
        (void)fputs(i > 0 ? ", " : "", stdout);
        print_fragment(&fragments->list[i]);
    }
    (void)putchar('\n');
    return true;
}

static bool print_text(const struct shift *shift)
{
    const struct args *const args = shift->args;
    const int64_t by = args->number[OPTION_BY];
    struct fragments fragments = {.list = NULL};
    bool fine = true;

    (void)printf("%s, P = %" PRId64 ", T = %" PRId64 ": for every local row the token %" PRId64
                 " %s in its document\n\n",
                 args->text[OPTION_LAYOUT], args->number[OPTION_CP], args->number[OPTION_TP],
                 by < 0 ? -by : by, by < 0 ? "earlier" : "later");
    for (int32_t rank = 0; fine && rank < shift->ranks; rank++) {
        fine = print_rank(shift, rank, &fragments);
    }
    (void)puts("-: there is none");
    free(fragments.list);
    return fine;
}

/* One number per row must fit memory; the text has runs. */
static bool check_rows(const struct shift *shift)
{
    const struct problem problem = {.status = EXIT_INVALID,
                                    .code = "shift.rows",
                                    .option = option_name(OPTION_JSON)};
    struct cplayout_partition_info info = {.size = sizeof(info)};

    shift->host->plan->partition_describe(shift->source, &info);
    return shift->args->number[OPTION_JSON] == 0 || info.rows <= JSON_ROWS_MOST ||
           report_fail(shift->report, &problem,
                       "%" PRIu64 " rows are too many for --json, which prints a number for each: "
                       "at most %d; without --json the command prints runs",
                       info.rows, (int)JSON_ROWS_MOST);
}

/* ---- The verb --------------------------------------------------------------------------------- */

static bool create_target(struct shift *shift)
{
    struct cplayout_error error = {.size = sizeof(error)};

    error.status =
        shift->host->plan->shift_create(&shift->host->record, shift->source,
                                        shift->args->number[OPTION_BY], &shift->target, &error);
    return error.status == CPLAYOUT_OK ||
           report_plugin(shift->report, option_name(OPTION_BY), &error);
}

bool verb_shift(struct host *host, struct args *args, struct report *report)
{
    struct shift shift = {.host = host, .args = args, .report = report};
    bool fine;

    if (!host_need_plan(host, report) ||
        !host_partition(host, args, OPTION_LAYOUT, &shift.source, report)) {
        return false;
    }
    /* The plugin accepted P and T, so their product is a number of ranks. */
    shift.ranks = (int32_t)(args->number[OPTION_CP] * args->number[OPTION_TP]);
    fine = check_rows(&shift) && create_target(&shift) &&
           (args->number[OPTION_JSON] != 0 ? print_json(&shift) : print_text(&shift));
    host->plan->partition_destroy(shift.target);
    host->plan->partition_destroy(shift.source);
    return fine;
}
