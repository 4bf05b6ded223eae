/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trainer through the plugin: every arrangement of layouts agrees with one rank, step by step,
 * and moves as many bytes as the layouts say. Bytes are counted here by hand, from the model's sizes
 * and the borders between parts; see the formulas below. Plain TAP.
 */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"
#include "text.h"
#include "train.h"
#include "trainer/distance.h"

enum { STEPS = 4, SEQUENCE = 192 };

static const char pattern[] = "M-M*-M-M*-";
enum { LINEAR_LAYERS = 4, ATTENTION_LAYERS = 2, CONVERSIONS = 4 };

static int checks;
static int failures;

static void check(int good, const char *name)
{
    checks++;
    failures += !good;
    printf("%s %d - %s\n", good ? "ok" : "not ok", checks, name);
}

static struct plugin plugin;
static struct text text;

/* Trains one arrangement; ends the test if that fails. */
static struct run_result train(size_t arrangement, int32_t ranks, bool recompute)
{
    struct settings settings = {.pattern = pattern,
                                .cp = ranks,
                                .steps = STEPS,
                                .sequence = SEQUENCE,
                                .seed = 7,
                                .recompute = recompute};
    const struct run_args args = {.plugin = &plugin,
                                  .settings = &settings,
                                  .text = &text,
                                  .arrangement = arrangement_at(arrangement)};
    struct run_result result;
    char message[512];

    if (train_run(&args, &result, message) != 0) {
        printf("Bail out! %s\n", message);
        exit(1);
    }
    return result;
}

/* Borders between parts: P slices have P - 1; 2P chunks have 2P - 1, but one lies inside a rank. */
static int64_t borders(const char *linear, int32_t ranks)
{
    return linear[0] == 'z' ? 2 * ranks - 2 : ranks - 1;
}

/* One state per head and border, forward and its gradient backward. */
static int64_t state_bytes(const struct run_result *run)
{
    const struct model_config c = model_defaults();
    const int64_t state = (int64_t)c.heads * c.head_dim * c.head_dim * (int64_t)sizeof(real);

    return 2 * LINEAR_LAYERS * borders(run->arrangement->linear, run->ranks) * state;
}

/* conv_width - 1 rows of queries, keys and values per border, forward and backward. */
static int64_t halo_bytes(const struct run_result *run)
{
    const struct model_config c = model_defaults();
    const int64_t row = 3 * (int64_t)c.heads * c.head_dim * (int64_t)sizeof(real);

    return 2 * LINEAR_LAYERS * borders(run->arrangement->linear, run->ranks) * (c.conv_width - 1) *
           row;
}

/* Every rank's keys and values go to all others, and their gradients come back. */
static int64_t attention_bytes(const struct run_result *run)
{
    const struct model_config c = model_defaults();
    const int64_t row = 2 * (int64_t)c.heads * c.head_dim * (int64_t)sizeof(real);

    return 2 * ATTENTION_LAYERS * (run->ranks - 1) * SEQUENCE * row;
}

/* Who holds a token, by the rules in words: slices, mirrored slices, two chunks of 2P. */
static int32_t owner(const char *layout, int64_t token, int32_t ranks)
{
    const int64_t slice = token / (SEQUENCE / ranks);
    const int64_t chunk = token / (SEQUENCE / (2 * ranks));

    switch (layout[0]) {
    case 'c':
        return (int32_t)slice;
    case 'm':
        for (int32_t rank = 0; rank < ranks; rank++) {
            if (slice == (rank % 2 == 0 ? rank / 2 : ranks - 1 - (rank - 1) / 2)) {
                return rank;
            }
        }
        return -1;
    default:
        return (int32_t)(chunk < ranks ? chunk : 2 * ranks - 1 - chunk);
    }
}

static int64_t conversion_bytes(const struct run_result *run)
{
    int64_t moved = 0;

    for (int64_t token = 0; token < SEQUENCE; token++) {
        moved += owner(run->arrangement->linear, token, run->ranks) !=
                 owner(run->arrangement->attention, token, run->ranks);
    }
    return 2 * CONVERSIONS * moved * model_defaults().hidden * (int64_t)sizeof(real);
}

