/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registration: every rule fires where it must and is silent beside it, all findings come in one
 * pass in the order of the rules, and an error means no context. What `check` finds is what `create`
 * finds, but for rules that need a group.
 */
#include <stdio.h>
#include <string.h>

#include "threads/host.h"

enum { SETTINGS_MOST = 12, FINDINGS_MOST = 10 };

/* ---- Findings ------------------------------------------------------------------------------- */

struct finding {
    const char *code;
    const char *option;
    const char *message; /* a part of it */
    const char *hint;    /* a part of it */
};

/* One registration and what must come of it. */
struct check {
    const char *name;
    int32_t group; /* ranks of the group; 0: none */
    struct cplayout_option settings[SETTINGS_MOST];
    struct finding expected[FINDINGS_MOST];
};

/* What has come so far. */
struct seen {
    const struct finding *expected;
    pthread_t thread;
    int32_t count;
    char first[600]; /* message of the first error */
    int32_t errors;  /* in the log */
    int32_t warnings;
};

static void check_record(const struct seen *seen, const struct cplayout_diagnostic *diagnostic)
{
    CHECK(pthread_equal(pthread_self(), seen->thread), "a finding on another thread");
    CHECK(diagnostic->size == sizeof(*diagnostic) && diagnostic->reserved == 0,
          "the record's size is %d", (int)diagnostic->size);
    CHECK(diagnostic->code != NULL && diagnostic->option != NULL && diagnostic->message != NULL &&
              diagnostic->hint != NULL,
          "a string is NULL");
}

/* The other findings are errors. */
#define WITHOUT "sequence.parallel_without_tp"

static int32_t severity_of(const struct finding *finding)
{
    return strcmp(finding->code, WITHOUT) == 0 ? CPLAYOUT_SEVERITY_WARNING
                                               : CPLAYOUT_SEVERITY_ERROR;
}

static void see(void *self, const struct cplayout_diagnostic *diagnostic)
{
    struct seen *const seen = self;
    const struct finding *const expected = &seen->expected[seen->count];

    check_record(seen, diagnostic);
    if (diagnostic->severity == CPLAYOUT_SEVERITY_ERROR && seen->first[0] == '\0') {
        (void)snprintf(seen->first, sizeof(seen->first), "%s", diagnostic->message);
    }
    if (!CHECK(++seen->count < FINDINGS_MOST && expected->code != NULL, "unexpected: %s: %s: %s",
               diagnostic->code, diagnostic->option, diagnostic->message)) {
        seen->count = 0; /* there is room no more */
        return;
    }
    CHECK(diagnostic->severity == severity_of(expected), "%s has severity %d", diagnostic->code,
          diagnostic->severity);
    CHECK(strcmp(diagnostic->code, expected->code) == 0 &&
              strcmp(diagnostic->option, expected->option) == 0,
          "finding %d is %s: %s: %s, not %s: %s", seen->count, diagnostic->code, diagnostic->option,
          diagnostic->message, expected->code, expected->option);
    CHECK(strstr(diagnostic->message, expected->message) != NULL, "'%s' is not in '%s'",
          expected->message, diagnostic->message);
    CHECK(strstr(diagnostic->hint, expected->hint) != NULL, "'%s' is not in the hint '%s'",
          expected->hint, diagnostic->hint);
}

static void count_line(void *self, int32_t level, const char *message)
{
    struct seen *const seen = self;

    seen->errors += level == CPLAYOUT_LOG_ERROR;
    seen->warnings += level == CPLAYOUT_LOG_WARNING;
    CHECK(strchr(message, '\n') == NULL, "a line feed in the log: '%s'", message);
}

/* ---- Registering ---------------------------------------------------------------------------- */

static int32_t expected_count(const struct finding *expected, int32_t severity)
{
    int32_t count = 0;

    for (; expected->code != NULL; expected++) {
        count += severity_of(expected) == severity;
    }
    return count;
}

