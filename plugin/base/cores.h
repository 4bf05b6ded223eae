/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cores of this machine that the process may run on.
 */
#ifndef CPL_BASE_CORES_H
#define CPL_BASE_CORES_H

#include <stdint.h>

int32_t cpl_cores(void);

/* Tells the core that a loop is waiting. */
static inline void cpl_core_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
