/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two forms of `cplayout map` share: the partition, and what one rank holds of it.
 */
#ifndef CPLAYOUT_TOOLS_MAP_H
#define CPLAYOUT_TOOLS_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "args.h"
#include "host.h"
#include "report.h"

struct map {
    const struct host *host;
    const struct cplayout_partition *partition;
    const char *layout;
    bool packed;
    struct cplayout_partition_info info;
    struct report *report;
};

/* What one rank holds. Starts as zero; the caller frees fragments.list. */
struct holding {
    int32_t rank;
    struct cplayout_rank_info info;
    struct fragments fragments;
};

int32_t map_ranks(const struct map *map);

bool map_load(const struct map *map, int32_t rank, struct holding *holding);

/* The text form, on standard output. */
bool map_print_text(const struct map *map);

/* The picture, to the file of --svg. */
bool map_write_svg(const struct map *map, const struct args *args);

#endif