static void fill_args(const struct check *check, struct seen *seen, struct cplayout_host *record,
                      struct cplayout_create_args *args)
{
    record->log = count_line;
    record->log_self = seen;
    *args = (struct cplayout_create_args){
        .size = sizeof(*args),
        .host = record,
        .options = check->settings,
        .diagnose = see,
        .diagnose_self = seen,
    };
    while (args->option_count < SETTINGS_MOST && args->options[args->option_count].name != NULL) {
        args->option_count++;
    }
}

static int32_t create(const struct check *check, struct seen *seen,
                      const struct cplayout_host *place, struct cplayout_error *error)
{
    struct cplayout_context *context = NULL;
    struct cplayout_host record = *place;
    struct cplayout_create_args args;
    int32_t status;

    fill_args(check, seen, &record, &args);
    status = host_core()->create(&args, &context, error);
    CHECK((context != NULL) == (status == CPLAYOUT_OK), "status %d and %s context", status,
          context != NULL ? "a" : "no");
    host_core()->destroy(context);
    return status;
}

static const struct finding *first_error(const struct finding *expected)
{
    while (expected->code != NULL && severity_of(expected) != CPLAYOUT_SEVERITY_ERROR) {
        expected++;
    }
    return expected;
}

/* The findings are there, and the first error is in the record. */
static void check_findings(const struct seen *seen, int32_t status,
                           const struct cplayout_error *error)
{
    const struct finding *const first = first_error(seen->expected);
    const int32_t errors = expected_count(seen->expected, CPLAYOUT_SEVERITY_ERROR);
    const int32_t warnings = expected_count(seen->expected, CPLAYOUT_SEVERITY_WARNING);

    CHECK(seen->count == errors + warnings, "%d findings, not %d", seen->count, errors + warnings);
    CHECK(seen->warnings == warnings, "%d warnings in the log, not %d", seen->warnings, warnings);
    if (errors == 0) {
        return;
    }
    CHECK(seen->errors == errors, "%d errors in the log for %d findings", seen->errors, errors);
    CHECK(status == CPLAYOUT_ERROR_CONFIGURATION && error->status == status, "status %d: %s",
          status, error->message);
    CHECK(strstr(error->message, first->code) != NULL && strcmp(error->field, first->option) == 0 &&
              strstr(error->message, seen->first) != NULL,
          "the record holds '%s' of '%s', the first error is '%s'", error->message, error->field,
          seen->first);
}

/* Without an error create succeeds. */
static void check_outcome(const struct seen *seen, int32_t status,
                          const struct cplayout_error *error)
{
    check_findings(seen, status, error);
    CHECK(first_error(seen->expected)->code != NULL || status == CPLAYOUT_OK, "status %d: %s",
          status, error->message);
}

/* `check` finds the same but for the group's rules. */
static void check_without_group(const struct check *check)
{
    struct finding expected[FINDINGS_MOST] = {{.code = NULL}};
    struct seen seen = {.expected = expected, .thread = pthread_self()};
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_host record = host_record();
    struct cplayout_create_args args;
    int32_t count = 0;

    for (int32_t i = 0; check->expected[i].code != NULL; i++) {
        if (strncmp(check->expected[i].code, "group.", 6) != 0) {
            expected[count++] = check->expected[i];
        }
    }
    fill_args(check, &seen, &record, &args);
    check_outcome(&seen, host_core()->check(&args, &error), &error);
}

/* A registration of all ranks, who say and find the same. */
struct roll {
    const struct check *check;
    struct cplayout_local_group *group;
};

static void run_rank(void *self, int32_t rank)
{
    const struct roll *const roll = self;
    struct seen seen = {.expected = roll->check->expected, .thread = pthread_self()};
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_host record = host_record();

    record.local_group = roll->group;
    record.rank = rank;
    record.ranks = roll->check->group;
    check_outcome(&seen, create(roll->check, &seen, &record, &error), &error);
}

static void test_check(const struct check *check)
{
    struct roll roll = {check, NULL};
    const struct cplayout_host record = host_record();

    tap_test("%s", check->name);
    if (check->group > 0) {
        tap_require(host_core()->local_group_create(&record, check->group, &roll.group, NULL) ==
                        CPLAYOUT_OK,
                    "no group");
    }
    tap_ranks(check->group > 0 ? check->group : 1, run_rank, &roll);
    host_core()->local_group_destroy(roll.group);
    check_without_group(check);
}

