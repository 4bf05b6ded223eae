/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface batch/1.
 */
#include <string.h>

#include "batch/chunks.h"
#include "batch/shift.h"
#include "batch/view.h"
#include "entry/batch.h"

_Static_assert((int)CPL_TYPE_CODE_INT == CPLAYOUT_TYPE_INT &&
                   (int)CPL_TYPE_CODE_UINT == CPLAYOUT_TYPE_UINT &&
                   (int)CPL_TYPE_CODE_FLOAT == CPLAYOUT_TYPE_FLOAT &&
                   (int)CPL_TYPE_CODE_BFLOAT == CPLAYOUT_TYPE_BFLOAT &&
                   (int)CPL_TYPE_CODE_BOOL == CPLAYOUT_TYPE_BOOL,
               "type codes");

static const struct cpl_batch *batch_of(const struct cplayout_batch *batch)
{
    return (const struct cpl_batch *)batch;
}

/* Copies a description out; its tensor points into the caller's struct. */
static void view_out(struct cplayout_view *to, const struct cpl_view *from)
{
    struct cplayout_view filled = {
        .tensor =
            {
                .data = from->tensor.data,
                .device = {from->tensor.device_type, 0},
                .ndim = from->tensor.ndim,
                .dtype = {from->tensor.type_code, from->tensor.type_bits, from->tensor.type_lanes},
                .shape = to->shape,
                .strides = to->strides,
                .byte_offset = from->tensor.byte_offset,
            },
        .identity = from->identity,
        .row_axis = from->row_axis,
    };

    memcpy(filled.shape, from->shape, sizeof(filled.shape));
    memcpy(filled.strides, from->strides, sizeof(filled.strides));
    cpl_copy_out(to, &filled, sizeof(filled));
}

/* Where a call on a batch logs; nowhere if there is none. */
static const struct cpl_log *log_of(const struct cplayout_batch *batch)
{
    return batch != NULL ? &batch_of(batch)->context->log : NULL;
}

/* A batch of this process. */
static enum cpl_status require_batch(const struct cplayout_batch *batch, struct cpl_error *error)
{
    const enum cpl_status status = cpl_require(batch, "batch", error);

    return status == CPL_OK
               ? cpl_forkmark_check(&batch_of(batch)->context->forkmark, "batch", error)
               : status;
}

/* What a description is asked for with. */
struct request {
    const struct cplayout_batch *batch;
    int32_t layout;
    const char *field;
    struct cplayout_view *view;
};

static enum cpl_status find_subject(const struct request *request, struct cpl_view_subject *subject,
                                    struct cpl_error *error)
{
    enum cpl_status status = require_batch(request->batch, error);

    if (status == CPL_OK) {
        status = cpl_require(request->field, "field", error);
    }
    if (status == CPL_OK) {
        status = cpl_check_out(request->view, sizeof(*request->view), "view", error);
    }
    return status == CPL_OK ? cpl_view_find(batch_of(request->batch), request->layout,
                                            request->field, subject, error)
                            : status;
}

int32_t cpl_batch_view_describe(const struct cplayout_batch *batch, int32_t layout,
                                const char *field, struct cplayout_view *view,
                                struct cplayout_error *error)
{
    struct cpl_view_subject subject;
    struct cpl_view described;
    struct cpl_error problem;
    const enum cpl_status status =
        find_subject(&(struct request){batch, layout, field, view}, &subject, &problem);

    if (status == CPL_OK) {
        cpl_view_describe(&subject, &described);
        view_out(view, &described);
    }
    return cpl_leave(status, &problem, log_of(batch), error);
}

int32_t cpl_batch_view_chunks(const struct cplayout_batch *batch, int32_t layout, const char *field,
                              struct cplayout_view *view, struct cplayout_error *error)
{
    struct cpl_view_subject subject;
    struct cpl_view described;
    struct cpl_error problem;
    enum cpl_status status =
        find_subject(&(struct request){batch, layout, field, view}, &subject, &problem);

    if (status == CPL_OK) {
        status = cpl_chunks_describe(&subject, &described, &problem);
    }
    if (status == CPL_OK) {
        view_out(view, &described);
    }
    return cpl_leave(status, &problem, log_of(batch), error);
}

