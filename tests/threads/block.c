/* SPDX-License-Identifier: Apache-2.0 */
#include "threads/block.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "threads/tap.h"

enum { CANARY = 0xee, GUARD_ELEMENTS = 5, ROW_GAP = 3, OUTER_GAP = 2 };

#define BYTES(count)                   \
    {                                  \
        CPLAYOUT_TYPE_UINT, 8, (count) \
    }

const struct form forms[FORM_COUNT] = {
    {"[rows, 1] of 1 byte", 2, 0, {0, 1}, BYTES(1)},
    {"[rows, 3] of 1 byte", 2, 0, {0, 3}, BYTES(1)},
    {"[rows, 7] of 1 byte", 2, 0, {0, 7}, BYTES(1)},
    {"[rows] of 8 bytes", 1, 0, {0}, {CPLAYOUT_TYPE_INT, 64, 1}},
    {"[rows, 5] of 2 bytes", 2, 0, {0, 5}, {CPLAYOUT_TYPE_BFLOAT, 16, 1}},
    {"[rows, 2, 3] of 4 bytes", 3, 0, {0, 2, 3}, {CPLAYOUT_TYPE_FLOAT, 32, 1}},
    {"[rows, 1, 5] of 8 bytes", 3, 0, {0, 1, 5}, {CPLAYOUT_TYPE_FLOAT, 64, 1}},
    {"[3, rows, 2] of 8 bytes", 3, 1, {3, 0, 2}, {CPLAYOUT_TYPE_INT, 64, 1}},
    {"[2, rows, 13] of 1 byte", 3, 1, {2, 0, 13}, BYTES(1)},
    {"[2, rows] of 4 bytes", 2, 1, {2, 0}, {CPLAYOUT_TYPE_INT, 32, 1}},
    {"[2, 2, rows, 3] of 2 bytes", 4, 2, {2, 2, 0, 3}, {CPLAYOUT_TYPE_FLOAT, 16, 1}},
    {"[1, rows, 1] of 3 bytes", 3, 1, {1, 0, 1}, BYTES(3)},
};

static size_t element_bytes(const struct form *form)
{
    return (size_t)form->type.bits * form->type.lanes / 8;
}

static int64_t product(const struct form *form, int32_t begin, int32_t end)
{
    int64_t entries = 1;

    for (int32_t axis = begin; axis < end; axis++) {
        entries *= form->shape[axis];
    }
    return entries;
}

/* Strides of the row axis and of the last axis before it, in elements. */
static void choose_strides(const struct block *block, enum packing packing, int64_t *row,
                           int64_t *outer)
{
    const int64_t width = product(block->form, block->form->row_axis + 1, block->form->ndim);
    const bool padded = packing == PACKING_PADDED || packing == PACKING_INTERLEAVED;
    const int64_t gap = padded ? ROW_GAP : 0;

    if (packing == PACKING_INTERLEAVED) {
        *outer = width + gap;
        *row = *outer * block->outer + OUTER_GAP;
    } else {
        *row = width + gap;
        *outer = *row * block->rows + (padded ? OUTER_GAP : 0);
    }
}

static void write_strides(struct block *block, int64_t row, int64_t outer)
{
    const struct form *const form = block->form;
    int64_t inner = 1;

    for (int32_t axis = form->ndim - 1; axis > form->row_axis; axis--) {
        block->strides[axis] = inner;
        inner *= form->shape[axis];
    }
    block->strides[form->row_axis] = row;
    for (int32_t axis = form->row_axis - 1; axis >= 0; axis--) {
        block->strides[axis] = outer;
        outer *= form->shape[axis];
    }
}

static unsigned char *allocate(size_t bytes)
{
    unsigned char *const memory = malloc(bytes);

    tap_require(memory != NULL, "no %zu bytes of memory", bytes);
    return memory;
}

void block_init(struct block *block, const struct form *form, int64_t rows, enum packing packing)
{
    const size_t element = element_bytes(form);
    int64_t row_stride;
    int64_t outer_stride;

    *block = (struct block){.form = form, .rows = rows, .outer = product(form, 0, form->row_axis)};
    memcpy(block->shape, form->shape, sizeof(block->shape));
    block->shape[form->row_axis] = rows;
    choose_strides(block, packing, &row_stride, &outer_stride);
    write_strides(block, row_stride, outer_stride);
    block->row_bytes = element * (size_t)product(form, form->row_axis + 1, form->ndim);
    block->row_stride = element * (size_t)row_stride;
    block->outer_stride = element * (size_t)outer_stride;
    block->bytes = block->row_stride * (size_t)rows + block->outer_stride * (size_t)block->outer +
                   2 * GUARD_ELEMENTS * element;
    block->tensor = (struct cplayout_tensor){
        .data = allocate(block->bytes),
        .device = {CPLAYOUT_DEVICE_CPU, 0},
        .ndim = form->ndim,
        .dtype = form->type,
        .shape = block->shape,
        .strides = packing == PACKING_COMPACT ? NULL : block->strides,
        .byte_offset = GUARD_ELEMENTS * element,
    };
    block_clear(block);
}

