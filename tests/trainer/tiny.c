/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/tiny.h"

#include <string.h>

#include "trainer/check.h"

enum { SEED = 7 };

const char tiny_pattern[] = "M-*M*-";

uint64_t random_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

double random_unit(uint64_t *state)
{
    return (double)(random_bits(state) >> 11) / 4503599627370496.0 - 1;
}

void pack_make(struct pack *pack, const int64_t *lengths, int documents)
{
    uint64_t state = 99;

    *pack = (struct pack){.documents = documents};
    require(documents <= MOST_DOCUMENTS, "too many documents");
    for (int i = 0; i < documents; i++) {
        pack->rows += lengths[i];
        pack->offsets[i + 1] = pack->rows;
    }
    require(pack->rows <= LONGEST, "too many rows");
    for (int64_t t = 0; t < pack->rows; t++) {
        pack->tokens[t] = (int32_t)(random_bits(&state) % VOCAB);
        pack->labels[t] = t % 5 == 3 ? -1 : (int32_t)(random_bits(&state) % VOCAB);
    }
}

void pack_dense(struct pack *pack, int64_t rows)
{
    pack_make(pack, &rows, 1);
}

void pack_document(const struct pack *pack, int document, struct pack *alone)
{
    const int64_t begin = pack->offsets[document];
    const int64_t rows = pack->offsets[document + 1] - begin;

    *alone = (struct pack){.rows = rows, .documents = 1, .offsets = {0, rows}};
    memcpy(alone->tokens, pack->tokens + begin, (size_t)rows * sizeof *alone->tokens);
    memcpy(alone->labels, pack->labels + begin, (size_t)rows * sizeof *alone->labels);
}

int64_t pack_counted(const struct pack *pack)
{
    int64_t counted = 0;

    for (int64_t t = 0; t < pack->rows; t++) {
        counted += pack->labels[t] >= 0;
    }
    return counted;
}

struct model *model_make(void)
{
    struct model_config config = model_defaults();
    uint64_t state = 5;

    config.pattern = tiny_pattern;
    config.hidden = HIDDEN;
    config.heads = HEADS;
    config.head_dim = DIM;
    config.mlp = MLP;
    config.vocab = VOCAB;
    config.conv_width = TAPS;
    config.rope_base = 100;
    struct model *model = model_create(&config, SEED);
    require(model, "no model");
    struct params *params = model_params(model);
    for (int64_t i = 0; i < params->count; i++) {
        params->values[i] += 0.3 * random_unit(&state);
    }
    return model;
}
