/* SPDX-License-Identifier: Apache-2.0 */
#include "threads/known.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 2000, NUMBERS_MOST = 256 };

/* ---- Texts ----------------------------------------------------------------------------------- */

struct text {
    char bytes[TEXT_BYTES];
    size_t used;
};

static void add(struct text *text, const char *word)
{
    const int written = snprintf(text->bytes + text->used, sizeof(text->bytes) - text->used, "%s%s",
                                 text->used > 0 ? " " : "", word);

    text->used += written > 0 ? (size_t)written : 0;
    tap_require(text->used < sizeof(text->bytes), "an answer is too long");
}

static void add_number(struct text *text, int64_t number)
{
    char word[24];

    (void)snprintf(word, sizeof(word), "%" PRId64, number);
    add(text, number >= 0 ? word : "-");
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* A rank's rows of the stream, or positions in their documents; returns how many. */
static uint64_t positions_of(const struct cplayout_partition *partition, int32_t rank, int32_t kind,
                             int64_t numbers[NUMBERS_MOST])
{
    const struct cplayout_positions_args args = {sizeof(args), rank, kind};
    uint64_t count = 0;

    CHECK(host_plan()->positions(partition, &args, numbers, NUMBERS_MOST, &count, NULL) ==
              CPLAYOUT_OK,
          "no positions");
    return count;
}

/* Puts -1 in place of padding. */
static void drop_padding(const struct cplayout_partition *partition, int32_t rank,
                         int64_t numbers[NUMBERS_MOST])
{
    uint8_t mask[NUMBERS_MOST];
    uint64_t count = 0;

    CHECK(host_plan()->padding_mask(partition, rank, mask, NUMBERS_MOST, &count, NULL) ==
              CPLAYOUT_OK,
          "no mask");
    for (uint64_t i = 0; i < count; i++) {
        numbers[i] = mask[i] ? -1 : numbers[i];
    }
}

static void add_documents(struct text *text, const struct cplayout_partition *partition,
                          int32_t rank)
{
    struct cplayout_local_document documents[NUMBERS_MOST];
    uint64_t count = 0;

    CHECK(host_plan()->local_documents(partition, rank, documents, NUMBERS_MOST, &count, NULL) ==
              CPLAYOUT_OK,
          "no documents");
    for (uint64_t i = 0; i < count; i++) {
        for (int64_t row = 0; row < documents[i].rows; row++) {
            add_number(text, documents[i].document);
        }
    }
}

static void add_rows(struct text *text, const struct cplayout_partition *partition, int32_t rank,
                     enum known_question question)
{
    const int32_t kind =
        question == KNOWN_POSITIONS ? CPLAYOUT_POSITIONS_DOCUMENT : CPLAYOUT_POSITIONS_GLOBAL;
    int64_t numbers[NUMBERS_MOST];
    const uint64_t count = positions_of(partition, rank, kind, numbers);

    if (question == KNOWN_TOKENS || question == KNOWN_POSITIONS) {
        drop_padding(partition, rank, numbers);
    }
    for (uint64_t i = 0; i < count; i++) {
        add_number(text, numbers[i]);
    }
}

static int64_t tokens_of(const struct cplayout_partition *partition, int32_t rank)
{
    struct cplayout_rank_info info = {.size = sizeof(info)};

    CHECK(host_plan()->rank_describe(partition, rank, &info, NULL) == CPLAYOUT_OK, "no rank");
    return (int64_t)info.valid_rows;
}

static void add_cp_rank(struct text *text, const struct cplayout_partition *partition,
                        int32_t cp_rank, const struct known *known)
{
    const int32_t tp = known->tp > 0 ? known->tp : 1;
    int64_t tokens = 0;

    for (int32_t rank = cp_rank * tp; rank < (cp_rank + 1) * tp; rank++) {
        switch (known->question) {
        case KNOWN_COUNTS:
            tokens += tokens_of(partition, rank);
            break;
        case KNOWN_DOCUMENTS:
            add_documents(text, partition, rank);
            break;
        default:
            add_rows(text, partition, rank, known->question);
            break;
        }
    }
    if (known->question == KNOWN_COUNTS) {
        add_number(text, tokens);
    }
}

static void add_offsets(struct text *text, const struct cplayout_partition *partition)
{
    int64_t offsets[NUMBERS_MOST];
    uint64_t count = 0;

    CHECK(host_plan()->padded_offsets(partition, offsets, NUMBERS_MOST, &count, NULL) ==
              CPLAYOUT_OK,
          "no offsets");
    for (uint64_t i = 0; i < count; i++) {
        add_number(text, offsets[i]);
    }
}

static void add_order(struct text *text, const struct cplayout_partition *partition)
{
    struct cplayout_run runs[NUMBERS_MOST];
    uint64_t count = 0;

    CHECK(host_plan()->inverse(partition, runs, NUMBERS_MOST, &count, NULL) == CPLAYOUT_OK,
          "no order");
    for (uint64_t i = 0; i < count; i++) {
        for (int64_t row = 0; row < runs[i].rows; row++) {
            add_number(text, runs[i].at + row);
        }
    }
}

static void answer(struct text *text, const struct known *known,
                   const struct cplayout_partition *partition)
{
    if (known->question == KNOWN_OFFSETS) {
        add_offsets(text, partition);
        return;
    }
    if (known->question == KNOWN_ORDER) {
        add_order(text, partition);
        return;
    }
    for (int32_t rank = 0; rank < known->cp; rank++) {
        if (rank > 0) {
            add(text, "|");
        }
        add_cp_rank(text, partition, rank, known);
    }
}

/* ---- Partitions ------------------------------------------------------------------------------ */

/* Entries up to the last offset that is not 0. */
static uint64_t entries_of(const struct known *known)
{
    uint64_t entries = KNOWN_ENTRIES_MOST;

    while (known->entries == 0 && entries > 1 && known->cu[entries - 1] == 0) {
        entries--;
    }
    return known->entries > 0 ? known->entries : entries;
}

static int32_t create(const struct known *known, struct cplayout_partition **partition,
                      struct cplayout_error *error)
{
    const uint64_t entries = entries_of(known);
    const bool padded = known->cu_padded[entries - 1] > 0;
    const struct cplayout_lengths sample = {known->cu, padded ? known->cu_padded : NULL, entries};
    const struct cplayout_partition_args args = {
        .size = sizeof(args),
        .layout = known->layout,
        .sequence = known->sequence,
        .cp = known->cp,
        .tp = known->tp > 0 ? known->tp : 1,
        .samples = known->sequence == 0 ? &sample : NULL,
        .sample_count = known->sequence == 0,
    };

    return host_plan()->partition_create(NULL, &args, partition, error);
}

static void check_answer(const struct known *known)
{
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_partition *partition = NULL;
    struct cplayout_partition *shifted = NULL;
    struct text text = {.used = 0};
    const int32_t status = create(known, &partition, &error);

    if (known->question == KNOWN_ERROR) {
        CHECK(status == CPLAYOUT_ERROR_ARGUMENT && strstr(error.message, known->answer) != NULL,
              "status %d: %s", status, error.message);
        return;
    }
    if (!CHECK(status == CPLAYOUT_OK, "%s", error.message)) {
        return;
    }
    if (known->question == KNOWN_TARGETS) {
        CHECK(host_plan()->shift_create(NULL, partition, known->by, &shifted, &error) ==
                  CPLAYOUT_OK,
              "%s", error.message);
    }
    answer(&text, known, shifted != NULL ? shifted : partition);
    CHECK(strcmp(text.bytes, known->answer) == 0, "'%s', not '%s'", text.bytes, known->answer);
    host_plan()->partition_destroy(shifted);
    host_plan()->partition_destroy(partition);
}

void known_test(const struct known *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct known *const known = &list[i];

        if (known->elsewhere != NULL) {
            continue;
        }
        tap_test("%s: %s", known->number, known->title);
        if (known->check != NULL) {
            known->check();
        } else {
            check_answer(known);
        }
    }
}
