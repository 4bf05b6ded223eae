/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures that users of other systems reported, each with the right outcome. A row of a table is one
 * report: its number (letter of its group and running number), what went wrong in a few words, and
 * either an input with the right answer, or a check of its own, or where the answer is if it is not
 * this plugin's to give.
 *
 * Answers are texts, "0 1 6 7 | 2 3 4 5": the numbers of every context-parallel rank; '-' stands for
 * padding, or for no answer.
 */
#ifndef TESTS_THREADS_KNOWN_H
#define TESTS_THREADS_KNOWN_H

#include "threads/party.h"

/* What is asked of a partition. */
enum known_question {
    KNOWN_ROWS,      /* rows of the stream; '-': padding that the layout adds */
    KNOWN_TOKENS,    /* the same; '-': padding of either kind */
    KNOWN_POSITIONS, /* positions in their documents of tokens */
    KNOWN_TARGETS,   /* rows of the tokens `by` later */
    KNOWN_DOCUMENTS, /* documents of the rows */
    KNOWN_COUNTS,    /* how many tokens */
    KNOWN_OFFSETS,   /* of the documents as the layout pads them, one list */
    KNOWN_ORDER,     /* rows of a gather in rank order that put the stream in order, one list */
    KNOWN_ERROR,     /* a part of the message: the input is refused */
};

enum { KNOWN_ENTRIES_MOST = 12 };

struct known {
    const char *number;
    const char *title;
    enum known_question question;
    const char *layout; /* NULL: see below */
    int32_t cp;
    int32_t tp; /* 0: 1 */
    int64_t by;
    uint64_t sequence;              /* 0: packed */
    int32_t cu[KNOWN_ENTRIES_MOST]; /* offsets of the documents, to the last that is not 0 */
    int32_t cu_padded[KNOWN_ENTRIES_MOST];
    uint64_t entries; /* 0: found; else where offsets end alike */
    const char *answer;
    void (*check)(void);   /* instead of a layout */
    const char *elsewhere; /* instead of both: nothing is tested here */
};

/* Runs every row that has something to test. */
void known_test(const struct known *list, size_t count);

#endif
