/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds which row of a pack, dealt row by row for tests of the numerics. Read-only once made.
 */
#ifndef TESTS_TRAINER_DEAL_H
#define TESTS_TRAINER_DEAL_H

#include "trainer/tiny.h"

/* ZIGZAG deals every document and pads it; STREWN is RANDOM with padding between the pieces. */
enum rule { CONTIGUOUS, MIRROR, ZIGZAG, RANDOM, LUMPED, STREWN, RULES };

enum { MOST_RANKS = 4, ROOM = 2 * LONGEST, NO_ROW = -1 };

extern const char *const rule_names[RULES];

struct layout {
    struct shard shards[MOST_RANKS];
    int64_t rows[MOST_RANKS][ROOM]; /* of the pack, by local row; NO_ROW: padding */
    int64_t positions[MOST_RANKS][ROOM];
    int64_t rows_of[MOST_RANKS];
    struct part chain[LONGEST];
};

/* To be freed. */
struct layout *layout_make(enum rule rule, int ranks, const struct pack *pack, uint64_t seed);

/* Counted by hand, from the rows: parts on another rank than the row before, which is of the same
 * document; rows that a part needs from other ranks, `taps` - 1 before it in its document at most;
 * rows of all ranks, padding included. */
int64_t layout_borders(const struct layout *layout, const struct pack *pack);
int64_t layout_halo_rows(const struct layout *layout, const struct pack *pack, int taps);
int64_t layout_all_rows(const struct layout *layout);

#endif