/* ---- Cases ---------------------------------------------------------------------------------- */

#define CP        "context_parallel_size"
#define LINEAR    "linear_cp_layout"
#define ATTENTION "attention_cp_layout"
#define BOUNDARY  "boundary_cp_layout"
#define ACCEPTS   "attention_accepts"
#define CHAIN     "linear_chain"
#define PATTERN   "hybrid_layer_pattern"
#define LENGTH    "seq_length"
#define TIMEOUT   "timeout_seconds"
#define TP        "tensor_model_parallel_size"
#define SPLIT     "sequence_parallel"
#define FORMAT    "qkv_format"
#define PAD_TOKEN "pad_token_id"
#define PAD_LABEL "pad_label"

#define LEGAL "legal: true, false"

#define LAYOUTS "layouts: contiguous, mirror, zigzag"

static const struct check values[] = {
    {"option.unknown: a name that is nearly one",
     0,
     {{"linear_cp_layou", "zigzag"}},
     {{"option.unknown", "linear_cp_layou", "'linear_cp_layou'", "'linear_cp_layout'"}}},
    {"option.unknown: a name that is nothing",
     0,
     {{"zzzzzzzz", "1"}},
     {{"option.unknown", "zzzzzzzz", "'zzzzzzzz'", ""}}},
    {"option.unknown: an empty name, and upper case",
     0,
     {{"", "1"}, {"SEQ_LENGTH", "8"}},
     {{"option.unknown", "", "''", ""}, {"option.unknown", "SEQ_LENGTH", "'SEQ_LENGTH'", ""}}},
    {"option.unknown is silent for every known name",
     0,
     {{CP, "1"},
      {LINEAR, "zigzag"},
      {ATTENTION, "zigzag"},
      {BOUNDARY, "zigzag"},
      {ACCEPTS, "zigzag"},
      {CHAIN, "rank"},
      {PATTERN, ""},
      {LENGTH, "0"},
      {TIMEOUT, "600"},
      {TP, "1"},
      {SPLIT, "false"},
      {FORMAT, "sbhd"}},
     {{NULL}}},
    {"paddings of either sign", 0, {{PAD_TOKEN, "-7"}, {PAD_LABEL, "151643"}}, {{NULL}}},
    {"option.type: paddings that are no integers",
     0,
     {{PAD_TOKEN, "eos"}, {PAD_LABEL, "-1.5"}},
     {{"option.type", PAD_TOKEN, "'eos'", ""}, {"option.type", PAD_LABEL, "'-1.5'", ""}}},
    {"option.type: P = 0", 0, {{CP, "0"}}, {{"option.type", CP, "'0'", "1 ... 65536"}}},
    {"option.type: P = 65537", 0, {{CP, "65537"}}, {{"option.type", CP, "'65537'", "65536"}}},
    {"option.type: P is a word", 0, {{CP, "four"}}, {{"option.type", CP, "'four'", ""}}},
    {"option.type: P is empty", 0, {{CP, ""}}, {{"option.type", CP, "''", ""}}},
    {"option.type: P with a rest", 0, {{CP, "2-1"}}, {{"option.type", CP, "'2-1'", ""}}},
    {"option.type: P beyond 64 bits",
     0,
     {{CP, "99999999999999999999"}},
     {{"option.type", CP, "99999999999999999999", ""}}},
    {"option.type: length -1", 0, {{LENGTH, "-1"}}, {{"option.type", LENGTH, "'-1'", ""}}},
    {"option.type: length 2^32",
     0,
     {{LENGTH, "4294967296"}},
     {{"option.type", LENGTH, "'4294967296'", "4294967295"}}},
    {"length 2^32-1 is legal", 0, {{LENGTH, "4294967295"}}, {{NULL}}},
    {"option.type: timeout 0", 0, {{TIMEOUT, "0"}}, {{"option.type", TIMEOUT, "'0'", "above 0"}}},
    {"option.type: timeout -1", 0, {{TIMEOUT, "-1"}}, {{"option.type", TIMEOUT, "'-1'", ""}}},
    {"option.type: timeout nan", 0, {{TIMEOUT, "nan"}}, {{"option.type", TIMEOUT, "'nan'", ""}}},
    {"option.type: timeout 1e", 0, {{TIMEOUT, "1e"}}, {{"option.type", TIMEOUT, "'1e'", ""}}},
    {"option.type: timeout above its range",
     0,
     {{TIMEOUT, "1000001"}},
     {{"option.type", TIMEOUT, "'1000001'", ""}}},
    {"a timeout of 0.001 is legal", 0, {{TIMEOUT, "0.001"}}, {{NULL}}},
    {"a timeout of 1000000 is legal", 0, {{TIMEOUT, "1000000"}}, {{NULL}}},
    {"option.type: a choice that is none",
     0,
     {{ACCEPTS, "all"}},
     {{"option.type", ACCEPTS, "'all'", "zigzag, any"}}},
    {"option.type: the begin of a choice",
     0,
     {{ACCEPTS, "zig"}},
     {{"option.type", ACCEPTS, "'zig'", ""}}},
    {"option.type: an empty choice", 0, {{CHAIN, ""}}, {{"option.type", CHAIN, "''", "rank"}}},
    {"option.type: two choices at once",
     0,
     {{CHAIN, "rank, table"}, {ACCEPTS, "zigzag, any"}},
     {{"option.type", ACCEPTS, "'zigzag, any'", ""}, {"option.type", CHAIN, "'rank, table'", ""}}},
    {"every choice is legal", 0, {{ACCEPTS, "any"}, {CHAIN, "table"}}, {{NULL}}},
    {"option.type: given twice with different values",
     0,
     {{LENGTH, "8"}, {LENGTH, "16"}},
     {{"option.type", LENGTH, "given", "once"}}},
    {"option.type: given as a, b and b",
     0,
     {{LENGTH, "8"}, {LENGTH, "16"}, {LENGTH, "16"}},
     {{"option.type", LENGTH, "given", "once"}}},
    {"given twice with the same value is legal", 0, {{LENGTH, "8"}, {LENGTH, "8"}}, {{NULL}}},
    {"option.type: the same wrong value twice",
     0,
     {{LENGTH, "x"}, {LENGTH, "x"}},
     {{"option.type", LENGTH, "not a legal integer", "legal"}}},
};

