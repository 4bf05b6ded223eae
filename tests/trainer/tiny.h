/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tiny model and its samples, for tests of the numerics in double precision.
 */
#ifndef TESTS_TRAINER_TINY_H
#define TESTS_TRAINER_TINY_H

#include "model.h"

enum { HIDDEN = 8, HEADS = 2, DIM = 4, INNER = HEADS * DIM, MLP = 12, VOCAB = 16, TAPS = 4 };
enum { LONGEST = 192, MOST_DOCUMENTS = 16, LAYERS = 6 };

extern const char tiny_pattern[];

uint64_t random_bits(uint64_t *state);
double random_unit(uint64_t *state); /* from -1 to 1 */

/* Documents back to back; one of them is a dense sequence. */
struct pack {
    int64_t rows;
    int documents;
    int64_t offsets[MOST_DOCUMENTS + 1];
    int32_t tokens[LONGEST], labels[LONGEST]; /* -1: not counted */
};

/* Every fifth label is masked. Tokens and labels depend on the rows alone. */
void pack_make(struct pack *pack, const int64_t *lengths, int documents);
void pack_dense(struct pack *pack, int64_t rows);

/* One of the documents as a sequence of its own. */
void pack_document(const struct pack *pack, int document, struct pack *alone);

/* Labels that are counted. */
int64_t pack_counted(const struct pack *pack);

/* A model whose parameters are all far from special values, always the same. */
struct model *model_make(void);

#endif
