/* SPDX-License-Identifier: Apache-2.0 */
#include "html.h"

#include <string.h>

void html_character(FILE *out, char character)
{
    switch (character) {
    case '&':
        (void)fputs("&amp;", out);
        break;
    case '<':
        (void)fputs("&lt;", out);
        break;
    case '>':
        (void)fputs("&gt;", out);
        break;
    case '"':
        (void)fputs("&quot;", out);
        break;
    case '\'':
        (void)fputs("&#39;", out);
        break;
    default:
        (void)fputc(character, out);
    }
}

void html_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        html_character(out, *text);
    }
}

void html_shell_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./,:=@%+";

    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        html_text(out, word);
        return;
    }
    html_character(out, '\'');
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            html_text(out, "'\\'");
        }
        html_character(out, *word);
    }
    html_character(out, '\'');
}

const char *html_rank_colour(int32_t rank, int32_t ranks, char text[8])
{
    /* Lightness rises from one to the next by about as much. */
    static const int stops[][3] = {{66, 58, 160},
                                   {38, 104, 178},
                                   {32, 152, 156},
                                   {112, 192, 104},
                                   {240, 208, 70}};
    enum { LAST = sizeof(stops) / sizeof(stops[0]) - 1 };
    const double place = ranks > 1 ? (double)rank * LAST / (ranks - 1) : 1;
    const int below = place < LAST ? (int)place : LAST - 1;
    int mixed[3];

    for (int i = 0; i < 3; i++) {
        mixed[i] =
            (int)(stops[below][i] + (place - below) * (stops[below + 1][i] - stops[below][i]));
    }
    (void)snprintf(text, 8, "#%02x%02x%02x", (unsigned)mixed[0] & 255, (unsigned)mixed[1] & 255,
                   (unsigned)mixed[2] & 255);
    return text;
}
