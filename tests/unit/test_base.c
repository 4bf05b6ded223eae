/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves the ground everything else stands on: memory that is aligned, cleared, reused and refused
 * when it must be; messages and log lines that are cut and never overrun; name distance and hash
 * against their definitions; and that a tensor from outside becomes rows exactly as its shape and
 * strides say, or is refused when they cannot be trusted.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/tensor.h"
#include "unit/support.h"

/* ---- Allocator ------------------------------------------------------------------------------- */

static bool is_filled(const void *memory, unsigned char value, size_t bytes)
{
    const unsigned char *const byte = memory;

    for (size_t i = 0; i < bytes; i++) {
        if (byte[i] != value) {
            return false;
        }
    }
    return true;
}

Test(alloc, clears_and_returns_the_size_it_asked_for)
{
    struct counted counted = {0};
    const struct cpl_allocator allocator = counted_allocator(&counted);
    const size_t counts[] = {0, 1, 7, 1000};

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        void *const memory = cpl_allocate(&allocator, counts[i], 24);

        cr_assert_not_null(memory);
        cr_assert(is_filled(memory, 0, counts[i] * 24));
        cpl_release(&allocator, memory, counts[i], 24);
    }
    cr_assert_eq(counted.live, 0);
    cr_assert_eq(counted.wrong, 0);
    cpl_release(&allocator, NULL, 3, 24);
    cr_assert_eq(counted.live, 0);
}

Test(alloc, refuses_sizes_that_overflow)
{
    struct counted counted = {0};
    const struct cpl_allocator allocator = counted_allocator(&counted);

    cr_assert_null(cpl_allocate(&allocator, SIZE_MAX, 2));
    cr_assert_null(cpl_allocate(&allocator, SIZE_MAX / 8 + 1, 8));
    cr_assert_eq(counted.calls, 0);
    counted.fail_at = 1;
    cr_assert_null(cpl_allocate(&allocator, 1, 8));
}

Test(alloc, defaults_to_the_heap)
{
    const struct cpl_allocator allocator = cpl_allocator_default();
    unsigned char *const memory = cpl_allocate(&allocator, 3, 100);

    cr_assert_not_null(memory);
    cr_assert(is_filled(memory, 0, 300));
    memset(memory, 1, 300);
    cpl_release(&allocator, memory, 3, 100);
}

/* ---- Arena ----------------------------------------------------------------------------------- */

enum { TAKES = 200 };

/* Sizes from nothing to several blocks. */
static size_t take_size(int i)
{
    return i % 40 == 39 ? (size_t)i * 1000 : (size_t)(i * i % 977);
}

/* Takes many pieces, each filled with its own number, and checks that no two share a byte. */
static void take_round(struct cpl_arena *arena)
{
    void *taken[TAKES];

    for (int i = 0; i < TAKES; i++) {
        taken[i] = cpl_arena_take(arena, take_size(i), 1);
        cr_assert_not_null(taken[i], "take %d", i);
        cr_assert_eq((uintptr_t)taken[i] % 16, 0, "take %d is not aligned", i);
        cr_assert(is_filled(taken[i], 0, take_size(i)), "take %d is not cleared", i);
        memset(taken[i], i + 1, take_size(i));
    }
    for (int i = 0; i < TAKES; i++) {
        cr_assert(is_filled(taken[i], (unsigned char)(i + 1), take_size(i)),
                  "take %d shares its memory", i);
    }
}

Test(arena, gives_aligned_cleared_memory_of_its_own)
{
    struct counted counted = {0};
    const struct cpl_allocator allocator = counted_allocator(&counted);
    struct cpl_arena arena;

    cpl_arena_init(&arena, &allocator);
    cr_assert_eq(counted.calls, 0, "an arena takes nothing before it is used");
    take_round(&arena);
    cpl_arena_fini(&arena);
    cr_assert_eq(counted.live, 0);
    cr_assert_eq(counted.wrong, 0);
}

/* The first round finds out what is needed, the second has it in one block. */
Test(arena, stops_allocating_when_needs_are_steady)
{
    struct counted counted = {0};
    const struct cpl_allocator allocator = counted_allocator(&counted);
    struct cpl_arena arena;
    uint64_t calls;

    cpl_arena_init(&arena, &allocator);
    take_round(&arena);
    cr_assert_geq(counted.calls, 3);
    cpl_arena_reset(&arena);
    take_round(&arena);
    calls = counted.calls;
    for (int round = 0; round < 5; round++) {
        cpl_arena_reset(&arena);
        take_round(&arena);
        cr_assert_eq(counted.calls, calls, "round %d allocates", round);
    }
    cr_assert_eq(counted.live, 1);
    cpl_arena_fini(&arena);
    cr_assert_eq(counted.live, 0);
    cr_assert_eq(counted.wrong, 0);
}

