/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the numbers say about the runs that are there, in sentences. Each holds for these runs, or is
 * not said.
 */
#ifndef TRAINER_SENSE_H
#define TRAINER_SENSE_H

#include "report.h"

enum { SENSE_MOST = 2, SENSE_BYTES = 320 };

/* Returns how many sentences there are. */
size_t sense_make(const struct report *report, char text[SENSE_MOST][SENSE_BYTES]);

#endif
