/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of all ranks in global order, and the way back for their gradients. Counted as
 * COMM_ATTENTION. One rank, one thread; all ranks call together.
 */
#ifndef TRAINER_GATHER_H
#define TRAINER_GATHER_H

#include "layer.h"

/* global [sequence, width] := the rows own [rows, width] of all ranks, but padding. 0 or -1. */
int gather_rows(const struct layer_run *run, int64_t width, const real *own, real *global);

/* down [rows, width] := this rank's rows of the sum of dglobal over the ranks, added in ascending
 * order; zero for padding. 0 or -1. */
int gather_rows_backward(const struct layer_run *run, int64_t width, const real *dglobal,
                         real *down);

#endif