/* A block for each new largest need would be a thousand blocks, all of them kept. */
Test(arena, does_not_pile_up_blocks_when_needs_rise_slowly)
{
    struct counted counted = {0};
    const struct cpl_allocator allocator = counted_allocator(&counted);
    struct cpl_arena arena;

    cpl_arena_init(&arena, &allocator);
    for (size_t round = 0; round < 1000; round++) {
        cpl_arena_reset(&arena);
        for (size_t i = 0; i < 4; i++) {
            cr_assert_not_null(cpl_arena_take(&arena, 20000 + 16 * round, 1));
        }
        cr_assert_leq(counted.live, 4, "round %zu", round);
    }
    cr_assert_leq(counted.calls, 20);
    cpl_arena_fini(&arena);
    cr_assert_eq(counted.live, 0);
}

Test(arena, falls_back_on_its_blocks_when_there_is_no_larger_one)
{
    struct counted counted = {0};
    const struct cpl_allocator allocator = counted_allocator(&counted);
    struct cpl_arena arena;

    cpl_arena_init(&arena, &allocator);
    take_round(&arena);
    counted.fail_at = counted.calls + 1;
    cpl_arena_reset(&arena);
    take_round(&arena);
    cpl_arena_fini(&arena);
    cr_assert_eq(counted.live, 0);
}

Test(arena, multiplies_count_and_bytes)
{
    const struct cpl_allocator allocator = cpl_allocator_default();
    struct cpl_arena arena;
    unsigned char *first;
    unsigned char *second;

    cpl_arena_init(&arena, &allocator);
    first = cpl_arena_take(&arena, 5, 8);
    second = cpl_arena_take(&arena, 1, 1);
    cr_assert(second >= first + 40 || second < first);
    cpl_arena_fini(&arena);
}

Test(arena, refuses_sizes_that_overflow)
{
    struct counted counted = {0};
    const struct cpl_allocator allocator = counted_allocator(&counted);
    struct cpl_arena arena;

    cpl_arena_init(&arena, &allocator);
    cr_assert_null(cpl_arena_take(&arena, SIZE_MAX, 2));
    cr_assert_null(cpl_arena_take(&arena, SIZE_MAX / 16 + 1, 16));
    cr_assert_null(cpl_arena_take(&arena, 1, SIZE_MAX));
    cr_assert_null(cpl_arena_take(&arena, SIZE_MAX - 8, 1));
    cr_assert_eq(counted.calls, 0);
    cr_assert_not_null(cpl_arena_take(&arena, 1, 1));
    cpl_arena_fini(&arena);
}

Test(arena, survives_an_allocator_that_fails)
{
    struct counted counted = {.fail_at = 2};
    const struct cpl_allocator allocator = counted_allocator(&counted);
    struct cpl_arena arena;
    unsigned char *before;

    cpl_arena_init(&arena, &allocator);
    before = cpl_arena_take(&arena, 100, 1);
    cr_assert_not_null(before);
    memset(before, 7, 100);
    cr_assert_null(cpl_arena_take(&arena, 1, 1000000));
    cr_assert(is_filled(before, 7, 100), "a failure touches what was taken");
    cr_assert_not_null(cpl_arena_take(&arena, 1, 1000000), "the next call succeeds");
    cpl_arena_fini(&arena);
    cr_assert_eq(counted.live, 0);
}

Test(arena, ends_as_often_as_one_likes)
{
    struct counted counted = {0};
    const struct cpl_allocator allocator = counted_allocator(&counted);
    struct cpl_arena arena = {0};

    cpl_arena_fini(&arena);
    cpl_arena_init(&arena, &allocator);
    cpl_arena_reset(&arena);
    cr_assert_not_null(cpl_arena_take(&arena, 0, 8), "nothing is not a failure");
    cpl_arena_fini(&arena);
    cpl_arena_fini(&arena);
    cr_assert_eq(counted.live, 0);
    cr_assert_not_null(cpl_arena_take(&arena, 1, 8), "an ended arena can begin again");
    cpl_arena_fini(&arena);
    cr_assert_eq(counted.live, 0);
}

/* ---- Errors and log -------------------------------------------------------------------------- */

