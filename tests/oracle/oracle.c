/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracle's rules, one token at a time; see oracle.h.
 */
#include "oracle/oracle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rank r holds the r-th of P slices. */
static int32_t owner_contiguous(int64_t token, int64_t tokens, int32_t cp)
{
    return (int32_t)(token / (tokens / cp));
}

/* Rank k holds slice k/2 if k is even, slice P-1-(k-1)/2 if k is odd. */
static int32_t owner_mirror(int64_t token, int64_t tokens, int32_t cp)
{
    const int64_t slice = token / (tokens / cp);

    for (int32_t k = 0; k < cp; k++) {
        const int32_t held = k % 2 == 0 ? k / 2 : cp - 1 - (k - 1) / 2;

        if (held == slice) {
            return k;
        }
    }
    abort();
}

/* Rank r holds chunks r and 2P-1-r of 2P. */
static int32_t owner_zigzag(int64_t token, int64_t tokens, int32_t cp)
{
    const int64_t chunk = token / (tokens / (2 * cp));

    for (int32_t r = 0; r < cp; r++) {
        if (chunk == r || chunk == 2 * cp - 1 - r) {
            return r;
        }
    }
    abort();
}

/* B of "striped:B", 0 for any other layout. */
static int64_t block_of(const char *layout)
{
    return strncmp(layout, "striped:", 8) == 0 ? strtoll(layout + 8, NULL, 10) : 0;
}

/* The stream alone decides in zigzag-stream, so that for a dense sequence it is zigzag. */
static bool has_zigzag_chunks(const char *layout)
{
    return strcmp(layout, "zigzag") == 0 || strcmp(layout, "zigzag-stream") == 0;
}

int32_t oracle_owner(const char *layout, int64_t token, int64_t tokens, int32_t cp)
{
    if (cp == 1) {
        return 0;
    }
    if (strcmp(layout, "contiguous") == 0) {
        return owner_contiguous(token, tokens, cp);
    }
    if (strcmp(layout, "mirror") == 0) {
        return owner_mirror(token, tokens, cp);
    }
    if (has_zigzag_chunks(layout)) {
        return owner_zigzag(token, tokens, cp);
    }
    if (block_of(layout) > 0) {
        return (int32_t)(token / block_of(layout) % cp);
    }
    abort();
}

bool oracle_fits(const char *layout, int64_t tokens, int32_t cp, int32_t tp)
{
    if (cp > 1 && has_zigzag_chunks(layout) && tokens % (2 * cp) != 0) {
        return false;
    }
    if (cp > 1 && block_of(layout) > 0 && tokens % (cp * block_of(layout)) != 0) {
        return false;
    }
    return tokens % cp == 0 && tokens / cp % tp == 0;
}

int64_t oracle_unit(const char *layout, int32_t cp, int32_t tp)
{
    int64_t tokens = 1;

    while (!oracle_fits(layout, tokens, cp, tp)) {
        tokens++;
    }
    return tokens;
}

static void *take(int64_t count, size_t bytes)
{
    void *const memory = calloc((size_t)count, bytes);

    if (memory == NULL) {
        abort();
    }
    return memory;
}

void oracle_init(struct oracle *oracle, const char *layout, int64_t tokens, int32_t cp, int32_t tp)
{
    int64_t *held;

    oracle->tokens = tokens;
    oracle->cp = cp;
    oracle->tp = tp;
    oracle->ranks = cp * tp;
    oracle->rows = tokens / oracle->ranks;
    oracle->owner = take(tokens, sizeof(*oracle->owner));
    oracle->row = take(tokens, sizeof(*oracle->row));
    oracle->token = take(tokens, sizeof(*oracle->token));
    (void)snprintf(oracle->text, sizeof(oracle->text), "%s S=%" PRId64 " P=%d T=%d", layout, tokens,
                   cp, tp);

    /* A context-parallel rank lines its tokens up in global order and cuts them into windows. */
    held = take(cp, sizeof(*held));
    for (int64_t token = 0; token < tokens; token++) {
        const int32_t cp_rank = oracle_owner(layout, token, tokens, cp);
        const int64_t place = held[cp_rank]++;

        oracle->owner[token] = cp_rank * tp + (int32_t)(place / oracle->rows);
        oracle->row[token] = place % oracle->rows;
        oracle->token[oracle->owner[token] * oracle->rows + oracle->row[token]] = token;
    }
    free(held);
}

void oracle_fini(struct oracle *oracle)
{
    free(oracle->owner);
    free(oracle->row);
    free(oracle->token);
}

int64_t oracle_token(const struct oracle *oracle, int32_t rank, int64_t row)
{
    return oracle->token[rank * oracle->rows + row];
}

int64_t oracle_pairs(const struct oracle *oracle, int32_t rank)
{
    int64_t pairs = 0;

    for (int64_t query = 0; query < oracle->tokens; query++) {
        for (int64_t key = 0; key <= query; key++) {
            pairs += oracle->owner[query] == rank;
        }
    }
    return pairs;
}

int64_t oracle_parts(const struct oracle *oracle, struct oracle_part *parts)
{
    int64_t count = 0;

    for (int64_t token = 0; token < oracle->tokens; token++) {
        const bool continues = token > 0 && oracle->owner[token] == oracle->owner[token - 1] &&
                               oracle->row[token] == oracle->row[token - 1] + 1;

        if (continues) {
            parts[count - 1].length++;
        } else {
            parts[count++] = (struct oracle_part){
                .start = token,
                .length = 1,
                .local = oracle->row[token],
                .rank = oracle->owner[token],
            };
        }
    }
    return count;
}

int64_t oracle_transfer(const struct oracle *source, const struct oracle *target, int32_t from,
                        int32_t to, struct oracle_row *rows)
{
    int64_t count = 0;

    for (int64_t token = 0; token < source->tokens; token++) {
        if (source->owner[token] != from || target->owner[token] != to) {
            continue;
        }
        if (rows != NULL) {
            rows[count] = (struct oracle_row){
                .token = token,
                .src = source->row[token],
                .dst = target->row[token],
            };
        }
        count++;
    }
    return count;
}

int64_t oracle_moved(const struct oracle *source, const struct oracle *target)
{
    int64_t moved = 0;

    for (int64_t token = 0; token < source->tokens; token++) {
        moved += source->owner[token] != target->owner[token];
    }
    return moved;
}

bool oracle_equal(const struct oracle *a, const struct oracle *b)
{
    if (a->tokens != b->tokens || a->ranks != b->ranks) {
        return false;
    }
    for (int64_t token = 0; token < a->tokens; token++) {
        if (a->owner[token] != b->owner[token] || a->row[token] != b->row[token]) {
            return false;
        }
    }
    return true;
}
