/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pack: equal documents on two ranks, whose lengths decide how many bytes in a row move from
 * contiguous to zigzag together; with the moves of both ranks, as the plugin plans them.
 */
#ifndef BENCH_PACK_H
#define BENCH_PACK_H

#include <cplayout/plan.h>

enum {
    PACK_RANKS = 2,
    PACK_ROWS = 32768, /* of a rank */
    PACK_ROW_BYTES = 2048,
    PACK_BYTES = PACK_ROWS * PACK_ROW_BYTES, /* of a rank */
    PACK_KINDS = 3,                          /* of moves: kept, sent, received */
};

struct moves {
    struct cplayout_move *list;
    uint64_t count;
};

struct pack {
    const char *run;  /* how many bytes in a row move together */
    int64_t document; /* rows */
    double target;    /* time of an exchange, that of memcpy being 1 */
    int32_t *cu_seqlens;
    uint64_t documents;
    struct moves moves[PACK_RANKS][PACK_KINDS];
    int64_t *positions[PACK_RANKS]; /* [PACK_ROWS]: place in the stream of each row in zigzag */
};

/* Of run, document and target. Ends the program if the plugin refuses. */
void pack_init(struct pack *pack);
void pack_fini(struct pack *pack);

struct cplayout_lengths pack_lengths(const struct pack *pack);

/* In zigzag rank 1 has a document's middle half, rank 0 the rest, which touches that of its neighbours:
 * runs are half a document, but for the two at rank 0's ends. */
int64_t pack_run_bytes(const struct pack *pack);

#endif
