/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

/* What to set instead, for one finding. */
struct hint {
    char text[256];
};

static struct hint hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

static struct hint hint(const char *format, ...)
{
    struct hint made;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(made.text, sizeof(made.text), format, args);
    va_end(args);
    cpl_clean_text(made.text);
    return made;
}

/* Reports a finding of the current rule. */
static void fire(struct run *run, const char *option, struct hint advice, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void fire(struct run *run, const char *option, struct hint advice, const char *format, ...)
{
    char message[384];
    const struct cpl_finding finding = {run->rule->severity, run->rule->code, option, message,
                                        advice.text};
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    cpl_clean_text(message);
    run->reporter->deliver(run->reporter->self, &finding);
    if (finding.severity == CPL_ERROR && run->errors++ == 0) {
        (void)cpl_fail_field(run->first, CPL_ERROR_CONFIGURATION, option, "%s: %s (%s)",
                             finding.code, message, advice.text);
    }
}

static const char *name_of(enum cpl_option_id id)
{
    return cpl_option_spec(id)->name;
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

/* T: tensor-parallel ranks that rows are split over; 0 if it is not usable. */
static int32_t tp_of(const struct run *run)
{
    const struct cpl_option_value *const tp = value_of(run, CPL_OPTION_TENSOR_MODEL_PARALLEL_SIZE);
    const struct cpl_option_value *const split = value_of(run, CPL_OPTION_SEQUENCE_PARALLEL);

    if (!tp->usable || !split->usable) {
        return 0;
    }
    return split->integer != 0 ? (int32_t)tp->integer : 1;
}

static void option_unknown(struct run *run)
{
    const struct cpl_options *const options = run->registration->options;

    for (size_t i = 0; i < options->given_count; i++) {
        const char *const name = options->given[i].name;
        const char *const nearest = cpl_option_nearest(name);

        if (cpl_option_find(name) == CPL_OPTION_COUNT) {
            fire(run, name,
                 nearest != NULL ? hint("did you mean '%s'?", nearest)
                                 : hint("'cplayout info' lists the options"),
                 "unknown option '%.64s'", name);
        }
    }
}

static void option_type(struct run *run)
{
    for (enum cpl_option_id id = 0; id < CPL_OPTION_COUNT; id++) {
        const struct cpl_option_spec *const spec = cpl_option_spec(id);
        const struct cpl_option_value *const value = value_of(run, id);

        if (value->conflict) {
            fire(run, spec->name, hint("give it once"),
                 "%s is given with different values, last '%.64s'", spec->name, value->text);
        } else if (!value->usable) {
            fire(run, spec->name, hint("legal: %s", spec->values), "%s = '%.64s' is not a legal %s",
                 spec->name, value->text, cpl_option_type_name(spec->type));
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
    char names[CPL_LAYOUT_NAMES_BYTES];
    struct cpl_layout layout;
    struct cpl_error error;

    cpl_layout_names(names, sizeof(names));
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        const struct cpl_option_value *const value = value_of(run, ids[i]);
        const bool unset = value->text[0] == '\0' && !value->given;

        if (value->usable && !unset && cpl_layout_parse(value->text, &layout, &error) != CPL_OK) {
            fire(run, name_of(ids[i]), hint("layouts: %s", names), "%s: %s", name_of(ids[i]),
                 error.message);
        }
    }
}

static void pattern_symbol(struct run *run)
{
    const enum cpl_option_id id = CPL_OPTION_HYBRID_LAYER_PATTERN;
    struct cpl_error error;

    if (value_of(run, id)->usable && cpl_pattern_check(value_of(run, id)->text, &error) != CPL_OK) {
        fire(run, name_of(id), hint("symbols: %s", cpl_option_spec(id)->values), "%s",
             error.message);
    }
}

static void group_size(struct run *run)
{
    const int32_t ranks = run->registration->group_ranks;
    const int64_t wanted = (int64_t)cp_of(run) * tp_of(run);
    const struct hint split = tp_of(run) == 1
                                  ? hint("%s", "")
                                  : hint(" and rows are split over %d windows each", tp_of(run));

    if (wanted != 0 && ranks != 0 && ranks != wanted) {
        fire(run, name_of(CPL_OPTION_CONTEXT_PARALLEL_SIZE),
             hint("give a group of %" PRId64 " rank%s, or change the sizes", wanted,
                  wanted == 1 ? "" : "s"),
             "the group has %d rank%s but context_parallel_size is %d%s", ranks,
             ranks == 1 ? "" : "s", cp_of(run), split.text);
    }
}

static void attention_layout_unsupported(struct run *run)
{
    const struct cpl_option_value *const accepts = value_of(run, CPL_OPTION_ATTENTION_ACCEPTS);
    const struct cpl_layout *const layout = run->registration->attention;
    char title[CPL_LAYOUT_BYTES];

    if (cp_of(run) < 2 || !accepts->usable || layout == NULL || layout->two_chunk_kernels ||
        strcmp(accepts->text, "any") == 0) {
        return;
    }
    fire(run, name_of(CPL_OPTION_ATTENTION_CP_LAYOUT),
         hint("set attention_cp_layout to zigzag, or attention_accepts to any if the kernel takes "
              "arbitrary fragments"),
         "attention layout '%s' does not fit a kernel that takes two zigzag chunks",
         cpl_layout_title(layout, title));
}

static void linear_chain_unsupported(struct run *run)
{
    const struct cpl_option_value *const chain = value_of(run, CPL_OPTION_LINEAR_CHAIN);
    const struct cpl_layout *const layout = run->registration->linear;
    char title[CPL_LAYOUT_BYTES];

    if (cp_of(run) < 2 || !chain->usable || layout == NULL || layout->follows_rank ||
        strcmp(chain->text, "table") == 0) {
        return;
    }
    fire(run, name_of(CPL_OPTION_LINEAR_CP_LAYOUT),
         hint("set linear_chain to table if the scan follows the chain, or linear_cp_layout to "
              "contiguous"),
         "linear layout '%s' does not keep slice r on rank r, which linear_chain = rank assumes",
         cpl_layout_title(layout, title));
}

/* What a sequence must be a multiple of to fit every layout in use; 0 if one is unknown. */
static int64_t unit_in_use(const struct run *run)
{
    const struct cpl_registration *const r = run->registration;
    const struct cpl_layout *const in_use[] = {r->linear, r->attention, r->boundary};
    const bool known = r->linear != NULL && r->attention != NULL && r->boundary != NULL;

    if (!known || cp_of(run) == 0 || tp_of(run) == 0) {
        return 0;
    }
    return cpl_layouts_unit(in_use, 3, cp_of(run), tp_of(run));
}

static void sequence_indivisible(struct run *run)
{
    const struct cpl_option_value *const length = value_of(run, CPL_OPTION_SEQ_LENGTH);
    const struct cpl_option_value *const format = value_of(run, CPL_OPTION_QKV_FORMAT);
    const int64_t unit = unit_in_use(run);
    char nearest[64];

    /* Packed documents are padded, not cut: their lengths are a batch's affair. */
    if (!length->usable || !format->usable || strcmp(format->text, "thd") == 0 || unit == 0 ||
        length->integer % unit == 0) {
        return;
    }
    cpl_nearest_lengths(nearest, length->integer, unit);
    fire(run, name_of(CPL_OPTION_SEQ_LENGTH), hint("nearest lengths: %s", nearest),
         "seq_length %" PRId64 " is not a multiple of %" PRId64
         ", which the layouts in use need with P = %d and T = %d",
         length->integer, unit, cp_of(run), tp_of(run));
}

static void sequence_parallel_without_tp(struct run *run)
{
    const struct cpl_option_value *const tp = value_of(run, CPL_OPTION_TENSOR_MODEL_PARALLEL_SIZE);
    const struct cpl_option_value *const split = value_of(run, CPL_OPTION_SEQUENCE_PARALLEL);

    if (tp->usable && split->usable && split->integer != 0 && tp->integer == 1) {
        fire(run, name_of(CPL_OPTION_SEQUENCE_PARALLEL),
             hint("set tensor_model_parallel_size, or leave sequence_parallel out"),
             "sequence_parallel has nothing to split over: tensor_model_parallel_size is 1");
    }
}

static void verify_no_channel(struct run *run)
{
    const struct cpl_option_value *const verify = value_of(run, CPL_OPTION_VERIFY_PLANS);

    if (run->registration->mute && run->registration->group_ranks > 1 && verify->usable &&
        strcmp(verify->text, "never") != 0) {
        fire(
            run, name_of(CPL_OPTION_VERIFY_PLANS),
            hint("give the communicator an allgather, or set verify_plans to never"),
            "verify_plans is %s, but the communicator has no allgather: ranks cannot compare their "
            "plans",
            verify->text);
    }
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
    {"sequence.parallel_without_tp", CPL_WARNING, sequence_parallel_without_tp},
    {"verify.no_channel", CPL_WARNING, verify_no_channel},
};

/* NULL if the option is not usable or names no layout. */
static const struct cpl_layout *layout_of(const struct cpl_options *options, enum cpl_option_id id,
                                          struct cpl_layout *layout)
{
    const struct cpl_option_value *const value = &options->values[id];
    struct cpl_error error;

    return value->usable && cpl_layout_parse(value->text, layout, &error) == CPL_OK ? layout : NULL;
}

void cpl_registration_init(struct cpl_registration *registration, const struct cpl_options *options,
                           int32_t group_ranks)
{
    struct cpl_layout *const parsed = registration->parsed;
    const bool bounded = options->values[CPL_OPTION_BOUNDARY_CP_LAYOUT].given;

    *registration = (struct cpl_registration){.options = options, .group_ranks = group_ranks};
    registration->linear = layout_of(options, CPL_OPTION_LINEAR_CP_LAYOUT, &parsed[0]);
    registration->attention = layout_of(options, CPL_OPTION_ATTENTION_CP_LAYOUT, &parsed[1]);
    registration->boundary = bounded ? layout_of(options, CPL_OPTION_BOUNDARY_CP_LAYOUT, &parsed[2])
                                     : registration->linear;
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
