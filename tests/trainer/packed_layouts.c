/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs through the plugin: every arrangement of layouts agrees with one rank, step by step, holds
 * the rows that its layouts say in words, and moves as many bytes as follow from them. Rows are dealt
 * and bytes counted here, one by one.
 */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "train.h"
#include "trainer/check.h"
#include "trainer/distance.h"

enum { STEPS = 3, ROWS = 192, SEED = 7 };

/* Conversions enter and leave attention; the last is the way out, which is not taken again. */
static const char pattern[] = "M*-M*";
enum { LINEAR_LAYERS = 2, ATTENTION_LAYERS = 2, CONVERSIONS = 4, CONVERSIONS_AGAIN = 3 };

static struct plugin plugin;
static struct text text;

/* Documents of one row, shorter than the convolution, one after the other, and a long one. */
static int32_t lengths[] = {5, 1, 40, 3, 1, 1, 64, 2, 17, 30, 8, 100};

/* Where the documents of a test come from. */
struct source {
    const char *name;
    struct packs packs;
};

static const struct source sources[] = {
    {"drawn", {NULL, 0}},
    {"listed", {lengths, sizeof lengths / sizeof *lengths}},
};

enum { SOURCES = sizeof sources / sizeof *sources };

struct trial {
    const struct source *source;
    size_t arrangement;
    int32_t ranks;
    bool recompute;
};

/* Ends the program if that fails. */
static struct run_result train(const struct trial *trial)
{
    struct settings settings = {.pattern = pattern,
                                .cp = trial->ranks,
                                .steps = STEPS,
                                .sequence = ROWS,
                                .seed = SEED,
                                .packed = true,
                                .recompute = trial->recompute};
    const struct run_args args = {.plugin = &plugin,
                                  .settings = &settings,
                                  .text = &text,
                                  .packs = &trial->source->packs,
                                  .arrangement = arrangement_at(trial->arrangement)};
    struct run_result result;
    char message[512];

    if (train_run(&args, &result, message)) {
        require(false, message);
    }
    return result;
}

/* ---- The oracle: who holds which row ---- */

/* One layout of one pack, row by row. */
struct deal {
    int32_t ranks;
    int32_t holder[ROWS];
    int64_t begin[ROWS]; /* where the row's document begins */
    int64_t all_rows;    /* of all ranks, padding included */
    int64_t documents;
};

static int32_t slice_holder(const char *layout, int64_t row, int32_t ranks)
{
    const int64_t slice = row / (ROWS / ranks);

    if (strcmp(layout, "contiguous") == 0) {
        return (int32_t)slice;
    }
    for (int32_t rank = 0; rank < ranks; rank++) {
        if (slice == (rank % 2 == 0 ? rank / 2 : ranks - 1 - (rank - 1) / 2)) {
            return rank;
        }
    }
    return -1;
}

/* Of 2P chunks of the padded document, rank r holds r and 2P - 1 - r. */
static int32_t chunk_holder(int64_t position, int64_t padded, int32_t ranks)
{
    const int64_t chunk = position / (padded / (2 * ranks));

    return (int32_t)(chunk < ranks ? chunk : 2 * ranks - 1 - chunk);
}

static void deal_document(const char *layout, int64_t begin, int64_t end, struct deal *deal)
{
    const bool zigzag = strcmp(layout, "zigzag") == 0 && deal->ranks > 1;
    const int64_t unit = zigzag ? 2 * deal->ranks : 1;
    const int64_t padded = (end - begin + unit - 1) / unit * unit;

    for (int64_t row = begin; row < end; row++) {
        deal->begin[row] = begin;
        deal->holder[row] =
            zigzag ? chunk_holder(row - begin, padded, deal->ranks)
                   : slice_holder(deal->ranks > 1 ? layout : "contiguous", row, deal->ranks);
    }
    deal->all_rows += padded;
}

static void deal_make(const char *layout, int32_t ranks, const struct sample *sample,
                      struct deal *deal)
{
    *deal = (struct deal){.ranks = ranks, .documents = (int64_t)sample->documents};
    for (size_t d = 0; d < sample->documents; d++) {
        deal_document(layout, sample->offsets[d], sample->offsets[d + 1], deal);
    }
}

/* Whether row t begins a part: its document begins, or the row before is another rank's. */
static bool begins_part(const struct deal *deal, int64_t t)
{
    return deal->begin[t] == t || deal->holder[t] != deal->holder[t - 1];
}

