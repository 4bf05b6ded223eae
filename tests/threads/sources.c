/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where options come from: the host's value before the environment's, that before the file's, that
 * before the default. The source of every value that is not the default is logged once, and findings
 * name it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "threads/host.h"

enum { LINES_MOST = 16, LINE_BYTES = 600 };

static char folder[] = "/tmp/cplayout-sources-XXXXXX";
static char conf[sizeof(folder) + 16];

/* What one registration said. */
struct said {
    char lines[LINES_MOST][LINE_BYTES]; /* of the log, as "level message" */
    int32_t count;
    struct cplayout_error error;
    char option[64]; /* of the last finding, and its code, value and origin */
    char code[64];
    char value[64];
    char origin[200];
    int32_t findings;
};

static void add_line(void *self, int32_t level, const char *message)
{
    struct said *const said = self;

    if (said->count < LINES_MOST) {
        (void)snprintf(said->lines[said->count++], LINE_BYTES, "%d %s", level, message);
    }
}

static void add_finding(void *self, const struct cplayout_diagnostic *diagnostic)
{
    struct said *const said = self;

    said->findings++;
    (void)snprintf(said->option, sizeof(said->option), "%s", diagnostic->option);
    (void)snprintf(said->code, sizeof(said->code), "%s", diagnostic->code);
    (void)snprintf(said->value, sizeof(said->value), "%s", diagnostic->value);
    (void)snprintf(said->origin, sizeof(said->origin), "%s", diagnostic->origin);
}

/* Registers one rank with at most one option of the host. */
static int32_t enrol(const char *name, const char *value, struct said *said)
{
    const struct cplayout_option option = {name, value};
    struct cplayout_host record = host_record();
    struct cplayout_create_args args = {
        .size = sizeof(args),
        .host = &record,
        .options = &option,
        .option_count = name != NULL,
        .diagnose = add_finding,
        .diagnose_self = said,
    };
    struct cplayout_context *context = NULL;
    int32_t status;

    *said = (struct said){.error = {.size = sizeof(said->error)}};
    record.log = add_line;
    record.log_self = said;
    record.log_level = CPLAYOUT_LOG_INFO;
    status = host_core()->create(&args, &context, &said->error);
    host_core()->destroy(context);
    return status;
}

static int32_t lines_with(const struct said *said, const char *text)
{
    int32_t count = 0;

    for (int32_t i = 0; i < said->count; i++) {
        count += strstr(said->lines[i], text) != NULL;
    }
    return count;
}

/* Writes the file and names it. */
static void write_file(const char *content, size_t bytes)
{
    FILE *const file = fopen(conf, "wb");

    tap_require(file != NULL && fwrite(content, 1, bytes, file) == bytes && fclose(file) == 0,
                "cannot write %s", conf);
    (void)setenv("CPLAYOUT_CONF", conf, 1);
}

static void write_text(const char *text)
{
    write_file(text, strlen(text));
}

/* ---- Precedence ------------------------------------------------------------------------------ */

static void test_precedence(void)
{
    struct said said;
    char origin[sizeof(conf) + 16];

    tap_test("host, environment, file, default");
    (void)snprintf(origin, sizeof(origin), "(%s:2)", conf);
    CHECK(enrol(NULL, NULL, &said) == CPLAYOUT_OK && lines_with(&said, "seq_length") == 0,
          "the default is logged");
    write_text("# lengths\nseq-length = 32 # tokens\n");
    CHECK(enrol(NULL, NULL, &said) == CPLAYOUT_OK && lines_with(&said, "seq_length = '32'") == 1 &&
              lines_with(&said, origin) == 1,
          "of the file: '%s'", said.lines[0]);
    (void)setenv("CPLAYOUT_SEQ_LENGTH", "16", 1);
    CHECK(enrol(NULL, NULL, &said) == CPLAYOUT_OK &&
              lines_with(&said, "seq_length = '16' (CPLAYOUT_SEQ_LENGTH)") == 1 &&
              lines_with(&said, "seq_length") == 1,
          "of the environment: '%s'", said.lines[0]);
    CHECK(enrol("seq_length", "8", &said) == CPLAYOUT_OK &&
              lines_with(&said, "seq_length = '8' (host)") == 1 &&
              lines_with(&said, "seq_length") == 1,
          "of the host: '%s'", said.lines[0]);
    CHECK(enrol("seq_length", "0", &said) == CPLAYOUT_OK && lines_with(&said, "seq_length") == 0,
          "the host's default hides the others: '%s'", said.lines[0]);
    (void)setenv("CPLAYOUT_SEQ_LENGTH", "", 1);
    CHECK(enrol(NULL, NULL, &said) == CPLAYOUT_OK && lines_with(&said, "seq_length = '32'") == 1,
          "an empty variable is none: '%s'", said.lines[0]);
    (void)unsetenv("CPLAYOUT_SEQ_LENGTH");
    (void)setenv("CPLAYOUT_CONF", "", 1);
    CHECK(enrol(NULL, NULL, &said) == CPLAYOUT_OK && lines_with(&said, "seq_length") == 0,
          "an empty name is no file: '%s'", said.lines[0]);
}

