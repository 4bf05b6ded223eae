/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/view.h"

#include <string.h>

#include "move/copy.h"

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

static void describe(const struct subject *subject, struct cpl_view *view)
{
    *view = (struct cpl_view){
        .row_axis = subject->spec->row_axis,
        .identity = subject->table->identity,
    };
    if (subject->generated) {
        describe_generated(subject, view);
    } else {
        describe_given(subject, view);
    }
    view->tensor.shape = view->shape;
    view->tensor.strides = view->strides;
}

enum cpl_status cpl_view_describe(const struct cpl_batch *batch, int32_t layout, const char *field,
                                  struct cpl_view *view, struct cpl_error *error)
{
    struct subject subject;
    const enum cpl_status status = find_subject(batch, layout, field, &subject, error);

    if (status == CPL_OK) {
        describe(&subject, view);
    }
    return status;
}

/* Writes `value` as an integer of `bytes`; machines are little-endian or big-endian alike. */
static void write_integer(unsigned char *to, uint64_t bytes, int64_t value)
{
    const int32_t narrow = (int32_t)value;

    memcpy(to, bytes == sizeof(narrow) ? (const void *)&narrow : (const void *)&value, bytes);
}

static void fill_positions(const struct subject *subject, const struct cpl_rows *out)
{
    const struct cpl_moves *const moves = &subject->route->kept;

    for (size_t i = 0; i < moves->count; i++) {
        for (int64_t row = 0; row < moves->list[i].rows; row++) {
            write_integer(out->data + (uint64_t)(moves->list[i].dst + row) * out->row_stride,
                          out->row_bytes, moves->list[i].src + row);
        }
    }
}

/* Generated positions may also be asked for in 32 bits, if they fit. */
static void allow_narrow(const struct subject *subject, const struct cpl_tensor *out,
                         struct cpl_view *view)
{
    if (subject->generated && out->type_bits == 32 && subject->batch->tokens - 1 <= INT32_MAX) {
        view->tensor.type_bits = 32;
    }
}

enum cpl_status cpl_view_fill(const struct cpl_batch *batch, int32_t layout, const char *field,
                              const struct cpl_tensor *out, struct cpl_error *error)
{
    struct subject subject;
    struct cpl_view view;
    struct cpl_rows rows;
    enum cpl_status status = find_subject(batch, layout, field, &subject, error);

    if (status == CPL_OK) {
        status = cpl_rows_from_tensor(out, subject.spec->row_axis, "out", &rows, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    describe(&subject, &view);
    allow_narrow(&subject, out, &view);
    status = cpl_tensor_match(out, &view.tensor, -1, "out", error);
    if (status != CPL_OK) {
        return status;
    }
    if (subject.generated) {
        fill_positions(&subject, &rows);
    } else if (cpl_rows_overlap(&subject.field->rows, &rows)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "out", "out overlaps the input of %s",
                              subject.spec->name);
    } else {
        cpl_copy_moves(subject.route->kept.list, subject.route->kept.count, &subject.field->rows,
                       &rows);
    }
    return CPL_OK;
}
