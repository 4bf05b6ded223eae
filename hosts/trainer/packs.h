/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lengths of the documents in a pack: from a file, or from a distribution like those of real training
 * mixes, a lognormal body with a Pareto tail. Read once, then shared by all threads.
 */
#ifndef TRAINER_PACKS_H
#define TRAINER_PACKS_H

#include <stddef.h>
#include <stdint.h>

struct packs {
    int32_t *lengths; /* [count] of a file; NULL: drawn from the distribution */
    size_t count;
};

/* Reads a file of one length per line. 0, or -1 with a message that names file and line. */
int packs_read(struct packs *packs, const char *path, char message[256]);
void packs_destroy(struct packs *packs);

/*
 * Fills one pack of `rows` rows: offsets[0] = 0, offsets[documents] = rows; room for rows + 1 of
 * them. The last document is cut where the pack ends. Follows from the key alone. Returns the number
 * of documents.
 */
size_t packs_fill(const struct packs *packs, uint64_t key, int64_t rows, int32_t *offsets);

#endif
