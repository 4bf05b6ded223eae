/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks: tensors in memory of their own whose every byte is known. A row's bytes follow from its
 * token, from the outer index and from the place in the row; all bytes between and around rows are
 * canaries. One comparison of the whole memory shows a wrong row as well as a byte written outside.
 */
#ifndef TESTS_THREADS_BLOCK_H
#define TESTS_THREADS_BLOCK_H

#include <stddef.h>

#include <cplayout/tensor.h>

#include "oracle/oracle.h"

enum { BLOCK_DIMS_MOST = 4 };

/* How rows lie in memory. */
enum packing {
    PACKING_COMPACT,     /* strides NULL */
    PACKING_EXPLICIT,    /* the same with strides */
    PACKING_PADDED,      /* gaps between rows and between outer entries */
    PACKING_INTERLEAVED, /* outer entries lie between rows; padded, too */
};

/* The shape of a tensor: `shape[row_axis]` is replaced by the number of rows. */
struct form {
    const char *name;
    int32_t ndim;
    int32_t row_axis;
    int64_t shape[BLOCK_DIMS_MOST];
    struct cplayout_type type;
};

/* Forms of 1 to 4 dimensions, rows from 1 to 40 bytes, elements of 1, 2, 3, 4 and 8 bytes. */
enum { FORM_COUNT = 12 };
extern const struct form forms[FORM_COUNT];

struct block {
    const struct form *form;
    struct cplayout_tensor tensor;
    int64_t shape[BLOCK_DIMS_MOST];
    int64_t strides[BLOCK_DIMS_MOST];
    int64_t rows;
    int64_t outer;
    size_t row_bytes;
    size_t row_stride;   /* bytes */
    size_t outer_stride; /* bytes */
    size_t bytes;        /* of the memory */
};

/*
 * Which rows: one number each, rows of the stream as a rule; below 0: padding. The salt tells equal
 * rows of two tensors apart.
 */
struct content {
    const int64_t *rows;          /* [rows of the block] */
    uint32_t salt;                /* no matter to padding */
    const unsigned char *padding; /* [row_bytes] what padding holds; NULL: zeros */
};

/* The tokens that a rank of a layout holds. */
struct content content_of(const struct oracle *layout, int32_t rank, uint32_t salt);

/* Memory full of canaries. Ends the program if there is none. */
void block_init(struct block *block, const struct form *form, int64_t rows, enum packing packing);
void block_fini(struct block *block);

/* First byte of a row. */
unsigned char *block_row(const struct block *block, int64_t outer, int64_t row);

/* Overwrites all memory: with canaries, or with rows and canaries between them. */
void block_clear(struct block *block);
void block_fill(struct block *block, const struct content *content);

/* Checks all memory, and reports the first byte that is wrong as a failure named `what`. */
bool block_is_clear(const struct block *block, const char *what);
bool block_holds(const struct block *block, const struct content *content, const char *what);

/* Whether two blocks of one form hold the same rows. */
bool block_equal(const struct block *a, const struct block *b);

/* Writes any bytes into the rows, the same for the same seed. */
void block_noise(struct block *block, uint64_t seed);

/* The sum of products of all elements, modulo 2^64; they are integers of 8 bytes. */
uint64_t block_dot(const struct block *a, const struct block *b);

#endif
