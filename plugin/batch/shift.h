/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shifted views: for every row of a view what the field holds some tokens later in the same document,
 * as labels and multi-token prediction need it. Cut from the stream, so that it is the same as shifting
 * the stream and cutting then.
 */
#ifndef CPL_BATCH_SHIFT_H
#define CPL_BATCH_SHIFT_H

#include "batch/view.h"

struct cpl_shift {
    const char *field;
    int32_t layout;
    int64_t by; /* tokens later; earlier if it is negative */
    const int64_t
        *fill; /* where the document has no such token, and in padding; NULL: as in the view */
};

/* Writes every row; `out` is as for the view itself. Errors: ARGUMENT, UNSUPPORTED. */
enum cpl_status cpl_view_shift(const struct cpl_batch *batch, const struct cpl_shift *shift,
                               const struct cpl_tensor *out, struct cpl_error *error);

#endif
