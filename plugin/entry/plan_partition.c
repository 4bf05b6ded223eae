/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots of plan/1: making partitions and tables.
 */
#include <inttypes.h>
#include <string.h>

#include "entry/plan.h"
#include "plan/wanted.h"

struct owned_partition {
    struct cpl_table table; /* first: the handle points here */
    struct cpl_arena arena;
};

/* ---- Partition -------------------------------------------------------------------------------- */

static void partition_free(struct owned_partition *partition)
{
    const struct cpl_allocator allocator = partition->arena.allocator;

    cpl_arena_fini(&partition->arena);
    cpl_release(&allocator, partition, 1, sizeof(*partition));
}

/* An object without a table yet. */
static enum cpl_status partition_alloc(const struct cpl_caller *host,
                                       struct owned_partition **partition, struct cpl_error *error)
{
    struct owned_partition *const built = cpl_allocate(&host->allocator, 1, sizeof(*built));

    if (built == NULL) {
        return cpl_fail_memory(error);
    }
    cpl_arena_init(&built->arena, &host->allocator);
    *partition = built;
    return CPL_OK;
}

/* What is dealt: one sequence, or the samples, whose stream lives in the partition's arena. */
static enum cpl_status shape_in(const struct cplayout_partition_args *args,
                                struct owned_partition *partition, struct cpl_shape *shape,
                                struct cpl_stream *stream, struct cpl_error *error)
{
    const struct cpl_lengths *lengths = NULL;
    const enum cpl_status status =
        cpl_samples_in(args->samples, args->sample_count, &lengths, error);

    if (status != CPL_OK) {
        return status;
    }
    *shape = (struct cpl_shape){.cp = args->cp, .tp = args->tp};
    if (lengths == NULL) {
        shape->tokens = (int64_t)args->sequence;
        return cpl_tokens_check(args->sequence, "sequence", error);
    }
    if (args->sequence != 0) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "sequence",
                              "sequence is %" PRIu64 " but samples are given; set it to 0",
                              args->sequence);
    }
    shape->stream = stream;
    return cpl_stream_packed(stream, lengths, args->sample_count, &partition->arena, error);
}

static enum cpl_status fill_partition(const struct cplayout_partition_args *args,
                                      const struct cpl_layout *layout,
                                      struct owned_partition *partition, struct cpl_error *error)
{
    struct cpl_shape shape;
    struct cpl_stream stream;
    const enum cpl_status status = shape_in(args, partition, &shape, &stream, error);

    return status == CPL_OK
               ? cpl_table_build(&partition->table, layout, &shape, &partition->arena, error)
               : status;
}

static enum cpl_status check_partition(const struct cplayout_partition_args *args,
                                       struct cpl_error *error)
{
    char names[128];

    if (cpl_require(args->layout, "layout", error) != CPL_OK) {
        return error->status;
    }
    if (cpl_layout_find(args->layout) == NULL) {
        cpl_layout_names(names, sizeof(names));
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "layout",
                              "unknown layout '%.64s'; layouts: %s", args->layout, names);
    }
    return CPL_OK;
}

static enum cpl_status build_partition(const struct cpl_caller *host,
                                       const struct cplayout_partition_args *args,
                                       struct owned_partition **partition, struct cpl_error *error)
{
    struct owned_partition *built = NULL;
    enum cpl_status status = check_partition(args, error);

