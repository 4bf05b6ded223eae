/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strict schedule is compared with a walk through the layers that carries the current layout
 * along, and backward with the same walk reversed.
 */
#include <criterion/criterion.h>

#include "plan/pattern.h"
#include "plan/schedule.h"
#include "unit/support.h"

struct plan {
    struct cpl_arena arena;
    struct cpl_schedule schedule;
};

static void plan_init(struct plan *plan, const char *pattern,
                      const struct cpl_schedule_layouts *layouts)
{
    const struct cpl_allocator allocator = cpl_allocator_default();
    struct cpl_error error = {0};
    char copy[64];

    /* The schedule keeps nothing of the caller's string. */
    (void)snprintf(copy, sizeof(copy), "%s", pattern);
    cpl_arena_init(&plan->arena, &allocator);
    cr_assert_eq(cpl_schedule_build(&plan->schedule, copy, layouts, &plan->arena, &error), CPL_OK,
                 "%s", error.message);
    memset(copy, 'x', sizeof(copy));
}

static void plan_fini(struct plan *plan)
{
    cpl_arena_fini(&plan->arena);
}

static void check_step(const struct plan *plan, const char *pattern, const struct cpl_step *step,
                       int32_t from, int32_t to)
{
    struct cpl_step reverse = *step;
    struct cpl_conversion conversion = cpl_schedule_conversion(&plan->schedule, step);

    cr_assert_eq(conversion.from, from, "'%s' layer %d hook %d: from %d", pattern, step->layer,
                 (int)step->hook, conversion.from);
    cr_assert_eq(conversion.to, to, "'%s' layer %d hook %d: to %d", pattern, step->layer,
                 (int)step->hook, conversion.to);
    reverse.backward = true;
    conversion = cpl_schedule_conversion(&plan->schedule, &reverse);
    cr_assert_eq(conversion.from, to, "'%s' layer %d hook %d: backward from %d", pattern,
                 step->layer, (int)step->hook, conversion.from);
    cr_assert_eq(conversion.to, from, "'%s' layer %d hook %d: backward to %d", pattern, step->layer,
                 (int)step->hook, conversion.to);
}

/* Walks through the layers with the current layout; returns how many hooks convert. */
static int check_walk(const char *pattern, const struct cpl_schedule_layouts *layouts)
{
    const int32_t layers = (int32_t)strlen(pattern);
    int32_t current = layouts->boundary;
    int conversions = 0;
    struct plan plan;

    plan_init(&plan, pattern, layouts);
    cr_assert_eq(plan.schedule.layers, layers);
    cr_assert_eq(plan.schedule.input, layouts->boundary);
    cr_assert_eq(plan.schedule.output, layouts->boundary);
    for (int32_t i = 0; i < layers; i++) {
        const bool attends = strchr("*+DCHW", pattern[i]) != NULL;
        const int32_t here = attends ? layouts->attention : layouts->linear;
        const int32_t after = i == layers - 1 ? layouts->boundary : here;
        const struct cpl_step prepare = {.hook = CPL_HOOK_PREPARE, .layer = i};
        const struct cpl_step finalize = {.hook = CPL_HOOK_FINALIZE, .layer = i};

        cr_assert_eq(plan.schedule.symbols[i], pattern[i]);
        cr_assert_eq(plan.schedule.layout[i], here, "'%s' layer %d", pattern, i);
        check_step(&plan, pattern, &prepare, current, here);
        check_step(&plan, pattern, &finalize, here, after);
        conversions += (current != here) + (here != after);
        current = after;
    }
    cr_assert_eq(current, layouts->boundary, "'%s' ends in layout %d", pattern, current);
    plan_fini(&plan);
    return conversions;
}

/* Conversions of one forward pass, counted through the schedule alone. */
static int count_conversions(const char *pattern, const struct cpl_schedule_layouts *layouts)
{
    int conversions = 0;
    struct plan plan;

    plan_init(&plan, pattern, layouts);
    for (int32_t i = 0; i < 2 * plan.schedule.layers; i++) {
        const struct cpl_step step = {
            .hook = i % 2 == 0 ? CPL_HOOK_PREPARE : CPL_HOOK_FINALIZE,
            .layer = i / 2,
        };
        const struct cpl_conversion conversion = cpl_schedule_conversion(&plan.schedule, &step);

        conversions += conversion.from != conversion.to;
    }
    plan_fini(&plan);
    return conversions;
}

static const struct cpl_schedule_layouts choices[] = {
    {.linear = 0, .attention = 2, .boundary = 0}, {.linear = 0, .attention = 2, .boundary = 2},
    {.linear = 1, .attention = 2, .boundary = 0}, {.linear = 2, .attention = 0, .boundary = 1},
    {.linear = 7, .attention = 7, .boundary = 3}, {.linear = 5, .attention = 5, .boundary = 5},
};

