/* SPDX-License-Identifier: Apache-2.0 */
#include "index.h"

#include <stdbool.h>
#include <string.h>

static void add_row(struct list *list, int32_t peer, int32_t row)
{
    list->peer[list->count] = peer;
    list->row[list->count] = row;
    list->count++;
}

static void sort_rows(struct list *list, int32_t ranks)
{
    int32_t next[PACK_RANKS_MOST + 1] = {0};

    for (int32_t i = 0; i < list->count; i++) {
        next[list->peer[i] + 1]++;
    }
    for (int32_t peer = 0; peer < ranks; peer++) {
        next[peer + 1] += next[peer];
    }
    memcpy(list->first, next, sizeof(next));
    for (int32_t i = 0; i < list->count; i++) {
        list->rows[next[list->peer[i]]++] = list->row[i];
    }
}

/* Rows of one of a document's 2P chunks. */
static int32_t chunk_of(const struct input *input, size_t document)
{
    const int32_t length = input->cu_seqlens[document + 1] - input->cu_seqlens[document];

    return (length + 2 * input->cp - 1) / (2 * input->cp);
}

/* Rows of a logical rank in zigzag: those of a context-parallel rank, padded, over T. */
static int32_t window_of(const struct input *input)
{
    int32_t rows = 0;

    for (size_t document = 0; document < input->documents; document++) {
        rows += 2 * chunk_of(input, document);
    }
    while (rows % input->tp != 0) {
        rows += 2;
    }
    return rows / input->tp;
}

/* A document on its way into the index of a rank. */
struct walk {
    const struct input *input;
    struct index *index;
    int32_t rank;
    int32_t rows;   /* of a rank in contiguous */
    int32_t window; /* and in zigzag */
    int32_t before; /* rows of a context-parallel rank before the document */
};

/* Who holds each token before and after, by division; what concerns the rank is noted. */
static void index_document(struct walk *walk, size_t document)
{
    const struct input *const input = walk->input;
    const int32_t begin = input->cu_seqlens[document];
    const int32_t chunk = chunk_of(input, document);

    for (int32_t token = begin; token < input->cu_seqlens[document + 1]; token++) {
        const int32_t slot = (token - begin) / chunk;
        const bool late = slot >= input->cp;
        const int32_t local = walk->before + (token - begin) % chunk + (late ? chunk : 0);
        const int32_t cp_rank = late ? 2 * input->cp - 1 - slot : slot;
        const int32_t source = token / walk->rows;
        const int32_t target = cp_rank * input->tp + local / walk->window;

        if (source == walk->rank) {
            add_row(&walk->index->sent, target, token % walk->rows);
        }
        if (target == walk->rank) {
            add_row(&walk->index->received, source, local % walk->window);
        }
    }
    walk->before += 2 * chunk;
}

void index_build(const struct input *input, int32_t rank, struct index *index)
{
    struct walk walk = {
        .input = input,
        .index = index,
        .rank = rank,
        .rows = input->tokens / input_ranks(input),
        .window = window_of(input),
    };

    index->sent.count = 0;
    index->received.count = 0;
    for (size_t document = 0; document < input->documents; document++) {
        index_document(&walk, document);
    }
    sort_rows(&index->sent, input_ranks(input));
    sort_rows(&index->received, input_ranks(input));
}