/* A weaker source's wrong value is hidden; where it counts, the finding says where it is. */
static void test_findings(void)
{
    struct said said;
    char origin[sizeof(conf) + 16];

    tap_test("findings name the source");
    (void)snprintf(origin, sizeof(origin), "%s:3", conf);
    write_text("\n\ntimeout_seconds=never\nnonsense = 1\n");
    CHECK(enrol("timeout_seconds", "5", &said) == CPLAYOUT_ERROR_CONFIGURATION &&
              said.findings == 1 && strcmp(said.option, "nonsense") == 0 &&
              strcmp(said.code, "option.unknown") == 0,
          "%d findings, last %s", said.findings, said.option);
    write_text("\n\ntimeout_seconds=never\n");
    CHECK(enrol(NULL, NULL, &said) == CPLAYOUT_ERROR_CONFIGURATION && said.findings == 1 &&
              strcmp(said.origin, origin) == 0 && strcmp(said.value, "never") == 0,
          "%d findings, of %s", said.findings, said.origin);
    (void)setenv("CPLAYOUT_TIMEOUT_SECONDS", "ever", 1);
    CHECK(enrol(NULL, NULL, &said) == CPLAYOUT_ERROR_CONFIGURATION && said.findings == 1 &&
              strcmp(said.origin, "CPLAYOUT_TIMEOUT_SECONDS") == 0 &&
              strcmp(said.value, "ever") == 0,
          "%d findings, of %s", said.findings, said.origin);
    (void)unsetenv("CPLAYOUT_TIMEOUT_SECONDS");
    (void)unsetenv("CPLAYOUT_CONF");
}

