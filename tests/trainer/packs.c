/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs: offsets that make sense, the distribution against its own formula, files of lengths, and
 * samples without a label at a document's end.
 */
#include "packs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample.h"
#include "trainer/check.h"

enum { ROWS = 1024, KEYS = 200 };

static const struct packs drawn = {NULL, 0};

/* ---- Offsets ---- */

static bool offsets_good(const int32_t *offsets, size_t documents, int64_t rows)
{
    bool good = documents > 0 && offsets[0] == 0 && offsets[documents] == rows;

    for (size_t i = 0; i < documents && good; i++) {
        good = offsets[i] < offsets[i + 1];
    }
    return good;
}

static void test_offsets(int64_t rows)
{
    int32_t *offsets = calloc((size_t)rows + 1, sizeof *offsets);
    bool good = true;

    require(offsets, "no memory");
    for (uint64_t key = 0; key < KEYS; key++) {
        const size_t documents = packs_fill(&drawn, key, rows, offsets);
        good = good && offsets_good(offsets, documents, rows);
    }
    check(good, "%d rows: offsets begin with 0, rise, and end with the rows", (int)rows);
    free(offsets);
}

static bool same_pack(uint64_t a, uint64_t b)
{
    int32_t one[ROWS + 1], other[ROWS + 1];
    const size_t documents = packs_fill(&drawn, a, ROWS, one);

    return packs_fill(&drawn, b, ROWS, other) == documents &&
           memcmp(one, other, (documents + 1) * sizeof *one) == 0;
}

static void test_keys(void)
{
    bool same = true;
    int alike = 0;

    for (uint64_t key = 0; key < KEYS; key++) {
        same = same && same_pack(key, key);
        alike += same_pack(key, key + 1);
    }
    check(same, "equal keys give equal packs");
    check(alike < KEYS / 20, "different keys give different packs: %d of %d alike", alike, KEYS);
}

/* ---- Distribution ---- */

enum { PACK = 1 << 22, PACKS = 50, TAKEN = 1000 };

/* P(length >= x): nine in ten are lognormal with median 64 and deviation 0.9 of the logarithm, one in
 * ten Pareto from 256 with exponent 1.2; lengths are rounded down. */
static double survival(double x)
{
    const double body = 0.5 * erfc(log(x / 64) / 0.9 / sqrt(2));
    const double tail = x > 256 ? pow(256 / x, 1.2) : 1;

    return 0.9 * body + 0.1 * tail;
}

/* The first documents of many packs, far from where packs are cut. */
static void draw_lengths(int32_t *lengths)
{
    int32_t *offsets = calloc(PACK + 1, sizeof *offsets);

    require(offsets, "no memory");
    for (uint64_t n = 0; n < PACKS; n++) {
        require(packs_fill(&drawn, 1000 + n, PACK, offsets) > TAKEN, "a pack is too short");
        for (int i = 0; i < TAKEN; i++) {
            *lengths++ = offsets[i + 1] - offsets[i];
        }
    }
    free(offsets);
}

static double share_from(const int32_t *lengths, double x)
{
    int64_t longer = 0;

    for (int i = 0; i < PACKS * TAKEN; i++) {
        longer += lengths[i] >= x;
    }
    return (double)longer / (PACKS * TAKEN);
}

static void test_distribution(void)
{
    static const double places[] = {8, 32, 64, 77, 128, 256, 512, 1024, 4096, 16384};
    int32_t *lengths = calloc(PACKS * TAKEN, sizeof *lengths);

    require(lengths, "no memory");
    draw_lengths(lengths);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const double expected = survival(places[i]);
        const double share = share_from(lengths, places[i]);
        const double deviation = sqrt(expected * (1 - expected) / (PACKS * TAKEN));
        check(fabs(share - expected) < 5 * deviation, "%.4f of the lengths reach %.0f: %.4f",
              expected, places[i], share);
    }
    /* Of the body alone, one in some 500000 is so long. */
    check(share_from(lengths, 4096) > 100 * 0.5 * erfc(log(4096.0 / 64) / 0.9 / sqrt(2)),
          "the tail is heavier than the body's");
    free(lengths);
}

/* ---- Files ---- */

static void write_file(const char *path, const char *content, size_t bytes)
{
    FILE *file = fopen(path, "wb");

    require(file && fwrite(content, 1, bytes, file) == bytes && fclose(file) == 0,
            "cannot write a file");
}

/* Reads a file of this content; 0 or -1, and what packs_read says. */
static int read_content(const char *content, size_t bytes, struct packs *packs, char message[256])
{
    char path[] = "lengths-XXXXXX";
    const int descriptor = mkstemp(path);

    require(descriptor >= 0, "no temporary file");
    close(descriptor);
    write_file(path, content, bytes);
    message[0] = 0;
    const int code = packs_read(packs, path, message);
    require(unlink(path) == 0, "cannot remove a file");
    return code;
}

static void test_good_file(const char *what, const char *content, const int32_t *expected,
                           size_t count)
{
    struct packs packs;
    char message[256];
    const int code = read_content(content, strlen(content), &packs, message);

    if (check(code == 0 && packs.count == count, "%s: %zu lengths are read (%s)", what, count,
              message)) {
        check(memcmp(packs.lengths, expected, count * sizeof *expected) == 0, "%s: these", what);
    }
    if (code == 0) {
        packs_destroy(&packs);
    }
}