Test(error, holds_status_and_message)
{
    struct cpl_error error = {0};

    cr_assert_eq(cpl_fail(&error, CPL_ERROR_PEER, "rank %d of %s", 3, "four"), CPL_ERROR_PEER);
    cr_assert_eq(error.status, CPL_ERROR_PEER);
    cr_assert_str_eq(error.message, "rank 3 of four");
    cr_assert_eq(cpl_fail_memory(&error), CPL_ERROR_MEMORY);
    cr_assert_eq(error.status, CPL_ERROR_MEMORY);
    cr_assert_not_null(strstr(error.message, "out of memory"), "%s", error.message);
    cr_assert_str_eq(error.field, "");
}

Test(error, names_the_field_at_fault)
{
    struct cpl_error error = {0};
    char name[2 * CPL_FIELD_BYTES];

    cr_assert_eq(cpl_fail_field(&error, CPL_ERROR_ARGUMENT, "tokens", "%d", 7), CPL_ERROR_ARGUMENT);
    cr_assert_str_eq(error.field, "tokens");
    cr_assert_str_eq(error.message, "7");
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    (void)cpl_fail_field(&error, CPL_ERROR_ARGUMENT, name, "long");
    cr_assert_eq(strlen(error.field), CPL_FIELD_BYTES - 1);
}

/* A record with bytes behind it that must stay as they are. */
struct guarded_error {
    struct cpl_error error;
    unsigned char guard[64];
};

Test(error, cuts_a_long_message)
{
    static char text[2 * CPL_MESSAGE_BYTES];
    struct guarded_error record;

    for (size_t length = CPL_MESSAGE_BYTES - 3; length < sizeof(text); length++) {
        memset(&record, 0x5a, sizeof(record));
        memset(text, 'x', length);
        text[length] = '\0';
        cr_assert_eq(cpl_fail(&record.error, CPL_ERROR_TIMEOUT, "%s", text), CPL_ERROR_TIMEOUT);
        cr_assert_eq(strlen(record.error.message),
                     length < CPL_MESSAGE_BYTES ? length : CPL_MESSAGE_BYTES - 1);
        cr_assert(is_filled(record.guard, 0x5a, sizeof(record.guard)));
    }
}

/* The ABI calls the message UTF-8, so a cut may not leave half a character. */
Test(error, cuts_between_characters)
{
    char text[2 * CPL_MESSAGE_BYTES];
    struct cpl_error error = {0};

    for (size_t i = 0; i + 2 < sizeof(text); i += 2) {
        memcpy(text + i, "\xc3\xa9", 3);
    }
    (void)cpl_fail(&error, CPL_ERROR_ARGUMENT, "%s", text);
    cr_assert_eq(strlen(error.message) % 2, 0, "the message ends in half a character");
}

/* What a log received. */
struct received {
    int lines;
    int32_t level;
    char text[1024];
};

static void receive(void *self, int32_t level, const char *message)
{
    struct received *const received = self;

    received->lines++;
    received->level = level;
    (void)snprintf(received->text, sizeof(received->text), "%s", message);
}

Test(log, delivers_up_to_its_level)
{
    for (int32_t level = CPL_LOG_NONE; level <= CPL_LOG_TRACE; level++) {
        struct received received = {0};
        const struct cpl_log log = {.write = receive, .self = &received, .level = level};

        cpl_log_write(&log, CPL_LOG_ERROR, "e%d", 1);
        cr_assert_eq(received.lines, level >= CPL_LOG_ERROR);
        cpl_log_write(&log, CPL_LOG_WARNING, "w%d", 2);
        cpl_log_write(&log, CPL_LOG_INFO, "i%d", 3);
        cpl_log_write(&log, CPL_LOG_TRACE, "t%d", 4);
        cr_assert_eq(received.lines, level, "level %d delivers %d lines", level, received.lines);
        cr_assert_eq(received.level, level);
        cr_assert(level == 0 || received.text[1] - '0' == level, "'%s'", received.text);
    }
}

Test(log, cuts_a_long_line)
{
    struct received received = {0};
    const struct cpl_log log = {.write = receive, .self = &received, .level = CPL_LOG_INFO};
    static char text[5000];

    memset(text, 'x', sizeof(text) - 1);
    cpl_log_write(&log, CPL_LOG_INFO, "%s", text);
    cr_assert_eq(received.lines, 1);
    cr_assert_geq(strlen(received.text), CPL_MESSAGE_BYTES);
    cr_assert(is_filled(received.text, 'x', strlen(received.text)));
}

