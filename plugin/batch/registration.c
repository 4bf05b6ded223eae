/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/registration.h"

#include <string.h>

#include "base/hash.h"
#include "base/options.h"
#include "plan/rules.h"

static const char *copy_text(struct cpl_arena *arena, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *const copy = cpl_arena_take(arena, bytes, 1);

    return copy != NULL ? memcpy(copy, text, bytes) : NULL;
}

/* The words of a digest: one for each option, and one for the declared fields. */
enum { WORD_FIELDS = CPL_OPTION_COUNT, WORDS };

_Static_assert((int)WORDS <= (int)CPL_DIGEST_WORDS, "a word of the digest per option");

/* A layout option's layout with its parameters; the boundary's depends on the linear one. */
static uint64_t digest_layout(const struct cpl_registration *registration, enum cpl_option_id id)
{
    const struct cpl_layout *layout = registration->used.boundary;
    char title[CPL_LAYOUT_BYTES];
    uint64_t tolerance;

    if (id == CPL_OPTION_LINEAR_CP_LAYOUT) {
        layout = registration->used.linear;
    } else if (id == CPL_OPTION_ATTENTION_CP_LAYOUT) {
        layout = registration->used.attention;
    }
    memcpy(&tolerance, &layout->tolerance, sizeof(tolerance)); /* the title rounds it */
    return cpl_hash_word(cpl_hash_text(CPL_HASH_SEED, cpl_layout_title(layout, title)), tolerance);
}

/* "[0,1]" and "0,1" agree, and so do "4" and "04". */
static uint64_t digest_list(const struct cpl_option_value *value)
{
    uint64_t hash = CPL_HASH_SEED;

    if (strchr(value->text, ',') == NULL) {
        return cpl_hash_word(hash, (uint64_t)value->integer);
    }
    for (const char *at = value->text; *at != '\0'; at++) {
        hash = *at == '0' || *at == '1' ? cpl_hash_word(hash, (uint64_t)*at) : hash;
    }
    return hash;
}

/*
 * Values, not their spelling: "8" and "08" agree, and so do a boundary layout that is left to its
 * default and the same one named. How long a rank waits is its own affair.
 */
static uint64_t digest_option(const struct cpl_registration *registration, enum cpl_option_id id)
{
    const struct cpl_option_value *const value = &registration->options->values[id];

    if (id == CPL_OPTION_WEIGHT_SHARDS) {
        return (uint64_t)registration->weight_shards;
    }
    if (id == CPL_OPTION_SEQUENCE_SHARDS) {
        return (uint64_t)registration->sequence_shards;
    }
    switch (cpl_option_spec(id)->type) {
    case CPL_TYPE_INTEGER:
    case CPL_TYPE_BOOL:
        return (uint64_t)value->integer;
    case CPL_TYPE_CHOICE:
    case CPL_TYPE_PATTERN:
        return cpl_hash_text(CPL_HASH_SEED, value->text);
    case CPL_TYPE_LIST:
        return digest_list(value);
    case CPL_TYPE_LAYOUT:
        return digest_layout(registration, id);
    case CPL_TYPE_NUMBER:
        break;
    }
    return 0;
}

static uint64_t digest_options(const struct cpl_registration *registration,
                               struct cpl_digest *digest)
{
    uint64_t hash = CPL_HASH_SEED;

    for (enum cpl_option_id id = 0; id < CPL_OPTION_COUNT; id++) {
        digest->words[id] = digest_option(registration, id);
        hash = cpl_hash_word(hash, digest->words[id]);
    }
    return hash;
}

static enum cpl_status add_layouts(struct cpl_context *context,
                                   const struct cpl_registration *registration,
                                   struct cpl_error *error)
{
    struct cpl_schedule_layouts *const roles = &context->roles;
    const struct cpl_parts *const parts = &registration->used;
    enum cpl_status status = cpl_context_use(context, parts->linear, &roles->linear, error);

    if (status == CPL_OK) {
        status = cpl_context_use(context, parts->attention, &roles->attention, error);
    }
    if (status == CPL_OK) {
        status = cpl_context_use(context, parts->boundary, &roles->boundary, error);
    }
    return status;
}

