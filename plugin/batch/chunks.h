/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A view of two equally long runs, such as zigzag's of a dense batch, as a slice of the input: the row
 * axis becomes two axes, the run and the row in it. The runs may touch.
 */
#ifndef CPL_BATCH_CHUNKS_H
#define CPL_BATCH_CHUNKS_H

#include "batch/view.h"

/* Errors: ARGUMENT (the rows are not two equal runs without padding, or there are 8 dimensions). */
enum cpl_status cpl_chunks_describe(const struct cpl_view_subject *subject, struct cpl_view *view,
                                    struct cpl_error *error);

#endif
