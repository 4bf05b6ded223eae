/* SPDX-License-Identifier: Apache-2.0 */
#include "threads/findings.h"

#include <stdio.h>
#include <string.h>

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

static int32_t severity_of(const struct finding *finding)
{
    static const char *const warnings[] = {
        "receiver.normalised",
        "linear.unused",
        "sequence.parallel_without_tp",
        "balancing.overridden",
        "balancing.ignored",
        "policy.padding_in_moe",
        "fp8.rows",
        "verify.no_channel",
        "option.deprecated",
        "variable.unknown",
    };

    for (size_t i = 0; i < sizeof(warnings) / sizeof(warnings[0]); i++) {
        if (strcmp(finding->code, warnings[i]) == 0) {
            return CPLAYOUT_SEVERITY_WARNING;
        }
    }
    return CPLAYOUT_SEVERITY_ERROR;
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

void findings_test(const struct check *check)
{
    struct roll roll = {check, NULL};
    const struct cplayout_host record = host_record();

    tap_test("%s", check->name);
    if (check->group > 0) {
        tap_require(host_core()->local_group_create(&record, check->group, &roll.group, NULL) ==
                        CPLAYOUT_OK,
                    "no group");
    }
    if (check->group != CHECK_ONLY) {
        tap_ranks(check->group > 0 ? check->group : 1, run_rank, &roll);
    }
    host_core()->local_group_destroy(roll.group);
    check_without_group(check);
}