Test(log, defaults_to_warnings_and_errors_on_stderr)
{
    const struct cpl_log log = cpl_log_default();

    cr_redirect_stderr();
    cpl_log_write(&log, CPL_LOG_ERROR, "one %d", 1);
    cpl_log_write(&log, CPL_LOG_WARNING, "two");
    cpl_log_write(&log, CPL_LOG_INFO, "three");
    cpl_log_write(&log, CPL_LOG_TRACE, "four");
    (void)fflush(stderr);
    cr_assert_stderr_eq_str("cplayout: error: one 1\ncplayout: warning: two\n");
}

/* ---- Edit distance --------------------------------------------------------------------------- */

/* The definition: the last characters are equal, or one is replaced, inserted or removed. */
static size_t distance_of(const char *a, size_t length_a, const char *b, size_t length_b)
{
    size_t best;
    size_t other;

    if (length_a == 0 || length_b == 0) {
        return length_a + length_b;
    }
    best = distance_of(a, length_a - 1, b, length_b - 1) + (a[length_a - 1] != b[length_b - 1]);
    other = distance_of(a, length_a - 1, b, length_b) + 1;
    best = other < best ? other : best;
    other = distance_of(a, length_a, b, length_b - 1) + 1;
    return other < best ? other : best;
}

/* The index-th word over a, b and c, shortest first. */
static void word_of(int index, char *word)
{
    for (; index > 0; index = (index - 1) / 3) {
        *word++ = (char)('a' + (index - 1) % 3);
    }
    *word = '\0';
}

Test(nearest, agrees_with_the_definition_on_all_short_words)
{
    enum { WORDS = 1 + 3 + 9 + 27 + 81 };
    char a[8];
    char b[8];

    for (int i = 0; i < WORDS; i++) {
        word_of(i, a);
        for (int k = 0; k < WORDS; k++) {
            word_of(k, b);
            cr_assert_eq(cpl_edit_distance(a, b), distance_of(a, strlen(a), b, strlen(b)),
                         "'%s' and '%s'", a, b);
        }
    }
}

Test(nearest, knows_well_known_distances)
{
    cr_assert_eq(cpl_edit_distance("kitten", "sitting"), 3);
    cr_assert_eq(cpl_edit_distance("sitting", "kitten"), 3);
    cr_assert_eq(cpl_edit_distance("contiguous", "contigous"), 1);
    cr_assert_eq(cpl_edit_distance("zigzag", "zagzig"), 2);
    cr_assert_eq(cpl_edit_distance("Mirror", "mirror"), 1);
}

Test(nearest, puts_long_names_infinitely_far)
{
    char longest[65];

    memset(longest, 'a', sizeof(longest));
    longest[63] = '\0';
    cr_assert_eq(cpl_edit_distance(longest, ""), 63);
    cr_assert_eq(cpl_edit_distance("", longest), 63);
    cr_assert_eq(cpl_edit_distance(longest, longest), 0);
    longest[63] = 'a';
    longest[64] = '\0';
    cr_assert_eq(cpl_edit_distance(longest, ""), SIZE_MAX);
    cr_assert_eq(cpl_edit_distance("", longest), SIZE_MAX);
    cr_assert_eq(cpl_edit_distance(longest, longest), SIZE_MAX);
}

/* ---- Hash ------------------------------------------------------------------------------------ */

/* Computed apart from the plugin: identities must not change inside one ABI draft. */
Test(hash, has_frozen_values)
{
    cr_assert_eq(cpl_hash_word(CPL_HASH_SEED, 0), UINT64_C(0x39f0306c7d876752));
    cr_assert_eq(cpl_hash_word(CPL_HASH_SEED, 1), UINT64_C(0x16beff05155680bd));
    cr_assert_eq(cpl_hash_word(cpl_hash_word(CPL_HASH_SEED, 1), 2), UINT64_C(0xfc77b31791ea0180));
    cr_assert_eq(cpl_hash_text(CPL_HASH_SEED, "zigzag"), UINT64_C(0x716bcae2faae2f20));
    cr_assert_eq(cpl_hash_text(CPL_HASH_SEED, "\xff"), UINT64_C(0xb53e043db46b0623));
}

