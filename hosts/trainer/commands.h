/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands that make a report again, with every setting named, and those that look at its
 * layouts more closely.
 */
#ifndef TRAINER_COMMANDS_H
#define TRAINER_COMMANDS_H

#include <stdio.h>

#include "report.h"

void commands_write(FILE *out, const struct report *report);

#endif
