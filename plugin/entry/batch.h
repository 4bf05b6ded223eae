/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of batch/1, declared from the list of its slots.
 */
#ifndef CPL_ENTRY_BATCH_H
#define CPL_ENTRY_BATCH_H

#include "entry/entry.h"

#define CPL_DECLARE_SLOT(table, slot) \
    extern __typeof__(*(cplayout_##slot##_fn)0) cpl_##table##_##slot;
CPLAYOUT_BATCH_SLOTS(CPL_DECLARE_SLOT)
#undef CPL_DECLARE_SLOT

#endif
