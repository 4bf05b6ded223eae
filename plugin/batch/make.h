/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields that the plugin makes where the host gives none: position_ids, padding_mask, document_ids.
 * They are [1, rows].
 */
#ifndef CPL_BATCH_MAKE_H
#define CPL_BATCH_MAKE_H

#include "batch/fields.h"
#include "batch/share.h"

/* The type in which a made field is described: int64, bool, int32. */
struct cpl_tensor cpl_make_type(size_t id);

/*
 * Whether it may be asked for in a type: integers of 32 and 64 bits where they hold all values, and the
 * padding mask in uint8 as well as bool.
 */
bool cpl_make_takes(size_t id, const struct cpl_tensor *type, int64_t rows);

/* Writes the rows of a part. */
void cpl_make_part(size_t id, const struct cpl_part *part, const struct cpl_rows *out);

/* Writes every row. The type is one that it takes. */
void cpl_make_rows(size_t id, const struct cpl_share *share, const struct cpl_rows *out);

#endif
