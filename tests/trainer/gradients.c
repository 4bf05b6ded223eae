/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trainer's numerics against an oracle that goes token by token: the loss, finite differences of
 * it, and the same step spread over ranks in many layouts, whose loss and gradients must be those of
 * one rank. Built with TRAINER_DOUBLE.
 */
#include <cblas.h>

#include "trainer/by_token.h"
#include "trainer/check.h"
#include "trainer/group.h"

/* The oracle's derivative by one parameter: central differences of fourth order. */
static double derivative(struct params *params, int64_t i, const struct pack *pack)
{
    const double kept = params->values[i];
    const double step = 5e-5;
    const double factors[] = {1, -8, 8, -1};
    const double places[] = {-2, -1, 1, 2};
    double sum = 0;

    for (int n = 0; n < 4; n++) {
        params->values[i] = kept + places[n] * step;
        sum += factors[n] * oracle_loss(params, pack);
    }
    params->values[i] = kept;
    return sum / (12 * step);
}

/* The worst of some 24 sampled entries of a slice, in units of the tolerance. */
static double slice_error(struct params *params, const struct slice *slice, const double *gradients,
                          const struct pack *pack)
{
    const int64_t stride = slice->count > 24 ? slice->count / 24 : 1;
    double worst = 0;

    for (int64_t i = slice->offset; i < slice->offset + slice->count; i += stride) {
        const double apart =
            fabs(derivative(params, i, pack) - gradients[i]) / (1e-6 * fabs(gradients[i]) + 1e-9);
        worst = apart > worst || isnan(apart) ? apart : worst;
    }
    return worst;
}

static void test_single(const struct group *single)
{
    const struct pack *pack = single->pack;
    struct model *model = model_make();
    struct params *params = model_params(model);
    const double expected = oracle_loss(params, pack);
    const int rows = (int)pack->rows;

    check(fabs(single->loss[0] - expected) < 1e-12 * expected,
          "S=%d D=%d: the loss %.12g is that of the token-by-token model", rows, pack->documents,
          single->loss[0]);
    for (int64_t s = 0; s < params->slices_count; s++) {
        const struct slice *slice = &params->slices[s];
        const double worst = slice_error(params, slice, single->gradients[0], pack);
        check(worst < 1, "S=%d D=%d: finite differences agree with %s (%.3f of the tolerance)",
              rows, pack->documents, slice->name, worst);
    }
    model_destroy(model);
}

static void test_ranks(const struct group *single, int ranks, const struct mix *mix, uint64_t seed)
{
    struct group *group = mix_make(mix, ranks, single->pack, seed);
    char name[96];

    mix_name(mix, group, name);
    group_run(group);
    group_check(group, name, single->loss[0], single->gradients[0]);
    mix_clear(group);
}

static void test_layouts(const struct group *single)
{
    const struct mix mixes[] = {
        {CONTIGUOUS, CONTIGUOUS, CONTIGUOUS, false},
        {MIRROR, MIRROR, MIRROR, false},
        {ZIGZAG, ZIGZAG, ZIGZAG, false},
        {CONTIGUOUS, ZIGZAG, ZIGZAG, false},
        {CONTIGUOUS, ZIGZAG, CONTIGUOUS, true},
        {MIRROR, ZIGZAG, CONTIGUOUS, true},
        {LUMPED, ZIGZAG, LUMPED, true},
        {RANDOM, LUMPED, CONTIGUOUS, false},
        {RANDOM, RANDOM, RANDOM, false},
        {RANDOM, ZIGZAG, CONTIGUOUS, false},
    };

    for (int ranks = 2; ranks <= MOST_RANKS; ranks++) {
        for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++) {
            test_ranks(single, ranks, &mixes[i], (uint64_t)ranks);
        }
        for (uint64_t seed = 10; seed < 13; seed++) {
            test_ranks(single, ranks, &(struct mix){RANDOM, RANDOM, RANDOM, false}, seed);
        }
    }
}

static void test_dense(int64_t rows, bool differences, bool layouts)
{
    struct pack pack;

    pack_dense(&pack, rows);
    struct group *single = group_alone(&pack);
    if (differences) {
        test_single(single);
    }
    if (layouts) {
        test_layouts(single);
    }
    mix_clear(single);
}

/* Documents shorter than the convolution, and one longer. */
static void test_packed(void)
{
    const int64_t lengths[] = {5, 1, 9, 2, 7};
    struct pack pack;

    pack_make(&pack, lengths, 5);
    struct group *single = group_alone(&pack);
    test_single(single);
    mix_clear(single);
}

int main(void)
{
    openblas_set_num_threads(1);
    test_dense(72, true, false);
    test_dense(24, true, true);
    test_dense(192, false, true);
    test_packed();
    return check_end();
}
