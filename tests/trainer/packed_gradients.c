/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs of documents in the trainer's numerics: every layout gives what the documents give alone,
 * nothing crosses their borders, padding has no influence, and recomputation changes no bit. Built
 * with TRAINER_DOUBLE.
 */
#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/by_token.h"
#include "trainer/check.h"
#include "trainer/group.h"

static const struct mix mixes[] = {
    {ZIGZAG, ZIGZAG, ZIGZAG, false},        {CONTIGUOUS, ZIGZAG, CONTIGUOUS, false},
    {MIRROR, ZIGZAG, MIRROR, false},        {MIRROR, ZIGZAG, CONTIGUOUS, true},
    {CONTIGUOUS, CONTIGUOUS, ZIGZAG, true}, {RANDOM, ZIGZAG, CONTIGUOUS, false},
    {STREWN, STREWN, STREWN, false},        {STREWN, ZIGZAG, RANDOM, true},
    {LUMPED, STREWN, LUMPED, false},
};

enum { MIXES = sizeof mixes / sizeof *mixes };

/* The arrangements that the trainer offers; the first is for one rank. */
static const struct mix arrangements[] = {
    {ZIGZAG, ZIGZAG, ZIGZAG, false},
    {ZIGZAG, ZIGZAG, ZIGZAG, false},
    {CONTIGUOUS, ZIGZAG, CONTIGUOUS, false},
    {MIRROR, ZIGZAG, MIRROR, false},
};

enum { ARRANGED = sizeof arrangements / sizeof *arrangements };

/* Documents of one row, shorter than the convolution, around the length of a chunk, and longer. */
static const int64_t long_lengths[] = {1, 2, 3, 70, 5, 64, 1, 46};
static const int64_t short_lengths[] = {3, 1, 7, 2, 2, 9};
static const int64_t one_length[] = {45};

static int64_t parameters(void)
{
    struct model *model = model_make();
    const int64_t count = model_params(model)->count;

    model_destroy(model);
    return count;
}

/* ---- Documents alone ---- */

struct expected {
    double loss;
    double *gradients;
    double leaving[LONGEST][HIDDEN], into_gradient[LONGEST][HIDDEN]; /* by row of the pack */
};

/* What one document adds, from row `begin` on; its mean counts by its labels. */
static void expect_document(const struct group *single, int64_t begin, double share,
                            struct expected *sum)
{
    const int64_t count = parameters();

    sum->loss += share * single->loss[0];
    for (int64_t i = 0; i < count; i++) {
        sum->gradients[i] += share * single->gradients[0][i];
    }
    for (int64_t n = 0; n < single->pack->rows * HIDDEN; n++) {
        const int64_t row = n / HIDDEN;
        sum->leaving[begin + row][n % HIDDEN] = single->leaving[row][n % HIDDEN];
        sum->into_gradient[begin + row][n % HIDDEN] =
            share * single->into_gradient[row][n % HIDDEN];
    }
}

/* Every document is run as a sequence of its own. To be freed, as its gradients. */
static struct expected *expected_make(const struct pack *pack)
{
    struct expected *sum = calloc(1, sizeof *sum);

    require(sum, "no memory");
    sum->gradients = calloc((size_t)parameters(), sizeof *sum->gradients);
    require(sum->gradients, "no memory");
    for (int d = 0; d < pack->documents; d++) {
        struct pack alone;
        pack_document(pack, d, &alone);
        struct group *single = group_alone(&alone);
        expect_document(single, pack->offsets[d],
                        (double)pack_counted(&alone) / (double)pack_counted(pack), sum);
        mix_clear(single);
    }
    return sum;
}

/* The largest difference of a number in the pack's rows, relative to the largest; NaN if one is. */
static double rows_distance(double (*expected)[HIDDEN], double (*rows)[HIDDEN], int64_t count)
{
    double largest = 0;
    double apart = 0;

    for (int64_t n = 0; n < count * HIDDEN; n++) {
        const double wanted = expected[n / HIDDEN][n % HIDDEN];
        const double distance = fabs(rows[n / HIDDEN][n % HIDDEN] - wanted);
        largest = fmax(fabs(wanted), largest);
        apart = distance > apart || isnan(distance) ? distance : apart;
    }
    return apart / largest;
}

static void test_mix(const struct mix *mix, int ranks, const struct pack *pack,
                     struct expected *expected, bool recompute)
{
    struct group *group = mix_make(mix, ranks, pack, (uint64_t)ranks);
    char name[96];

    group->recompute = recompute;
    mix_name(mix, group, name);
    group_run(group);
    group_check(group, name, expected->loss, expected->gradients);
    check(
        rows_distance(expected->leaving, group->leaving, pack->rows) < 1e-10 &&
            rows_distance(expected->into_gradient, group->into_gradient, pack->rows) < 1e-10,
        "%s: rows that leave the layers, and gradients that reach their input, as those of documents alone",
        name);
    mix_clear(group);
}

static void test_documents(const int64_t *lengths, int documents)
{
    struct model *model = model_make();
    struct pack pack;

    pack_make(&pack, lengths, documents);
    struct expected *expected = expected_make(&pack);
    const double loss = oracle_loss(model_params(model), &pack);
    check(fabs(expected->loss - loss) < 1e-12 * loss,
          "S=%d D=%d: documents alone have the loss of the token-by-token model", (int)pack.rows,
          documents);
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
        for (int i = 0; i < MIXES; i++) {
            test_mix(&mixes[i], ranks, &pack, expected, false);
            test_mix(&mixes[i], ranks, &pack, expected, true);
        }
    }
    free(expected->gradients);
    free(expected);
    model_destroy(model);
}