static const struct check names[] = {
    {"layout.unknown: linear",
     0,
     {{LINEAR, "ring"}},
     {{"layout.unknown", LINEAR, "'ring'", LAYOUTS}}},
    {"layout.unknown: attention",
     0,
     {{ATTENTION, "Zigzag"}},
     {{"layout.unknown", ATTENTION, "'Zigzag'", LAYOUTS}}},
    {"layout.unknown: boundary, empty",
     0,
     {{BOUNDARY, ""}},
     {{"layout.unknown", BOUNDARY, "''", LAYOUTS}}},
    {"layout.unknown: a role is no layout",
     0,
     {{BOUNDARY, "linear"}},
     {{"layout.unknown", BOUNDARY, "'linear'", LAYOUTS}}},
    {"layout.unknown: a value with a line feed",
     0,
     {{LINEAR, "zig\nzag"}},
     {{"layout.unknown", LINEAR, "zag", LAYOUTS}}},
    {"pattern.symbol: X",
     0,
     {{PATTERN, "M-X*"}},
     {{"pattern.symbol", PATTERN, "'X' at index 2", "symbols: "}}},
    {"pattern.symbol: a stage border inside a logical layer",
     0,
     {{PATTERN, "[M|*]"}},
     {{"pattern.symbol", PATTERN, "'|' at index 2", ""}}},
    {"pattern.symbol: a byte that cannot be printed",
     0,
     {{PATTERN, "M\x01"}},
     {{"pattern.symbol", PATTERN, "0x01 at index 1", ""}}},
    {"every symbol is legal", 0, {{PATTERN, "MGKL*+DCHW-E"}}, {{NULL}}},
};

