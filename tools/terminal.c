/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    COLUMNS_DEFAULT = 80,
    COLUMNS_LEAST = 40, /* narrower ones wrap by themselves */
    COLUMNS_MOST = 1000,
    WRAP_LEAST = 20, /* room for text below which word wrap helps nobody */
};

static bool is_set(const char *variable)
{
    const char *const value = getenv(variable);

    return value != NULL && value[0] != '\0';
}

static bool wants_colors(void)
{
    const char *const kind = getenv("TERM");

    return !is_set("NO_COLOR") && kind != NULL && strcmp(kind, "dumb") != 0;
}

static int detect_columns(void)
{
    struct winsize window;
    int columns = COLUMNS_DEFAULT;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
        columns = window.ws_col;
    }
    if (columns < COLUMNS_LEAST) {
        return COLUMNS_LEAST;
    }
    return columns < COLUMNS_MOST ? columns : COLUMNS_MOST;
}

struct terminal terminal_detect(void)
{
    struct terminal terminal = {.columns = COLUMNS_DEFAULT};

    if (isatty(STDOUT_FILENO) == 0) {
        return terminal;
    }
    (void)setlocale(LC_CTYPE, "");
    terminal.interactive = true;
    terminal.columns = detect_columns();
    terminal.colors = wants_colors();
    terminal.blocks = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    return terminal;
}

const char *terminal_glyph(const struct terminal *terminal, enum terminal_fill fill)
{
    static const char *const ascii[] =
        {[TERMINAL_EMPTY] = ".", [TERMINAL_PARTLY] = "+", [TERMINAL_FULL] = "#"};
    static const char *const blocks[] =
        {[TERMINAL_EMPTY] = "\u00b7", [TERMINAL_PARTLY] = "\u2592", [TERMINAL_FULL] = "\u2588"};

    return terminal->blocks ? blocks[fill] : ascii[fill];
}

void terminal_cells(const struct terminal *terminal, enum terminal_fill fill, int32_t color,
                    int width)
{
    /* Red, green, yellow, blue, magenta and cyan, in an order that tells neighbours apart. */
    static const int palette[] = {36, 33, 35, 32, 34, 31};
    static const int32_t colors = sizeof(palette) / sizeof(palette[0]);
    const bool colored = terminal->colors && fill != TERMINAL_EMPTY;

    if (colored) {
        (void)printf("\033[%dm", palette[color % colors]);
    }
    for (int i = 0; i < width; i++) {
        (void)fputs(terminal_glyph(terminal, fill), stdout);
    }
    if (colored) {
        (void)fputs("\033[0m", stdout);
    }
}

void terminal_severity(const struct terminal *terminal, bool error, const char *text)
{
    if (terminal->colors) {
        (void)printf("\033[1;%dm%s\033[0m", error ? 31 : 35, text);
    } else {
        (void)fputs(text, stdout);
    }
}

void terminal_mark(const struct terminal *terminal, const char *text, int length)
{
    if (terminal->colors) {
        (void)printf("\033[1;32m%.*s\033[0m", length, text);
    } else {
        (void)printf("%.*s", length, text);
    }
}

static void print_word(const char *word, int length)
{
    for (int i = 0; i < length; i++) {
        (void)putchar(word[i] == '\t' ? ' ' : word[i]);
    }
}

void terminal_wrap(const struct terminal *terminal, int indent, const char *text)
{
    terminal_wrap_from(terminal, indent, indent, text);
}

void terminal_wrap_from(const struct terminal *terminal, int cursor, int indent, const char *text)
{
    const int room =
        terminal->columns - indent > WRAP_LEAST ? terminal->columns - indent : WRAP_LEAST;
    int used = cursor - indent;
    bool first = true;

    for (;;) {
        const int length = (int)strcspn(text += strspn(text, " \n"), " \n");

        if (length == 0) {
            break;
        }
        if (used > 0 && used + !first + length > room) {
            (void)printf("\n%*s", indent, "");
            used = 0;
            first = true;
        }
        if (!first) {
            (void)putchar(' ');
            used++;
        }
        first = false;
        print_word(text, length);
        used += length;
        text += length;
    }
    (void)putchar('\n');
}

int terminal_digits(uint64_t number)
{
    int digits = 1;

    while (number >= 10) {
        number /= 10;
        digits++;
    }
    return digits;
}