/* ---- Borders ---- */

/* Whether rows [begin, end) of two tables have the same bits. */
static bool rows_equal(double (*a)[HIDDEN], double (*b)[HIDDEN], int64_t begin, int64_t end)
{
    return memcmp(a[begin], b[begin], (size_t)(end - begin) * sizeof *a) == 0;
}

/* The other documents are as before, in what leaves the layers and in the gradient of what enters
 * them; this one is not. */
static bool only_changed(struct group *before, struct group *after, int document)
{
    const struct pack *pack = before->pack;
    bool good = true;

    for (int d = 0; d < pack->documents; d++) {
        const int64_t begin = pack->offsets[d];
        const int64_t end = pack->offsets[d + 1];
        const bool out = rows_equal(before->leaving, after->leaving, begin, end);
        const bool in = rows_equal(before->into_gradient, after->into_gradient, begin, end);
        good = good && (d == document ? !out : out && in);
    }
    return good;
}

static void test_borders(const struct mix *mix, int ranks)
{
    struct pack pack, changed;
    char name[96];
    bool good = true;

    pack_make(&pack, short_lengths, 6);
    struct group *before = mix_make(mix, ranks, &pack, 3);
    mix_name(mix, before, name);
    group_run(before);
    for (int d = 0; d < pack.documents; d++) {
        const int64_t middle = (pack.offsets[d] + pack.offsets[d + 1]) / 2;
        changed = pack;
        changed.tokens[middle] = (changed.tokens[middle] + 1) % VOCAB;
        struct group *after = mix_make(mix, ranks, &changed, 3);
        group_run(after);
        good = good && only_changed(before, after, d);
        mix_clear(after);
    }
    mix_clear(before);
    check(good, "%s: a token in one document changes no bit of another", name);
}

/* ---- Padding ---- */

/* Zeros of either sign are alike. */
static bool same_numbers(const double *a, const double *b, int64_t count)
{
    bool same = true;

    for (int64_t i = 0; i < count; i++) {
        same = same && a[i] == b[i];
    }
    return same;
}

static void test_padding(const struct mix *mix, int ranks, double garbage)
{
    struct pack pack;
    char name[96];

    pack_make(&pack, short_lengths, 6);
    struct group *clean = mix_make(mix, ranks, &pack, 4);
    struct group *dirty = mix_make(mix, ranks, &pack, 4);
    dirty->garbage = garbage;
    mix_name(mix, clean, name);
    require(layout_all_rows(clean->other) > pack.rows, "there is no padding");
    group_run(clean);
    group_run(dirty);
    check(clean->loss[0] == dirty->loss[0] &&
              same_numbers(clean->gradients[0], dirty->gradients[0], parameters()),
          "%s: padding of %.0e changes nothing", name, garbage);
    mix_clear(clean);
    mix_clear(dirty);
}

/* ---- Recomputation ---- */

static bool same_bits(const double *a, const double *b, int64_t count)
{
    return memcmp(a, b, real_bytes(count)) == 0;
}

static void test_recompute(const struct mix *mix, int ranks, const struct pack *pack)
{
    struct group *kept = mix_make(mix, ranks, pack, 5);
    struct group *again = mix_make(mix, ranks, pack, 5);
    const int64_t count = parameters();
    char name[96];
    bool same = true;

    kept->updates = again->updates = true;
    again->recompute = true;
    mix_name(mix, again, name);
    group_run(kept);
    group_run(again);
    for (int r = 0; r < ranks; r++) {
        same = same && kept->loss[r] == again->loss[r] &&
               same_bits(kept->gradients[r], again->gradients[r], count) &&
               same_bits(kept->values[r], again->values[r], count);
    }
    check(same && same_bits(kept->later, again->later, UPDATES) &&
              kept->later[UPDATES - 1] != kept->later[0],
          "%s: losses, gradients and parameters to the bit", name);
    mix_clear(kept);
    mix_clear(again);
}

static void test_recomputes(void)
{
    struct pack dense, packed;

    pack_dense(&dense, 72);
    pack_make(&packed, long_lengths, 8);
    for (int i = 0; i < ARRANGED; i++) {
        for (int ranks = i == 0 ? 1 : 2; ranks <= (i == 0 ? 1 : MOST_RANKS); ranks++) {
            test_recompute(&arrangements[i], ranks, &dense);
            test_recompute(&arrangements[i], ranks, &packed);
        }
    }
    test_recompute(&(struct mix){STREWN, ZIGZAG, RANDOM, true}, 3, &packed);
}

int main(void)
{
    openblas_set_num_threads(1);
    test_documents(long_lengths, 8);
    test_documents(short_lengths, 6);
    test_documents(one_length, 1);
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
        for (int i = 0; i < MIXES; i++) {
            test_borders(&mixes[i], ranks);
        }
        test_padding(&(struct mix){ZIGZAG, ZIGZAG, ZIGZAG, false}, ranks, 1e100);
        test_padding(&(struct mix){CONTIGUOUS, ZIGZAG, CONTIGUOUS, false}, ranks, 1e6);
        test_padding(&(struct mix){STREWN, STREWN, STREWN, true}, ranks, 1e100);
    }
    test_recomputes();
    return check_end();
}
