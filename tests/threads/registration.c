/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registration: names, values and layouts of options, and what holds for all rules: their order, and
 * that they are silent about what another one has objected to.
 */
#include <string.h>

#include "threads/findings.h"

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

#define WITHOUT "sequence.parallel_without_tp"

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

int main(void)
{
    FINDINGS_TEST_ALL(values)
    FINDINGS_TEST_ALL(names)
    FINDINGS_TEST_ALL(booleans)
    FINDINGS_TEST_ALL(together)
    test_hostless();
    return tap_end();
}
