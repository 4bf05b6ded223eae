/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots of plan/1: making partitions.
 */
#include <inttypes.h>
#include <string.h>

#include "entry/plan.h"
#include "plan/wanted.h"

/* ---- Partition -------------------------------------------------------------------------------- */

void cpl_owned_free(struct cpl_owned_partition *partition)
{
    const struct cpl_allocator allocator = partition->arena.allocator;

    cpl_arena_fini(&partition->arena);
    cpl_release(&allocator, partition, 1, sizeof(*partition));
}

enum cpl_status cpl_owned_alloc(const struct cpl_caller *host,
                                struct cpl_owned_partition **partition, struct cpl_error *error)
{
    struct cpl_owned_partition *const built = cpl_allocate(&host->allocator, 1, sizeof(*built));

    if (built == NULL) {
        return cpl_fail_memory(error);
    }
    cpl_arena_init(&built->arena, &host->allocator);
    *partition = built;
    return CPL_OK;
}

/* The partition "table" is what the host says it is. */
static bool is_table(const struct cplayout_partition_args *args)
{
    return strcmp(args->layout, "table") == 0;
}

static enum cpl_status check_row_unit(const struct cplayout_partition_args *args,
                                      struct cpl_error *error)
{
    if (args->row_unit > INT32_MAX || (args->row_unit > 1 && is_table(args))) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "row_unit", "row_unit %" PRIu64 " %s",
                              args->row_unit,
                              is_table(args) ? "with a table, whose rows are what they are"
                                             : "is above 2147483647");
    }
    return CPL_OK;
}

/* What is dealt: one sequence, or the samples, whose stream lives in the partition's arena. */
static enum cpl_status shape_in(const struct cplayout_partition_args *args,
                                struct cpl_owned_partition *partition, struct cpl_shape *shape,
                                struct cpl_stream *stream, struct cpl_error *error)
{
    const struct cpl_lengths *lengths = NULL;
    enum cpl_status status = check_row_unit(args, error);

    if (status == CPL_OK) {
        status = cpl_samples_in(args->samples, args->sample_count, &lengths, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    *shape =
        (struct cpl_shape){.cp = args->cp, .tp = args->tp, .row_unit = (int64_t)args->row_unit};
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

static enum cpl_status fill_table(const struct cplayout_partition_args *args,
                                  const struct cpl_shape *shape,
                                  struct cpl_owned_partition *partition, struct cpl_error *error)
{
    struct cplayout_table_args copy;
    struct cpl_wanted wanted;
    enum cpl_status status = cpl_table_in(args->table, &copy, &wanted, error);

    if (status == CPL_OK) {
        status = cpl_wanted_partition(&partition->table, shape, &wanted, &partition->arena, error);
    }
    return status;
}

static enum cpl_status fill_partition(const struct cplayout_partition_args *args,
                                      struct cpl_owned_partition *partition,
                                      struct cpl_error *error)
{
    struct cpl_layout layout;
    struct cpl_shape shape;
    struct cpl_stream stream;
    enum cpl_status status = shape_in(args, partition, &shape, &stream, error);

    if (status == CPL_OK && is_table(args)) {
        return fill_table(args, &shape, partition, error);
    }
    if (status == CPL_OK) {
        status = cpl_layout_parse(args->layout, &layout, error);
    }
    return status == CPL_OK
               ? cpl_table_build(&partition->table, &layout, &shape, &partition->arena, error)
               : status;
}

static enum cpl_status check_partition(const struct cplayout_partition_args *args,
                                       struct cpl_error *error)
{
    struct cpl_layout layout;
    const enum cpl_status status = cpl_require(args->layout, "layout", error);

    if (status != CPL_OK) {
        return status;
    }
    if (is_table(args) != (args->table != NULL)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "table",
                              args->table != NULL ? "args.table is given, but the layout is '%.64s'"
                                                  : "layout '%.64s' needs args.table",
                              args->layout);
    }
    return is_table(args) ? CPL_OK : cpl_layout_parse(args->layout, &layout, error);
}

static enum cpl_status build_partition(const struct cpl_caller *host,
                                       const struct cplayout_partition_args *args,
                                       struct cpl_owned_partition **partition,
                                       struct cpl_error *error)
{
    struct cpl_owned_partition *built = NULL;
    enum cpl_status status = check_partition(args, error);

    if (status == CPL_OK) {
        status = cpl_owned_alloc(host, &built, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    status = fill_partition(args, built, error);
    if (status != CPL_OK) {
        cpl_owned_free(built);
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
    struct cpl_owned_partition *built = NULL;
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
        cpl_owned_free((struct cpl_owned_partition *)partition);
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
