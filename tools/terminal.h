/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output for people: how wide the terminal is, whether it shows colours, word wrap, strips.
 *
 * Colours and block characters appear on terminals only; a pipe gets plain ASCII. NO_COLOR (any
 * value but the empty one) and TERM=dumb switch colours off.
 */
#ifndef CPLAYOUT_TOOLS_TERMINAL_H
#define CPLAYOUT_TOOLS_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

struct terminal {
    int columns; /* 80 for a pipe */
    bool interactive;
    bool colors;
    bool blocks; /* can show U+2588 and its like */
};

/* Looks at standard output and the environment. */
struct terminal terminal_detect(void);

/* How much of one cell of a strip is filled. */
enum terminal_fill {
    TERMINAL_EMPTY,
    TERMINAL_PARTLY,
    TERMINAL_FULL,
};

/* Prints `width` cells of a strip; `color` is any number, equal numbers look alike. */
void terminal_cells(const struct terminal *terminal, enum terminal_fill fill, int32_t color,
                    int width);

/* Prints a text in bold and, if the terminal shows colours, in red or else magenta. */
void terminal_severity(const struct terminal *terminal, bool error, const char *text);

/* Prints `length` bytes in bold green if the terminal shows colours: the part that is at fault. */
void terminal_mark(const struct terminal *terminal, const char *text, int length);

/* What stands for a kind of cell. */
const char *terminal_glyph(const struct terminal *terminal, enum terminal_fill fill);

/*
 * Prints words of `text`, wrapped at the right border. The cursor stands at column `indent`, and
 * further lines begin there. A tab is a blank at which no line ends. Ends with a line feed.
 */
void terminal_wrap(const struct terminal *terminal, int indent, const char *text);

/* The same where the cursor stands at column `cursor`, and further lines begin at `indent`. */
void terminal_wrap_from(const struct terminal *terminal, int cursor, int indent, const char *text);

/* Characters of a number in decimal. */
int terminal_digits(uint64_t number);

#endif
