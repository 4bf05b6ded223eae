/* SPDX-License-Identifier: Apache-2.0 */
#include "finding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { INDENT = 4, WINDOW_LEAST = 16, AROUND = 8 };

/* ---- Where ----------------------------------------------------------------------------------- */

static bool is_from(const struct cplayout_diagnostic *finding, const char *origin)
{
    return strcmp(finding->origin, origin) == 0;
}

/* Of the command line the plugin knows only that the host gave it. */
static const char *place_of(const struct cplayout_diagnostic *finding)
{
    return is_from(finding, "host") ? "command line" : finding->origin;
}

/* What stands before the value where it was given: "--seq-length ", "seq_length = ". */
static void write_lead(const struct cplayout_diagnostic *finding, char *lead, size_t bytes)
{
    const bool variable = strncmp(finding->origin, "CPLAYOUT_", 9) == 0;

    (void)snprintf(lead, bytes, "%s%.200s%s", is_from(finding, "host") ? "--" : "",
                   variable ? finding->origin : finding->option,
                   is_from(finding, "host") ? " "
                   : variable               ? "="
                                            : " = ");
    for (char *at = lead; is_from(finding, "host") && *at != '\0'; at++) {
        *at = *at == '_' ? '-' : *at;
    }
}

/* ---- The setting ------------------------------------------------------------------------------ */

/* A line of text with a part of it, in bytes. */
struct marked {
    const char *text;
    int length;
    int begin;
    int end;
};

/* Bytes that begin a character; the others do not take a column of their own. */
static int columns_of(const char *text, int length)
{
    int columns = 0;

    for (int i = 0; i < length; i++) {
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return columns;
}

/* Cuts at characters: moves back to where one begins. */
static int character_at(const char *text, int at)
{
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80) {
        at--;
    }
    return at;
}

/* Leaves what fits the room, with the part inside. */
static struct marked window_of(const char *value, const struct cplayout_diagnostic *finding,
                               int room)
{
    const int length = (int)strnlen(value, 1 << 20);
    const int begin = finding->part_offset < (uint32_t)length ? (int)finding->part_offset : length;
    const int most = length - begin;
    const int part = finding->part_length < (uint32_t)most ? (int)finding->part_length : most;
    const int first = length <= room || begin <= AROUND ? 0 : character_at(value, begin - AROUND);
    const int last = length - first <= room ? length : character_at(value, first + room);

    return (struct marked){
        .text = value + first,
        .length = last - first,
        .begin = begin - first,
        .end = begin + part < last ? begin + part - first : last - first,
    };
}

/* "^~~~", one under every column, and at least one. */
static void print_line_below(const struct terminal *terminal, const struct marked *marked,
                             int before)
{
    const int columns = columns_of(marked->text + marked->begin, marked->end - marked->begin);

    (void)printf("%*s", before + columns_of(marked->text, marked->begin), "");
    terminal_mark(terminal, "^", 1);
    for (int i = 1; i < columns; i++) {
        terminal_mark(terminal, "~", 1);
    }
    (void)putchar('\n');
}

static void print_setting(const struct terminal *terminal, const char *value,
                          const struct cplayout_diagnostic *finding)
{
    char lead[256];
    struct marked marked;
    int room;

    write_lead(finding, lead, sizeof(lead));
    room = terminal->columns - INDENT - (int)strlen(lead) - 6;
    marked = window_of(value, finding, room > WINDOW_LEAST ? room : WINDOW_LEAST);
    (void)printf("%*s%s%s%.*s", INDENT, "", lead, marked.text > value ? "..." : "", marked.begin,
                 marked.text);
    terminal_mark(terminal, marked.text + marked.begin, marked.end - marked.begin);
    (void)printf("%.*s%s\n", marked.length - marked.end, marked.text + marked.end,
                 marked.text[marked.length] != '\0' ? "..." : "");
    print_line_below(terminal, &marked, INDENT + (int)strlen(lead) + (marked.text > value ? 3 : 0));
}

/* ---- The finding ------------------------------------------------------------------------------ */

static void print_head(const struct terminal *terminal, const struct cplayout_diagnostic *finding)
{
    const bool error = finding->severity == CPLAYOUT_SEVERITY_ERROR;
    const char *const severity = error ? "error" : "warning";
    const char *const place = place_of(finding);
    char text[1024];

    (void)printf("%s: ", place);
    terminal_severity(terminal, error, severity);
    (void)fputs(": ", stdout);
    (void)snprintf(text, sizeof(text), "%s [%s]", finding->message, finding->code);
    terminal_wrap_from(terminal, columns_of(place, (int)strlen(place)) + 4 + (int)strlen(severity),
                       INDENT, text);
}

static void print_texts(const struct terminal *terminal, const struct cplayout_diagnostic *finding)
{
    print_head(terminal, finding);
    print_setting(terminal, finding->value, finding);
    if (finding->hint[0] != '\0') {
        (void)printf("%*shint: ", INDENT, "");
        terminal_wrap(terminal, INDENT + 6, finding->hint);
    }
}

bool finding_print(const struct terminal *terminal, const struct cplayout_diagnostic *finding)
{
    struct cplayout_diagnostic clean = *finding;
    const char **const texts[] = {&clean.code, &clean.option, &clean.message,
                                  &clean.hint, &clean.value,  &clean.origin};
    char *copies[6] = {NULL};
    bool fine = true;

    for (size_t i = 0; i < 6; i++) {
        copies[i] = report_text(*texts[i]);
        *texts[i] = copies[i];
        fine = fine && copies[i] != NULL;
    }
    if (fine) {
        print_texts(terminal, &clean);
    }
    for (size_t i = 0; i < 6; i++) {
        free(copies[i]);
    }
    return fine;
}