int32_t cpl_batch_view_fill(const struct cplayout_batch *batch, int32_t layout, const char *field,
                            const struct cplayout_tensor *out, struct cplayout_error *error)
{
    struct cpl_tensor tensor;
    struct cpl_error problem;
    enum cpl_status status = require_batch(batch, &problem);

    if (status == CPL_OK) {
        status = cpl_require(field, "field", &problem);
    }
    if (status == CPL_OK) {
        status = cpl_tensor_in(out, "out", &tensor, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_view_fill(batch_of(batch), layout, field, &tensor, &problem);
    }
    return cpl_leave(status, &problem, log_of(batch), error);
}

static enum cpl_status shift_in(const struct cplayout_view_shift *args, struct cpl_shift *shift,
                                struct cpl_error *error)
{
    struct cplayout_view_shift copy;
    const struct cpl_incoming incoming = {"args", &copy, sizeof(copy)};
    enum cpl_status status = cpl_copy_in(&incoming, args, error);

    if (status == CPL_OK) {
        status = cpl_require(copy.field, "args.field", error);
    }
    if (status == CPL_OK) {
        status = cpl_check_reserved(copy.reserved, "args.reserved", error);
    }
    if (status == CPL_OK) {
        *shift = (struct cpl_shift){copy.field, copy.layout, copy.by, copy.fill};
    }
    return status;
}

int32_t cpl_batch_view_shift(const struct cplayout_batch *batch,
                             const struct cplayout_view_shift *args,
                             const struct cplayout_tensor *out, struct cplayout_error *error)
{
    struct cpl_shift shift;
    struct cpl_tensor tensor;
    struct cpl_error problem;
    enum cpl_status status = require_batch(batch, &problem);

    if (status == CPL_OK) {
        status = shift_in(args, &shift, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_tensor_in(out, "out", &tensor, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_view_shift(batch_of(batch), &shift, &tensor, &problem);
    }
    return cpl_leave(status, &problem, log_of(batch), error);
}

int32_t cpl_batch_view_partition(const struct cplayout_batch *batch, int32_t layout,
                                 const struct cplayout_partition **partition,
                                 struct cplayout_error *error)
{
    const struct cpl_table *table = NULL;
    struct cpl_error problem;
    enum cpl_status status = require_batch(batch, &problem);

    if (status == CPL_OK) {
        status = cpl_require(partition, "partition", &problem);
    }
    if (status == CPL_OK) {
        status = cpl_batch_table(batch_of(batch), layout, &table, &problem);
    }
    if (status == CPL_OK) {
        *partition = (const struct cplayout_partition *)table;
    }
    return cpl_leave(status, &problem, log_of(batch), error);
}

static void metadata_out(struct cplayout_view_metadata *to, const struct cpl_batch *batch,
                         int32_t layout)
{
    const struct cpl_metadata *const metadata = &batch->metadata[layout];
    const struct cplayout_view_metadata filled = {
        .identity = batch->tables[layout].identity,
        .cu_seqlens = metadata->logical,
        .cu_seqlens_padded = metadata->padded,
        .entries = metadata->entries,
        .tokens = (uint64_t)metadata->logical[metadata->entries - 1],
        .rows = (uint64_t)metadata->padded[metadata->entries - 1],
        .local_rows = (uint64_t)batch->window[layout].route.target_rows,
        .max_seqlen = metadata->longest,
        .max_seqlen_padded = metadata->longest_padded,
        .cu_seqlens_q = metadata->real_queries ? metadata->logical : metadata->padded,
        .cp_rows = (uint64_t)batch->whole[layout].route.target_rows,
        .padding_between = metadata->padding_between,
        .layout = layout,
    };

    cpl_copy_out(to, &filled, sizeof(filled));
}

static enum cpl_status check_packed(const struct cpl_batch *batch, struct cpl_error *error)
{
    return batch->context->packed
               ? CPL_OK
               : cpl_fail_field(error, CPL_ERROR_ARGUMENT, "batch",
                                "the batch is dense; only packed ones have metadata");
}

int32_t cpl_batch_view_metadata(const struct cplayout_batch *batch, int32_t layout,
                                struct cplayout_view_metadata *metadata,
                                struct cplayout_error *error)
{
    const struct cpl_table *table = NULL;
    struct cpl_error problem;
    enum cpl_status status = require_batch(batch, &problem);

    if (status == CPL_OK) {
        status = cpl_check_out(metadata, sizeof(*metadata), "metadata", &problem);
    }
    if (status == CPL_OK) {
        status = check_packed(batch_of(batch), &problem);
    }
    if (status == CPL_OK) {
        status = cpl_batch_table(batch_of(batch), layout, &table, &problem);
    }
    if (status == CPL_OK) {
        metadata_out(metadata, batch_of(batch), layout);
    }
    return cpl_leave(status, &problem, log_of(batch), error);
}

const struct cplayout_batch_interface cpl_batch_v1 = {.size =
                                                          sizeof(struct cplayout_batch_interface),
                                                      CPLAYOUT_BATCH_SLOTS(CPL_FILL_SLOT)};
