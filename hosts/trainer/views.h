/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the plugin says about the layouts of a batch, in the words of the model: shards, and how
 * attention work is balanced. One rank, one thread.
 */
#ifndef TRAINER_VIEWS_H
#define TRAINER_VIEWS_H

#include "plugin.h"
#include "shard.h"

enum { VIEWS_MOST = 3 };

/* One layout of the batch, for this rank. */
struct view {
    struct shard shard;
    struct part *chain;
    int64_t *positions;
    int64_t *rows_of; /* [ranks] */
};

struct views {
    struct view by_layout[VIEWS_MOST]; /* by the plugin's handle; those in use are filled */
    int64_t *attention_pairs; /* [ranks] causal (query, key) pairs in the attention layout */
};

/* What to ask about. */
struct views_source {
    const struct plugin *plugin;
    const struct cplayout_batch *batch;
    int32_t rank, ranks;
    int64_t sequence;                    /* rows of all documents */
    int32_t linear, attention, boundary; /* handles */
};

/* Replaces what was there. 0, or -1 with the reason in `error`; views_destroy in both cases. */
int views_read(struct views *views, const struct views_source *source,
               struct cplayout_error *error);
void views_destroy(struct views *views);

#endif