enum { CHOICES = sizeof(choices) / sizeof(choices[0]) };

/* Conversions that each choice of layouts has to show, counted by hand. */
static const struct {
    const char *pattern;
    int conversions[CHOICES];
} patterns[] = {
    {"M", {0, 2, 2, 2, 2, 0}},
    {"*", {2, 0, 2, 2, 2, 0}},
    {"-", {0, 2, 2, 2, 2, 0}},
    {"MM-MM", {0, 2, 2, 2, 2, 0}},
    {"****", {2, 0, 2, 2, 2, 0}},
    {"MMM*MMM", {2, 4, 4, 4, 2, 0}},
    {"M*M*", {4, 4, 5, 5, 2, 0}},
    {"*M*M", {4, 4, 5, 5, 2, 0}},
    {"*-*-", {4, 4, 5, 5, 2, 0}},
    {"M-M*EME*-+", {6, 6, 7, 7, 2, 0}},
    {"MGKL*+DCHW-E", {2, 4, 4, 4, 2, 0}},
};

enum { PATTERNS = sizeof(patterns) / sizeof(patterns[0]) };

Test(schedule, follows_the_layers)
{
    for (int i = 0; i < PATTERNS * CHOICES; i++) {
        (void)check_walk(patterns[i / CHOICES].pattern, &choices[i % CHOICES]);
    }
}

Test(schedule, follows_every_pattern_of_five_layers)
{
    static const char symbols[] = "M*-";

    for (int i = 0; i < 3 * 3 * 3 * 3 * 3 * CHOICES; i++) {
        int rest = i / CHOICES;
        char pattern[6] = "";

        for (int layer = 0; layer < 5; layer++) {
            pattern[layer] = symbols[rest % 3];
            rest /= 3;
        }
        cr_assert_eq(check_walk(pattern, &choices[i % CHOICES]),
                     count_conversions(pattern, &choices[i % CHOICES]), "'%s'", pattern);
    }
}

Test(schedule, converts_as_often_as_counted_by_hand)
{
    for (int i = 0; i < PATTERNS; i++) {
        for (int k = 0; k < CHOICES; k++) {
            const int conversions = count_conversions(patterns[i].pattern, &choices[k]);

            cr_assert_eq(conversions, patterns[i].conversions[k], "'%s' choice %d: %d",
                         patterns[i].pattern, k, conversions);
        }
    }
}

/* A chunk's backward begins where its forward ended, and every step begins where the last ended. */
Test(schedule, backward_walks_the_same_way_back)
{
    const struct cpl_schedule_layouts layouts = {.linear = 1, .attention = 2, .boundary = 3};
    int32_t current = layouts.boundary;
    struct plan plan;

    plan_init(&plan, "M*-*MM+", &layouts);
    for (int32_t i = 2 * plan.schedule.layers - 1; i >= 0; i--) {
        const struct cpl_step step = {
            .hook = i % 2 == 0 ? CPL_HOOK_PREPARE : CPL_HOOK_FINALIZE,
            .layer = i / 2,
            .backward = true,
        };
        const struct cpl_conversion conversion = cpl_schedule_conversion(&plan.schedule, &step);

        cr_assert_eq(conversion.from, current, "layer %d hook %d", step.layer, (int)step.hook);
        current = conversion.to;
    }
    cr_assert_eq(current, layouts.boundary);
    plan_fini(&plan);
}

/* Builds a schedule in an arena with `spare` bytes left. */
static enum cpl_status build_short(const char *pattern, size_t spare)
{
    struct counted counted = {0};
    struct cpl_schedule schedule = {.layers = -9};
    struct cpl_error error = {0};
    struct cpl_arena arena;
    enum cpl_status status;

    arena_begin_short(&arena, &counted, spare);
    status = cpl_schedule_build(&schedule, pattern, &choices[0], &arena, &error);
    cpl_arena_fini(&arena);
    cr_assert_eq(counted.live, 0);
    cr_assert_eq(counted.wrong, 0);
    cr_assert_eq(status, error.status);
    cr_assert_eq(status == CPL_OK, schedule.layers != -9, "the schedule was changed");
    return status;
}

Test(schedule, reports_memory_that_runs_out_and_returns_the_rest)
{
    const char *const pattern = "M*M*M*M*M*M*M*M*M*M*";
    size_t spare = 0;
    enum cpl_status status;

    while ((status = build_short(pattern, spare)) == CPL_ERROR_MEMORY) {
        spare += 16;
    }
    cr_assert_eq(status, CPL_OK);
    cr_assert_geq(spare, strlen(pattern) * sizeof(int32_t), "%zu bytes are enough", spare);
}