static const struct check sizes[] = {
    {"group.size: P = 4 in a group of 2",
     2,
     {{CP, "4"}},
     {{"group.size", CP, "2 ranks but context_parallel_size is 4", "a group of 4 ranks"}}},
    {"group.size: the default P = 1 in a group of 2",
     2,
     {{NULL}},
     {{"group.size", CP, "2 ranks but context_parallel_size is 1", "a group of 1 rank,"}}},
    {"group.size is silent for P = 4 in a group of 4", 4, {{CP, "4"}}, {{NULL}}},
    {"attention.layout_unsupported: contiguous",
     2,
     {{CP, "2"}, {ATTENTION, "contiguous"}},
     {{"attention.layout_unsupported", ATTENTION, "'contiguous'", ACCEPTS}}},
    {"attention.layout_unsupported: mirror",
     2,
     {{CP, "2"}, {ATTENTION, "mirror"}},
     {{"attention.layout_unsupported", ATTENTION, "'mirror'", ACCEPTS}}},
    {"attention.layout_unsupported is silent where any fragments will do",
     2,
     {{CP, "2"}, {ATTENTION, "contiguous"}, {ACCEPTS, "any"}},
     {{NULL}}},
    {"attention.layout_unsupported is silent for zigzag",
     2,
     {{CP, "2"}, {ATTENTION, "zigzag"}, {LINEAR, "contiguous"}},
     {{NULL}}},
    {"linear.chain_unsupported: mirror",
     2,
     {{CP, "2"}, {LINEAR, "mirror"}},
     {{"linear.chain_unsupported", LINEAR, "'mirror'", CHAIN}}},
    {"linear.chain_unsupported is silent where the scan follows the chain",
     2,
     {{CP, "2"}, {LINEAR, "mirror"}, {CHAIN, "table"}},
     {{NULL}}},
    {"linear.chain_unsupported is silent for contiguous",
     2,
     {{CP, "2"}, {LINEAR, "contiguous"}, {CHAIN, "rank"}},
     {{NULL}}},
    {"linear.chain_unsupported is silent for a boundary in mirror",
     2,
     {{CP, "2"}, {LINEAR, "contiguous"}, {BOUNDARY, "mirror"}},
     {{NULL}}},
    {"sequence.indivisible: 12 in zigzag at P = 4",
     4,
     {{CP, "4"}, {LENGTH, "12"}},
     {{"sequence.indivisible", LENGTH, "12 is not a multiple of 8", "8 and 16"}}},
    {"sequence.indivisible is silent for 16", 4, {{CP, "4"}, {LENGTH, "16"}}, {{NULL}}},
    {"sequence.indivisible is silent for 0, unknown", 4, {{CP, "4"}, {LENGTH, "0"}}, {{NULL}}},
    {"sequence.indivisible is silent for 12 in contiguous",
     4,
     {{CP, "4"},
      {LENGTH, "12"},
      {LINEAR, "contiguous"},
      {ATTENTION, "contiguous"},
      {ACCEPTS, "any"}},
     {{NULL}}},
    {"sequence.indivisible: only the boundary is zigzag",
     4,
     {{CP, "4"},
      {LENGTH, "12"},
      {LINEAR, "contiguous"},
      {ATTENTION, "contiguous"},
      {ACCEPTS, "any"},
      {BOUNDARY, "zigzag"}},
     {{"sequence.indivisible", LENGTH, "12 is not a multiple of 8", "8 and 16"}}},
    {"sequence.indivisible: 10 in contiguous at P = 3",
     3,
     {{CP, "3"}, {LENGTH, "10"}, {LINEAR, "contiguous"}, {ATTENTION, "mirror"}, {ACCEPTS, "any"}},
     {{"sequence.indivisible", LENGTH, "10 is not a multiple of 3", "9 and 12"}}},
};

