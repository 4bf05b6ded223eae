/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registration: every rule fires where it must and is silent beside it, all findings come in one
 * pass in the order of the rules, and an error means no context.
 */
#include <stdio.h>
#include <string.h>

#include "threads/host.h"

enum { SETTINGS_MOST = 9, FINDINGS_MOST = 10 };

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
    const struct check *check;
    pthread_t thread;
    int32_t count;
    char first[600]; /* message of the first finding */
    int32_t logged;  /* errors */
};

static void check_record(const struct seen *seen, const struct cplayout_diagnostic *diagnostic)
{
    CHECK(pthread_equal(pthread_self(), seen->thread), "a finding on another thread");
    CHECK(diagnostic->size == sizeof(*diagnostic) && diagnostic->reserved == 0,
          "the record's size is %d", (int)diagnostic->size);
    CHECK(diagnostic->severity == CPLAYOUT_SEVERITY_ERROR, "severity %d", diagnostic->severity);
    CHECK(diagnostic->code != NULL && diagnostic->option != NULL && diagnostic->message != NULL &&
              diagnostic->hint != NULL,
          "a string is NULL");
}

static void see(void *self, const struct cplayout_diagnostic *diagnostic)
{
    struct seen *const seen = self;
    const struct finding *const expected = &seen->check->expected[seen->count];

    check_record(seen, diagnostic);
    if (seen->count++ == 0) {
        (void)snprintf(seen->first, sizeof(seen->first), "%s", diagnostic->message);
    }
    if (!CHECK(seen->count < FINDINGS_MOST && expected->code != NULL, "unexpected: %s: %s: %s",
               diagnostic->code, diagnostic->option, diagnostic->message)) {
        seen->count = 0; /* there is room no more */
        return;
    }
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

    seen->logged += level == CPLAYOUT_LOG_ERROR;
    CHECK(strchr(message, '\n') == NULL, "a line feed in the log: '%s'", message);
}

/* ---- Registering ---------------------------------------------------------------------------- */

static int32_t expected_count(const struct check *check)
{
    int32_t count = 0;

    while (check->expected[count].code != NULL) {
        count++;
    }
    return count;
}

static int32_t create(const struct check *check, struct seen *seen,
                      struct cplayout_local_group *group, struct cplayout_error *error)
{
    struct cplayout_context *context = NULL;
    struct cplayout_host record = host_record();
    struct cplayout_create_args args = {
        .size = sizeof(args),
        .host = &record,
        .options = check->settings,
        .diagnose = see,
        .diagnose_self = seen,
    };
    int32_t status;

    record.log = count_line;
    record.log_self = seen;
    record.local_group = group;
    record.ranks = check->group;
    while (args.option_count < SETTINGS_MOST && args.options[args.option_count].name != NULL) {
        args.option_count++;
    }
    status = host_core()->create(&args, &context, error);
    CHECK((context != NULL) == (status == CPLAYOUT_OK), "status %d and %s context", status,
          context != NULL ? "a" : "no");
    host_core()->destroy(context);
    return status;
}

static void check_outcome(const struct seen *seen, int32_t status,
                          const struct cplayout_error *error)
{
    const struct finding *const first = seen->check->expected;
    const int32_t expected = expected_count(seen->check);

    CHECK(seen->count == expected, "%d findings, not %d", seen->count, expected);
    CHECK(seen->logged == expected, "%d lines in the log for %d findings", seen->logged, expected);
    if (expected == 0) {
        CHECK(status == CPLAYOUT_OK, "status %d: %s", status, error->message);
        return;
    }
    CHECK(status == CPLAYOUT_ERROR_CONFIGURATION && error->status == status, "status %d: %s",
          status, error->message);
    CHECK(strstr(error->message, first->code) != NULL && strcmp(error->field, first->option) == 0 &&
              strstr(error->message, seen->first) != NULL,
          "the record holds '%s' of '%s', the first finding is '%s'", error->message, error->field,
          seen->first);
}

static void test_check(const struct check *check)
{
    struct seen seen = {.check = check, .thread = pthread_self()};
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_local_group *group = NULL;
    const struct cplayout_host record = host_record();

    tap_test("%s", check->name);
    if (check->group > 0) {
        tap_require(host_core()->local_group_create(&record, check->group, &group, NULL) ==
                        CPLAYOUT_OK,
                    "no group");
    }
    check_outcome(&seen, create(check, &seen, group, &error), &error);
    host_core()->local_group_destroy(group);
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
      {TIMEOUT, "600"}},
     {{NULL}}},
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
    {"pattern.symbol: a stage border",
     0,
     {{PATTERN, "M*|M*"}},
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
     {{"group.size", CP, "2 ranks but context_parallel_size is 4", "2"}}},
    {"group.size: the default P = 1 in a group of 2",
     2,
     {{NULL}},
     {{"group.size", CP, "2 ranks but context_parallel_size is 1", "2"}}},
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

#define TEST_ALL(checks)                                                \
    for (size_t i = 0; i < sizeof(checks) / sizeof((checks)[0]); i++) { \
        test_check(&(checks)[i]);                                       \
    }

int main(void)
{
    TEST_ALL(values)
    TEST_ALL(names)
    TEST_ALL(sizes)
    TEST_ALL(together)
    TEST_ALL(cases)
    return tap_end();
}
