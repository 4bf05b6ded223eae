/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Curves over the steps of all runs: the loss, and how far it is from that of the run `single`.
 */
#ifndef TRAINER_CURVES_H
#define TRAINER_CURVES_H

#include <stdio.h>

#include "report.h"

void curves_loss(FILE *out, const struct report *report);

/* Writes nothing where there is nothing to compare. */
void curves_difference(FILE *out, const struct report *report);

#endif
