/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers that look random and follow from a key alone, so that every rank and every run draws the
 * same. splitmix64: Steele, Lea, Flood 2014. Stateless.
 */
#ifndef TRAINER_MIX_H
#define TRAINER_MIX_H

#include <stdint.h>

static inline uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Above 0, up to 1. */
static inline double mix_unit(uint64_t key)
{
    return (double)((mix(key) >> 11) + 1) * 0x1p-53;
}

#endif