static int64_t chain_parts(const struct run_result *run)
{
    return borders(run->arrangement->linear, run->ranks) + 1;
}

static void check_run(const struct run_result *run, const struct run_result *single)
{
    char name[128];
    const char *const title = run->arrangement->name;

    (void)snprintf(name, sizeof(name), "%s on %d ranks: every loss is that of one rank", title,
                   run->ranks);
    check(loss_distance(run, single) <= 1e-3, name);
    (void)snprintf(name, sizeof(name), "%s on %d ranks: so are the first gradients", title,
                   run->ranks);
    check(gradient_distance(run, single) <= 1e-5, name);
    (void)snprintf(name, sizeof(name), "%s on %d ranks: length of the chain", title, run->ranks);
    check(run->linear.count == chain_parts(run), name);
    (void)snprintf(name, sizeof(name), "%s on %d ranks: bytes of states and halos", title,
                   run->ranks);
    check(run->linear_state_bytes == state_bytes(run) && run->halo_bytes == halo_bytes(run), name);
    (void)snprintf(name, sizeof(name), "%s on %d ranks: bytes of keys and values", title,
                   run->ranks);
    check(run->attention_bytes == attention_bytes(run), name);
    (void)snprintf(name, sizeof(name), "%s on %d ranks: bytes of conversions", title, run->ranks);
    check(run->conversion_bytes == conversion_bytes(run), name);
    (void)snprintf(name, sizeof(name), "%s on %d ranks: attention is balanced", title, run->ranks);
    check(fabs(run->attention_max_over_mean - 1) < 1e-12, name);
}

/* Forward twice and backward once, instead of both once. */
static bool bytes_again(int64_t again, int64_t once)
{
    return 2 * again == 3 * once;
}

/* The same run once more, with every layer's forward repeated. */
static void check_recompute(const struct run_result *run, size_t arrangement)
{
    struct run_result again = train(arrangement, run->ranks, true);
    char name[128];

    (void)snprintf(name, sizeof(name), "%s: recomputation changes no bit of losses and gradients",
                   run->arrangement->name);
    check(memcmp(again.loss, run->loss, STEPS * sizeof(*run->loss)) == 0 &&
              memcmp(again.grad_norm, run->grad_norm, STEPS * sizeof(*run->grad_norm)) == 0 &&
              memcmp(again.gradient, run->gradient, real_bytes(run->parameters)) == 0,
          name);
    (void)snprintf(name, sizeof(name), "%s: and sends what the forward sends once more",
                   run->arrangement->name);
    check(bytes_again(again.linear_state_bytes, run->linear_state_bytes) &&
              bytes_again(again.halo_bytes, run->halo_bytes) &&
              bytes_again(again.attention_bytes, run->attention_bytes) &&
              bytes_again(again.conversion_bytes, run->conversion_bytes),
          name);
    run_result_destroy(&again);
}

int main(void)
{
    static const int32_t ranks[] = {2, 3, 4};
    struct run_result single;
    char message[512];
    char *source = getenv("top_srcdir");
    char path[4096];
    char *paths[] = {path};

    openblas_set_num_threads(1); /* ranks are the threads */
    (void)snprintf(path, sizeof(path), "%s/CONTRIBUTING.md", source != NULL ? source : ".");
    if (plugin_load(&plugin, getenv("TEST_PLUGIN"), message) != 0 ||
        text_read(&text, paths, 1, SEQUENCE, message) != 0) {
        printf("Bail out! %s\n", message);
        return 1;
    }
    single = train(0, 1, false);
    check(single.linear_state_bytes == 0 && single.halo_bytes == 0 && single.attention_bytes == 0 &&
              single.conversion_bytes == 0,
          "one rank sends nothing");
    check_recompute(&single, 0);
    for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
        for (size_t arrangement = 1; arrangement < ARRANGEMENTS; arrangement++) {
            struct run_result run = train(arrangement, ranks[i], false);

            check_run(&run, &single);
            if (ranks[i] == 4) {
                check_recompute(&run, arrangement);
            }
            run_result_destroy(&run);
        }
    }
    printf("1..%d\n", checks);
    run_result_destroy(&single);
    text_destroy(&text);
    plugin_unload(&plugin);
    return failures == 0 ? 0 : 1;
}
