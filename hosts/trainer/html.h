/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text into a page. Everything that a user may have chosen goes through html_text.
 */
#ifndef TRAINER_HTML_H
#define TRAINER_HTML_H

#include <stdint.h>
#include <stdio.h>

/* With &, <, >, " and ' escaped: fit for text and for attribute values. */
void html_text(FILE *out, const char *text);
void html_character(FILE *out, char character);

/* One word of a shell command, quoted if it has to be, then escaped. */
void html_shell_word(FILE *out, const char *word);

/* "#rrggbb" of a rank: from dark to light, told apart by lightness alone. */
const char *html_rank_colour(int32_t rank, int32_t ranks, char text[8]);

#endif
