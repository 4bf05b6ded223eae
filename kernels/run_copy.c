/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/run_copy.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

enum {
    /* Bytes on one rank from which streaming pays: what is copied would not stay in a cache until
     * it is read anyway, and ordinary stores would first fetch every line that they overwrite. */
    STREAM_TOTAL = 16 << 20,
    /* Least bytes of a piece; below, the memcpy of the C library is faster. */
    STREAM_PIECE = 32 << 10,
    LINE = 64,
};

/* Whole lines around the caches; `to` begins a line. */
static void stream_lines(unsigned char *to, const unsigned char *from, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += LINE) {
        const __m128i *const source = (const void *)(from + at);
        __m128i *const target = (void *)(to + at);
        const __m128i a = _mm_loadu_si128(source);
        const __m128i b = _mm_loadu_si128(source + 1);
        const __m128i c = _mm_loadu_si128(source + 2);
        const __m128i d = _mm_loadu_si128(source + 3);

        _mm_stream_si128(target, a);
        _mm_stream_si128(target + 1, b);
        _mm_stream_si128(target + 2, c);
        _mm_stream_si128(target + 3, d);
    }
    /* Such stores are not ordered by a mutex or an atomic that other threads look at. */
    _mm_sfence();
}

static void stream_piece(unsigned char *to, const unsigned char *from, uint64_t bytes)
{
    const uint64_t head = -(uint64_t)(uintptr_t)to % LINE;
    const uint64_t end = bytes - (bytes - head) % LINE;

    memcpy(to, from, head);
    stream_lines(to + head, from + head, end - head);
    memcpy(to + end, from + end, bytes - end);
}

static void copy_piece(uint64_t total, unsigned char *to, const unsigned char *from, uint64_t bytes)
{
    if (total >= STREAM_TOTAL && bytes >= STREAM_PIECE) {
        stream_piece(to, from, bytes);
    } else {
        memcpy(to, from, bytes);
    }
}
#else
static void copy_piece(uint64_t total, unsigned char *to, const unsigned char *from, uint64_t bytes)
{
    (void)total;
    memcpy(to, from, bytes);
}
#endif

static void copy_rows(const struct cpl_run_copy *run, unsigned char *to, const unsigned char *from)
{
    if (run->to_stride == run->row_bytes && run->from_stride == run->row_bytes) {
        copy_piece(run->total, to, from, run->rows * run->row_bytes);
        return;
    }
    for (uint64_t row = 0; row < run->rows; row++) {
        copy_piece(run->total, to + row * run->to_stride, from + row * run->from_stride,
                   run->row_bytes);
    }
}

void cpl_run_copy(const struct cpl_run_copy *run)
{
    if (run->rows == 0 || run->row_bytes == 0) {
        return;
    }
    for (uint64_t i = 0; i < run->outer; i++) {
        copy_rows(run, run->to + i * run->to_outer_stride, run->from + i * run->from_outer_stride);
    }
}
