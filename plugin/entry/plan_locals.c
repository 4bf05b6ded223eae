/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots of plan/1: what a rank holds, by documents, and the way back to the stream.
 */
#include "entry/plan.h"
#include "plan/inverse.h"
#include "plan/locals.h"

int32_t cpl_plan_fragment_tokens(const struct cplayout_partition *partition, int32_t rank,
                                 int64_t *tokens, uint64_t capacity, uint64_t *count,
                                 struct cplayout_error *error)
{
    const struct cpl_table *const table = table_of(partition);
    struct cpl_fragment_reader reader = {.table = table, .rank = rank};
    struct cpl_fragment fragment;
    struct cpl_error problem;
    enum cpl_status status = cpl_check_place(partition, rank, &problem);

    if (status == CPL_OK) {
        status = cpl_open_list(&(struct cpl_list){cpl_table_fragments(table, rank, NULL, 0), tokens,
                                                  capacity, count},
                               &problem);
    }
    while (status == CPL_OK && capacity > 0 && cpl_fragment_next(&reader, &fragment)) {
        *tokens++ = cpl_fragment_tokens(&table->stream, &fragment);
    }
    return cpl_leave(status, &problem, NULL, error);
}

/* ---- Documents -------------------------------------------------------------------------------- */

static uint64_t count_documents(const struct cpl_table *table, int32_t rank)
{
    struct cpl_document_reader reader = cpl_document_reader(table, rank);
    struct cpl_local_document document;
    uint64_t count = 0;

    while (cpl_document_next(&reader, &document)) {
        count++;
    }
    return count;
}

int32_t cpl_plan_local_documents(const struct cplayout_partition *partition, int32_t rank,
                                 struct cplayout_local_document *documents, uint64_t capacity,
                                 uint64_t *count, struct cplayout_error *error)
{
    const struct cpl_table *const table = table_of(partition);
    struct cpl_document_reader reader;
    struct cpl_local_document document;
    struct cpl_error problem;
    enum cpl_status status = cpl_check_place(partition, rank, &problem);

    if (status == CPL_OK) {
        status = cpl_open_list(&(struct cpl_list){count_documents(table, rank), documents, capacity,
                                                  count},
                               &problem);
    }
    if (status != CPL_OK || capacity == 0) {
        return cpl_leave(status, &problem, NULL, error);
    }
    reader = cpl_document_reader(table, rank);
    while (cpl_document_next(&reader, &document)) {
        *documents++ = (struct cplayout_local_document){
            .document = document.document == CPL_NO_DOCUMENT ? -1 : (int64_t)document.document,
            .local = document.local,
            .rows = document.rows,
            .tokens = document.tokens,
        };
    }
    return CPLAYOUT_OK;
}

static enum cpl_status offsets_in(const struct cplayout_partition *partition,
                                  const struct cplayout_offsets_args *args,
                                  struct cplayout_offsets_args *copy, struct cpl_error *error)
{
    const struct cpl_incoming incoming = {"args", copy, sizeof(*copy)};
    enum cpl_status status = cpl_copy_in(&incoming, args, error);

    if (status == CPL_OK) {
        status = cpl_check_place(partition, copy->rank, error);
    }
    if (status == CPL_OK && copy->kind != CPLAYOUT_OFFSETS_LOGICAL &&
        copy->kind != CPLAYOUT_OFFSETS_PHYSICAL) {
        status = cpl_fail_field(error, CPL_ERROR_ARGUMENT, "kind", "%d is no kind of offsets",
                                copy->kind);
    }
    return status;
}

int32_t cpl_plan_local_offsets(const struct cplayout_partition *partition,
                               const struct cplayout_offsets_args *args, int64_t *offsets,
                               uint64_t capacity, uint64_t *count, struct cplayout_error *error)
{
    const struct cpl_table *const table = table_of(partition);
    struct cplayout_offsets_args copy;
    struct cpl_document_reader reader;
    struct cpl_local_document document;
    struct cpl_error problem;
    enum cpl_status status = offsets_in(partition, args, &copy, &problem);

    if (status == CPL_OK) {
        status = cpl_open_list(&(struct cpl_list){count_documents(table, copy.rank) + 1, offsets,
                                                  capacity, count},
                               &problem);
    }
    if (status != CPL_OK || capacity == 0) {
        return cpl_leave(status, &problem, NULL, error);
    }
    reader = cpl_document_reader(table, copy.rank);
    for (*offsets = 0; cpl_document_next(&reader, &document); offsets++) {
        offsets[1] =
            offsets[0] + (copy.kind == CPLAYOUT_OFFSETS_LOGICAL ? document.tokens : document.rows);
    }
    return CPLAYOUT_OK;
}

int32_t cpl_plan_padding_mask(const struct cplayout_partition *partition, int32_t rank,
                              uint8_t *mask, uint64_t capacity, uint64_t *count,
                              struct cplayout_error *error)
{
    const struct cpl_table *const table = table_of(partition);
    struct cpl_error problem;
    enum cpl_status status = cpl_check_place(partition, rank, &problem);

    if (status == CPL_OK) {
        status = cpl_open_list(&(struct cpl_list){(uint64_t)cpl_table_rows(table, rank), mask,
                                                  capacity, count},
                               &problem);
    }
    if (status == CPL_OK && capacity > 0) {
        cpl_padding_mask(table, rank, mask);
    }
    return cpl_leave(status, &problem, NULL, error);
}

/* ---- The way back ----------------------------------------------------------------------------- */

_Static_assert(sizeof(struct cpl_run) == sizeof(struct cplayout_run), "a run crosses as it is");

int32_t cpl_plan_inverse(const struct cplayout_partition *partition, struct cplayout_run *runs,
                         uint64_t capacity, uint64_t *count, struct cplayout_error *error)
{
    const struct cpl_table *const table = table_of(partition);
    struct cpl_error problem;
    enum cpl_status status = cpl_require_partition(partition, &problem);

    if (status == CPL_OK) {
        status =
            cpl_open_list(&(struct cpl_list){cpl_inverse(table, NULL, 0), runs, capacity, count},
                          &problem);
    }
    if (status == CPL_OK && capacity > 0) {
        (void)cpl_inverse(table, (struct cpl_run *)runs, (size_t)capacity);
    }
    return cpl_leave(status, &problem, NULL, error);
}
