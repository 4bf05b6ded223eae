/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention work by rank, in the layouts that carried attention and in those that could have.
 */
#ifndef TRAINER_BALANCE_H
#define TRAINER_BALANCE_H

#include <stdio.h>

#include "report.h"

void balance_chart(FILE *out, const struct report *report);
void balance_table(FILE *out, const struct report *report);

#endif
