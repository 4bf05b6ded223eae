/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/view.h"

#include <string.h>

#include "batch/make.h"
#include "move/copy.h"

/* ---- Finding --------------------------------------------------------------------------------- */

/* Some fields exist in one view only. */
static enum cpl_status check_place(const struct cpl_batch *batch, int32_t layout,
                                   const struct cpl_field_spec *spec, struct cpl_error *error)
{
    const struct cpl_context *const context = batch->context;
    const bool in_boundary = spec->place == CPL_FIELD_IN_BOUNDARY;
    const int32_t home = in_boundary ? context->roles.boundary : context->roles.attention;
    char titles[2][CPL_LAYOUT_BYTES];

    if (spec->place == CPL_FIELD_EVERYWHERE || layout == home) {
        return CPL_OK;
    }
    return cpl_fail_field(error, CPL_ERROR_ARGUMENT, spec->name,
                          "field %s exists in the %s view alone ('%s'), not in '%s'%s", spec->name,
                          in_boundary ? "boundary" : "attention",
                          cpl_layout_title(context->layouts[home], titles[0]),
                          cpl_layout_title(context->layouts[layout], titles[1]),
                          in_boundary ? "; convert hidden states instead" : "");
}

enum cpl_status cpl_view_find(const struct cpl_batch *batch, int32_t layout, const char *field,
                              struct cpl_view_subject *subject, struct cpl_error *error)
{
    const struct cpl_field_table *const fields = &batch->context->fields;
    const struct cpl_table *table;
    size_t id = 0;
    enum cpl_status status = cpl_batch_table(batch, layout, &table, error);

    if (status == CPL_OK) {
        status = cpl_field_find(fields, field, &id, error);
    }
    if (status == CPL_OK) {
        status = check_place(batch, layout, cpl_field_spec(fields, id), error);
    }
    if (status != CPL_OK) {
        return status;
    }
    *subject = (struct cpl_view_subject){
        .batch = batch,
        .spec = cpl_field_spec(fields, id),
        .field = &batch->fields[id],
        .id = id,
    };
    subject->share = subject->spec->scatter ? &batch->window[layout] : &batch->whole[layout];
    subject->made = !subject->field->given && subject->spec->made;
    if (!subject->field->given && !subject->made) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, subject->spec->name,
                              "this batch was created without field %s", subject->spec->name);
    }
    return CPL_OK;
}

/* ---- Describing ------------------------------------------------------------------------------ */

static void compact_strides(struct cpl_view *view)
{
    int64_t stride = 1;

    for (int32_t axis = view->tensor.ndim - 1; axis >= 0; axis--) {
        view->strides[axis] = stride;
        stride *= view->shape[axis];
    }
}

static void describe_made(const struct cpl_view_subject *subject, struct cpl_view *view)
{
    view->tensor = cpl_make_type(subject->id);
    view->tensor.ndim = 2;
    view->row_axis = 1;
    view->shape[0] = 1;
    view->shape[1] = subject->share->route.target_rows;
    compact_strides(view);
}

/* Whether the view's rows are rows of the input, one after the other, as they are. */
static bool is_slice(const struct cpl_view_subject *subject)
{
    const bool filled = subject->spec->fill != CPL_FILL_NONE && cpl_share_padded(subject->share);

    return subject->share->route.kept.count == 1 && !filled;
}

static void describe_given(const struct cpl_view_subject *subject, struct cpl_view *view)
{
    const struct cpl_field *const field = subject->field;
    const struct cpl_route *const route = &subject->share->route;

    view->tensor = field->tensor;
    view->row_axis = field->row_axis;
    memcpy(view->shape, field->shape, sizeof(view->shape));
    memcpy(view->strides, field->strides, sizeof(view->strides));
    if (field->row_axis < 0) {
        view->identity = 0;
        return;
    }
    view->shape[field->row_axis] = route->target_rows;
    if (is_slice(subject)) {
        view->tensor.byte_offset += (uint64_t)route->kept.list[0].src * field->rows.row_stride;
        return;
    }
    view->tensor.data = NULL;
    view->tensor.byte_offset = 0;
    compact_strides(view);
}

void cpl_view_describe(const struct cpl_view_subject *subject, struct cpl_view *view)
{
    *view = (struct cpl_view){.identity = subject->share->table->identity};
    if (subject->made) {
        describe_made(subject, view);
    } else {
        describe_given(subject, view);
    }
    view->tensor.shape = view->shape;
    view->tensor.strides = view->strides;
}

/* ---- Filling --------------------------------------------------------------------------------- */

/* What a made field is asked for in may differ from what it is described in. */
static void allow_type(const struct cpl_view_subject *subject, const struct cpl_tensor *out,
                       struct cpl_view *view)
{
    if (subject->made && cpl_make_takes(subject->id, out, subject->batch->stream.rows)) {
        view->tensor.type_code = out->type_code;
        view->tensor.type_bits = out->type_bits;
    }
}

enum cpl_status cpl_view_out(const struct cpl_view_subject *subject, const struct cpl_tensor *out,
                             struct cpl_rows *rows, struct cpl_error *error)
{
    struct cpl_view view;
    enum cpl_status status;

    cpl_view_describe(subject, &view);
    status = cpl_rows_from_tensor(out, view.row_axis < 0 ? 0 : view.row_axis, "out", rows, error);
    if (status != CPL_OK) {
        return status;
    }
    allow_type(subject, out, &view);
    status = cpl_tensor_match(out, &view.tensor, -1, "out", error);
    if (status == CPL_OK && !subject->made && cpl_rows_overlap(&subject->field->rows, rows)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "out", "out overlaps the input of %s",
                              subject->spec->name);
    }
    return status;
}

/* What the layout adds, and what the source has behind the tokens of a document. */
static void fill_padding(const struct cpl_view_subject *subject, const struct cpl_rows *out)
{
    struct cpl_share_reader reader = cpl_share_reader(subject->share);
    struct cpl_part part;

    if (subject->spec->fill == CPL_FILL_NONE || !cpl_share_padded(subject->share)) {
        return;
    }
    while (cpl_share_next(&reader, &part)) {
        cpl_fill_rows(&subject->field->fill, out, part.local + part.valid,
                      part.length - part.valid);
    }
}

/* Metadata has no rows to cut. */
static void copy_whole(const struct cpl_field *field, const struct cpl_rows *out)
{
    const struct cpl_move all = {.rows = field->rows.rows};

    cpl_copy_moves(&all, field->rows.rows > 0, &field->rows, out);
}

enum cpl_status cpl_view_fill(const struct cpl_batch *batch, int32_t layout, const char *field,
                              const struct cpl_tensor *out, struct cpl_error *error)
{
    struct cpl_view_subject subject;
    struct cpl_rows rows;
    enum cpl_status status = cpl_view_find(batch, layout, field, &subject, error);

    if (status == CPL_OK) {
        status = cpl_view_out(&subject, out, &rows, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    if (subject.made) {
        cpl_make_rows(subject.id, subject.share, &rows);
        return CPL_OK;
    }
    if (subject.field->row_axis < 0) {
        copy_whole(subject.field, &rows);
        return CPL_OK;
    }
    cpl_copy_moves(subject.share->route.kept.list, subject.share->route.kept.count,
                   &subject.field->rows, &rows);
    fill_padding(&subject, &rows);
    return CPL_OK;
}
