/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks move every row where the layouts say and touch nothing else: forward and backward over
 * whole patterns, for every combination of layouts, P in 1 ... 8 and 16, and tensors of many forms,
 * each byte against a token-by-token oracle.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "threads/block.h"
#include "threads/host.h"

enum { LAYOUT_COUNT = 3, SALT_FORWARD = 17, SALT_BACKWARD = 91 };

static const char *const layout_names[LAYOUT_COUNT] = {"contiguous", "mirror", "zigzag"};

/* One configuration and batch length. Layouts are indices of layout_names. */
struct setting {
    int32_t ranks;
    int32_t linear;
    int32_t attention;
    int32_t boundary;
    const char *pattern;
    int64_t tokens;
    int32_t first_form; /* forms to run: count of them, from here on, in a circle */
    int32_t form_count;
    struct oracle oracles[LAYOUT_COUNT];
};

/* One form through the whole chunk, on one rank. */
struct pass {
    const struct setting *setting;
    struct seat *seat;
    struct block blocks[2];
    struct block *now; /* where the rows are */
    uint32_t salt;
};

static int32_t layout_of(const struct setting *setting, int32_t layer)
{
    return setting->pattern[layer] == '*' ? setting->attention : setting->linear;
}

static int32_t layer_count(const struct setting *setting)
{
    return (int32_t)strlen(setting->pattern);
}

/* Layouts before and after a hook. */
static void layouts_of(const struct setting *setting, const struct hook_step *step, int32_t *before,
                       int32_t *after)
{
    const bool first = step->layer == 0;
    const bool last = step->layer == layer_count(setting) - 1;
    const int32_t here = layout_of(setting, step->layer);
    const int32_t outside = setting->boundary;

    if (step->hook == PREPARE) {
        *before = first ? outside : layout_of(setting, step->layer - 1);
        *after = here;
    } else {
        *before = here;
        *after = last ? outside : here;
    }
    if (step->direction == CPLAYOUT_BACKWARD) {
        const int32_t there = *before;

        *before = *after;
        *after = there;
    }
}

static struct content content_of(const struct pass *pass, int32_t layout)
{
    return (struct content){&pass->setting->oracles[layout], pass->seat->rank, pass->salt};
}

/* The rows are in the other block now, and their source is as it was. */
static bool check_converted(struct pass *pass, int32_t before, int32_t after,
                            const struct cplayout_tensor *out)
{
    struct block *const to = &pass->blocks[pass->now == pass->blocks];
    const struct content was = content_of(pass, before);
    const struct content is = content_of(pass, after);
    const bool same = memcmp(out, &to->tensor, sizeof(*out)) == 0;
    bool good = CHECK(same, "a conversion is due, but 'out' was changed");

    good = good && block_holds(to, &is, "output") && block_holds(pass->now, &was, "input");
    pass->now = to;
    return good;
}

/* Nothing happened but that `out` has data and offset of the input. */
static bool check_passed_on(struct pass *pass, int32_t layout, const struct cplayout_tensor *out)
{
    struct block *const other = &pass->blocks[pass->now == pass->blocks];
    const struct content was = content_of(pass, layout);
    struct cplayout_tensor expected = other->tensor;

    expected.data = pass->now->tensor.data;
    expected.byte_offset = pass->now->tensor.byte_offset;
    return CHECK(memcmp(out, &expected, sizeof(*out)) == 0,
                 "nothing is due, but 'out' is not the input under its own shape") &&
           block_holds(pass->now, &was, "input where nothing is due") &&
           block_is_clear(other, "output where nothing is due");
}

/* Rows that this rank sends to all others, or receives from them. */
static uint64_t crossing_rows(const struct setting *setting, int32_t before, int32_t after,
                              int32_t rank, bool sent)
{
    int64_t rows = 0;

    for (int32_t peer = 0; peer < setting->ranks; peer++) {
        if (peer != rank) {
            rows += oracle_transfer(&setting->oracles[before], &setting->oracles[after],
                                    sent ? rank : peer, sent ? peer : rank, NULL);
        }
    }
    return (uint64_t)rows;
}

/* What the plugin tells before the call is what the oracle says. */
static bool check_told(const struct pass *pass, const struct hook_step *step, int32_t before,
                       int32_t after)
{
    const struct setting *const setting = pass->setting;
    const struct seat *const seat = pass->seat;
    const bool due = !oracle_equal(&setting->oracles[before], &setting->oracles[after]);
    const struct cplayout_call call = seat_call(seat, step, seat->batch, NULL, 0);
    const uint64_t rows = (uint64_t)pass->now->rows;
    struct cplayout_conversion told = {.size = sizeof(told)};
    struct cplayout_error error = {.size = sizeof(error)};

    return CHECK(host_core()->conversion(seat->context,
                                         step->hook == PREPARE ? CPLAYOUT_HOOK_PREPARE
                                                               : CPLAYOUT_HOOK_FINALIZE,
                                         &call, &told, &error) == CPLAYOUT_OK,
                 "rank %d, layer %d: %s", seat->rank, step->layer, error.message) &&
           CHECK(told.due == due && (told.input_identity == told.output_identity) == !due,
                 "layer %d: due is %d", step->layer, told.due) &&
           CHECK(told.input_rows == rows && told.output_rows == rows, "layer %d: rows",
                 step->layer) &&
           CHECK(told.sent_rows == crossing_rows(setting, before, after, seat->rank, true) &&
                     told.received_rows == crossing_rows(setting, before, after, seat->rank, false),
                 "layer %d: %" PRIu64 " rows sent, %" PRIu64 " received", step->layer,
                 told.sent_rows, told.received_rows);
}