static void test_variables(void)
{
    struct said said;

    tap_test("variable.unknown is a warning with the nearest name");
    (void)setenv("CPLAYOUT_SEQ_LENGHT", "8", 1);
    CHECK(enrol(NULL, NULL, &said) == CPLAYOUT_OK && said.findings == 1 &&
              strcmp(said.code, "variable.unknown") == 0 &&
              strcmp(said.option, "CPLAYOUT_SEQ_LENGHT") == 0 &&
              lines_with(&said, "CPLAYOUT_SEQ_LENGTH") == 1,
          "%d findings, '%s'", said.findings, said.lines[0]);
    (void)unsetenv("CPLAYOUT_SEQ_LENGHT");
    (void)setenv("CPLAYOUTSEQ_LENGTH", "8", 1);
    CHECK(enrol(NULL, NULL, &said) == CPLAYOUT_OK && said.findings == 0, "not ours: %s",
          said.option);
    (void)unsetenv("CPLAYOUTSEQ_LENGTH");
    (void)setenv("CPLAYOUT_HYBRID_OVERRIDE_PATTERN", "M*", 1);
    CHECK(enrol(NULL, NULL, &said) == CPLAYOUT_OK && said.findings == 1 &&
              strcmp(said.code, "option.deprecated") == 0,
          "a synonym as a variable: %d findings, %s", said.findings, said.code);
    (void)unsetenv("CPLAYOUT_HYBRID_OVERRIDE_PATTERN");
    (void)setenv("CPLAYOUT_DYNAMIC_CONTEXT_PARALLEL", "maybe", 1);
    CHECK(enrol(NULL, NULL, &said) == CPLAYOUT_ERROR_CONFIGURATION &&
              strcmp(said.option, "hybrid_context_parallel") == 0,
          "findings name the option: %s", said.option);
    (void)unsetenv("CPLAYOUT_DYNAMIC_CONTEXT_PARALLEL");
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Refused with a reason, before any rule. */
static void refuse(const char *text)
{
    struct said said;
    const int32_t status = enrol(NULL, NULL, &said);

    CHECK(status == CPLAYOUT_ERROR_ARGUMENT && said.findings == 0 &&
              strcmp(said.error.field, "CPLAYOUT_CONF") == 0,
          "status %d, field '%s': %s", status, said.error.field, said.error.message);
    CHECK(strstr(said.error.message, text) != NULL, "'%s' is not in '%s'", text,
          said.error.message);
}

static void test_lines(void)
{
    struct said said;

    tap_test("lines of a file");
    write_text("");
    CHECK(enrol(NULL, NULL, &said) == CPLAYOUT_OK, "an empty file: %s", said.error.message);
    write_text("\r\n  # only a comment\r\n\t seq-length\t=  24  \r\npad_label=-1");
    CHECK(enrol(NULL, NULL, &said) == CPLAYOUT_OK && lines_with(&said, "seq_length = '24'") == 1 &&
              lines_with(&said, "pad_label = '-1'") == 1,
          "blanks, and no line feed at the end: %s", said.error.message);
    write_text("seq_length = 8\nseq_length = 16\n");
    CHECK(enrol(NULL, NULL, &said) == CPLAYOUT_ERROR_CONFIGURATION &&
              strcmp(said.code, "option.type") == 0,
          "given twice: %s", said.code);
    write_text("boundary_cp_layout = \n");
    CHECK(enrol(NULL, NULL, &said) == CPLAYOUT_ERROR_CONFIGURATION &&
              strcmp(said.code, "layout.unknown") == 0,
          "a value of nothing: %s", said.code);
    write_text("seq_length = 8\nseq_length 16\n");
    refuse(":2: there is no '='");
    write_text("= 16\n");
    refuse(":1: there is no name");
    write_text("seq length = 16\n");
    refuse(":1: names have letters");
    write_file("seq_length = 8\0\n", 16);
    refuse(":1: it has a NUL byte");
}

static void test_files(void)
{
    static char large[(1 << 20) + 1];
    struct said said;

    tap_test("files that cannot be read");
    memset(large, '#', sizeof(large));
    write_file(large, sizeof(large) - 1);
    CHECK(enrol(NULL, NULL, &said) == CPLAYOUT_OK, "1 MiB: %s", said.error.message);
    write_file(large, sizeof(large));
    refuse("above 1 MiB");
    (void)unlink(conf);
    refuse("No such file");
    tap_require(mkfifo(conf, 0600) == 0, "cannot make a pipe");
    refuse("no regular file");
    (void)unlink(conf);
    (void)setenv("CPLAYOUT_CONF", folder, 1);
    refuse("no regular file");
    (void)setenv("CPLAYOUT_CONF", "/dev/zero", 1);
    refuse("no regular file");
    (void)unsetenv("CPLAYOUT_CONF");
}

/* Bytes of any kind: an answer, and never anything but these three. */
static void test_noise(void)
{
    static const char bytes[] = "seq_length=#\n -8\r\t\"'\\\x80\xff";
    uint32_t state = 1;

    tap_test("files of random bytes");
    for (int i = 0; i < 2000; i++) {
        char content[200];
        struct said said;
        int32_t status;

        for (size_t k = 0; k < sizeof(content); k++) {
            state = state * 1664525 + 1013904223;
            content[k] = bytes[(state >> 16) % sizeof(bytes)];
        }
        write_file(content, (state >> 8) % sizeof(content));
        status = enrol(NULL, NULL, &said);
        CHECK(status == CPLAYOUT_OK || status == CPLAYOUT_ERROR_ARGUMENT ||
                  status == CPLAYOUT_ERROR_CONFIGURATION,
              "status %d: %s", status, said.error.message);
    }
    (void)unsetenv("CPLAYOUT_CONF");
}

int main(void)
{
    tap_require(mkdtemp(folder) != NULL, "cannot make a folder");
    (void)snprintf(conf, sizeof(conf), "%s/run.conf", folder);
    test_precedence();
    test_findings();
    test_variables();
    test_lines();
    test_files();
    test_noise();
    (void)unlink(conf);
    (void)rmdir(folder);
    return tap_end();
}
