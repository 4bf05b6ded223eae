/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "plan/pattern.h"

struct rule;

/* One pass over the rules. */
struct run {
    const struct cpl_registration *registration;
    const struct cpl_reporter *reporter;
    const struct rule *rule; /* the one that is being applied */
    int32_t errors;
    struct cpl_error *first; /* the first error */
};

struct rule {
    const char *code;
    enum cpl_severity severity;
    void (*apply)(struct run *run);
};

/* Reports a finding of the current rule. The format is "message\nhint". */
static void fire(struct run *run, const char *option, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void fire(struct run *run, const char *option, const char *format, ...)
{
    struct cpl_finding finding = {run->rule->severity, run->rule->code, option, NULL, ""};
    char text[768];
    char *border;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    border = strchr(text, '\n');
    if (border != NULL) {
        *border = '\0';
        finding.hint = border + 1;
    }
    finding.message = text;
    run->reporter->deliver(run->reporter->self, &finding);
    if (finding.severity == CPL_ERROR && run->errors++ == 0) {
        (void)cpl_fail_field(run->first, CPL_ERROR_CONFIGURATION, option, "%s: %s: %s",
                             finding.code, option, text);
    }
}

static const struct cpl_option_value *value_of(const struct run *run, enum cpl_option_id id)
{
    return &run->registration->options->values[id];
}

/* P, or 0 if it is not usable. */
static int32_t cp_of(const struct run *run)
{
    const struct cpl_option_value *const cp = value_of(run, CPL_OPTION_CONTEXT_PARALLEL_SIZE);

    return cp->usable ? (int32_t)cp->integer : 0;
}

static void option_unknown(struct run *run)
{
    const struct cpl_options *const options = run->registration->options;

    for (size_t i = 0; i < options->given_count; i++) {
        const char *const name = options->given[i].name;
        const char *nearest;

        if (cpl_option_find(name) != CPL_OPTION_COUNT) {
            continue;
        }
        nearest = cpl_option_nearest(name);
        if (nearest != NULL) {
            fire(run, name, "unknown option '%s'\ndid you mean '%s'?", name, nearest);
        } else {
            fire(run, name, "unknown option '%s'\n'cplayout info' lists the options", name);
        }
    }
}

static bool given_twice(const struct cpl_options *options, const char *name)
{
    int32_t times = 0;

    for (size_t i = 0; i < options->given_count; i++) {
        times += strcmp(options->given[i].name, name) == 0;
    }
    return times > 1;
}

static void option_type(struct run *run)
{
    for (enum cpl_option_id id = 0; id < CPL_OPTION_COUNT; id++) {
        const struct cpl_option_spec *const spec = cpl_option_spec(id);
        const struct cpl_option_value *const value = value_of(run, id);

        if (value->usable) {
            continue;
        }
        if (given_twice(run->registration->options, spec->name)) {
            fire(run, spec->name, "%s is given more than once, last as '%s'\ngive it once",
                 spec->name, value->text);
        } else {
            fire(run, spec->name, "%s = '%s' is not a legal %s\nlegal: %s", spec->name, value->text,
                 cpl_option_type_name(spec->type), spec->values);
        }
    }
}

static void layout_unknown(struct run *run)
{
    static const enum cpl_option_id ids[] = {
        CPL_OPTION_LINEAR_CP_LAYOUT,
        CPL_OPTION_ATTENTION_CP_LAYOUT,
        CPL_OPTION_BOUNDARY_CP_LAYOUT,
    };
    char names[128];

    cpl_layout_names(names, sizeof(names));
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        const struct cpl_option_value *const value = value_of(run, ids[i]);
        const char *const name = cpl_option_spec(ids[i])->name;
        const bool unset = value->text[0] == '\0' && !value->given;

        if (value->usable && !unset && cpl_layout_find(value->text) == NULL) {
            fire(run, name, "%s names no layout: '%s'\nlayouts: %s", name, value->text, names);
        }
    }
}

static void pattern_symbol(struct run *run)
{
    const struct cpl_option_value *const pattern = value_of(run, CPL_OPTION_HYBRID_LAYER_PATTERN);
    struct cpl_error error;

    if (pattern->usable && cpl_pattern_check(pattern->text, &error) != CPL_OK) {
        fire(run, "hybrid_layer_pattern", "%s\nsymbols: %s", error.message,
             cpl_option_spec(CPL_OPTION_HYBRID_LAYER_PATTERN)->values);
    }
}