/* Booleans: a true one without tensor parallelism is a warning. */
static const struct check booleans[] = {
    {"sequence_parallel = true", 1, {{SPLIT, "true"}}, {{WITHOUT, SPLIT, "size is 1", TP}}},
    {"sequence_parallel = yes", 1, {{SPLIT, "yes"}}, {{WITHOUT, SPLIT, "size is 1", TP}}},
    {"sequence_parallel = on", 1, {{SPLIT, "on"}}, {{WITHOUT, SPLIT, "size is 1", TP}}},
    {"sequence_parallel = 1", 1, {{SPLIT, "1"}}, {{WITHOUT, SPLIT, "size is 1", TP}}},
    {"sequence_parallel = false", 1, {{SPLIT, "false"}}, {{NULL}}},
    {"sequence_parallel = no", 1, {{SPLIT, "no"}}, {{NULL}}},
    {"sequence_parallel = off", 1, {{SPLIT, "off"}}, {{NULL}}},
    {"sequence_parallel = 0", 1, {{SPLIT, "0"}}, {{NULL}}},
    {"sequence_parallel = True", 1, {{SPLIT, "True"}}, {{"option.type", SPLIT, "'True'", LEGAL}}},
    {"sequence_parallel = 2",
     1,
     {{SPLIT, "2"}},
     {{"option.type", SPLIT, "'2' is not a legal boolean", LEGAL}}},
    {"sequence_parallel = 01", 1, {{SPLIT, "01"}}, {{"option.type", SPLIT, "'01'", LEGAL}}},
    {"sequence_parallel = tru", 1, {{SPLIT, "tru"}}, {{"option.type", SPLIT, "'tru'", LEGAL}}},
    {"sequence_parallel = true with a blank",
     1,
     {{SPLIT, "true "}},
     {{"option.type", SPLIT, "'true '", LEGAL}}},
    {"sequence_parallel = nothing", 1, {{SPLIT, ""}}, {{"option.type", SPLIT, "''", LEGAL}}},
    {"sequence_parallel = true and false",
     1,
     {{SPLIT, "true"}, {SPLIT, "false"}},
     {{"option.type", SPLIT, "given", "once"}}},
};

/* T: rows are split over tensor-parallel ranks under sequence parallelism alone. */
static const struct check windows[] = {
    {"option.type: t = 0", 0, {{TP, "0"}}, {{"option.type", TP, "'0'", "1 ... 65536"}}},
    {"option.type: t = 65537", 0, {{TP, "65537"}}, {{"option.type", TP, "'65537'", ""}}},
    {"t = 4 without sequence parallelism splits nothing",
     2,
     {{CP, "2"}, {TP, "4"}, {LENGTH, "12"}},
     {{NULL}}},
    {"group.size: P = 2 and T = 2 in a group of 2",
     2,
     {{CP, "2"}, {TP, "2"}, {SPLIT, "on"}},
     {{"group.size", CP, "2 ranks but context_parallel_size is 2 and rows are split over 2 windows",
       "a group of 4 ranks"}}},
    {"group.size: T alone in a group of P",
     4,
     {{TP, "2"}, {SPLIT, "1"}},
     {{"group.size", CP, "4 ranks but context_parallel_size is 1", "a group of 2 ranks"}}},
    {"sequence.indivisible: 8 in zigzag at P = 2, T = 3",
     6,
     {{CP, "2"}, {TP, "3"}, {SPLIT, "true"}, {LENGTH, "8"}},
     {{"sequence.indivisible", LENGTH, "8 is not a multiple of 12", "12"}}},
    {"sequence.indivisible is silent for 12",
     6,
     {{CP, "2"}, {TP, "3"}, {SPLIT, "true"}, {LENGTH, "12"}},
     {{NULL}}},
    {"sequence.indivisible names T",
     6,
     {{CP, "2"}, {TP, "3"}, {SPLIT, "true"}, {LENGTH, "40"}},
     {{"sequence.indivisible", LENGTH, "P = 2 and T = 3", "36 and 48"}}},
    {"sequence.indivisible: windows count at P = 1 too",
     2,
     {{TP, "2"}, {SPLIT, "true"}, {LENGTH, "13"}},
     {{"sequence.indivisible", LENGTH, "13 is not a multiple of 2", "12 and 14"}}},
    {"no rule looks at T where t is wrong",
     2,
     {{CP, "4"}, {TP, "x"}, {SPLIT, "true"}, {LENGTH, "13"}},
     {{"option.type", TP, "'x'", ""}}},
    {"no rule looks at T where sequence_parallel is wrong",
     2,
     {{CP, "4"}, {TP, "2"}, {SPLIT, "x"}, {LENGTH, "13"}},
     {{"option.type", SPLIT, "'x'", LEGAL}}},
    {"a warning comes after the errors, and the record holds the error",
     2,
     {{CP, "2"}, {SPLIT, "true"}, {LENGTH, "13"}},
     {{"sequence.indivisible", LENGTH, "13", ""}, {WITHOUT, SPLIT, "", ""}}},
};

