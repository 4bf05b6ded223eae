/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes per step as bars, and the table of all numbers: one column for each run.
 */
#ifndef TRAINER_VOLUMES_H
#define TRAINER_VOLUMES_H

#include <stdio.h>

#include "report.h"

void volumes_chart(FILE *out, const struct report *report);
void volumes_table(FILE *out, const struct report *report);

#endif