void block_fini(struct block *block)
{
    free(block->tensor.data);
}

static size_t row_offset(const struct block *block, int64_t outer, int64_t row)
{
    return (size_t)block->tensor.byte_offset + (size_t)outer * block->outer_stride +
           (size_t)row * block->row_stride;
}

unsigned char *block_row(const struct block *block, int64_t outer, int64_t row)
{
    return (unsigned char *)block->tensor.data + row_offset(block, outer, row);
}

void block_clear(struct block *block)
{
    memset(block->tensor.data, CANARY, block->bytes);
}

struct content content_of(const struct oracle *layout, int32_t rank, uint32_t salt)
{
    return (struct content){layout->token + rank * layout->rows, salt, NULL};
}

/* Two tokens less than 256 apart differ in every byte, and so do most that are further apart. */
static unsigned char value_of(int64_t token, int64_t outer, size_t byte, uint32_t salt)
{
    return (unsigned char)((uint64_t)token + 103 * ((uint64_t)token >> 8) + 89 * (uint64_t)outer +
                           151 * (uint64_t)byte + salt);
}

static void write_row(const struct block *block, const struct content *content, int64_t outer,
                      int64_t row, unsigned char *to)
{
    const int64_t token = content->rows[row];

    for (size_t byte = 0; byte < block->row_bytes; byte++) {
        const unsigned char padding = content->padding != NULL ? content->padding[byte] : 0;

        to[byte] = token < 0 ? padding : value_of(token, outer, byte, content->salt);
    }
}

static void write_image(const struct block *block, const struct content *content,
                        unsigned char *image)
{
    memset(image, CANARY, block->bytes);
    for (int64_t outer = 0; outer < block->outer; outer++) {
        for (int64_t row = 0; row < block->rows; row++) {
            write_row(block, content, outer, row, image + row_offset(block, outer, row));
        }
    }
}

void block_fill(struct block *block, const struct content *content)
{
    write_image(block, content, block->tensor.data);
}

static bool same_as(const struct block *block, const unsigned char *image, const char *what)
{
    const unsigned char *const memory = block->tensor.data;
    size_t at = 0;

    if (memcmp(memory, image, block->bytes) == 0) {
        return true;
    }
    while (memory[at] == image[at]) {
        at++;
    }
    return CHECK(false,
                 "%s: %s, %" PRId64 " rows of %zu bytes, row stride %zu, outer stride %zu: byte "
                 "%zu of %zu is %02x, not %02x",
                 what, block->form->name, block->rows, block->row_bytes, block->row_stride,
                 block->outer_stride, at, block->bytes, memory[at], image[at]);
}

bool block_is_clear(const struct block *block, const char *what)
{
    unsigned char *const image = allocate(block->bytes);
    bool same;

    memset(image, CANARY, block->bytes);
    same = same_as(block, image, what);
    free(image);
    return same;
}

bool block_holds(const struct block *block, const struct content *content, const char *what)
{
    unsigned char *const image = allocate(block->bytes);
    bool same;

    write_image(block, content, image);
    same = same_as(block, image, what);
    free(image);
    return same;
}

bool block_equal(const struct block *a, const struct block *b)
{
    for (int64_t outer = 0; outer < a->outer; outer++) {
        for (int64_t row = 0; row < a->rows; row++) {
            if (memcmp(block_row(a, outer, row), block_row(b, outer, row), a->row_bytes) != 0) {
                return false;
            }
        }
    }
    return true;
}

void block_noise(struct block *block, uint64_t seed)
{
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;

    for (int64_t outer = 0; outer < block->outer; outer++) {
        for (int64_t row = 0; row < block->rows; row++) {
            unsigned char *const to = block_row(block, outer, row);

            for (size_t byte = 0; byte < block->row_bytes; byte++) {
                state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                to[byte] = (unsigned char)(state >> 56);
            }
        }
    }
}

static uint64_t row_dot(const unsigned char *a, const unsigned char *b, size_t bytes)
{
    uint64_t sum = 0;
    uint64_t left;
    uint64_t right;

    for (size_t at = 0; at < bytes; at += sizeof(left)) {
        memcpy(&left, a + at, sizeof(left));
        memcpy(&right, b + at, sizeof(right));
        sum += left * right;
    }
    return sum;
}

uint64_t block_dot(const struct block *a, const struct block *b)
{
    uint64_t sum = 0;

    for (int64_t outer = 0; outer < a->outer; outer++) {
        for (int64_t row = 0; row < a->rows; row++) {
            sum += row_dot(block_row(a, outer, row), block_row(b, outer, row), a->row_bytes);
        }
    }
    return sum;
}
