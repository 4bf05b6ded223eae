/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about names and values of options.
 */
#include <inttypes.h>
#include <string.h>

#include "base/limits.h"
#include "plan/rule.h"

/* Calls `apply` for every entry that the environment gives, or for every other one. */
static void for_entries(struct cpl_rules *rules, bool environment,
                        void (*apply)(struct cpl_rules *rules, const struct cpl_entry *entry))
{
    const struct cpl_sources *const sources = &rules->registration->options->sources;

    for (size_t i = 0; i < sources->count; i++) {
        if ((sources->list[i].source == CPL_SOURCE_ENVIRONMENT) == environment) {
            apply(rules, &sources->list[i]);
        }
    }
}

static void check_name(struct cpl_rules *rules, const struct cpl_entry *entry)
{
    const char *const nearest = cpl_option_nearest(entry->name);

    if (cpl_option_find(entry->name) == CPL_OPTION_COUNT) {
        cpl_fire_entry(rules, entry,
                       nearest != NULL ? cpl_hint("did you mean '%s'?", nearest)
                                       : cpl_hint("'cplayout info' lists the options"),
                       "unknown option '%.64s'", entry->name);
    }
}

void cpl_rule_option_unknown(struct cpl_rules *rules)
{
    for_entries(rules, false, check_name);
}

/* Variables have the name of an option in capital letters. */
static struct cpl_hint hint_variable(const char *nearest)
{
    struct cpl_hint hint =
        cpl_hint("did you mean '" CPL_SOURCES_PREFIX "%s'?", nearest != NULL ? nearest : "");

    for (char *at = strchr(hint.text, '_'); at != NULL && *at != '\0'; at++) {
        *at = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
    }
    return nearest != NULL ? hint : cpl_hint("it is ignored; 'cplayout info' lists the options");
}

static void check_variable(struct cpl_rules *rules, const struct cpl_entry *entry)
{
    const struct cpl_entry variable = {entry->origin, entry->value, entry->origin, entry->source};

    if (cpl_option_find(entry->name) == CPL_OPTION_COUNT) {
        cpl_fire_entry(rules, &variable, hint_variable(cpl_option_nearest(entry->name)),
                       "unknown environment variable '%.64s'", entry->origin);
    }
}

void cpl_rule_variable_unknown(struct cpl_rules *rules)
{
    for_entries(rules, true, check_variable);
}

static void check_age(struct cpl_rules *rules, const struct cpl_entry *entry)
{
    const enum cpl_option_id id = cpl_option_find(entry->name);

    if (id != CPL_OPTION_COUNT && cpl_option_deprecated(id, entry->name)) {
        cpl_fire_entry(rules, entry, cpl_hint("set %s instead", cpl_rule_name(id)),
                       "%s is out of use", entry->name);
    }
}

void cpl_rule_option_deprecated(struct cpl_rules *rules)
{
    for_entries(rules, false, check_age);
    for_entries(rules, true, check_age);
}

static void check_value(struct cpl_rules *rules, enum cpl_option_id id)
{
    const struct cpl_option_spec *const spec = cpl_option_spec(id);
    const struct cpl_option_value *const value = cpl_rule_value(rules, id);
    char values[CPL_OPTION_VALUES_BYTES];

    if (value->conflict) {
        cpl_fire(rules, id, cpl_hint("give it once"),
                 "%s is given with different values, last '%.64s'", spec->name, value->text);
    } else if (!value->usable) {
        cpl_fire(rules, id, cpl_hint("legal: %s", cpl_option_values(spec, values)),
                 "%s = '%.64s' is not a legal %s", spec->name, value->text,
                 cpl_option_type_name(spec->type));
    }
}

void cpl_rule_option_type(struct cpl_rules *rules)
{
    const int64_t cp = rules->registration->cp;
    const int64_t tp = rules->registration->tp;

    for (enum cpl_option_id id = 0; id < CPL_OPTION_COUNT; id++) {
        check_value(rules, id);
        if (id == CPL_OPTION_CONTEXT_PARALLEL_SIZE && cp * tp > CPL_RANKS_MOST) {
            cpl_fire(rules, id, cpl_hint("a group has at most %d ranks", CPL_RANKS_MOST),
                     "P * T = %" PRId64 " * %" PRId64 " is above %d ranks", cp, tp, CPL_RANKS_MOST);
        }
    }
}

void cpl_rule_layout_unknown(struct cpl_rules *rules)
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
        const struct cpl_option_value *const value = cpl_rule_value(rules, ids[i]);
        const bool unset = value->text[0] == '\0' && !value->given;

        if (value->usable && !unset && cpl_layout_parse(value->text, &layout, &error) != CPL_OK) {
            cpl_fire(rules, ids[i], cpl_hint("layouts: %s", names), "%s: %s", cpl_rule_name(ids[i]),
                     error.message);
        }
    }
}

void cpl_rule_pattern_symbol(struct cpl_rules *rules)
{
    const enum cpl_option_id id = CPL_OPTION_HYBRID_LAYER_PATTERN;
    struct cpl_pattern pattern;
    struct cpl_error error;
    size_t index;

    if (cpl_pattern_parse(cpl_rule_value(rules, id)->text, &pattern, &index, &error) != CPL_OK) {
        cpl_fire_part(rules, id, (struct cpl_range){(uint32_t)index, 1},
                      cpl_hint("symbols: %s", cpl_option_spec(id)->values), "%s", error.message);
    }
}

void cpl_rule_pattern_mtp(struct cpl_rules *rules)
{
    const enum cpl_option_id id = CPL_OPTION_MTP_NUM_LAYERS;
    const struct cpl_pattern *const pattern = &rules->registration->layers;
    const int64_t layers = cpl_rule_integer(rules, id);

    if (pattern->mtp_parts == 0) {
        return;
    }
    if (!pattern->mtp_alike) {
        cpl_fire(
            rules, id, cpl_hint("repeat one part of layers alone, as in M*/*E/*E"),
            "the MTP parts behind '/' of hybrid_layer_pattern differ, or have stage borders or "
            "logical layers");
    } else if (cpl_rule_value(rules, id)->given && layers != (int64_t)pattern->mtp_parts) {
        cpl_fire(rules, id,
                 cpl_hint("set mtp_num_layers to %zu, or leave it out", pattern->mtp_parts),
                 "hybrid_layer_pattern has %zu MTP part%s, but mtp_num_layers is %" PRId64,
                 pattern->mtp_parts, pattern->mtp_parts == 1 ? "" : "s", layers);
    }
}
