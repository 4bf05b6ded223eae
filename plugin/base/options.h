/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of one registration: what every option is (option_table.c is the only place that knows
 * names, types, defaults, ranges and help), and which value it has. Values come from the host, the
 * environment and a file (sources.h); a stronger source hides a weaker one. Parsing is silent: a value
 * that cannot be used is marked, and the rules report it.
 */
#ifndef CPL_BASE_OPTIONS_H
#define CPL_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "base/sources.h"

enum cpl_option_id {
    CPL_OPTION_CONTEXT_PARALLEL_SIZE,
    CPL_OPTION_TENSOR_MODEL_PARALLEL_SIZE,
    CPL_OPTION_PIPELINE_MODEL_PARALLEL_SIZE,
    CPL_OPTION_WORLD_SIZE,
    CPL_OPTION_SEQUENCE_PARALLEL,
    CPL_OPTION_LINEAR_CP_LAYOUT,
    CPL_OPTION_ATTENTION_CP_LAYOUT,
    CPL_OPTION_BOUNDARY_CP_LAYOUT,
    CPL_OPTION_ATTENTION_ACCEPTS,
    CPL_OPTION_CP_COMM_TYPE,
    CPL_OPTION_LINEAR_CP_MODE,
    CPL_OPTION_LINEAR_CHAIN,
    CPL_OPTION_RECEIVER,
    CPL_OPTION_HYBRID_LAYER_PATTERN,
    CPL_OPTION_LINEAR_ATTENTION_FREQ,
    CPL_OPTION_MTP_NUM_LAYERS,
    CPL_OPTION_HYBRID_CONTEXT_PARALLEL,
    CPL_OPTION_QKV_FORMAT,
    CPL_OPTION_SEQ_LENGTH,
    CPL_OPTION_MICRO_BATCH_SIZE,
    CPL_OPTION_USE_PER_SEQUENCE_BALANCING,
    CPL_OPTION_ATTENTION_MASK_IN_BATCH,
    CPL_OPTION_HIDDEN_SIZE,
    CPL_OPTION_NUM_ATTENTION_HEADS,
    CPL_OPTION_NUM_QUERY_GROUPS,
    CPL_OPTION_MAMBA_NUM_HEADS,
    CPL_OPTION_MAMBA_NUM_GROUPS,
    CPL_OPTION_ACTIVATION_DTYPE,
    CPL_OPTION_FP8_RECIPE,
    CPL_OPTION_ROW_UNIT,
    CPL_OPTION_CUDA_GRAPH,
    CPL_OPTION_GRAPH_CAPACITY,
    CPL_OPTION_WEIGHT_SHARDS,
    CPL_OPTION_SEQUENCE_SHARDS,
    CPL_OPTION_TP_COMM_OVERLAP,
    CPL_OPTION_MAX_SEQUENCE_LENGTH,
    CPL_OPTION_SCHEDULE_POLICY,
    CPL_OPTION_VERIFY_PLANS,
    CPL_OPTION_TIMEOUT_SECONDS,
    CPL_OPTION_PAD_TOKEN_ID,
    CPL_OPTION_PAD_LABEL,
    CPL_OPTION_COUNT,
};

enum cpl_option_type {
    CPL_TYPE_INTEGER,
    CPL_TYPE_NUMBER,
    CPL_TYPE_BOOL,   /* `integer` is 0 or 1 */
    CPL_TYPE_CHOICE, /* one of `values`, separated by ", " */
    CPL_TYPE_LIST,   /* an integer, or ones and zeros separated by "," */
    CPL_TYPE_LAYOUT, /* checked by a rule: this room knows no layouts */
    CPL_TYPE_PATTERN,
};

struct cpl_option_spec {
    const char *name;
    const char *synonyms;   /* separated by ", "; NULL: none */
    const char *deprecated; /* those of the synonyms that are out of use */
    enum cpl_option_type type;
    const char *default_value; /* "": not set, and the rules say what then holds */
    const char *values;        /* for people, and of a choice the legal values; NULL: the range */
    const char *help;
    int64_t least; /* integers and numbers */
    int64_t most;
    bool unknown; /* 0 or "" says that it is not known */
};

struct cpl_option_value {
    const char *text;   /* the setting's value or the default */
    const char *origin; /* "host", "CPLAYOUT_SEQ_LENGTH", "run.conf:4" or "default" */
    int64_t integer;
    double number;
    enum cpl_source source;
    bool given;
    bool conflict; /* given more than once by one source, with different values */
    bool usable;   /* of its type, in range, no conflict */
};

struct cpl_options {
    struct cpl_sources sources;
    struct cpl_option_value values[CPL_OPTION_COUNT];
};

const struct cpl_option_spec *cpl_option_spec(enum cpl_option_id id);
const char *cpl_option_type_name(enum cpl_option_type type);

/* Legal values for people, "1 ... 65536"; "" where a rule knows them. */
enum { CPL_OPTION_VALUES_BYTES = 160 };
const char *cpl_option_values(const struct cpl_option_spec *spec,
                              char text[CPL_OPTION_VALUES_BYTES]);

/* By name or synonym; CPL_OPTION_COUNT if there is no such option. */
enum cpl_option_id cpl_option_find(const char *name);

/* Whether a name is one of an option's synonyms that are out of use. */
bool cpl_option_deprecated(enum cpl_option_id id, const char *name);

/* The name nearest to one that is unknown, NULL if none is near. */
const char *cpl_option_nearest(const char *name);

/*
 * Fills in values and defaults. The host's settings must outlive the options. On success
 * cpl_options_fini gives memory back.
 * Errors: ARGUMENT (a NULL string, a file that cannot be read), MEMORY.
 */
enum cpl_status cpl_options_init(struct cpl_options *options, const struct cpl_host_settings *host,
                                 struct cpl_error *error);
void cpl_options_fini(struct cpl_options *options);

/* Tells where every value comes from that is not the default, a line each. */
void cpl_options_log(const struct cpl_options *options, const struct cpl_log *log);

#endif
