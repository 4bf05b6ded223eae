/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracle's rules for packed documents, one row at a time; see packed.h.
 */
#include "oracle/packed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/oracle.h"

static void *take(int64_t count, size_t bytes)
{
    void *const memory = calloc((size_t)count + 1, bytes);

    if (memory == NULL) {
        abort();
    }
    return memory;
}

/* Zigzag deals inside every document and pads it; at P = 1 there is nothing to deal. */
static bool is_padded(const char *layout, int32_t cp)
{
    return cp > 1 && strcmp(layout, "zigzag") == 0;
}

bool packed_fits(const char *layout, int64_t rows, int32_t cp, int32_t tp)
{
    return is_padded(layout, cp) || oracle_fits(layout, rows, cp, tp);
}

/* Every document up to a multiple of 2P; then 2P rows at a time for the last, until T divides. */
static void pad(struct packed *packed, const char *layout)
{
    const int64_t unit = 2 * (int64_t)packed->cp;
    int64_t total = 0;

    for (int64_t i = 0; i < packed->documents; i++) {
        int64_t rows = packed->list[i].rows;

        while (is_padded(layout, packed->cp) && rows % unit != 0) {
            rows++;
        }
        packed->padded[i] = total;
        total += rows;
    }
    while (is_padded(layout, packed->cp) && total / packed->cp % packed->tp != 0) {
        total += unit;
    }
    packed->padded[packed->documents] = total;
    packed->window = total / packed->cp / packed->tp;
}

static void describe_rows(struct packed *packed)
{
    int64_t row = 0;

    for (int64_t i = 0; i < packed->documents; i++) {
        for (int64_t k = 0; k < packed->list[i].rows; k++, row++) {
            packed->document[row] = i;
            packed->position[row] = k;
            packed->valid[row] = k < packed->list[i].tokens;
        }
    }
}

/* Where the next row goes: `dealt` counts what each context-parallel rank has. row -1: padding. */
static void deal(struct packed *packed, int64_t *dealt, int32_t cp_rank, int64_t row)
{
    const int64_t place = dealt[cp_rank]++;
    const int32_t rank = cp_rank * packed->tp + (int32_t)(place / packed->window);

    packed->held.row[packed->held.first[rank] + place % packed->window] = row;
    if (row >= 0) {
        packed->owner[row] = rank;
        packed->local[row] = place % packed->window;
    }
}

static void deal_documents(struct packed *packed, const char *layout, int64_t *dealt)
{
    int64_t row = 0;

    for (int64_t i = 0; i < packed->documents; i++) {
        const int64_t padded = packed->padded[i + 1] - packed->padded[i];

        for (int64_t k = 0; k < padded; k++) {
            const int32_t cp_rank = oracle_owner(layout, k, padded, packed->cp);

            deal(packed, dealt, cp_rank, k < packed->list[i].rows ? row++ : -1);
        }
    }
}

static void deal_stream(struct packed *packed, const char *layout, int64_t *dealt)
{
    for (int64_t row = 0; row < packed->rows; row++) {
        deal(packed, dealt, oracle_owner(layout, row, packed->rows, packed->cp), row);
    }
}

static void write_text(struct packed *packed, const char *layout)
{
    size_t used = (size_t)snprintf(packed->text, sizeof(packed->text), "%s P=%d T=%d [", layout,
                                   packed->cp, packed->tp);

    for (int64_t i = 0; i < packed->documents && used < sizeof(packed->text); i++) {
        used += (size_t)snprintf(packed->text + used, sizeof(packed->text) - used,
                                 "%s%" PRId64 "/%" PRId64, i > 0 ? " " : "", packed->list[i].tokens,
                                 packed->list[i].rows);
    }
    if (used < sizeof(packed->text)) {
        (void)snprintf(packed->text + used, sizeof(packed->text) - used, "]");
    }
}

void packed_init(struct packed *packed, const char *layout, const struct packed_document *list,
                 int64_t documents, struct packed_ranks ranks)
{
    int64_t *const dealt = take(ranks.cp, sizeof(*dealt));

    *packed = (struct packed){.cp = ranks.cp, .tp = ranks.tp, .documents = documents};
    packed->list = take(documents, sizeof(*packed->list));
    packed->padded = take(documents + 1, sizeof(*packed->padded));
    for (int64_t i = 0; i < documents; i++) {
        packed->list[i] = list[i];
        packed->rows += list[i].rows;
        packed->tokens += list[i].tokens;
    }
    packed->document = take(packed->rows, sizeof(*packed->document));
    packed->position = take(packed->rows, sizeof(*packed->position));
    packed->valid = take(packed->rows, sizeof(*packed->valid));
    packed->owner = take(packed->rows, sizeof(*packed->owner));
    packed->local = take(packed->rows, sizeof(*packed->local));
    write_text(packed, layout);
    describe_rows(packed);
    pad(packed, layout);
    packed_rows_init(&packed->held, ranks.cp * ranks.tp, packed->padded[documents]);
    for (int32_t rank = 0; rank <= packed->held.ranks; rank++) {
        packed->held.first[rank] = rank * packed->window;
    }
    (is_padded(layout, ranks.cp) ? deal_documents : deal_stream)(packed, layout, dealt);
    free(dealt);
}

