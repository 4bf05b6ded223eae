/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/view.h"

#include <inttypes.h>
#include <string.h>

#include "move/exchange.h"

/* What a request is about: a field in one layout of a batch. */
struct subject {
    const struct cpl_batch *batch;
    const struct cpl_table *table;
    const struct cpl_route *route; /* from the stream */
    const struct cpl_field_spec *spec;
    const struct cpl_field *field;
    bool generated; /* position_ids that the host did not give */
};

static enum cpl_status find_subject(const struct cpl_batch *batch, int32_t layout, const char *name,
                                    struct subject *subject, struct cpl_error *error)
{
    enum cpl_field_id id = CPL_FIELD_COUNT;
    enum cpl_status status = cpl_batch_table(batch, layout, &subject->table, error);

    if (status == CPL_OK) {
        status = cpl_field_find(name, &id, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    subject->batch = batch;
    subject->route = &batch->from_stream[layout];
    subject->spec = cpl_field_spec(id);
    subject->field = &batch->fields[id];
    subject->generated = !subject->field->given && id == CPL_FIELD_POSITION_IDS;
    if (!subject->field->given && !subject->generated) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT, "this batch was created without field %s",
                        subject->spec->name);
    }
    return CPL_OK;
}

static void compact_strides(struct cpl_view *view)
{
    int64_t stride = 1;

    for (int32_t axis = view->tensor.ndim - 1; axis >= 0; axis--) {
        view->strides[axis] = stride;
        stride *= view->shape[axis];
    }
}

static void describe_generated(const struct subject *subject, struct cpl_view *view)
{
    view->tensor = (struct cpl_tensor){.ndim = 2,
                                       .device_type = CPL_DEVICE_CPU,
                                       .type_bits = 64,
                                       .type_lanes = 1};
    view->shape[0] = 1;
    view->shape[1] = subject->route->target_rows;
    compact_strides(view);
}

static void describe_given(const struct subject *subject, struct cpl_view *view)
{
    const struct cpl_field *const field = subject->field;
    const struct cpl_moves *const moves = &subject->route->kept;

    view->tensor = field->tensor;
    memcpy(view->shape, field->shape, sizeof(view->shape));
    view->shape[subject->spec->row_axis] = subject->route->target_rows;
    if (moves->count == 1) {
        memcpy(view->strides, field->strides, sizeof(view->strides));
        view->tensor.byte_offset += (uint64_t)moves->list[0].src * field->rows.row_stride;
        return;
    }
    view->tensor.data = NULL;
    view->tensor.byte_offset = 0;
    compact_strides(view);
}

enum cpl_status cpl_view_describe(const struct cpl_batch *batch, int32_t layout, const char *field,
                                  struct cpl_view *view, struct cpl_error *error)
{
    struct subject subject;
    const enum cpl_status status = find_subject(batch, layout, field, &subject, error);

    if (status != CPL_OK) {
        return status;
    }
    *view = (struct cpl_view){
        .row_axis = subject.spec->row_axis,
        .identity = subject.table->identity,
    };
    if (subject.generated) {
        describe_generated(&subject, view);
    } else {
        describe_given(&subject, view);
    }
    view->tensor.shape = view->shape;
    view->tensor.strides = view->strides;
    return CPL_OK;
}

static enum cpl_status check_shape(const struct cpl_view *view, const struct cpl_tensor *out,
                                   const char *name, struct cpl_error *error)
{
    if (out->ndim != view->tensor.ndim) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT,
                        "the view of %s has %d dimensions, the output %d", name, view->tensor.ndim,
                        out->ndim);
    }
    for (int32_t axis = 0; axis < out->ndim; axis++) {
        if (out->shape[axis] != view->shape[axis]) {
            return cpl_fail(error, CPL_ERROR_ARGUMENT,
                            "the view of %s has %" PRId64 " entries along axis %d, the output "
                            "%" PRId64,
                            name, view->shape[axis], axis, out->shape[axis]);
        }
    }
    return CPL_OK;
}

/* Writes `value` as an integer of `bytes`; machines are little-endian or big-endian alike. */
static void write_integer(unsigned char *to, uint64_t bytes, int64_t value)
{
    const int32_t narrow = (int32_t)value;

    memcpy(to, bytes == sizeof(narrow) ? (const void *)&narrow : (const void *)&value, bytes);
}

static enum cpl_status fill_positions(const struct subject *subject, const struct cpl_rows *out,
                                      struct cpl_error *error)
{
    const struct cpl_moves *const moves = &subject->route->kept;

    if (out->row_bytes != sizeof(int64_t) &&
        (out->row_bytes != sizeof(int32_t) || subject->batch->tokens - 1 > INT32_MAX)) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT,
                        "positions below %" PRId64 " do not fit elements of %" PRIu64
                        " bytes; int32 and int64 are written",
                        subject->batch->tokens, out->row_bytes);
    }
    for (size_t i = 0; i < moves->count; i++) {
        for (int64_t row = 0; row < moves->list[i].rows; row++) {
            write_integer(out->data + (uint64_t)(moves->list[i].dst + row) * out->row_stride,
                          out->row_bytes, moves->list[i].src + row);
        }
    }
    return CPL_OK;
}

static enum cpl_status fill_given(const struct subject *subject, const struct cpl_rows *out,
                                  struct cpl_error *error)
{
    const struct cpl_moves *const moves = &subject->route->kept;
    const struct cpl_rows *const in = &subject->field->rows;

    if (out->row_bytes != in->row_bytes) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT,
                        "field %s has elements of %" PRIu64 " bytes, the output of %" PRIu64,
                        subject->spec->name, in->row_bytes, out->row_bytes);
    }
    cpl_exchange_copy(moves->list, moves->count, in, out);
    return CPL_OK;
}

enum cpl_status cpl_view_fill(const struct cpl_batch *batch, int32_t layout, const char *field,
                              const struct cpl_tensor *out, struct cpl_error *error)
{
    struct subject subject;
    struct cpl_view view;
    struct cpl_rows rows;
    enum cpl_status status = find_subject(batch, layout, field, &subject, error);

    if (status == CPL_OK) {
        status =
            cpl_rows_from_tensor(out, subject.spec->row_axis, subject.spec->name, &rows, error);
    }
    if (status == CPL_OK) {
        status = cpl_view_describe(batch, layout, field, &view, error);
    }
    if (status == CPL_OK) {
        status = check_shape(&view, out, subject.spec->name, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    return subject.generated ? fill_positions(&subject, &rows, error)
                             : fill_given(&subject, &rows, error);
}
