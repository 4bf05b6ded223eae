/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layouts of the first step, drawn over the tokens, and who holds what in words.
 */
#ifndef TRAINER_STRIPS_H
#define TRAINER_STRIPS_H

#include <stdio.h>

#include "report.h"

void strips_write(FILE *out, const struct report *report);

#endif
