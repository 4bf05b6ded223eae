/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A 64-bit hash over words, equal on every machine and in every release of one ABI draft: identities
 * and digests are compared between ranks. Not for hostile collisions; it guards against mistakes.
 */
#ifndef CPL_BASE_HASH_H
#define CPL_BASE_HASH_H

#include <stdint.h>

#define CPL_HASH_SEED UINT64_C(0x63706c61796f7574) /* "cplayout" */

/* Folds one word into the hash; order matters. Mixer: MurmurHash3's 64-bit finaliser. */
static inline uint64_t cpl_hash_word(uint64_t hash, uint64_t word)
{
    uint64_t x = hash ^ (word + UINT64_C(0x9e3779b97f4a7c15) + (hash << 6) + (hash >> 2));

    x = (x ^ (x >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ (x >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ (x >> 33);
}

/*
 * Hash of two words alone, for sums: both halves of their product, with what keeps small words from
 * making small ones.
 */
static inline uint64_t cpl_hash_pair(uint64_t a, uint64_t b)
{
    const unsigned __int128 product =
        (unsigned __int128)(a ^ UINT64_C(0x9e3779b97f4a7c15)) * (b ^ UINT64_C(0xc2b2ae3d27d4eb4f));

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Folds a string with its length. */
static inline uint64_t cpl_hash_text(uint64_t hash, const char *text)
{
    uint64_t length = 0;

    for (; text[length] != '\0'; length++) {
        hash = cpl_hash_word(hash, (unsigned char)text[length]);
    }
    return cpl_hash_word(hash, length);
}

#endif
