/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fill values: integers and the machine's own floats are compared with the compiler's conversions, half
 * precision with bit patterns worked out by hand; what does not fit exactly is refused.
 */
#include <criterion/criterion.h>

#include "batch/fill.h"
#include "unit/support.h"

enum { INT = CPL_TYPE_CODE_INT, UINT = CPL_TYPE_CODE_UINT, FLOAT = CPL_TYPE_CODE_FLOAT };
enum { BFLOAT = CPL_TYPE_CODE_BFLOAT, BOOL = CPL_TYPE_CODE_BOOL };

static bool encode(struct cpl_fill *fill, uint8_t code, uint8_t bits, int64_t value)
{
    const struct cpl_tensor type = {.type_code = code, .type_bits = bits, .type_lanes = 1};

    return cpl_fill_encode(fill, &type, value);
}

static const int64_t values[] = {
    1,
    -1,
    2,
    3,
    -100,
    77,
    127,
    128,
    -128,
    -129,
    255,
    256,
    257,
    2047,
    2048,
    2049,
    2050,
    4098,
    32767,
    32768,
    -32768,
    -32769,
    65504,
    65505,
    65535,
    65536,
    16777216,
    16777217,
    INT32_MAX,
    INT32_MIN,
    (int64_t)INT32_MAX + 1,
    INT64_C(1) << 53,
    (INT64_C(1) << 53) + 1,
    -(INT64_C(1) << 62),
    INT64_MAX,
    INT64_MIN,
};

enum { VALUES = sizeof(values) / sizeof(values[0]) };