/* ---- The oracle: bytes ---- */

/* Counts of one step. */
struct counts {
    int64_t borders;   /* parts that go on with a document of another rank */
    int64_t halo_rows; /* rows of other ranks that parts need for their convolution */
    int64_t all_rows;
    int64_t moved; /* rows that change their rank between the layouts */
    int64_t documents;
    int64_t pairs[4]; /* attention work of a rank */
};

static int64_t part_halo_rows(const struct deal *deal, int64_t t)
{
    const int64_t reach = model_defaults().conv_width - 1;
    int64_t rows = 0;

    for (int64_t s = t - 1; s >= deal->begin[t] && s >= t - reach; s--) {
        rows += deal->holder[s] != deal->holder[t];
    }
    return rows;
}

static struct counts count(const struct deal *linear, const struct deal *attention)
{
    struct counts counts = {.all_rows = attention->all_rows, .documents = attention->documents};

    for (int64_t t = 0; t < ROWS; t++) {
        if (begins_part(linear, t)) {
            counts.borders += linear->begin[t] < t;
            counts.halo_rows += part_halo_rows(linear, t);
        }
        counts.moved += linear->holder[t] != attention->holder[t];
        counts.pairs[attention->holder[t]] += t - attention->begin[t] + 1;
    }
    return counts;
}

/* Means over the steps. */
struct expected {
    int64_t states, halos, attention, conversions;
    double documents, pairs[4], max_over_mean;
};

static void add_pairs(const struct counts *counts, int32_t ranks, struct expected *expected)
{
    int64_t most = 0;
    int64_t sum = 0;

    for (int32_t r = 0; r < ranks; r++) {
        most = counts->pairs[r] > most ? counts->pairs[r] : most;
        sum += counts->pairs[r];
        expected->pairs[r] += (double)counts->pairs[r] / STEPS;
    }
    expected->max_over_mean += (double)(most * ranks) / (double)sum / STEPS;
}

/* Forward and backward, and with recomputation forward once more. */
static void add_step(const struct counts *counts, const struct run_result *run, bool recompute,
                     struct expected *expected)
{
    const struct model_config c = model_defaults();
    const int64_t times = (recompute ? 3 : 2) * (int64_t)sizeof(real);
    const int64_t conversions = 2 * CONVERSIONS + (recompute ? CONVERSIONS_AGAIN : 0);
    const int64_t inner = (int64_t)c.heads * c.head_dim;

    expected->states += times * LINEAR_LAYERS * counts->borders * inner * c.head_dim;
    expected->halos += times * LINEAR_LAYERS * counts->halo_rows * 3 * inner;
    expected->attention +=
        times * ATTENTION_LAYERS * (run->ranks - 1) * counts->all_rows * 2 * inner;
    expected->conversions += conversions * counts->moved * c.hidden * (int64_t)sizeof(real);
    expected->documents += (double)counts->documents / STEPS;
    add_pairs(counts, run->ranks, expected);
}

/* Deals the packs of all steps; leaves the first step's layouts. */
static struct expected expect(const struct trial *trial, const struct run_result *run,
                              struct deal *linear, struct deal *attention)
{
    struct expected expected = {0};
    struct sample sample;

    require(sample_create(&sample, ROWS) == 0, "no memory");
    for (int64_t step = STEPS - 1; step >= 0; step--) {
        sample_draw_pack(&sample, &text, &trial->source->packs, SEED, step);
        deal_make(run->arrangement->linear, run->ranks, &sample, linear);
        deal_make(run->arrangement->attention, run->ranks, &sample, attention);
        const struct counts counts = count(linear, attention);
        add_step(&counts, run, trial->recompute, &expected);
    }
    expected.states /= STEPS;
    expected.halos /= STEPS;
    expected.attention /= STEPS;
    expected.conversions /= STEPS;
    sample_destroy(&sample);
    return expected;
}

/* ---- Checks ---- */

/* Whether the strip's parts are those of the deal, in order. */
static bool strip_agrees(const struct strip *strip, const struct deal *deal)
{
    int64_t p = -1;
    bool good = true;

    for (int64_t t = 0; t < ROWS && good; t++) {
        p += begins_part(deal, t);
        const struct part *part = &strip->parts[p];
        good = p < strip->count && part->rank == deal->holder[t] &&
               part->position - part->start == -deal->begin[t] && part->start <= t &&
               t < part->start + part->length && (!begins_part(deal, t) || part->start == t);
    }
    return good && p + 1 == strip->count;
}

