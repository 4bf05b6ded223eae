/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/make.h"

#include <string.h>

struct cpl_tensor cpl_make_type(size_t id)
{
    struct cpl_tensor type = {
        .device_type = CPL_DEVICE_CPU,
        .type_code = CPL_TYPE_CODE_INT,
        .type_bits = id == CPL_FIELD_POSITION_IDS ? 64 : 32,
        .type_lanes = 1,
    };

    if (id == CPL_FIELD_PADDING_MASK) {
        type.type_code = CPL_TYPE_CODE_BOOL;
        type.type_bits = 8;
    }
    return type;
}

bool cpl_make_takes(size_t id, const struct cpl_tensor *type, int64_t rows)
{
    const bool byte = type->type_bits == 8 && (type->type_code == CPL_TYPE_CODE_BOOL ||
                                               type->type_code == CPL_TYPE_CODE_UINT);
    const bool word = type->type_code == CPL_TYPE_CODE_INT &&
                      (type->type_bits == 64 || (type->type_bits == 32 && rows - 1 <= INT32_MAX));

    return type->type_lanes == 1 && (id == CPL_FIELD_PADDING_MASK ? byte : word);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Writes an integer of 8, 32 or 64 bits. */
static void write_integer(unsigned char *to, uint64_t bytes, int64_t value)
{
    const int8_t byte = (int8_t)value;
    const int32_t word = (int32_t)value;
    const void *const from = bytes == sizeof(byte)   ? (const void *)&byte
                             : bytes == sizeof(word) ? (const void *)&word
                                                     : (const void *)&value;

    memcpy(to, from, bytes);
}

/* Rows of one value, or of one that goes up by `step` a row. */
struct series {
    int64_t first; /* row */
    int64_t rows;
    int64_t value;
    int64_t step;
};

static void write_series(const struct cpl_rows *out, const struct series *series)
{
    for (int64_t row = 0; row < series->rows; row++) {
        write_integer(out->data + (uint64_t)(series->first + row) * out->row_stride, out->row_bytes,
                      series->value + row * series->step);
    }
}

/* What rows hold that are tokens, and what padding holds. */
void cpl_make_part(size_t id, const struct cpl_part *part, const struct cpl_rows *out)
{
    const int64_t document = part->document == CPL_NO_DOCUMENT ? -1 : (int64_t)part->document;
    struct series tokens = {.first = part->local, .rows = part->valid};
    struct series padding = {.first = part->local + part->valid,
                             .rows = part->length - part->valid};

    if (id == CPL_FIELD_POSITION_IDS) {
        tokens.value = part->position;
        tokens.step = 1;
    } else if (id == CPL_FIELD_PADDING_MASK) {
        padding.value = 1;
    } else {
        tokens.value = document;
        padding.value = document;
    }
    write_series(out, &tokens);
    write_series(out, &padding);
}

void cpl_make_rows(size_t id, const struct cpl_share *share, const struct cpl_rows *out)
{
    struct cpl_share_reader reader = cpl_share_reader(share);
    struct cpl_part part;

    while (cpl_share_next(&reader, &part)) {
        cpl_make_part(id, &part, out);
    }
}