static const struct check formats[] = {
    {"qkv_format bshd", 2, {{CP, "2"}, {FORMAT, "bshd"}, {LENGTH, "8"}}, {{NULL}}},
    {"option.type: qkv_format",
     0,
     {{FORMAT, "THD"}},
     {{"option.type", FORMAT, "'THD'", "sbhd, bshd, thd"}}},
    {"sequence.indivisible fires for bshd",
     2,
     {{CP, "2"}, {FORMAT, "bshd"}, {LENGTH, "13"}},
     {{"sequence.indivisible", LENGTH, "13", "12 and 16"}}},
    {"sequence.indivisible is silent for thd",
     2,
     {{CP, "2"}, {FORMAT, "thd"}, {LENGTH, "13"}},
     {{NULL}}},
    {"thd at P = 1", 1, {{FORMAT, "thd"}}, {{NULL}}},
    {"thd and T = 2", 4, {{CP, "2"}, {TP, "2"}, {SPLIT, "true"}, {FORMAT, "thd"}}, {{NULL}}},
    {"no rule looks at a format that is wrong",
     2,
     {{CP, "2"}, {FORMAT, "x"}, {LENGTH, "13"}},
     {{"option.type", FORMAT, "'x'", ""}}},
};

static const struct check together[] = {
    {"P = 1 silences attention.*, linear.* and sequence.*",
     1,
     {{CP, "1"}, {ATTENTION, "contiguous"}, {LINEAR, "mirror"}, {LENGTH, "13"}},
     {{NULL}}},
    {"all findings come at once, in the order of the rules",
     2,
     {{LENGTH, "13"},
      {LINEAR, "mirror"},
      {ATTENTION, "contiguous"},
      {PATTERN, "M?"},
      {TIMEOUT, "0"},
      {CP, "4"},
      {"spec", "x"}},
     {{"option.unknown", "spec", "spec", ""},
      {"option.type", TIMEOUT, "'0'", ""},
      {"pattern.symbol", PATTERN, "'?' at index 1", ""},
      {"group.size", CP, "4", ""},
      {"attention.layout_unsupported", ATTENTION, "contiguous", ""},
      {"linear.chain_unsupported", LINEAR, "mirror", ""},
      {"sequence.indivisible", LENGTH, "13 is not a multiple of 4", "12 and 16"}}},
    {"findings of one rule come in the order of the options",
     0,
     {{BOUNDARY, "c"},
      {ATTENTION, "b"},
      {LINEAR, "a"},
      {TIMEOUT, "x"},
      {LENGTH, "x"},
      {CHAIN, "x"},
      {ACCEPTS, "x"}},
     {{"option.type", ACCEPTS, "", ""},
      {"option.type", CHAIN, "", ""},
      {"option.type", LENGTH, "", ""},
      {"option.type", TIMEOUT, "", ""},
      {"layout.unknown", LINEAR, "'a'", ""},
      {"layout.unknown", ATTENTION, "'b'", ""},
      {"layout.unknown", BOUNDARY, "'c'", ""}}},
    {"no rule looks at P where it is wrong",
     4,
     {{CP, "x"}, {ATTENTION, "contiguous"}, {LINEAR, "mirror"}, {LENGTH, "13"}},
     {{"option.type", CP, "'x'", ""}}},
    {"no rule looks at a layout that is unknown",
     4,
     {{CP, "4"}, {ATTENTION, "ring"}, {LENGTH, "13"}},
     {{"layout.unknown", ATTENTION, "'ring'", ""}}},
    {"no rule looks at a choice that is wrong",
     4,
     {{CP, "4"}, {ATTENTION, "contiguous"}, {ACCEPTS, "x"}, {LINEAR, "mirror"}, {CHAIN, "y"}},
     {{"option.type", ACCEPTS, "'x'", ""}, {"option.type", CHAIN, "'y'", ""}}},
    {"no rule looks at a layout that is given twice",
     4,
     {{CP, "4"}, {ATTENTION, "zigzag"}, {ATTENTION, "contiguous"}, {LENGTH, "13"}},
     {{"option.type", ATTENTION, "given", ""}}},
};