static void group_size(struct run *run)
{
    const int32_t ranks = run->registration->group_ranks;
    const int32_t cp = cp_of(run);

    if (cp != 0 && ranks != 0 && ranks != cp) {
        fire(run, "context_parallel_size",
             "the group has %d ranks but context_parallel_size is %d\nset it to %d, or give a "
             "group of %d ranks",
             ranks, cp, ranks, cp);
    }
}

static void attention_layout_unsupported(struct run *run)
{
    const struct cpl_option_value *const accepts = value_of(run, CPL_OPTION_ATTENTION_ACCEPTS);
    const struct cpl_layout *const layout = run->registration->attention;

    if (cp_of(run) < 2 || !accepts->usable || layout == NULL || layout->two_chunk_kernels ||
        strcmp(accepts->text, "any") == 0) {
        return;
    }
    fire(run, "attention_cp_layout",
         "attention layout '%s' does not fit a kernel that takes two zigzag chunks\nset "
         "attention_cp_layout to zigzag, or attention_accepts to any if the kernel takes "
         "arbitrary fragments",
         layout->name);
}

static void linear_chain_unsupported(struct run *run)
{
    const struct cpl_option_value *const chain = value_of(run, CPL_OPTION_LINEAR_CHAIN);
    const struct cpl_layout *const layout = run->registration->linear;

    if (cp_of(run) < 2 || !chain->usable || layout == NULL || layout->follows_rank ||
        strcmp(chain->text, "table") == 0) {
        return;
    }
    fire(run, "linear_cp_layout",
         "linear layout '%s' does not keep slice r on rank r, which linear_chain = rank assumes\n"
         "set linear_chain to table if the scan follows the chain, or linear_cp_layout to "
         "contiguous",
         layout->name);
}

/* What a sequence must be a multiple of to fit every layout in use; 0 if one is unknown. */
static int64_t unit_in_use(const struct run *run)
{
    const struct cpl_registration *const r = run->registration;
    const struct cpl_layout *const in_use[] = {r->linear, r->attention, r->boundary};
    const int32_t cp = cp_of(run);
    int64_t unit = 1;

    for (size_t i = 0; i < sizeof(in_use) / sizeof(in_use[0]); i++) {
        if (in_use[i] == NULL || cp == 0) {
            return 0;
        }
        unit = cpl_lcm(unit, cpl_layout_unit(in_use[i], cp, 1));
    }
    return unit;
}

static void sequence_indivisible(struct run *run)
{
    const struct cpl_option_value *const length = value_of(run, CPL_OPTION_SEQ_LENGTH);
    const int64_t unit = unit_in_use(run);
    int64_t below;

    if (!length->usable || unit == 0 || length->integer % unit == 0) {
        return;
    }
    below = length->integer / unit * unit;
    fire(run, "seq_length",
         "seq_length %" PRId64 " is not a multiple of %" PRId64
         ", which the layouts in use need at context_parallel_size %d\nnearest lengths: %" PRId64
         " and %" PRId64,
         length->integer, unit, cp_of(run), below, below + unit);
}

static const struct rule rules[] = {
    {"option.unknown", CPL_ERROR, option_unknown},
    {"option.type", CPL_ERROR, option_type},
    {"layout.unknown", CPL_ERROR, layout_unknown},
    {"pattern.symbol", CPL_ERROR, pattern_symbol},
    {"group.size", CPL_ERROR, group_size},
    {"attention.layout_unsupported", CPL_ERROR, attention_layout_unsupported},
    {"linear.chain_unsupported", CPL_ERROR, linear_chain_unsupported},
    {"sequence.indivisible", CPL_ERROR, sequence_indivisible},
};

struct cpl_registration cpl_registration(const struct cpl_options *options, int32_t group_ranks)
{
    const struct cpl_option_value *const values = options->values;
    const struct cpl_option_value *const boundary = &values[CPL_OPTION_BOUNDARY_CP_LAYOUT];
    struct cpl_registration registration = {
        .options = options,
        .group_ranks = group_ranks,
        .linear = cpl_layout_find(values[CPL_OPTION_LINEAR_CP_LAYOUT].text),
        .attention = cpl_layout_find(values[CPL_OPTION_ATTENTION_CP_LAYOUT].text),
    };

    registration.boundary = boundary->given ? cpl_layout_find(boundary->text) : registration.linear;
    return registration;
}

enum cpl_status cpl_rules_apply(const struct cpl_registration *registration,
                                const struct cpl_reporter *reporter, struct cpl_error *error)
{
    struct run run = {.registration = registration, .reporter = reporter, .first = error};

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        run.rule = &rules[i];
        run.rule->apply(&run);
    }
    return run.errors == 0 ? CPL_OK : CPL_ERROR_CONFIGURATION;
}