static bool balance_agrees(const struct run_result *run, const struct expected *expected)
{
    bool good = fabs(run->attention_max_over_mean - expected->max_over_mean) < 1e-9 &&
                fabs(run->documents - expected->documents) < 1e-9;

    for (int32_t r = 0; r < run->ranks; r++) {
        good = good && fabs(run->attention_pairs[r] - expected->pairs[r]) < 1e-6;
    }
    return good;
}

static void check_counts(const struct trial *trial, const struct run_result *run, const char *name)
{
    static struct deal linear, attention;
    const struct expected expected = expect(trial, run, &linear, &attention);

    check(strip_agrees(&run->linear, &linear) && strip_agrees(&run->attention, &attention),
          "%s: rows are where the layouts say", name);
    check(run->linear_state_bytes == expected.states, "%s: %lld bytes of states, not %lld", name,
          (long long)run->linear_state_bytes, (long long)expected.states);
    check(run->halo_bytes == expected.halos, "%s: %lld bytes of halos, not %lld", name,
          (long long)run->halo_bytes, (long long)expected.halos);
    check(run->attention_bytes == expected.attention, "%s: %lld bytes of keys and values, not %lld",
          name, (long long)run->attention_bytes, (long long)expected.attention);
    check(run->conversion_bytes == expected.conversions, "%s: %lld bytes of conversions, not %lld",
          name, (long long)run->conversion_bytes, (long long)expected.conversions);
    check(balance_agrees(run, &expected), "%s: attention pairs and documents", name);
}

static void name_trial(const struct trial *trial, char name[96])
{
    (void)snprintf(name, 96, "%s on %d ranks, %s documents%s",
                   arrangement_at(trial->arrangement)->name, trial->ranks, trial->source->name,
                   trial->recompute ? ", recomputed" : "");
}

/* Recomputation changes no bit. */
static void test_recompute(const struct trial *trial, const struct run_result *kept)
{
    struct trial lean = *trial;
    char name[96];

    lean.recompute = true;
    name_trial(&lean, name);
    struct run_result run = train(&lean);
    check(memcmp(run.loss, kept->loss, STEPS * sizeof *run.loss) == 0 &&
              memcmp(run.grad_norm, kept->grad_norm, STEPS * sizeof *run.grad_norm) == 0 &&
              memcmp(run.gradient, kept->gradient, real_bytes(run.parameters)) == 0,
          "%s: losses, norms and gradients are the same bits", name);
    check_counts(&lean, &run, name);
    run_result_destroy(&run);
}

static void test_trial(const struct trial *trial, const struct run_result *single)
{
    struct run_result run = train(trial);
    char name[96];

    name_trial(trial, name);
    check(loss_distance(&run, single) <= 1e-3, "%s: every loss is that of one rank", name);
    check(gradient_distance(&run, single) <= 1e-5, "%s: so are the first gradients", name);
    check_counts(trial, &run, name);
    if (trial->ranks == 3 && trial->source->packs.count > 0) {
        test_recompute(trial, &run);
    }
    run_result_destroy(&run);
}

static void test_source(const struct source *source)
{
    struct trial trial = {.source = source, .ranks = 1};
    struct run_result single = train(&trial);
    char name[96];

    name_trial(&trial, name);
    check_counts(&trial, &single, name);
    if (source->packs.count == 0) {
        test_recompute(&trial, &single);
    }
    for (trial.ranks = 2; trial.ranks <= 4; trial.ranks++) {
        for (trial.arrangement = 1; trial.arrangement < ARRANGEMENTS; trial.arrangement++) {
            test_trial(&trial, &single);
        }
    }
    run_result_destroy(&single);
}

int main(void)
{
    char *folder = getenv("top_srcdir");
    char path[4096];
    char *paths[] = {path};
    char message[512];

    openblas_set_num_threads(1); /* ranks are the threads */
    (void)snprintf(path, sizeof path, "%s/CONTRIBUTING.md", folder ? folder : ".");
    if (plugin_load(&plugin, getenv("TEST_PLUGIN"), message) ||
        text_read(&text, paths, 1, ROWS, message)) {
        require(false, message);
    }
    for (int i = 0; i < SOURCES; i++) {
        test_source(&sources[i]);
    }
    text_destroy(&text);
    plugin_unload(&plugin);
    return check_end();
}