    if (status == CPL_OK) {
        status = partition_alloc(host, &built, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    status = fill_partition(args, cpl_layout_find(args->layout), built, error);
    if (status != CPL_OK) {
        partition_free(built);
        return status;
    }
    *partition = built;
    return CPL_OK;
}

int32_t cpl_plan_partition_create(const struct cplayout_host *record,
                                  const struct cplayout_partition_args *args,
                                  struct cplayout_partition **partition,
                                  struct cplayout_error *error)
{
    struct cplayout_partition_args copy;
    const struct cpl_incoming incoming = {"args", &copy, sizeof(copy)};
    struct cpl_caller host = {.log = cpl_log_default()};
    struct owned_partition *built = NULL;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(partition, "partition", &problem);

    if (status == CPL_OK) {
        status = cpl_caller_in(record, &host, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_copy_in(&incoming, args, &problem);
    }
    if (status == CPL_OK) {
        status = build_partition(&host, &copy, &built, &problem);
    }
    if (status == CPL_OK) {
        *partition = (struct cplayout_partition *)&built->table;
    }
    return cpl_leave(status, &problem, &host.log, error);
}

void cpl_plan_partition_destroy(struct cplayout_partition *partition)
{
    if (partition != NULL) {
        partition_free((struct owned_partition *)partition);
    }
}

static int64_t rows_of_all(const struct cpl_table *table)
{
    int64_t rows = 0;

    for (int32_t rank = 0; rank < table->ranks; rank++) {
        rows += cpl_table_rows(table, rank);
    }
    return rows;
}

void cpl_plan_partition_describe(const struct cplayout_partition *partition,
                                 struct cplayout_partition_info *info)
{
    const struct cpl_table *const table = table_of(partition);
    const struct cplayout_partition_info filled = {
        .identity = table->identity,
        .tokens = (uint64_t)table->stream.tokens,
        .stream_rows = (uint64_t)table->stream.rows,
        .rows = (uint64_t)rows_of_all(table),
        .documents = table->stream.count,
        .cp = table->cp,
        .tp = table->tp,
    };

    cpl_copy_out(info, &filled, sizeof(filled));
}

/* ---- Table ------------------------------------------------------------------------------------ */

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "counts of fragments cross as they are");

/* Documents and offsets of the partition are copied: it may be destroyed before the table. */
static enum cpl_status keep_stream(struct owned_partition *owned, const struct cpl_table *partition,
                                   struct cpl_table *kept, struct cpl_error *error)
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

static enum cpl_status build_table(const struct cpl_caller *host, const struct cpl_table *partition,
                                   const struct cplayout_table_args *args,
                                   struct owned_partition **table, struct cpl_error *error)
{
    const struct cpl_wanted wanted = {
        .fragments = (const struct cpl_fragment *)args->fragments,
        .counts = (const size_t *)args->counts,
    };
    struct owned_partition *built = NULL;
    struct cpl_table kept;
    enum cpl_status status = partition_alloc(host, &built, error);

    if (status != CPL_OK) {
        return status;
    }
    status = keep_stream(built, partition, &kept, error);
    if (status == CPL_OK) {
        status = cpl_wanted_build(&built->table, &kept, &wanted, &built->arena, error);
    }
    if (status != CPL_OK) {
        partition_free(built);
        return status;
    }
    *table = built;
    return CPL_OK;
}

int32_t cpl_plan_table_create(const struct cplayout_host *record,
                              const struct cplayout_partition *partition,
                              const struct cplayout_table_args *args,
                              struct cplayout_partition **table, struct cplayout_error *error)
{
    struct cplayout_table_args copy;
    const struct cpl_incoming incoming = {"args", &copy, sizeof(copy)};
    struct cpl_caller host = {.log = cpl_log_default()};
    struct owned_partition *built = NULL;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(table, "table", &problem);

    if (status == CPL_OK) {
        status = cpl_caller_in(record, &host, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_require(partition, "partition", &problem);
    }
    if (status == CPL_OK) {
        status = cpl_copy_in(&incoming, args, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_require(copy.counts, "counts", &problem);
    }
    if (status == CPL_OK) {
        status = cpl_require(copy.fragments, "fragments", &problem);
    }
    if (status == CPL_OK) {
        status = build_table(&host, table_of(partition), &copy, &built, &problem);
    }
    if (status == CPL_OK) {
        *table = (struct cplayout_partition *)&built->table;
    }
    return cpl_leave(status, &problem, &host.log, error);
}
