/* SPDX-License-Identifier: Apache-2.0 */
#include "sample.h"

#include <stdlib.h>

#include "mix.h"

int sample_create(struct sample *sample, int64_t rows)
{
    *sample = (struct sample){
        .rows = rows,
        .tokens = calloc((size_t)rows, sizeof(*sample->tokens)),
        .labels = calloc((size_t)rows, sizeof(*sample->labels)),
        .offsets = calloc((size_t)rows + 1, sizeof(*sample->offsets)),
    };
    return sample->tokens != NULL && sample->labels != NULL && sample->offsets != NULL ? 0 : -1;
}

void sample_destroy(struct sample *sample)
{
    free(sample->tokens);
    free(sample->labels);
    free(sample->offsets);
    *sample = (struct sample){.rows = 0};
}

static uint64_t step_key(uint64_t seed, int64_t step)
{
    return mix(seed) + (uint64_t)step;
}

void sample_draw(struct sample *sample, const struct text *text, uint64_t seed, int64_t step)
{
    sample->documents = 0;
    text_span(text, step_key(seed, step), sample->rows, sample->tokens, sample->labels);
}

void sample_draw_pack(struct sample *sample, const struct text *text, const struct packs *packs,
                      uint64_t seed, int64_t step)
{
    const uint64_t key = mix(step_key(seed, step));

    sample->documents = packs_fill(packs, key, sample->rows, sample->offsets);
    for (size_t i = 0; i < sample->documents; i++) {
        const int32_t begin = sample->offsets[i];
        const int32_t end = sample->offsets[i + 1];

        text_span(text, key + i + 1, end - begin, sample->tokens + begin, sample->labels + begin);
        sample->labels[end - 1] = SAMPLE_NO_LABEL;
    }
}
