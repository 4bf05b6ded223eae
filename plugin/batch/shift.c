/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/shift.h"

#include <inttypes.h>

#include "batch/make.h"
#include "move/copy.h"
#include "plan/derived.h"

/* One shifted view on its way out. */
struct shifting {
    struct cpl_view_subject subject;
    int64_t by;
    struct cpl_fill fill;
    struct cpl_rows out;
};

/* The rows of a part that have a token `by` later. */
static void write_tokens(const struct shifting *shifting, const struct cpl_part *part,
                         const struct cpl_shifted *shifted)
{
    const struct cpl_move move = {
        .src = shifted->start,
        .dst = part->local + shifted->begin,
        .rows = shifted->end - shifted->begin,
    };
    const struct cpl_part made = {
        .local = move.dst,
        .length = move.rows,
        .valid = move.rows,
        .position = part->position + shifted->begin + shifting->by,
        .document = part->document,
    };

    if (move.rows == 0) {
        return;
    }
    if (shifting->subject.made) {
        cpl_make_part(shifting->subject.id, &made, &shifting->out);
    } else {
        cpl_copy_moves(&move, 1, &shifting->subject.field->rows, &shifting->out);
    }
}

static void write_rows(const struct shifting *shifting)
{
    const struct cpl_stream *const stream = &shifting->subject.batch->stream;
    struct cpl_share_reader reader = cpl_share_reader(shifting->subject.share);
    struct cpl_part part;

    while (cpl_share_next(&reader, &part)) {
        const struct cpl_shifted shifted = cpl_shift_part(stream, &part, shifting->by);

        cpl_fill_rows(&shifting->fill, &shifting->out, part.local, shifted.begin);
        write_tokens(shifting, &part, &shifted);
        cpl_fill_rows(&shifting->fill, &shifting->out, part.local + shifted.end,
                      part.length - shifted.end);
    }
}

/* A field that is not cut has no tokens, and a mask has none of one kind only. */
static enum cpl_status check_field(const struct cpl_view_subject *subject, struct cpl_error *error)
{
    const bool cut = subject->made || subject->field->row_axis >= 0;

    return cut && subject->spec->fill != CPL_FILL_NONE
               ? CPL_OK
               : cpl_fail_field(error, CPL_ERROR_ARGUMENT, subject->spec->name,
                                "field %s cannot be shifted: it is %s", subject->spec->name,
                                cut ? "a mask of pairs of tokens" : "metadata");
}

static enum cpl_status find_fill(struct shifting *shifting, const struct cpl_shift *shift,
                                 const struct cpl_tensor *out, struct cpl_error *error)
{
    const struct cpl_view_subject *const subject = &shifting->subject;
    const struct cpl_context *const context = subject->batch->context;
    const int64_t value =
        shift->fill != NULL
            ? *shift->fill
            : cpl_field_fill_value(subject->spec, context->pad_token, context->pad_label);

    return cpl_fill_encode(&shifting->fill, out, value)
               ? CPL_OK
               : cpl_fail_field(error, CPL_ERROR_ARGUMENT, "fill",
                                "the fill value %" PRId64
                                " does not fit field %s, of type code %u with %u bits",
                                value, subject->spec->name, (unsigned)out->type_code,
                                (unsigned)out->type_bits);
}

enum cpl_status cpl_view_shift(const struct cpl_batch *batch, const struct cpl_shift *shift,
                               const struct cpl_tensor *out, struct cpl_error *error)
{
    struct shifting shifting = {.by = shift->by};
    enum cpl_status status = cpl_shift_check(shift->by, error);

    if (status == CPL_OK) {
        status = cpl_view_find(batch, shift->layout, shift->field, &shifting.subject, error);
    }
    if (status == CPL_OK) {
        status = check_field(&shifting.subject, error);
    }
    if (status == CPL_OK) {
        status = cpl_view_out(&shifting.subject, out, &shifting.out, error);
    }
    if (status == CPL_OK) {
        status = find_fill(&shifting, shift, out, error);
    }
    if (status == CPL_OK) {
        write_rows(&shifting);
    }
    return status;
}
