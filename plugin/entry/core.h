/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the core table, declared from the list of its slots, and what they share.
 */
#ifndef CPL_ENTRY_CORE_H
#define CPL_ENTRY_CORE_H

#include "batch/context.h"
#include "entry/entry.h"

#define CPL_DECLARE_SLOT(table, slot) \
    extern __typeof__(*(cplayout_##slot##_fn)0) cpl_##table##_##slot;
CPLAYOUT_CORE_SLOTS(CPL_DECLARE_SLOT)
#undef CPL_DECLARE_SLOT

/* Handles of the ABI are our objects under a public name. */
static inline struct cpl_context *context_of(struct cplayout_context *context)
{
    return (struct cpl_context *)context;
}

/* Where a call on a context logs; nowhere if there is none. */
static inline const struct cpl_log *log_of(const struct cplayout_context *context)
{
    return context != NULL ? &((const struct cpl_context *)context)->log : NULL;
}

static inline const struct cpl_chunk *chunk_of(const struct cplayout_schedule *schedule)
{
    return (const struct cpl_chunk *)schedule;
}

#endif