/* Public cases with the options and rules that exist. */
static const struct check cases[] = {
    {"case defaults", 0, {{NULL}}, {{NULL}}},
    {"case dual", 4, {{CP, "4"}, {LINEAR, "contiguous"}, {ATTENTION, "zigzag"}}, {{NULL}}},
    {"case unknown-layout-attention",
     0,
     {{ATTENTION, "ring"}},
     {{"layout.unknown", ATTENTION, "'ring'", LAYOUTS}}},
    {"case attention-contiguous",
     4,
     {{CP, "4"}, {ATTENTION, "contiguous"}, {LINEAR, "contiguous"}},
     {{"attention.layout_unsupported", ATTENTION, "'contiguous'", ""}}},
    {"case mirror-needs-chain",
     4,
     {{CP, "4"}, {LINEAR, "mirror"}},
     {{"linear.chain_unsupported", LINEAR, "'mirror'", ""}}},
    {"case seq-indivisible",
     4,
     {{CP, "4"}, {LENGTH, "1020"}},
     {{"sequence.indivisible", LENGTH, "1020 is not a multiple of 8", "1016 and 1024"}}},
};

/* ---- Check without a host -------------------------------------------------------------------- */

static void test_hostless(void)
{
    static const struct cplayout_option fine[] = {{CP, "64"}, {TP, "8"}, {SPLIT, "true"}};
    static const struct cplayout_option nameless[] = {{NULL, "1"}};
    struct cplayout_create_args args = {.size = sizeof(args)};
    struct cplayout_error error = {.size = sizeof(error)};

    tap_test("check needs no host, and refuses wrong arguments");
    CHECK(host_core()->check(&args, &error) == CPLAYOUT_OK, "no options: %s", error.message);
    args.options = fine;
    args.option_count = 3;
    CHECK(host_core()->check(&args, &error) == CPLAYOUT_OK, "512 ranks: %s", error.message);
    CHECK(host_core()->check(&args, NULL) == CPLAYOUT_OK, "no record");
    CHECK(host_core()->check(NULL, &error) == CPLAYOUT_ERROR_ARGUMENT &&
              strstr(error.message, "args") != NULL,
          "no arguments: %s", error.message);
    args.options = nameless;
    args.option_count = 1;
    CHECK(host_core()->check(&args, &error) == CPLAYOUT_ERROR_ARGUMENT &&
              strstr(error.message, "options[0]") != NULL,
          "no name: %s", error.message);
    args.options = NULL;
    CHECK(host_core()->check(&args, &error) == CPLAYOUT_ERROR_ARGUMENT &&
              strcmp(error.field, "options") == 0,
          "no options: %s", error.message);
}

#define TEST_ALL(checks)                                                \
    for (size_t i = 0; i < sizeof(checks) / sizeof((checks)[0]); i++) { \
        test_check(&(checks)[i]);                                       \
    }

int main(void)
{
    TEST_ALL(values)
    TEST_ALL(names)
    TEST_ALL(sizes)
    TEST_ALL(booleans)
    TEST_ALL(windows)
    TEST_ALL(formats)
    TEST_ALL(together)
    TEST_ALL(cases)
    test_hostless();
    return tap_end();
}