Test(hash, depends_on_order_and_borders)
{
    for (uint64_t a = 0; a < 100; a++) {
        for (uint64_t b = 0; b < a; b++) {
            const uint64_t ab = cpl_hash_word(cpl_hash_word(CPL_HASH_SEED, a), b);
            const uint64_t ba = cpl_hash_word(cpl_hash_word(CPL_HASH_SEED, b), a);

            cr_assert_neq(ab, ba, "%" PRIu64 " and %" PRIu64, a, b);
            cr_assert_neq(cpl_hash_word(CPL_HASH_SEED, a), cpl_hash_word(CPL_HASH_SEED, b));
        }
    }
    cr_assert_neq(cpl_hash_text(cpl_hash_text(CPL_HASH_SEED, "ab"), "c"),
                  cpl_hash_text(cpl_hash_text(CPL_HASH_SEED, "a"), "bc"));
    cr_assert_neq(cpl_hash_text(CPL_HASH_SEED, ""), CPL_HASH_SEED);
}

/* ---- Tensors --------------------------------------------------------------------------------- */

static unsigned char memory[4096];

/* A host tensor of `bits` per element; the arrays must outlive it. */
static struct cpl_tensor tensor_of(int32_t ndim, const int64_t *shape, const int64_t *strides,
                                   uint8_t bits)
{
    return (struct cpl_tensor){
        .data = memory,
        .shape = shape,
        .strides = strides,
        .ndim = ndim,
        .device_type = CPL_DEVICE_CPU,
        .type_code = 2,
        .type_bits = bits,
        .type_lanes = 1,
    };
}

static void accept(const struct cpl_tensor *tensor, int32_t row_axis,
                   const struct cpl_rows *expected)
{
    struct cpl_error error = {0};
    struct cpl_rows rows = {0};

    cr_assert_eq(cpl_rows_from_tensor(tensor, row_axis, "input", &rows, &error), CPL_OK, "%s",
                 error.message);
    cr_assert_eq(rows.data, expected->data);
    cr_assert_eq(rows.rows, expected->rows, "rows %" PRId64, rows.rows);
    cr_assert_eq(rows.row_bytes, expected->row_bytes, "row bytes %" PRIu64, rows.row_bytes);
    cr_assert_eq(rows.outer, expected->outer, "outer %" PRIu64, rows.outer);
    cr_assert(rows.rows < 2 || rows.row_stride == expected->row_stride, "row stride %" PRIu64,
              rows.row_stride);
    cr_assert(rows.outer < 2 || rows.outer_stride == expected->outer_stride,
              "outer stride %" PRIu64, rows.outer_stride);
}

/* Refused with that status, a message that names the tensor, and nothing written. */
static void refuse(const struct cpl_tensor *tensor, int32_t row_axis, enum cpl_status status)
{
    struct cpl_error error = {0};
    struct cpl_rows rows;
    struct cpl_rows before;

    memset(&rows, 0x5a, sizeof(rows));
    memcpy(&before, &rows, sizeof(rows));
    cr_assert_eq(cpl_rows_from_tensor(tensor, row_axis, "gradient", &rows, &error), status,
                 "status %d: %s", (int)error.status, error.message);
    cr_assert_eq(error.status, status);
    cr_assert_not_null(strstr(error.message, "gradient"), "%s", error.message);
    cr_assert_eq(memcmp(&rows, &before, sizeof(rows)), 0, "rows were written");
}

static void refuse_shape(int32_t ndim, const int64_t *shape, const int64_t *strides,
                         int32_t row_axis)
{
    const struct cpl_tensor tensor = tensor_of(ndim, shape, strides, 32);

    refuse(&tensor, row_axis, CPL_ERROR_ARGUMENT);
}

Test(tensor, sequence_first)
{
    const int64_t shape[] = {6, 2, 5};
    const int64_t compact[] = {10, 5, 1};
    const int64_t padded[] = {16, 5, 1};
    struct cpl_tensor tensor = tensor_of(3, shape, NULL, 16);
    struct cpl_rows rows = {memory, 6, 20, 20, 1, 0};

    accept(&tensor, 0, &rows);
    tensor.strides = compact;
    accept(&tensor, 0, &rows);
    tensor.strides = padded;
    rows.row_stride = 32;
    accept(&tensor, 0, &rows);
}

Test(tensor, batch_first)
{
    const int64_t shape[] = {2, 6, 5};
    const int64_t padded_rows[] = {48, 8, 1};
    const int64_t padded_batch[] = {64, 5, 1};
    const int64_t sequence_first[] = {5, 10, 1};
    struct cpl_tensor tensor = tensor_of(3, shape, NULL, 32);
    struct cpl_rows rows = {memory, 6, 20, 20, 2, 120};

    accept(&tensor, 1, &rows);
    tensor.strides = padded_rows;
    rows = (struct cpl_rows){memory, 6, 20, 32, 2, 192};
    accept(&tensor, 1, &rows);
    tensor.strides = padded_batch;
    rows = (struct cpl_rows){memory, 6, 20, 20, 2, 256};
    accept(&tensor, 1, &rows);
    tensor.strides = sequence_first; /* batches interleave: [S, B, H] seen as [B, S, H] */
    rows = (struct cpl_rows){memory, 6, 20, 40, 2, 20};
    accept(&tensor, 1, &rows);
}

