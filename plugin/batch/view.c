/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/view.h"

#include <string.h>

#include "move/copy.h"
#include "plan/counts.h"

/* What a request is about: a field in one layout of a batch. */
struct subject {
    const struct cpl_batch *batch;
    const struct cpl_table *table;
    const struct cpl_route *route; /* from the stream */
    const struct cpl_field_spec *spec;
    const struct cpl_field *field;
    bool generated; /* position_ids that the host did not give */
    bool padded;    /* this rank has rows of padding */
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
    subject->padded = batch->valid[layout] != subject->route->target_rows;
    if (!subject->field->given && !subject->generated) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT, "this batch was created without field %s",
                        subject->spec->name);
    }
    return CPL_OK;
}

/* Writes `value` as an integer of `bytes`; it fits. Machines may have either byte order. */
static void write_integer(unsigned char *to, uint64_t bytes, int64_t value)
{
    const int8_t byte = (int8_t)value;
    const int16_t half = (int16_t)value;
    const int32_t word = (int32_t)value;
    const void *const from = bytes == sizeof(byte)   ? (const void *)&byte
                             : bytes == sizeof(half) ? (const void *)&half
                             : bytes == sizeof(word) ? (const void *)&word
                                                     : (const void *)&value;

    memcpy(to, from, bytes);
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
    if (moves->count == 1 && !subject->padded) {
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

/* Calls `part` for every part of a document that this rank holds. */
static void for_parts(const struct subject *subject, const struct cpl_rows *out,
                      void (*part)(const struct subject *subject, const struct cpl_rows *out,
                                   const struct cpl_part *part))
{
    const struct cpl_table *const table = subject->table;
    const int32_t rank = subject->route->rank;
    const size_t pieces = cpl_pieces_count(&table->rows, rank);

    for (size_t i = 0; i < pieces; i++) {
        struct cpl_cutter cutter = cpl_cutter(&table->stream, cpl_pieces_at(&table->rows, rank, i));
        struct cpl_part cut;

        while (cpl_cutter_next(&cutter, &cut)) {
            part(subject, out, &cut);
        }
    }
}

/* ---- Padding --------------------------------------------------------------------------------- */

/* Rows of a field that are padding become its fill value. */
static void fill_rows(const struct subject *subject, const struct cpl_rows *out,
                      const struct cpl_move *pads)
{
    const int64_t fill = subject->field->fill;

    if (fill == 0) {
        cpl_zero_moves(pads, 1, out);
        return;
    }
    for (uint64_t outer = 0; outer < out->outer; outer++) {
        for (int64_t row = 0; row < pads->rows; row++) {
            write_integer(out->data + outer * out->outer_stride +
                              (uint64_t)(pads->dst + row) * out->row_stride,
                          out->row_bytes, fill);
        }
    }
}

/* What the source has behind the tokens of a document. */
static void fill_source_padding(const struct subject *subject, const struct cpl_rows *out,
                                const struct cpl_part *part)
{
    const struct cpl_move pads = {.dst = part->local + part->valid,
                                  .rows = part->length - part->valid};

    fill_rows(subject, out, &pads);
}

static void fill_padding(const struct subject *subject, const struct cpl_rows *out)
{
    const struct cpl_moves *const added = &subject->route->pads;

    if (!subject->padded) {
        return;
    }
    for (size_t i = 0; i < added->count; i++) {
        fill_rows(subject, out, &added->list[i]);
    }
    for_parts(subject, out, fill_source_padding);
}

/* ---- Positions ------------------------------------------------------------------------------- */

static void fill_part_positions(const struct subject *subject, const struct cpl_rows *out,
                                const struct cpl_part *part)
{
    unsigned char *const first = out->data + (uint64_t)part->local * out->row_stride;

    (void)subject;
    for (int64_t row = 0; row < part->valid; row++) {
        write_integer(first + (uint64_t)row * out->row_stride, out->row_bytes,
                      part->position + row);
    }
}

/* Generated positions may also be asked for in 32 bits, if they fit. */
static void allow_narrow(const struct subject *subject, const struct cpl_tensor *out,
                         struct cpl_view *view)
{
    if (subject->generated && out->type_bits == 32 &&
        subject->batch->stream.rows - 1 <= INT32_MAX) {
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
    if (!subject.generated && cpl_rows_overlap(&subject.field->rows, &rows)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "out", "out overlaps the input of %s",
                              subject.spec->name);
    }
    if (subject.generated) {
        for_parts(&subject, &rows, fill_part_positions);
    } else {
        cpl_copy_moves(subject.route->kept.list, subject.route->kept.count, &subject.field->rows,
                       &rows);
    }
    fill_padding(&subject, &rows);
    return CPL_OK;
}