static bool run_step(struct pass *pass, const struct hook_step *step)
{
    const struct setting *const setting = pass->setting;
    struct block *const other = &pass->blocks[pass->now == pass->blocks];
    struct cplayout_tensor out = other->tensor;
    int32_t before;
    int32_t after;

    layouts_of(setting, step, &before, &after);
    if (!check_told(pass, step, before, after)) {
        return false;
    }
    block_clear(other);
    (void)seat_hook(pass->seat, step, pass->seat->batch, &pass->now->tensor,
                    pass->now->form->row_axis, &out);
    if (!CHECK(pass->seat->status == CPLAYOUT_OK, "rank %d, %s, layer %d: %s", pass->seat->rank,
               pass->now->form->name, step->layer, pass->seat->error.message)) {
        return false;
    }
    if (oracle_equal(&setting->oracles[before], &setting->oracles[after])) {
        return check_passed_on(pass, before, &out);
    }
    return check_converted(pass, before, after, &out);
}

static bool run_forward(struct pass *pass)
{
    bool good = true;

    for (int32_t layer = 0; layer < layer_count(pass->setting) && good; layer++) {
        const struct hook_step prepare = {PREPARE, layer, CPLAYOUT_FORWARD};
        const struct hook_step finalize = {FINALIZE, layer, CPLAYOUT_FORWARD};

        good = run_step(pass, &prepare) && run_step(pass, &finalize);
    }
    return good;
}

static bool run_backward(struct pass *pass)
{
    bool good = true;

    for (int32_t layer = layer_count(pass->setting) - 1; layer >= 0 && good; layer--) {
        const struct hook_step finalize = {FINALIZE, layer, CPLAYOUT_BACKWARD};
        const struct hook_step prepare = {PREPARE, layer, CPLAYOUT_BACKWARD};

        good = run_step(pass, &finalize) && run_step(pass, &prepare);
    }
    return good;
}

static void begin(struct pass *pass, uint32_t salt)
{
    struct content content;

    pass->salt = salt;
    content = content_of(pass, pass->setting->boundary);
    block_fill(pass->now, &content);
}

/* Forward and backward with one form. Packings differ between input and output. */
static bool run_form(const struct setting *setting, struct seat *seat, int32_t form)
{
    static const enum packing packings[][2] = {
        {PACKING_PADDED, PACKING_COMPACT},
        {PACKING_COMPACT, PACKING_EXPLICIT},
        {PACKING_INTERLEAVED, PACKING_PADDED},
    };
    const enum packing *const chosen = packings[(form + setting->ranks) % 3];
    const int64_t rows = setting->tokens / setting->ranks;
    struct pass pass = {.setting = setting, .seat = seat};
    bool good;

    block_init(&pass.blocks[0], &forms[form], rows, chosen[0]);
    block_init(&pass.blocks[1], &forms[form], rows, chosen[1]);
    pass.now = pass.blocks;
    begin(&pass, SALT_FORWARD);
    good = run_forward(&pass);
    if (good) {
        begin(&pass, SALT_BACKWARD);
        good = run_backward(&pass);
    }
    block_fini(&pass.blocks[0]);
    block_fini(&pass.blocks[1]);
    return good;
}

static void run_setting(struct world *world, struct seat *seat)
{
    const struct setting *const setting = world->self;
    bool good = CHECK(seat_batch(seat, (uint64_t)setting->tokens, &seat->batch) == CPLAYOUT_OK,
                      "rank %d: batch: %s", seat->rank, seat->error.message);

    for (int32_t i = 0; i < setting->form_count && good; i++) {
        good = run_form(setting, seat, (setting->first_form + i) % FORM_COUNT);
    }
}

static void test_setting(struct setting *setting)
{
    const struct host_config config = {
        .ranks = setting->ranks,
        .linear = layout_names[setting->linear],
        .attention = layout_names[setting->attention],
        .boundary = layout_names[setting->boundary],
        .pattern = setting->pattern,
        .timeout = "10",
    };
    struct world world;

    for (int32_t i = 0; i < LAYOUT_COUNT; i++) {
        oracle_init(&setting->oracles[i], layout_names[i], setting->tokens, setting->ranks, 1);
    }
    world_open(&world, &config);
    world.self = setting;
    world_run(&world, run_setting);
    world_close(&world);
    for (int32_t i = 0; i < LAYOUT_COUNT; i++) {
        oracle_fini(&setting->oracles[i]);
    }
}

/* All layouts for all three roles. A few forms each time: their circle runs through all of them. */
static void test_combinations(int32_t ranks, const char *pattern, int32_t form_count)
{
    enum { COMBINATIONS = LAYOUT_COUNT * LAYOUT_COUNT * LAYOUT_COUNT };

    tap_test("%s over %d ranks, all combinations of layouts", pattern, ranks);
    for (int32_t i = 0; i < COMBINATIONS && !tap_failed(); i++) {
        struct setting setting = {
            .ranks = ranks,
            .linear = i % 3,
            .attention = i / 3 % 3,
            .boundary = i / 9,
            .pattern = pattern,
            .tokens = (int64_t)2 * ranks * (1 + i % 3),
            .first_form = i * form_count + ranks,
            .form_count = form_count,
        };

        test_setting(&setting);
    }
}

static void test_patterns(int32_t ranks)
{
    test_combinations(ranks, "M-M*-M-M*-", 2);
    test_combinations(ranks, "*M*", FORM_COUNT);
    test_combinations(ranks, "M", 3);
    test_combinations(ranks, "*-*", 2);
}

int main(void)
{
    for (int32_t ranks = 1; ranks <= 8; ranks++) {
        test_patterns(ranks);
    }
    test_patterns(16);
    return tap_end();
}
