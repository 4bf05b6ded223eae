/* SPDX-License-Identifier: Apache-2.0 */
#include "views.h"

#include <stdlib.h>

static int fail_memory(struct cplayout_error *error)
{
    error->status = CPLAYOUT_ERROR_MEMORY;
    (void)snprintf(error->message, sizeof(error->message), "out of memory");
    return -1;
}

static int read_chain(const struct plugin *plugin, const struct cplayout_partition *partition,
                      struct view *view, struct cplayout_error *error)
{
    struct cplayout_chain_part *parts;
    uint64_t count = 0;
    int code;

    if (plugin->plan->chain(partition, NULL, 0, &count, error) != CPLAYOUT_OK) {
        return -1;
    }
    parts = calloc(count + 1, sizeof(*parts));
    view->chain = calloc(count + 1, sizeof(*view->chain));
    if (parts == NULL || view->chain == NULL) {
        free(parts);
        return fail_memory(error);
    }
    code = plugin->plan->chain(partition, parts, count, &count, error) == CPLAYOUT_OK ? 0 : -1;
    for (uint64_t i = 0; i < count && code == 0; i++) {
        view->chain[i] = (struct part){parts[i].rank, parts[i].start, parts[i].length,
                                       parts[i].local, parts[i].position};
    }
    view->shard.parts = (int64_t)count;
    view->shard.chain = view->chain;
    free(parts);
    return code;
}

static int read_positions(const struct plugin *plugin, const struct cplayout_partition *partition,
                          struct view *view, struct cplayout_error *error)
{
    const struct cplayout_positions_args args = {.size = sizeof(args),
                                                 .rank = view->shard.rank,
                                                 .kind = CPLAYOUT_POSITIONS_DOCUMENT};
    uint64_t rows = 0;

    if (plugin->plan->positions(partition, &args, NULL, 0, &rows, error) != CPLAYOUT_OK) {
        return -1;
    }
    view->positions = calloc(rows + 1, sizeof(*view->positions));
    if (view->positions == NULL) {
        return fail_memory(error);
    }
    view->shard.rows = (int64_t)rows;
    view->shard.positions = view->positions;
    return plugin->plan->positions(partition, &args, view->positions, rows, &rows, error) ==
                   CPLAYOUT_OK
               ? 0
               : -1;
}

/* Rows of every rank, and its attention pairs where they are asked for. */
static int read_ranks(const struct plugin *plugin, const struct cplayout_partition *partition,
                      int32_t ranks, int64_t *rows, int64_t *pairs, struct cplayout_error *error)
{
    for (int32_t rank = 0; rank < ranks; rank++) {
        struct cplayout_rank_info info = {.size = sizeof(info)};

        if (plugin->plan->rank_describe(partition, rank, &info, error) != CPLAYOUT_OK) {
            return -1;
        }
        rows[rank] = (int64_t)info.rows;
        if (pairs != NULL) {
            pairs[rank] = (int64_t)info.attention_pairs;
        }
    }
    return 0;
}

static void view_free(struct view *view)
{
    free(view->chain);
    free(view->positions);
    free(view->rows_of);
    *view = (struct view){0};
}

static int read_view(struct views *views, const struct views_source *source, int32_t layout,
                     struct cplayout_error *error)
{
    const struct plugin *const plugin = source->plugin;
    const struct cplayout_partition *partition = NULL;
    struct view view = {
        .shard = {.rank = source->rank, .ranks = source->ranks, .sequence = source->sequence}};

    int64_t *const pairs = layout == source->attention ? views->attention_pairs : NULL;
    int code = -1;

    view.rows_of = calloc((size_t)source->ranks, sizeof(*view.rows_of));
    view.shard.rows_of = view.rows_of;
    if (view.rows_of == NULL) {
        return fail_memory(error);
    }
    if (plugin->batch->view_partition(source->batch, layout, &partition, error) == CPLAYOUT_OK &&
        read_chain(plugin, partition, &view, error) == 0 &&
        read_positions(plugin, partition, &view, error) == 0) {
        code = read_ranks(plugin, partition, source->ranks, view.rows_of, pairs, error);
    }
    if (code != 0) {
        view_free(&view);
        return -1;
    }
    views->by_layout[layout] = view;
    return 0;
}

/* Two roles may share a layout: it is read once. */
static bool is_read(const struct views *views, int32_t layout)
{
    return views->by_layout[layout].chain != NULL;
}

int views_read(struct views *views, const struct views_source *source, struct cplayout_error *error)
{
    const int32_t roles[] = {source->linear, source->attention, source->boundary};
    const size_t count = sizeof(roles) / sizeof(roles[0]);

    views_destroy(views);
    views->attention_pairs = calloc((size_t)source->ranks, sizeof(*views->attention_pairs));
    if (views->attention_pairs == NULL) {
        return fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        if (roles[i] < 0 || roles[i] >= VIEWS_MOST) {
            (void)snprintf(error->message, sizeof(error->message),
                           "the plugin gave layout handle %d, not 0 ... %d", roles[i],
                           VIEWS_MOST - 1);
            return -1;
        }
        if (!is_read(views, roles[i]) && read_view(views, source, roles[i], error) != 0) {
            return -1;
        }
    }
    return 0;
}

void views_destroy(struct views *views)
{
    for (int i = 0; i < VIEWS_MOST; i++) {
        view_free(&views->by_layout[i]);
    }
    free(views->attention_pairs);
    views->attention_pairs = NULL;
}
