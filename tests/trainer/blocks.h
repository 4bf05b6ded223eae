/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of arenas, watched: programs linked with -Wl,--wrap=aligned_alloc get blocks full of
 * NaN, so that whoever reads what nobody wrote is found out, and their bytes are counted. Any thread.
 */
#ifndef TESTS_TRAINER_BLOCKS_H
#define TESTS_TRAINER_BLOCKS_H

#include <stdint.h>

/* All bytes taken so far. */
int64_t blocks_bytes(void);

#endif