Test(tensor, packed_and_single)
{
    const int64_t shape[] = {6, 5};
    const int64_t flat[] = {7};
    const int64_t spread[] = {3};
    const struct cpl_rows rows = {memory, 6, 40, 40, 1, 0};
    const struct cpl_rows flat_rows = {memory, 7, 8, 8, 1, 0};
    const struct cpl_rows spread_rows = {memory, 7, 8, 24, 1, 0};
    struct cpl_tensor tensor = tensor_of(2, shape, NULL, 64);

    accept(&tensor, 0, &rows);
    tensor = tensor_of(1, flat, NULL, 64);
    accept(&tensor, 0, &flat_rows);
    tensor.strides = spread;
    accept(&tensor, 0, &spread_rows);
}

Test(tensor, folds_what_lies_before_and_behind_the_rows)
{
    const int64_t shape[] = {2, 3, 4, 5, 1, 2, 3, 1};
    const int64_t gap[] = {480, 120, 30, 6, 6, 3, 1, 1};
    const struct cpl_rows rows = {memory, 4, 60, 60, 6, 240};
    struct cpl_tensor tensor = tensor_of(8, shape, NULL, 16);

    accept(&tensor, 2, &rows);
    cr_assert_eq(cpl_element_bytes(&tensor), 2);
    tensor.strides = gap; /* 480 is not 3 * 120 */
    refuse(&tensor, 2, CPL_ERROR_ARGUMENT);
}

Test(tensor, begins_at_its_byte_offset)
{
    const int64_t shape[] = {6, 5};
    const struct cpl_rows rows = {memory + 100, 6, 20, 20, 1, 0};
    struct cpl_tensor tensor = tensor_of(2, shape, NULL, 32);

    tensor.byte_offset = 100;
    accept(&tensor, 0, &rows);
}

/* An address behind the end of the address space would wrap to one before the allocation. */
Test(tensor, byte_offset_that_wraps_is_refused)
{
    const int64_t shape[] = {6, 5};
    struct cpl_tensor tensor = tensor_of(2, shape, NULL, 32);

    tensor.byte_offset = UINT64_MAX - 63;
    refuse(&tensor, 0, CPL_ERROR_ARGUMENT);
}

Test(tensor, inner_dimensions_must_be_compact)
{
    const int64_t shape[] = {6, 2, 5};
    const int64_t gap[] = {20, 10, 1};
    const int64_t spread[] = {20, 10, 2};
    const int64_t swapped[] = {10, 1, 2};
    const int64_t repeated[] = {10, 0, 1};
    const int64_t transposed_shape[] = {6, 5};
    const int64_t transposed[] = {1, 6};

    refuse_shape(3, shape, gap, 0);
    refuse_shape(3, shape, spread, 0);
    refuse_shape(3, shape, swapped, 0);
    refuse_shape(3, shape, repeated, 0);
    refuse_shape(2, transposed_shape, transposed, 0);
}

Test(tensor, negative_sizes_and_strides_are_refused)
{
    const int64_t shape[] = {6, 2, 5};
    const int64_t negative_shapes[][3] = {{-1, 2, 5}, {6, -2, 5}, {6, 2, INT64_MIN}, {0, -1, 5}};
    const int64_t negative_strides[][3] = {{-10, 5, 1},
                                           {10, -5, 1},
                                           {10, 5, -1},
                                           {INT64_MIN, 5, 1}};

    for (size_t i = 0; i < 4; i++) {
        for (int32_t axis = 0; axis < 3; axis++) {
            refuse_shape(3, negative_shapes[i], NULL, axis);
            refuse_shape(3, shape, negative_strides[i], axis);
        }
    }
}

