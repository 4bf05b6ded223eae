/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ranks compare of a batch: a word for each topic, so that a difference can be named.
 */
#ifndef CPL_BATCH_DIGEST_H
#define CPL_BATCH_DIGEST_H

#include "batch/batch.h"

/* What a word of the digest is about: "fields". */
const char *cpl_batch_topic(size_t word);

void cpl_batch_digest(const struct cpl_batch *batch, struct cpl_digest *digest);

#endif