#define CHECK_TYPE(code, bits, type)                                                            \
    for (int i = 0; i < VALUES; i++) {                                                          \
        const type converted = (type)values[i];                                                 \
        struct cpl_fill fill;                                                                   \
                                                                                                \
        if (encode(&fill, code, bits, values[i])) {                                             \
            cr_assert_eq(fill.size, sizeof(converted));                                         \
            cr_assert_arr_eq(fill.bytes, &converted, sizeof(converted), "%" PRId64, values[i]); \
        }                                                                                       \
        cr_assert_eq(encode(&fill, code, bits, values[i]), holds_##type(values[i]),             \
                     "%" PRId64 " as " #type, values[i]);                                       \
    }

#define INTEGER(type, least, most)                  \
    static bool holds_##type(int64_t value)         \
    {                                               \
        return value >= (least) && value <= (most); \
    }

INTEGER(int8_t, INT8_MIN, INT8_MAX)
INTEGER(int16_t, INT16_MIN, INT16_MAX)
INTEGER(int32_t, INT32_MIN, INT32_MAX)
INTEGER(int64_t, INT64_MIN, INT64_MAX)
INTEGER(uint8_t, 0, UINT8_MAX)
INTEGER(uint16_t, 0, UINT16_MAX)
INTEGER(uint32_t, 0, UINT32_MAX)
INTEGER(uint64_t, 0, INT64_MAX)

/* Whether there and back is the same; 2^63 does not come back. */
static bool holds_float(int64_t value)
{
    return value != INT64_MAX && (int64_t)(float)value == value;
}

static bool holds_double(int64_t value)
{
    return value != INT64_MAX && (int64_t)(double)value == value;
}

Test(fill, converts_as_the_compiler_does){
    CHECK_TYPE(INT, 8, int8_t) CHECK_TYPE(INT, 16, int16_t) CHECK_TYPE(INT, 32, int32_t)
        CHECK_TYPE(INT, 64, int64_t) CHECK_TYPE(UINT, 8, uint8_t) CHECK_TYPE(UINT, 16, uint16_t)
            CHECK_TYPE(UINT, 32, uint32_t) CHECK_TYPE(UINT, 64, uint64_t)}

/* A float of 2^31 - 1 would overflow on the way back: only values that stay inside are compared. */
Test(fill, converts_floats_as_the_compiler_does)
{
    CHECK_TYPE(FLOAT, 32, float)
    CHECK_TYPE(FLOAT, 64, double)
}

/* Bits worked out by hand; 0: does not fit. */
static const struct {
    int64_t value;
    uint16_t fp16;
    uint16_t bf16;
} halves[] = {
    {1, 0x3c00, 0x3f80},    {-1, 0xbc00, 0xbf80},  {2, 0x4000, 0x4000},    {3, 0x4200, 0x4040},
    {-100, 0xd640, 0xc2c8}, {255, 0x5bf8, 0x437f}, {256, 0x5c00, 0x4380},  {257, 0x5c04, 0},
    {258, 0x5c08, 0x4381},  {2047, 0x67ff, 0},     {2048, 0x6800, 0x4500}, {2049, 0, 0},
    {2050, 0x6801, 0},      {65504, 0x7bff, 0},    {65536, 0, 0x4780},     {65505, 0, 0},
    {INT64_MIN, 0, 0xdf00}, {INT64_MAX, 0, 0},
};

Test(fill, knows_both_kinds_of_half_precision)
{
    for (size_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++) {
        struct cpl_fill fill;
        uint16_t bits = 0;

        cr_assert_eq(encode(&fill, FLOAT, 16, halves[i].value), halves[i].fp16 != 0, "%" PRId64,
                     halves[i].value);
        memcpy(&bits, fill.bytes, fill.size);
        cr_assert_eq(bits, halves[i].fp16, "%" PRId64 " is 0x%04x", halves[i].value, bits);
        bits = 0;
        cr_assert_eq(encode(&fill, BFLOAT, 16, halves[i].value), halves[i].bf16 != 0, "%" PRId64,
                     halves[i].value);
        memcpy(&bits, fill.bytes, fill.size);
        cr_assert_eq(bits, halves[i].bf16, "%" PRId64 " is 0x%04x", halves[i].value, bits);
    }
}

Test(fill, zero_fits_every_type_and_other_values_few)
{
    const struct cpl_tensor pair = {.type_code = INT, .type_bits = 32, .type_lanes = 2};
    struct cpl_fill fill;

    for (int code = 0; code < 256; code++) {
        cr_assert(encode(&fill, (uint8_t)code, 24, 0));
        cr_assert(fill.zero);
        cr_assert(!encode(&fill, (uint8_t)code, 24, 1), "code %d", code);
    }
    cr_assert(cpl_fill_encode(&fill, &pair, 0));
    cr_assert(!cpl_fill_encode(&fill, &pair, 1));
    cr_assert(encode(&fill, BOOL, 8, 1) && fill.bytes[0] == 1 && fill.size == 1);
    cr_assert(!encode(&fill, BOOL, 8, 2) && !encode(&fill, BOOL, 8, -1));
    cr_assert(!encode(&fill, FLOAT, 8, 1) && !encode(&fill, BFLOAT, 32, 1));
}

Test(fill, fills_rows_and_nothing_else)
{
    unsigned char memory[2 * 40];
    const struct cpl_rows rows = {.data = memory + 2,
                                  .rows = 4,
                                  .row_bytes = 4,
                                  .row_stride = 7,
                                  .outer = 2,
                                  .outer_stride = 40};
    struct cpl_fill fill;

    for (int64_t value = -3; value <= 0; value += 3) {
        memset(memory, 0xee, sizeof(memory));
        cr_assert(encode(&fill, INT, 16, value));
        cpl_fill_rows(&fill, &rows, 1, 2);
        for (int i = 0; i < 80; i++) {
            const int at = i % 40 - 2;
            const int row = at >= 0 && at < 28 && at % 7 < 4 ? at / 7 : -1;
            const bool inside = row == 1 || row == 2;
            const int16_t half = (int16_t)value;
            unsigned char bytes[2];

            memcpy(bytes, &half, sizeof(bytes));
            cr_assert_eq(memory[i], inside ? bytes[at % 7 % 2] : 0xee, "byte %d", i);
        }
    }
}
