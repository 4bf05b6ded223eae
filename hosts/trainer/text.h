/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The training text: files joined to one run of bytes, and spans of it. Read once, then shared by
 * all threads.
 */
#ifndef TRAINER_TEXT_H
#define TRAINER_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
    unsigned char *bytes;
    size_t length;
    size_t files;
};

/*
 * Reads `count` files; with none, the licence texts of the system, else the project's documents.
 * 0, or -1 with a message that names the file. The text must be longer than `sequence` bytes.
 */
int text_read(struct text *text, char *const *paths, size_t count, int64_t sequence,
              char message[256]);
void text_destroy(struct text *text);

/*
 * `length` consecutive bytes and, as labels, the byte that follows each. The place follows from the
 * key alone. The text is longer than that.
 */
void text_span(const struct text *text, uint64_t key, int64_t length, int32_t *tokens,
               int32_t *labels);

#endif
