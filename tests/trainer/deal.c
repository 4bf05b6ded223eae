/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/deal.h"

#include <stdlib.h>

#include "trainer/check.h"

const char *const rule_names[RULES] = {"contiguous", "mirror", "zigzag",
                                       "random",     "lumped", "strewn"};

/* ---- Dealing ---- */

/* `length` rows from `start`; those from `limit` on are padding. */
static void append(struct layout *layout, int rank, int64_t start, int64_t length, int64_t limit)
{
    struct shard *shard = &layout->shards[rank];

    require(shard->rows + length <= ROOM, "no room for a rank's rows");
    for (int64_t i = start; i < start + length; i++) {
        layout->rows[rank][shard->rows++] = i < limit ? i : NO_ROW;
    }
}

/* Equal slices, as far as that goes. */
static void append_slice(struct layout *layout, int rank, int ranks, int slice, int64_t rows)
{
    const int64_t begin = rows * slice / ranks;

    append(layout, rank, begin, rows * (slice + 1) / ranks - begin, rows);
}

/* Slices in the order 0, P-1, 1, P-2, ... */
static int mirrored(int rank, int ranks)
{
    return rank % 2 ? ranks - 1 - (rank - 1) / 2 : rank / 2;
}

/* Every document is padded to a multiple of 2P and cut into 2P chunks. */
static void append_zigzag(struct layout *layout, int rank, int ranks, const struct pack *pack)
{
    for (int d = 0; d < pack->documents; d++) {
        const int64_t begin = pack->offsets[d];
        const int64_t end = pack->offsets[d + 1];
        const int64_t chunk = (end - begin + 2 * ranks - 1) / (2 * ranks);
        append(layout, rank, begin + rank * chunk, chunk, end);
        append(layout, rank, begin + (2 * ranks - 1 - rank) * chunk, chunk, end);
    }
}

/* Three pieces for every rank, dealt and ordered at random; about half are one or two rows long. */
static void append_random(struct layout *layout, int ranks, int64_t rows, uint64_t seed, bool pad)
{
    uint64_t state = seed * 7919 + 13;
    int64_t cuts[3 * MOST_RANKS + 1];
    int deal[3 * MOST_RANKS];
    const int pieces = 3 * ranks;

    cuts[0] = 0;
    for (int i = 0; i < pieces; i++) {
        const int64_t rest = (rows - cuts[i]) / 3 + 1;
        const int64_t small = 1 + (int64_t)(random_bits(&state) % 2);
        const int64_t length = i % 3 ? small : 1 + (int64_t)(random_bits(&state) % (uint64_t)rest);
        const int64_t room = rows - cuts[i] - 2 * (pieces - 1 - i);
        cuts[i + 1] = i == pieces - 1 ? rows : cuts[i] + (length < room ? length : room);
        deal[i] = i;
    }
    for (int i = pieces - 1; i > 0; i--) {
        const int j = (int)(random_bits(&state) % (uint64_t)(i + 1));
        const int swapped = deal[i];
        deal[i] = deal[j];
        deal[j] = swapped;
    }
    for (int i = 0; i < pieces; i++) {
        append(layout, i % ranks, rows, pad ? i % 4 : 0, rows);
        append(layout, i % ranks, cuts[deal[i]], cuts[deal[i] + 1] - cuts[deal[i]], rows);
    }
}

/* The even rows in descending order on the first rank, the odd on the last, others empty. */
static void append_lumped(struct layout *layout, int ranks, int64_t rows)
{
    for (int64_t t = rows - 1; t >= 0; t--) {
        append(layout, t % 2 ? ranks - 1 : 0, t, 1, rows);
    }
}

static void append_all(struct layout *layout, enum rule rule, int ranks, const struct pack *pack,
                       uint64_t seed)
{
    for (int r = 0; r < ranks && rule < RANDOM; r++) {
        if (rule == ZIGZAG) {
            append_zigzag(layout, r, ranks, pack);
        } else {
            append_slice(layout, r, ranks, rule == MIRROR ? mirrored(r, ranks) : r, pack->rows);
        }
    }
    if (rule == RANDOM || rule == STREWN) {
        append_random(layout, ranks, pack->rows, seed, rule == STREWN);
    } else if (rule == LUMPED) {
        append_lumped(layout, ranks, pack->rows);
    }
}

