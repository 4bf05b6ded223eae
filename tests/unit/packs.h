/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs of documents for the unit tests: built document by document, all small ones in turn, or drawn
 * from a seed; and one layout applied to a pack by the plugin and by the oracle.
 */
#ifndef TESTS_UNIT_PACKS_H
#define TESTS_UNIT_PACKS_H

#include <criterion/criterion.h>

#include "oracle/packed.h"
#include "plan/table.h"
#include "unit/support.h"

enum { PACK_SAMPLES = 3, PACK_DOCUMENTS = 40, LAYOUTS = 3 };

static const char *const layouts[LAYOUTS] = {"contiguous", "mirror", "zigzag"};

/* Samples as a host gives them, and the same as one list of documents. Must not be copied. */
struct pack {
    int32_t real[PACK_SAMPLES][PACK_DOCUMENTS + 1];
    int32_t padded[PACK_SAMPLES][PACK_DOCUMENTS + 1];
    struct cpl_lengths samples[PACK_SAMPLES];
    size_t sample_count;
    struct packed_document list[PACK_SAMPLES * PACK_DOCUMENTS];
    int64_t documents;
    int64_t rows;
};

/* Begins the next sample; the first time on a zeroed pack. */
static inline void pack_sample(struct pack *pack)
{
    const size_t sample = pack->sample_count++;

    pack->samples[sample] = (struct cpl_lengths){
        .cu_seqlens = pack->real[sample],
        .cu_seqlens_padded = pack->padded[sample],
        .entries = 1,
    };
}

/* Adds a document to the last sample. */
static inline void pack_add(struct pack *pack, int64_t tokens, int64_t rows)
{
    const size_t sample = pack->sample_count - 1;
    const size_t entry = pack->samples[sample].entries++;

    pack->real[sample][entry] = pack->real[sample][entry - 1] + (int32_t)tokens;
    pack->padded[sample][entry] = pack->padded[sample][entry - 1] + (int32_t)rows;
    pack->list[pack->documents++] = (struct packed_document){tokens, rows};
    pack->rows += rows;
}

/* Samples without padding may leave the second array out. */
static inline void pack_finish(struct pack *pack)
{
    for (size_t i = 0; i < pack->sample_count; i++) {
        const size_t entries = pack->samples[i].entries;

        if (i % 2 == 0 && memcmp(pack->real[i], pack->padded[i], entries * sizeof(int32_t)) == 0) {
            pack->samples[i].cu_seqlens_padded = NULL;
        }
    }
}

/* ---- Small packs ------------------------------------------------------------------------------- */

/*
 * The index-th of all packs of 1 to `documents` documents of `kinds` kinds each; false past the last.
 * `kind` turns a number into a document.
 */
static inline bool pack_small(struct pack *pack, int64_t index, int documents, int64_t kinds,
                              struct packed_document (*kind)(int64_t number))
{
    int64_t packs = 1;
    int count = 0;

    do {
        index -= count > 0 ? packs : 0;
        packs *= kinds;
        count++;
    } while (index >= packs && count <= documents);
    if (count > documents) {
        return false;
    }
    memset(pack, 0, sizeof(*pack));
    pack_sample(pack);
    for (int i = 0; i < count; i++) {
        const struct packed_document document = kind(index % kinds);

        pack_add(pack, document.tokens, document.rows);
        index /= kinds;
    }
    pack_finish(pack);
    return true;
}

/* ---- Random packs ------------------------------------------------------------------------------ */

/* A number from 0 to `most`: SplitMix64. */
static inline int64_t draw(uint64_t *seed, int64_t most)
{
    uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (int64_t)((x ^ x >> 31) % (uint64_t)(most + 1));
}

static inline struct packed_ranks draw_ranks(uint64_t *seed)
{
    return (struct packed_ranks){(int32_t)(1 + draw(seed, 7)), (int32_t)(1 + draw(seed, 3))};
}

/* Up to 40 documents of up to 60 tokens in up to 3 samples. Most fit every layout on `ranks`. */
static inline void pack_draw(struct pack *pack, uint64_t *seed, struct packed_ranks ranks)
{
    static const int64_t longest[] = {1, 4, 13, 60, 60};
    static const int64_t padding[] = {0, 0, 1, 5};
    const int64_t length = longest[draw(seed, 4)];
    const int64_t pads = padding[draw(seed, 3)];
    const int64_t documents = 1 + draw(seed, draw(seed, 1) == 0 ? 4 : PACK_DOCUMENTS - 1);
    const int64_t unit = (int64_t)ranks.cp * ranks.tp;

    memset(pack, 0, sizeof(*pack));
    pack_sample(pack);
    for (int64_t i = 0; i < documents; i++) {
        const int64_t tokens = draw(seed, 3) == 0 ? 0 : draw(seed, length);
        int64_t rows = tokens + draw(seed, pads);

        if (i + 1 == documents && draw(seed, 7) > 0) {
            rows += (unit - (pack->rows + rows) % unit) % unit;
        }
        pack_add(pack, pads > 0 ? tokens : rows, rows);
        if (pack->sample_count < PACK_SAMPLES && i + 1 < documents && draw(seed, 9) == 0) {
            pack_sample(pack);
        }
    }
    pack_finish(pack);
}

/* ---- Subjects ---------------------------------------------------------------------------------- */

struct subject {
    const char *layout;
    struct counted counted;
    struct cpl_arena arena;
    struct cpl_stream stream;
    struct cpl_table table;
    struct packed oracle;
};

/* Fails with the pack, what was looked at, and where. */
static inline void require(bool good, const struct packed *oracle, const char *what, int64_t at)
{
    if (!good) {
        cr_assert_fail("%s: %s, at %" PRId64, oracle->text, what, at);
    }
}

static inline void subject_init(struct subject *subject, const struct pack *pack,
                                const char *layout, struct packed_ranks ranks)
{
    const struct cpl_shape shape = {.cp = ranks.cp, .tp = ranks.tp, .stream = &subject->stream};
    struct cpl_error error = {0};
    struct cpl_allocator allocator;

    *subject = (struct subject){.layout = layout};
    allocator = counted_allocator(&subject->counted);
    cpl_arena_init(&subject->arena, &allocator);
    packed_init(&subject->oracle, layout, pack->list, pack->documents, ranks);
    if (cpl_stream_packed(&subject->stream, pack->samples, pack->sample_count, &subject->arena,
                          &error) != CPL_OK ||
        cpl_table_build(&subject->table, cpl_layout_find(layout), &shape, &subject->arena,
                        &error) != CPL_OK) {
        cr_assert_fail("%s: %s", subject->oracle.text, error.message);
    }
}

static inline void subject_fini(struct subject *subject)
{
    cpl_arena_fini(&subject->arena);
    packed_fini(&subject->oracle);
    require(subject->counted.live == 0, &subject->oracle, "blocks that leak",
            subject->counted.live);
    require(subject->counted.wrong == 0, &subject->oracle, "released with another size", 0);
}

#endif