static enum cpl_verify verify_of(const char *text)
{
    if (strcmp(text, "first") == 0) {
        return CPL_VERIFY_FIRST;
    }
    return strcmp(text, "never") == 0 ? CPL_VERIFY_NEVER : CPL_VERIFY_ALWAYS;
}

static enum cpl_status configure(struct cpl_context *context,
                                 const struct cpl_registration *registration,
                                 struct cpl_error *error)
{
    const struct cpl_option_value *const values = registration->options->values;

    context->cp = (int32_t)registration->cp;
    context->tp = (int32_t)registration->tp;
    context->row_unit = values[CPL_OPTION_ROW_UNIT].integer;
    context->packed = strcmp(values[CPL_OPTION_QKV_FORMAT].text, "thd") == 0;
    context->seq_length = values[CPL_OPTION_SEQ_LENGTH].integer;
    context->pad_token = values[CPL_OPTION_PAD_TOKEN_ID].integer;
    context->pad_label = values[CPL_OPTION_PAD_LABEL].integer;
    context->verify = verify_of(values[CPL_OPTION_VERIFY_PLANS].text);
    context->pattern = copy_text(&context->arena, values[CPL_OPTION_HYBRID_LAYER_PATTERN].text);
    return context->pattern != NULL ? add_layouts(context, registration, error)
                                    : cpl_fail_memory(error);
}

/* How long a rank waits whose own timeout is not known, for the others must hear of that; the option's
 * default. */
enum { TIMEOUT_UNKNOWN = 600 };

static double timeout_of(const struct cpl_options *options)
{
    const struct cpl_option_value *const value = &options->values[CPL_OPTION_TIMEOUT_SECONDS];

    return value->usable ? value->number : TIMEOUT_UNKNOWN;
}

/* All rules are applied, and what is to be compared goes into the digest. */
static enum cpl_status take_options(struct cpl_context *context,
                                    const struct cpl_context_args *args,
                                    const struct cpl_options *options, struct cpl_digest *digest,
                                    struct cpl_error *error)
{
    const struct cpl_group_facts group = {
        .ranks = context->ranks,
        .mute = context->transport != NULL && !context->transport->gathers,
        .twins = {context->twins[0], context->twins[1]},
    };
    struct cpl_registration registration;
    enum cpl_status status;

    cpl_registration_init(&registration, options, &group);
    status = cpl_rules_apply(&registration, &args->reporter, error);
    if (status == CPL_OK) {
        status = cpl_fields_declare(&context->fields, &args->fields, &context->arena, error);
    }
    if (status == CPL_OK) {
        digest->words[WORD_FIELDS] = cpl_fields_digest(&context->fields);
        cpl_options_log(options, &context->log);
        context->configuration = digest_options(&registration, digest);
        status = configure(context, &registration, error);
    }
    return status;
}

/* Reads the options and takes them. Peers are waited for no longer than they say. */
static enum cpl_status read_options(struct cpl_context *context,
                                    const struct cpl_context_args *args, struct cpl_digest *digest,
                                    struct cpl_error *error)
{
    const struct cpl_host_settings host = {args->allocator, args->settings, args->setting_count};
    struct cpl_options options;
    enum cpl_status status = cpl_options_init(&options, &host, error);

    if (context->transport != NULL) {
        context->transport->timeout_seconds =
            status == CPL_OK ? timeout_of(&options) : TIMEOUT_UNKNOWN;
    }
    if (status != CPL_OK) {
        return status;
    }
    status = take_options(context, args, &options, digest, error);
    cpl_options_fini(&options);
    return status;
}

static const char *topic_name(size_t word)
{
    return word == WORD_FIELDS ? "declared fields"
                               : cpl_option_spec((enum cpl_option_id)word)->name;
}

enum cpl_status cpl_context_register(struct cpl_context *context,
                                     const struct cpl_context_args *args, struct cpl_error *error)
{
    const struct cpl_topics topics = {
        .meeting = CPL_MEETING_REGISTER,
        .deed = "register",
        .kind = "option ",
        .name = topic_name,
    };

    struct cpl_digest digest = {.rank = context->rank};
    const enum cpl_status taken = read_options(context, args, &digest, error);

    return cpl_context_agree(context, &topics, &digest, taken, error);
}
