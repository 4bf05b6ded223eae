/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command as a host: loads the plugin, keeps its tables, turns its failures into reports.
 *
 * Where the plugin comes from, in this order:
 *   1. --plugin PATH;
 *   2. the build tree, if the command runs from it: the executable lies in the folder `tools` of
 *      the tree that CPLAYOUT_BUILD_PLUGIN, a file name known at compile time, lies in;
 *   3. the default of <cplayout/loader.h>.
 * So an installed command never looks into the tree that it was built in.
 */
#ifndef CPLAYOUT_TOOLS_HOST_H
#define CPLAYOUT_TOOLS_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include <cplayout/plan.h>

#include "args.h"
#include "report.h"

struct host {
    struct cplayout_host record;
    void *library; /* of dlopen */
    const struct cplayout_core *core;
    const struct cplayout_plan_interface *plan; /* NULL until host_need_plan */
};

/* Loads the plugin. On success host_close gives it back. */
bool host_open(struct host *host, const struct args *args, struct report *report);
void host_close(struct host *host);

/* Fetches plan/1 and checks that every function of it is there. */
bool host_need_plan(struct host *host, struct report *report);

/*
 * Applies the layout that is the value of `layout` to the lengths and ranks of the command line. If
 * the plugin refuses, the report names the option that is to blame.
 */
bool host_partition(const struct host *host, const struct args *args, enum option layout,
                    struct cplayout_partition **partition, struct report *report);

/*
 * Lists that grow: the plugin is asked with the room that there is and, if it has more, once again.
 * They start as zero; a call fills them anew. The caller frees `list` at the end.
 */
struct fragments {
    struct cplayout_fragment *list;
    uint64_t count;
    uint64_t capacity;
};

struct fragments_of {
    const struct cplayout_partition *partition;
    int32_t rank;
};

bool host_fragments(const struct host *host, const struct fragments_of *of,
                    struct fragments *fragments, struct report *report);

/* Offsets of the documents as the layout pads them. Starts as zero; the caller frees `list`. */
struct offsets {
    int64_t *list;
    uint64_t count;
};

bool host_offsets(const struct host *host, const struct cplayout_partition *partition,
                  struct offsets *offsets, struct report *report);

struct moves {
    struct cplayout_move *list;
    uint64_t count;
    uint64_t capacity;
};

struct moves_of {
    const struct cplayout_route *route;
    int32_t rank;
    int32_t kind; /* CPLAYOUT_MOVES_... */
};

bool host_moves(const struct host *host, const struct moves_of *of, struct moves *moves,
                struct report *report);

#endif
