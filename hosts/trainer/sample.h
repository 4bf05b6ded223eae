/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one step trains on: a run of text, or a pack of documents cut from it. One rank, one thread;
 * every rank draws the whole sample.
 */
#ifndef TRAINER_SAMPLE_H
#define TRAINER_SAMPLE_H

#include "packs.h"
#include "text.h"

struct sample {
    int64_t rows;
    int32_t *tokens;
    int32_t *labels;  /* the token that follows; SAMPLE_NO_LABEL behind a document's last */
    int32_t *offsets; /* [documents + 1] of a pack */
    size_t documents; /* 0: one sequence, no pack */
};

enum { SAMPLE_NO_LABEL = -100 };

/* 0, or -1 for lack of memory; sample_destroy in both cases. */
int sample_create(struct sample *sample, int64_t rows);
void sample_destroy(struct sample *sample);

/* Both follow from seed and step alone. */
void sample_draw(struct sample *sample, const struct text *text, uint64_t seed, int64_t step);
void sample_draw_pack(struct sample *sample, const struct text *text, const struct packs *packs,
                      uint64_t seed, int64_t step);

#endif
