/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text form of `cplayout cost`: attention work per rank as bars, then rows and bytes.
 */
#include "cost.h"

#include <inttypes.h>
#include <stdio.h>

#include "terminal.h"

enum { BAR_CELLS = 40, RANKS_SHOWN = 32 };

static int64_t most_pairs(const struct cost *cost)
{
    int64_t most = 0;

    for (int32_t i = 0; i < cost->cp; i++) {
        most = cost->attention[i].pairs > most ? cost->attention[i].pairs : most;
    }
    return most;
}

static void print_bar(const struct terminal *terminal, int32_t rank, int64_t pairs, int64_t most)
{
    const int cells = most > 0 ? (int)((double)pairs / (double)most * BAR_CELLS + 0.5) : 0;

    terminal_cells(terminal, TERMINAL_FULL, rank, cells);
    terminal_cells(terminal, TERMINAL_EMPTY, rank, BAR_CELLS - cells);
}

static void print_ranks(const struct cost *cost)
{
    const struct terminal terminal = terminal_detect();
    const int64_t most = most_pairs(cost);
    const int32_t shown = cost->cp < RANKS_SHOWN ? cost->cp : RANKS_SHOWN;

    (void)printf("\ncp rank  attention%*s     pairs  keys from others\n", BAR_CELLS - 9, "");
    for (int32_t i = 0; i < shown; i++) {
        (void)printf("%7" PRId32 "  ", i);
        print_bar(&terminal, i, cost->attention[i].pairs, most);
        (void)printf(" %9" PRId64 "  %16" PRId64 "\n", cost->attention[i].pairs,
                     cost->attention[i].key_rows);
    }
    if (shown < cost->cp) {
        (void)printf("    ...  and %" PRId32 " more\n", cost->cp - shown);
    }
}

static void print_conversion(const struct cost *cost)
{
    const struct cplayout_route_info *const info = &cost->info;

    (void)printf("\nto %s: %" PRIu64 " of %" PRIu64 " rows move, %" PRIu64
                 " on the busiest rank, to or from %" PRId32 " peer%s at most\n",
                 cost->args->text[OPTION_TO], info->moved_rows, info->total_rows,
                 info->worst_rank_rows, info->peers, info->peers == 1 ? "" : "s");
    if (cost->row_bytes > 0) {
        (void)printf("bytes: %" PRIu64 " in all, %" PRIu64 " on the busiest rank\n",
                     cost_bytes(cost, info->moved_rows), cost_bytes(cost, info->worst_rank_rows));
    }
    if (cost->break_even >= 0) {
        (void)
            printf("below %.0f tokens converting moves fewer bytes than running the linear layers "
                   "in zigzag\n",
                   cost->break_even);
    }
}

bool cost_print_text(const struct cost *cost)
{
    (void)printf("%s, P = %" PRId32 ", T = %" PRId64
                 ": attention of the busiest rank is %.3f of the "
                 "mean\npadding that the layout adds: %" PRIu64
                 " rows; key/value rows from other ranks: %" PRIu64 "\n",
                 cost->args->text[OPTION_LAYOUT], cost->cp, cost->args->number[OPTION_TP],
                 cost->layout.max_over_mean, cost->layout.padding_rows, cost->layout.key_rows);
    print_ranks(cost);
    if (cost->route != NULL) {
        print_conversion(cost);
    }
    return true;
}