/* `part` is in the message. */
static void test_bad_file(const char *what, const char *content, size_t bytes, const char *part)
{
    struct packs packs;
    char message[256];
    const int code = read_content(content, bytes, &packs, message);

    check(code == -1 && strstr(message, part) && !strchr(message, '\n') &&
              strstr(message, "lengths-"),
          "%s: refused with '%s' (%s)", what, part, message);
    if (code == 0) {
        packs_destroy(&packs);
    }
}

static void test_files(void)
{
    const int32_t three[] = {12, 3, 400};
    const int32_t most[] = {1000000000, 1};
    char line[100];
    char zeros[100];

    memset(line, ' ', sizeof line);
    memset(zeros, '0', sizeof zeros);
    memcpy(line + 62, "12\n", 4);
    memcpy(zeros + 62, "12\n", 4);
    test_good_file("plain", "12\n3\n400\n", three, 3);
    test_good_file("no newline at the end", "12\n3\n400", three, 3);
    test_good_file("carriage returns", "12\r\n3\r\n400\r\n", three, 3);
    test_good_file("largest", "1000000000\n1\n", most, 2);
    test_bad_file("a word", "12\nlong\n", 8, "line 2: 'long'");
    test_bad_file("two numbers", "12\n3\n4 5\n", 9, "line 3: '4 5'");
    test_bad_file("zero", "0\n", 2, "line 1: '0'");
    test_bad_file("negative", "12\n-3\n", 6, "line 2: '-3'");
    test_bad_file("too large", "1000000001\n", 11, "line 1: '1000000001'");
    test_bad_file("huge", "99999999999999999999\n", 21, "line 1: '99999999999999999999'");
    test_bad_file("empty line", "12\n\n3\n", 6, "line 2: ''");
    test_bad_file("fraction", "1.5\n", 4, "line 1: '1.5'");
    test_bad_file("empty", "", 0, "holds no lengths");
    test_bad_file("a zero byte", "12\0junk\n", 8, "line 1");
    test_bad_file("returns alone", "12\r3\r400\r", 9, "line 1");
    test_bad_file("a long line of blanks", line, 65, "line 1");
    test_bad_file("a long line of zeros", zeros, 65, "line 1");
}

/* From some place on, the list is used in turn; the last document is cut. Returns the place. */
static size_t place_of(const struct packs *packs, const int32_t *offsets, size_t documents)
{
    for (size_t place = 0; place < packs->count; place++) {
        bool good = true;
        for (size_t i = 0; i < documents && good; i++) {
            const int32_t wanted = packs->lengths[(place + i) % packs->count];
            const int32_t length = offsets[i + 1] - offsets[i];
            good = i + 1 < documents ? length == wanted : length <= wanted;
        }
        if (good) {
            return place;
        }
    }
    return packs->count;
}

static void test_turns(void)
{
    int32_t lengths[] = {100, 7, 1, 300, 45};
    const struct packs packs = {lengths, 5};
    int32_t offsets[ROWS + 1];
    bool seen[6] = {false};

    for (uint64_t key = 0; key < KEYS; key++) {
        const size_t documents = packs_fill(&packs, key, ROWS, offsets);
        seen[offsets_good(offsets, documents, ROWS) ? place_of(&packs, offsets, documents) : 5] =
            true;
    }
    check(!seen[5], "lengths of a file come in turn, the last is cut at the pack's end");
    check(seen[0] && seen[1] && seen[2] && seen[3] && seen[4], "packs begin at every place of it");
    check(packs_fill(&packs, 0, 1, offsets) == 1 && offsets[1] == 1, "a pack of one row");
}

/* ---- Samples ---- */

/* The document's tokens are somewhere in the text, and so is what follows each but the last. */
static bool document_good(const struct sample *sample, const struct text *text, size_t d)
{
    const int32_t begin = sample->offsets[d];
    const int32_t end = sample->offsets[d + 1];
    const int32_t place = sample->tokens[begin];
    bool good = sample->labels[end - 1] == SAMPLE_NO_LABEL;

    for (int32_t t = begin; t < end; t++) {
        good = good && sample->tokens[t] == text->bytes[place + t - begin];
        good = good && (t == end - 1 || sample->labels[t] == sample->tokens[t + 1]);
    }
    return good;
}

/* A text in which every byte tells its place. */
static void test_sample(void)
{
    unsigned char bytes[200];
    const struct text text = {bytes, sizeof bytes, 1};
    int32_t lengths[] = {1, 2, 30, 9};
    const struct packs packs = {lengths, 4};
    struct sample sample, again;
    bool good = true;

    for (int i = 0; i < 200; i++) {
        bytes[i] = (unsigned char)i;
    }
    require(sample_create(&sample, 128) == 0 && sample_create(&again, 128) == 0, "no memory");
    for (int64_t step = 0; step < KEYS; step++) {
        sample_draw_pack(&sample, &text, &packs, 3, step);
        sample_draw_pack(&again, &text, &packs, 3, step);
        good = good && offsets_good(sample.offsets, sample.documents, 128) &&
               memcmp(sample.tokens, again.tokens, 128 * sizeof *sample.tokens) == 0;
        for (size_t d = 0; d < sample.documents; d++) {
            good = good && document_good(&sample, &text, d);
        }
    }
    check(good, "documents are runs of the text; the last token of each has no label, others have "
                "the next");
    sample_draw(&sample, &text, 3, 0);
    check(sample.documents == 0 && sample.labels[127] == sample.tokens[127] + 1,
          "one sequence has a label at its end");
    sample_destroy(&sample);
    sample_destroy(&again);
}

int main(void)
{
    test_offsets(1);
    test_offsets(7);
    test_offsets(ROWS);
    test_keys();
    test_distribution();
    test_files();
    test_turns();
    test_sample();
    return check_end();
}