void packed_fini(struct packed *packed)
{
    free(packed->list);
    free(packed->padded);
    free(packed->document);
    free(packed->position);
    free(packed->valid);
    free(packed->owner);
    free(packed->local);
    packed_rows_fini(&packed->held);
}

void packed_rows_init(struct packed_rows *rows, int32_t ranks, int64_t most)
{
    rows->ranks = ranks;
    rows->first = take(ranks + 1, sizeof(*rows->first));
    rows->row = take(most, sizeof(*rows->row));
}

void packed_rows_fini(struct packed_rows *rows)
{
    free(rows->first);
    free(rows->row);
}

int64_t packed_valid(const struct packed *packed, const struct packed_rows *rows, int32_t rank)
{
    int64_t count = 0;

    for (int64_t i = rows->first[rank]; i < rows->first[rank + 1]; i++) {
        count += rows->row[i] >= 0 && packed->valid[rows->row[i]];
    }
    return count;
}

/* A token sees every token of its document up to itself. */
static int64_t keys_of(const struct packed *packed, int64_t query)
{
    int64_t keys = 0;

    for (int64_t key = query; key >= 0 && packed->document[key] == packed->document[query]; key--) {
        keys += packed->valid[key];
    }
    return keys;
}

int64_t packed_pairs(const struct packed *packed, const struct packed_rows *rows, int32_t rank)
{
    int64_t pairs = 0;

    for (int64_t i = rows->first[rank]; i < rows->first[rank + 1]; i++) {
        if (rows->row[i] >= 0 && packed->valid[rows->row[i]]) {
            pairs += keys_of(packed, rows->row[i]);
        }
    }
    return pairs;
}

int64_t packed_parts(const struct packed *packed, struct packed_part *parts)
{
    int64_t count = 0;

    for (int64_t row = 0; row < packed->rows; row++) {
        const bool continues = row > 0 && packed->document[row] == packed->document[row - 1] &&
                               packed->owner[row] == packed->owner[row - 1] &&
                               packed->local[row] == packed->local[row - 1] + 1;

        if (!continues) {
            parts[count++] = (struct packed_part){
                .start = row,
                .local = packed->local[row],
                .position = packed->position[row],
                .document = packed->document[row],
                .rank = packed->owner[row],
            };
        }
        parts[count - 1].length++;
        parts[count - 1].valid += packed->valid[row];
    }
    return count;
}

int64_t packed_wanted(const struct packed *source, const struct packed_rows *target, int32_t rank)
{
    int64_t count = 0;

    for (int64_t i = target->first[rank]; i < target->first[rank + 1]; i++) {
        count += target->row[i] >= 0 && source->owner[target->row[i]] != rank;
    }
    return count;
}

int64_t packed_lent(const struct packed *source, const struct packed_rows *target, int32_t rank)
{
    int64_t count = 0;

    for (int32_t to = 0; to < target->ranks; to++) {
        for (int64_t i = target->first[to]; i < target->first[to + 1]; i++) {
            count += to != rank && target->row[i] >= 0 && source->owner[target->row[i]] == rank;
        }
    }
    return count;
}

/* FNV-1a over whole numbers. */
static uint64_t fold(uint64_t digest, int64_t number)
{
    for (int i = 0; i < 8; i++) {
        digest = (digest ^ ((uint64_t)number >> 8 * i & 0xff)) * UINT64_C(1099511628211);
    }
    return digest;
}

uint64_t packed_content(const struct packed *packed, const struct packed_rows *rows)
{
    uint64_t digest = fold(UINT64_C(14695981039346656037), packed->documents);

    for (int64_t i = 0; i < packed->documents; i++) {
        digest = fold(fold(digest, packed->list[i].rows), packed->list[i].tokens);
    }
    digest = fold(digest, rows->ranks);
    for (int32_t rank = 0; rank < rows->ranks; rank++) {
        digest = fold(digest, rows->first[rank + 1]);
    }
    for (int64_t i = 0; i < rows->first[rows->ranks]; i++) {
        digest = fold(digest, rows->row[i]);
    }
    return digest;
}