/* ---- The shard's words for it ---- */

/* Where every row of the pack is. */
struct place {
    int rank;
    int64_t local;
};

static void places_find(const struct layout *layout, struct place *places)
{
    for (int r = 0; r < MOST_RANKS; r++) {
        for (int64_t i = 0; i < layout->shards[r].rows; i++) {
            const int64_t row = layout->rows[r][i];
            if (row != NO_ROW) {
                places[row] = (struct place){r, i};
            }
        }
    }
}

static int64_t document_begin(const struct pack *pack, int64_t row)
{
    int d = 0;

    while (pack->offsets[d + 1] <= row) {
        d++;
    }
    return pack->offsets[d];
}

/* The chain: runs of one document's rows that follow each other on one rank. Returns its length. */
static int64_t chain_find(struct layout *layout, const struct pack *pack)
{
    struct place at[LONGEST];
    int64_t parts = 0;

    places_find(layout, at);
    for (int64_t t = 0; t < pack->rows; t++) {
        const int64_t position = t - document_begin(pack, t);
        if (position > 0 && at[t].rank == at[t - 1].rank && at[t].local == at[t - 1].local + 1) {
            layout->chain[parts - 1].length++;
        } else {
            layout->chain[parts++] = (struct part){at[t].rank, t, 1, at[t].local, position};
        }
    }
    return parts;
}

/* Positions of a rank's rows; those of padding mean nothing. Returns how many are padding. */
static int64_t positions_fill(struct layout *layout, int rank, const struct pack *pack)
{
    int64_t padding = 0;

    for (int64_t i = 0; i < layout->shards[rank].rows; i++) {
        const int64_t row = layout->rows[rank][i];
        layout->positions[rank][i] = row == NO_ROW ? 1234567 - i : row - document_begin(pack, row);
        padding += row == NO_ROW;
    }
    return padding;
}

struct layout *layout_make(enum rule rule, int ranks, const struct pack *pack, uint64_t seed)
{
    struct layout *layout = calloc(1, sizeof *layout);
    int64_t padding = 0;

    require(layout, "no memory");
    append_all(layout, rule, ranks, pack, seed);
    const int64_t parts = chain_find(layout, pack);
    for (int r = 0; r < ranks; r++) {
        layout->rows_of[r] = layout->shards[r].rows;
        padding += positions_fill(layout, r, pack);
    }
    for (int r = 0; r < ranks; r++) {
        layout->shards[r] = (struct shard){
            .rank = r,
            .ranks = ranks,
            .rows = layout->rows_of[r],
            .sequence = pack->rows,
            .positions = layout->positions[r],
            .parts = parts,
            .chain = layout->chain,
            .rows_of = padding > 0 || pack->documents > 1 ? layout->rows_of : NULL,
        };
    }
    return layout;
}

/* ---- Counting ---- */

int64_t layout_borders(const struct layout *layout, const struct pack *pack)
{
    struct place at[LONGEST];
    int64_t crossed = 0;

    places_find(layout, at);
    for (int64_t t = 1; t < pack->rows; t++) {
        crossed += at[t].rank != at[t - 1].rank && document_begin(pack, t) < t;
    }
    return crossed;
}

/* Whether row t is the first of a part. */
static bool is_first(const struct place *at, const struct pack *pack, int64_t t)
{
    return document_begin(pack, t) == t || at[t].rank != at[t - 1].rank ||
           at[t].local != at[t - 1].local + 1;
}

int64_t layout_halo_rows(const struct layout *layout, const struct pack *pack, int taps)
{
    struct place at[LONGEST];
    int64_t rows = 0;

    places_find(layout, at);
    for (int64_t t = 0; t < pack->rows; t++) {
        const int64_t begin = document_begin(pack, t);
        for (int64_t s = t - 1; is_first(at, pack, t) && s >= begin && s > t - taps; s--) {
            rows += at[s].rank != at[t].rank;
        }
    }
    return rows;
}

int64_t layout_all_rows(const struct layout *layout)
{
    int64_t rows = 0;

    for (int r = 0; r < layout->shards[0].ranks; r++) {
        rows += layout->rows_of[r];
    }
    return rows;
}
