/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recomputation is there to save memory: what a step takes grows with the layers only by the streams
 * between them, not by what each layer computes. One rank; memory is what arenas allocate, which they
 * do in blocks of a few MiB and keep.
 */
#include <cblas.h>
#include <stdlib.h>

#include "model.h"
#include "trainer/blocks.h"
#include "trainer/check.h"

enum { ROWS = 1024, MOST_LAYERS = 12 };

static int stay(void *self, int layer, int backward, real *in, real *out, real **result)
{
    (void)self;
    (void)layer;
    (void)backward;
    (void)out;
    *result = in;
    return 0;
}

/* Bytes that one step of a model takes. */
static int64_t step_bytes(const char *pattern, bool recompute)
{
    static int64_t positions[ROWS];
    static int32_t tokens[ROWS], labels[ROWS];
    const struct part part = {.length = ROWS};
    const struct shard shard = {.ranks = 1,
                                .rows = ROWS,
                                .sequence = ROWS,
                                .positions = positions,
                                .parts = 1,
                                .chain = &part};
    const struct shard *layers[MOST_LAYERS];
    const struct step_input input = {.layers = layers,
                                     .boundary = &shard,
                                     .tokens = tokens,
                                     .labels = labels,
                                     .recompute = recompute};
    const struct converter converter = {NULL, stay, stay};
    struct model_config config = model_defaults();
    const int64_t before = blocks_bytes();
    struct comm *comm = comm_create(1, 60);
    real loss;

    for (int i = 0; i < ROWS; i++) {
        positions[i] = i;
        tokens[i] = labels[i] = i % config.vocab;
    }
    for (int i = 0; i < MOST_LAYERS; i++) {
        layers[i] = &shard;
    }
    config.pattern = pattern;
    struct model *model = model_create(&config, 1);
    require(model && comm, "no memory");
    require(model_forward_backward(model, &input, comm, &converter, &loss) == 0, comm_error(comm));
    require(loss > 0 && loss < 100, "the loss is wrong");
    model_destroy(model);
    comm_destroy(comm);
    return blocks_bytes() - before;
}

/* Eight layers more cost the streams that enter them, and what rounding to blocks adds. */
static void test_kind(const char *few, const char *many)
{
    const int64_t stream = (int64_t)real_bytes(ROWS * model_defaults().hidden);
    const int64_t block = 1 << 22;
    const int64_t kept = step_bytes(many, false) - step_bytes(few, false);
    const int64_t lean = step_bytes(many, true) - step_bytes(few, true);

    check(lean <= 8 * stream + 2 * block, "%s: eight layers more take %lld bytes when recomputed",
          many, (long long)lean);
    check(kept >= 2 * lean, "%s: and %lld when everything is kept", many, (long long)kept);
}

int main(void)
{
    openblas_set_num_threads(1);
    test_kind("MMMM", "MMMMMMMMMMMM");
    test_kind("****", "************");
    test_kind("----", "------------");
    return check_end();
}
