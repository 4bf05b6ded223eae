/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots of plan/1: making tables.
 */
#include <string.h>

#include "entry/plan.h"
#include "plan/derived.h"

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "counts of fragments cross as they are");

enum cpl_status cpl_table_in(const struct cplayout_table_args *args,
                             struct cplayout_table_args *copy, struct cpl_wanted *wanted,
                             struct cpl_error *error)
{
    const struct cpl_incoming incoming = {"args", copy, sizeof(*copy)};
    enum cpl_status status = cpl_copy_in(&incoming, args, error);

    if (status == CPL_OK) {
        status = cpl_require(copy->fragments, "fragments", error);
    }
    if (status == CPL_OK) {
        status = cpl_require(copy->counts, "counts", error);
    }
    if (status == CPL_OK) {
        wanted->fragments = (const struct cpl_fragment *)copy->fragments;
        wanted->counts = (const size_t *)copy->counts;
    }
    return status;
}

/* Documents and offsets of the partition are copied: it may be destroyed before the table. */
static enum cpl_status keep_stream(struct cpl_owned_partition *owned,
                                   const struct cpl_table *partition, struct cpl_table *kept,
                                   struct cpl_error *error)
{
    const size_t count = partition->stream.count;
    struct cpl_document *const documents = cpl_arena_take(&owned->arena, count, sizeof(*documents));
    int64_t *const padded = cpl_arena_take(&owned->arena, count + 1, sizeof(*padded));

    if (documents == NULL || padded == NULL) {
        return cpl_fail_memory(error);
    }
    if (count > 0) {
        memcpy(documents, partition->stream.documents, count * sizeof(*documents));
    }
    memcpy(padded, partition->padded, (count + 1) * sizeof(*padded));
    *kept = *partition;
    kept->stream.documents = documents;
    kept->padded = padded;
    return CPL_OK;
}

/* How a table comes from a partition. */
struct recipe {
    enum cpl_status (*build)(struct cpl_table *table, const struct cpl_table *partition,
                             const struct recipe *recipe, struct cpl_arena *arena,
                             struct cpl_error *error);
    const struct cplayout_table_args *args; /* of a table in the host's words */
    int64_t amount;                         /* width of a halo, distance of a shift */
};

static enum cpl_status build_wanted(struct cpl_table *table, const struct cpl_table *partition,
                                    const struct recipe *recipe, struct cpl_arena *arena,
                                    struct cpl_error *error)
{
    struct cplayout_table_args copy;
    struct cpl_wanted wanted;
    const enum cpl_status status = cpl_table_in(recipe->args, &copy, &wanted, error);

    return status == CPL_OK ? cpl_wanted_build(table, partition, &wanted, arena, error) : status;
}

static enum cpl_status build_halo(struct cpl_table *table, const struct cpl_table *partition,
                                  const struct recipe *recipe, struct cpl_arena *arena,
                                  struct cpl_error *error)
{
    return cpl_halo_build(table, partition, recipe->amount, arena, error);
}

static enum cpl_status build_shift(struct cpl_table *table, const struct cpl_table *partition,
                                   const struct recipe *recipe, struct cpl_arena *arena,
                                   struct cpl_error *error)
{
    return cpl_shift_build(table, partition, recipe->amount, arena, error);
}

static enum cpl_status build_table(const struct cpl_caller *host, const struct cpl_table *partition,
                                   const struct recipe *recipe, struct cpl_owned_partition **table,
                                   struct cpl_error *error)
{
    struct cpl_owned_partition *built = NULL;
    struct cpl_table kept;
    enum cpl_status status = cpl_owned_alloc(host, &built, error);

    if (status != CPL_OK) {
        return status;
    }
    status = keep_stream(built, partition, &kept, error);
    if (status == CPL_OK) {
        status = recipe->build(&built->table, &kept, recipe, &built->arena, error);
    }
    if (status != CPL_OK) {
        cpl_owned_free(built);
        return status;
    }
    *table = built;
    return CPL_OK;
}

/* What all makers of tables have in common. */
static int32_t create_table(const struct cplayout_host *record,
                            const struct cplayout_partition *partition, const struct recipe *recipe,
                            struct cplayout_partition **table, struct cplayout_error *error)
{
    struct cpl_caller host = {.log = cpl_log_default()};
    struct cpl_owned_partition *built = NULL;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(table, "table", &problem);

    if (status == CPL_OK) {
        status = cpl_caller_in(record, &host, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_require(partition, "partition", &problem);
    }
    if (status == CPL_OK) {
        status = build_table(&host, table_of(partition), recipe, &built, &problem);
    }
    if (status == CPL_OK) {
        *table = (struct cplayout_partition *)&built->table;
    }
    return cpl_leave(status, &problem, &host.log, error);
}

int32_t cpl_plan_table_create(const struct cplayout_host *record,
                              const struct cplayout_partition *partition,
                              const struct cplayout_table_args *args,
                              struct cplayout_partition **table, struct cplayout_error *error)
{
    const struct recipe recipe = {.build = build_wanted, .args = args};

    return create_table(record, partition, &recipe, table, error);
}

int32_t cpl_plan_halo_create(const struct cplayout_host *record,
                             const struct cplayout_partition *partition, int64_t width,
                             struct cplayout_partition **table, struct cplayout_error *error)
{
    const struct recipe recipe = {.build = build_halo, .amount = width};

    return create_table(record, partition, &recipe, table, error);
}

int32_t cpl_plan_shift_create(const struct cplayout_host *record,
                              const struct cplayout_partition *partition, int64_t by,
                              struct cplayout_partition **table, struct cplayout_error *error)
{
    const struct recipe recipe = {.build = build_shift, .amount = by};

    return create_table(record, partition, &recipe, table, error);
}