Test(tensor, sizes_that_overflow_are_refused)
{
    const int64_t shapes[][3] = {
        {INT64_MAX, 2, 1},
        {INT64_C(1) << 32, INT64_C(1) << 32, 1},
        {INT64_C(1) << 31, INT64_C(1) << 31, 1}, /* 2^62 elements, 2^64 bytes */
        {1, 2, INT64_C(1) << 60},                /* 2^63 bytes */
        {INT64_C(1) << 60, 1, 2},
    };
    const int64_t shape[] = {3, 4, 5};
    const int64_t strides[][3] = {
        {20, INT64_MAX, 1},
        {INT64_MAX, 5, 1},
        {20, INT64_C(1) << 62, 1}, /* four bytes each: 2^64 */
        {INT64_C(1) << 62, 5, 1},
        {20, INT64_C(1) << 59, 1}, /* 2^61 bytes, four rows: 2^63 */
        {INT64_C(1) << 60, 1 << 20, 1},
    };

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        for (int32_t axis = 0; axis < 3; axis++) {
            refuse_shape(3, shapes[i], NULL, axis);
        }
    }
    for (size_t i = 0; i < sizeof(strides) / sizeof(strides[0]); i++) {
        refuse_shape(3, shape, strides[i], 1);
    }
}

Test(tensor, head_must_make_sense)
{
    const int64_t shape[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const int32_t dimensions[] = {0, 9, -1, INT32_MIN, INT32_MAX};
    const int32_t axes[] = {-1, 2, INT32_MIN, INT32_MAX};
    struct cpl_tensor tensor = tensor_of(2, shape, NULL, 32);

    for (size_t i = 0; i < sizeof(dimensions) / sizeof(dimensions[0]); i++) {
        refuse_shape(dimensions[i], shape, NULL, 0);
    }
    for (size_t i = 0; i < sizeof(axes) / sizeof(axes[0]); i++) {
        refuse_shape(2, shape, NULL, axes[i]);
    }
    tensor.shape = NULL;
    refuse(&tensor, 0, CPL_ERROR_ARGUMENT);
    tensor.shape = shape;
    tensor.data = NULL;
    refuse(&tensor, 0, CPL_ERROR_ARGUMENT);
}

Test(tensor, elements_are_whole_bytes)
{
    const int64_t shape[] = {4, 3};
    const struct {
        uint8_t bits;
        uint16_t lanes;
        uint64_t bytes; /* 0 = refused */
    } types[] = {
        {4, 1, 0}, {1, 1, 0},  {12, 1, 0},   {4, 3, 0},
        {0, 1, 0}, {8, 0, 0},  {0, 0, 0},    {255, 1, 0},
        {4, 2, 1}, {1, 8, 1},  {8, 1, 1},    {8, 3, 3},
        {6, 4, 3}, {16, 4, 8}, {128, 1, 16}, {248, 65535, 2031585},
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct cpl_tensor tensor = tensor_of(2, shape, NULL, types[i].bits);
        const uint64_t row_bytes = 3 * types[i].bytes;
        const struct cpl_rows rows = {memory, 4, row_bytes, row_bytes, 1, 0};

        tensor.type_lanes = types[i].lanes;
        if (types[i].bytes == 0) {
            refuse(&tensor, 0, CPL_ERROR_ARGUMENT);
        } else {
            accept(&tensor, 0, &rows);
            cr_assert_eq(cpl_element_bytes(&tensor), types[i].bytes);
        }
    }
}

Test(tensor, dimensions_of_one_entry_may_have_any_stride)
{
    const int64_t odd[] = {0, 1, 3, 12345};

    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        const int64_t inner_shape[] = {6, 1, 5, 1};
        const int64_t inner_strides[] = {5, odd[i], 1, odd[i]};
        const int64_t outer_shape[] = {2, 1, 6, 5};
        const int64_t outer_strides[] = {30, odd[i], 5, 1};
        const int64_t row_shape[] = {2, 1, 5};
        const int64_t row_strides[] = {5, odd[i], 1};
        const struct cpl_rows inner = {memory, 6, 20, 20, 1, 0};
        const struct cpl_rows outer = {memory, 6, 20, 20, 2, 120};
        const struct cpl_rows row = {memory, 1, 20, 0, 2, 20};
        struct cpl_tensor tensor = tensor_of(4, inner_shape, inner_strides, 32);

        accept(&tensor, 0, &inner);
        tensor = tensor_of(4, outer_shape, outer_strides, 32);
        accept(&tensor, 2, &outer);
        tensor = tensor_of(3, row_shape, row_strides, 32);
        accept(&tensor, 1, &row);
    }
}

/* Nothing lies one row stride behind a single row, so a huge one does no harm. */
Test(tensor, one_row_may_have_the_largest_stride)
{
    const int64_t shape[] = {1, 5};
    const int64_t strides[] = {INT64_MAX, 1};
    const struct cpl_tensor tensor = tensor_of(2, shape, strides, 32);
    const struct cpl_rows rows = {memory, 1, 20, 0, 1, 0};

    accept(&tensor, 0, &rows);
}

