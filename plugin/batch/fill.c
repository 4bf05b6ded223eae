/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/fill.h"

#include <string.h>

/* ---- Elements -------------------------------------------------------------------------------- */

/* Takes the lowest bytes of a word, in the order of the machine. */
static void take_bytes(struct cpl_fill *fill, uint64_t word, unsigned bits)
{
    const uint8_t byte = (uint8_t)word;
    const uint16_t half = (uint16_t)word;
    const uint32_t single = (uint32_t)word;
    const void *const from = bits == 8    ? (const void *)&byte
                             : bits == 16 ? (const void *)&half
                             : bits == 32 ? (const void *)&single
                                          : (const void *)&word;

    fill->size = bits / 8;
    memcpy(fill->bytes, from, fill->size);
}

static bool fits_integer(int64_t value, unsigned bits, bool is_signed)
{
    if (bits == 64) {
        return is_signed || value >= 0;
    }
    return value < INT64_C(1) << (bits - is_signed) &&
           value >= (is_signed ? -(INT64_C(1) << (bits - 1)) : 0);
}

static bool encode_integer(struct cpl_fill *fill, int64_t value, unsigned bits, bool is_signed)
{
    const bool is_word = bits == 8 || bits == 16 || bits == 32 || bits == 64;

    if (!is_word || !fits_integer(value, bits, is_signed)) {
        return false;
    }
    take_bytes(fill, (uint64_t)value, bits);
    return true;
}

/* A binary format of IEEE 754's kind. */
struct format {
    unsigned bits;
    unsigned fraction; /* bits of it */
    unsigned exponent;
};

/* Of a value that is not 0. */
static bool encode_float(struct cpl_fill *fill, int64_t value, struct format format)
{
    const uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
    const unsigned power = 63 - (unsigned)__builtin_clzll(size);
    const unsigned bias = (1u << (format.exponent - 1)) - 1;
    const uint64_t rest = size ^ UINT64_C(1) << power; /* behind the leading bit */
    uint64_t word = value < 0 ? UINT64_C(1) << (format.bits - 1) : 0;

    if (power > bias || (power > format.fraction &&
                         (rest & ((UINT64_C(1) << (power - format.fraction)) - 1)) != 0)) {
        return false;
    }
    word |= (uint64_t)(power + bias) << format.fraction;
    word |= power > format.fraction ? rest >> (power - format.fraction)
                                    : rest << (format.fraction - power);
    take_bytes(fill, word, format.bits);
    return true;
}

static bool encode_any_float(struct cpl_fill *fill, int64_t value, unsigned bits)
{
    static const struct format formats[] = {{16, 10, 5}, {32, 23, 8}, {64, 52, 11}};

    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (formats[i].bits == bits) {
            return encode_float(fill, value, formats[i]);
        }
    }
    return false;
}

bool cpl_fill_encode(struct cpl_fill *fill, const struct cpl_tensor *type, int64_t value)
{
    static const struct format bfloat = {16, 7, 8};
    const unsigned bits = type->type_bits;

    *fill = (struct cpl_fill){.zero = value == 0};
    if (value == 0) {
        return true;
    }
    if (type->type_lanes != 1) {
        return false;
    }
    switch (type->type_code) {
    case CPL_TYPE_CODE_INT:
        return encode_integer(fill, value, bits, true);
    case CPL_TYPE_CODE_UINT:
        return encode_integer(fill, value, bits, false);
    case CPL_TYPE_CODE_FLOAT:
        return encode_any_float(fill, value, bits);
    case CPL_TYPE_CODE_BFLOAT:
        return bits == 16 && encode_float(fill, value, bfloat);
    case CPL_TYPE_CODE_BOOL:
        return value == 1 && encode_integer(fill, value, bits, false);
    default:
        return false;
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void fill_row(const struct cpl_fill *fill, unsigned char *row, uint64_t bytes)
{
    if (fill->zero) {
        memset(row, 0, bytes);
        return;
    }
    for (uint64_t at = 0; at + fill->size <= bytes; at += fill->size) {
        memcpy(row + at, fill->bytes, fill->size);
    }
}

void cpl_fill_rows(const struct cpl_fill *fill, const struct cpl_rows *out, int64_t first,
                   int64_t rows)
{
    for (uint64_t outer = 0; outer < out->outer && out->row_bytes > 0; outer++) {
        unsigned char *const begin = out->data + outer * out->outer_stride;

        for (int64_t row = first; row < first + rows; row++) {
            fill_row(fill, begin + (uint64_t)row * out->row_stride, out->row_bytes);
        }
    }
}
