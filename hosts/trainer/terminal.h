/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stream's terminal can do. Any thread.
 */
#ifndef TRAINER_TERMINAL_H
#define TRAINER_TERMINAL_H

#include <stdbool.h>

/* Whether to colour what goes to a descriptor: a terminal, not a dumb one, and NO_COLOR is not set. */
bool terminal_coloured(int descriptor);

/* Columns of the terminal, 80 if it does not say. */
int terminal_columns(int descriptor);

#endif