Test(tensor, may_be_empty)
{
    const int64_t no_rows[] = {2, 0, 5};
    const int64_t no_columns[] = {2, 6, 0};
    const int64_t no_batch[] = {0, 6, 5};
    const int64_t no_columns_strides[] = {6, 1, 1};
    struct cpl_tensor tensor = tensor_of(3, no_rows, NULL, 32);
    struct cpl_rows rows = {NULL, 0, 20, 0, 2, 0};

    tensor.data = NULL;
    accept(&tensor, 1, &rows);
    tensor.shape = no_columns;
    rows = (struct cpl_rows){NULL, 6, 0, 0, 2, 0};
    accept(&tensor, 1, &rows);
    tensor.strides = no_columns_strides;
    rows = (struct cpl_rows){NULL, 6, 0, 4, 2, 24};
    accept(&tensor, 1, &rows);
    tensor.shape = no_batch;
    tensor.strides = NULL;
    rows = (struct cpl_rows){NULL, 6, 20, 20, 0, 0};
    accept(&tensor, 1, &rows);
}

Test(tensor, other_devices_are_unsupported)
{
    const int64_t shape[] = {4, 3};
    const int32_t devices[] = {0, 2, 3, 10, 13, -1};
    struct cpl_tensor tensor = tensor_of(2, shape, NULL, 32);

    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        tensor.device_type = devices[i];
        refuse(&tensor, 0, CPL_ERROR_UNSUPPORTED);
    }
}

/* ---- Overlap --------------------------------------------------------------------------------- */

/* Rows of a small byte tensor [outer, rows, width]. */
struct grid {
    int64_t shape[3];
    int64_t strides[3];
};

/* Marks every byte of every row; true if one is marked twice. */
static bool grid_overlaps(const struct grid *grid)
{
    bool taken[64] = {false};
    bool twice = false;

    for (int64_t i = 0; i < grid->shape[0] * grid->shape[1] * grid->shape[2]; i++) {
        const int64_t column = i % grid->shape[2];
        const int64_t row = i / grid->shape[2] % grid->shape[1];
        const int64_t outer = i / grid->shape[2] / grid->shape[1];
        bool *const mark = &taken[outer * grid->strides[0] + row * grid->strides[1] + column];

        twice = twice || *mark;
        *mark = true;
    }
    return twice;
}

/* Whether all rows of one outer entry lie before the next entry, or all entries of one row before
 * the next row: these must be accepted, anything else need not be. */
static bool grid_is_nested(const struct grid *grid)
{
    const int64_t *const n = grid->shape;
    const int64_t *const s = grid->strides;
    const bool rows_apart = n[1] == 1 || s[1] >= n[2];
    const bool outer_apart = n[0] == 1 || s[0] >= n[2];

    return (rows_apart && (n[0] == 1 || s[0] >= (n[1] - 1) * s[1] + n[2])) ||
           (outer_apart && (n[1] == 1 || s[1] >= (n[0] - 1) * s[0] + n[2]));
}

static void check_grid(const struct grid *grid, int *refused)
{
    const struct cpl_tensor tensor = tensor_of(3, grid->shape, grid->strides, 8);
    struct cpl_error error = {0};
    struct cpl_rows rows;
    const enum cpl_status status = cpl_rows_from_tensor(&tensor, 1, "grid", &rows, &error);

    if (grid_overlaps(grid)) {
        cr_assert_eq(status, CPL_ERROR_ARGUMENT,
                     "[%" PRId64 ", %" PRId64 ", %" PRId64 "] with strides %" PRId64 " and %" PRId64
                     " overlaps",
                     grid->shape[0], grid->shape[1], grid->shape[2], grid->strides[0],
                     grid->strides[1]);
        (*refused)++;
    } else if (grid_is_nested(grid)) {
        cr_assert_eq(status, CPL_OK, "%s", error.message);
    }
}

Test(tensor, rows_that_overlap_are_refused)
{
    int refused = 0;

    for (int i = 0; i < 3 * 3 * 3 * 12 * 12; i++) {
        const struct grid grid = {
            .shape = {1 + i % 3, 1 + i / 3 % 3, 1 + i / 9 % 3},
            .strides = {i / 27 % 12, i / 27 / 12, 1},
        };

        check_grid(&grid, &refused);
    }
    cr_assert_gt(refused, 300);
}
