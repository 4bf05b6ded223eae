/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known failures about shifts, labels, losses and counts: groups M-E and M-F, M-J 137, and those of P-C and
 * P-E that are of that kind.
 */
#include <math.h>
#include <string.h>

#include "threads/known.h"

static int64_t rows[8] = {0, 1, 2, 3, 4, 5, 6, 7};

/* ---- Shifts of fields ------------------------------------------------------------------------- */

/* Writes a field shifted by 1 in a layout; returns how many numbers. */
static int64_t shift(struct guest *guest, const char *layout, const char *field, int64_t fill,
                     int64_t values[PARTY_ROWS_MOST])
{
    const struct cplayout_view_shift args = {.size = sizeof(args),
                                             .field = field,
                                             .by = 1,
                                             .fill = &fill,
                                             .layout = guest_layout(guest, layout)};
    struct cplayout_view view = {.size = sizeof(view)};

    CHECK(host_views()->view_describe(guest->batch, args.layout, field, &view, &guest->error) ==
              CPLAYOUT_OK,
          "%s", guest->error.message);
    view.tensor.data = values;
    view.tensor.strides = NULL;
    view.tensor.byte_offset = 0;
    CHECK(host_views()->view_shift(guest->batch, &args, &view.tensor, &guest->error) == CPLAYOUT_OK,
          "%s", guest->error.message);
    return view.shape[0] * view.shape[1];
}

static void run(int32_t ranks, const char *format, void (*body)(struct guest *guest))
{
    const struct party party = {.ranks = ranks,
                                .options = {{"context_parallel_size", ranks == 4   ? "4"
                                                                      : ranks == 2 ? "2"
                                                                                   : "1"},
                                            {"qkv_format", format},
                                            {"timeout_seconds", "20"}},
                                .body = body};

    party_run(&party);
}

/* One shift of the mask F, F, F, T of a document gives F, F, T, T. */
static void mask_once(struct guest *guest)
{
    static const int32_t cu[] = {0, 3};
    static const int32_t cu_padded[] = {0, 4};
    static const struct cplayout_lengths sample = {cu, cu_padded, 2};
    static const struct party_batch batch = {.samples = &sample, .sample_count = 1};
    static const unsigned char expected[] = {0, 0, 1, 1};
    int64_t values[PARTY_ROWS_MOST];

    if (guest_batch_made(guest, &batch)) {
        CHECK(shift(guest, "zigzag", "padding_mask", 1, values) == 4 &&
                  memcmp(values, expected, sizeof(expected)) == 0,
              "shifted once");
    }
}

static void check_mask_once(void)
{
    run(1, "thd", mask_once);
}

/* Labels of rows 0, 1, 6, 7 are the next rows of the stream, not of the shard. */
static void labels(struct guest *guest)
{
    static const struct party_batch batch = {.fields = {{"tokens", rows, 2, {1, 8}}}};
    static const int64_t expected[2][4] = {{1, 2, 7, -100}, {3, 4, 5, 6}};
    int64_t values[PARTY_ROWS_MOST];

    if (guest_batch_made(guest, &batch)) {
        CHECK(shift(guest, "zigzag", "tokens", -100, values) == 4 &&
                  memcmp(values, expected[guest->rank], sizeof(expected[0])) == 0,
              "rank %d", guest->rank);
    }
}

static void check_labels(void)
{
    run(2, "sbhd", labels);
}

/* Position ids move with the tokens. */
static void positions(struct guest *guest)
{
    static const int32_t cu[] = {0, 4, 8};
    static const struct cplayout_lengths sample = {cu, NULL, 3};
    static const struct party_batch batch = {.samples = &sample, .sample_count = 1};
    static const int64_t expected[2][4] = {{1, 0, 1, 0}, {2, 3, 2, 3}};
    int64_t values[PARTY_ROWS_MOST];

    if (guest_batch_made(guest, &batch)) {
        CHECK(shift(guest, "zigzag", "position_ids", 0, values) == 4 &&
                  memcmp(values, expected[guest->rank], sizeof(expected[0])) == 0,
              "rank %d", guest->rank);
    }
}

static void check_positions(void)
{
    run(2, "thd", positions);
}

/* ---- Losses ----------------------------------------------------------------------------------- */

/* Sum and count of a rank's tokens. */
static struct cplayout_loss local_of(float *values, float *mask, int64_t count)
{
    int64_t shape[] = {1, count};
    const struct cplayout_tensor value = {.data = values,
                                          .device = {CPLAYOUT_DEVICE_CPU, 0},
                                          .ndim = 2,
                                          .dtype = {CPLAYOUT_TYPE_FLOAT, 32, 1},
                                          .shape = shape};
    struct cplayout_tensor select = value;
    const struct cplayout_loss_sum_args args = {sizeof(args), &value, &select};
    struct cplayout_loss loss = {0};

    select.data = mask;
    CHECK(host_views()->loss_sum(&args, &loss, NULL) == CPLAYOUT_OK, "no sum");
    return loss;
}

static void expect_mean(struct guest *guest, struct cplayout_loss local, double mean,
                        uint64_t count)
{
    const struct cplayout_loss_mean_args args = {.size = sizeof(args),
                                                 .local = &local,
                                                 .terms = 1,
                                                 .averaging_ranks = 1};
    struct cplayout_loss_mean got;

    CHECK(host_views()->loss_mean(guest->context, &args, &got, &guest->error) == CPLAYOUT_OK, "%s",
          guest->error.message);
    CHECK(fabs(got.mean - mean) < 1e-6 && got.count == count, "mean %g of %d", got.mean,
          (int)got.count);
}

/* Only rows 2 ... 5 count: in zigzag rank 0 has none of them. The loss of row k is k. */
static void none(struct guest *guest)
{
    float values[2][4] = {{0, 1, 6, 7}, {2, 3, 4, 5}};
    float masks[2][4] = {{0, 0, 0, 0}, {1, 1, 1, 1}};

    expect_mean(guest, local_of(values[guest->rank], masks[guest->rank], 4), 3.5, 4);
}

static void check_none(void)
{
    run(2, "sbhd", none);
}

/* Nobody has a token that counts. */
static void nowhere(struct guest *guest)
{
    float values[2] = {NAN, INFINITY};
    float masks[2] = {0, 0};

    expect_mean(guest, local_of(values, masks, 2), 0, 0);
}

static void check_nowhere(void)
{
    run(2, "sbhd", nowhere);
}

static void check_selection(void)
{
    float values[3] = {1, NAN, 3};
    float masks[3] = {1, 0, 1};
    const struct cplayout_loss loss = local_of(values, masks, 3);

    CHECK(fabs(loss.sum - 4) <= 0 && loss.count == 2, "%g of %d", loss.sum, (int)loss.count);
}

/* 4 tokens that count and a masked sample: the denominator is 4. */
static void check_denominator(void)
{
    float values[5] = {1, 1, 1, 1, 9};
    float masks[5] = {1, 1, 1, 1, 0};

    CHECK(local_of(values, masks, 5).count == 4, "not 4");
}

/* Local counts 1, 4, 4, 5 are 14, of which each rank uses all. */
static void counts(struct guest *guest)
{
    static const uint64_t tokens[] = {1, 4, 4, 5};
    const struct cplayout_loss local = {(double)(4 * tokens[guest->rank]), tokens[guest->rank]};

    expect_mean(guest, local, 4, 14);
}

static void check_counts(void)
{
    run(4, "sbhd", counts);
}

/* Sums 2 and 4 of 2 and 1 tokens. */
static void ratios(struct guest *guest)
{
    const struct cplayout_loss local = {guest->rank == 0 ? 2 : 4, guest->rank == 0 ? 2 : 1};

    expect_mean(guest, local, 2, 3);
}

static void check_ratios(void)
{
    run(2, "sbhd", ratios);
}

/* P = 2, T = 2: ranks of tensor parallelism hold the same losses, which count once. */
static void replicas(struct guest *guest)
{
    const struct cplayout_loss local = {guest->rank < 2 ? -20 : -37.36, guest->rank < 2 ? 1 : 2};

    expect_mean(guest, local, -57.36 / 3, 3);
}

static void check_replicas(void)
{
    const struct party party = {.ranks = 4,
                                .options = {{"context_parallel_size", "2"},
                                            {"tensor_model_parallel_size", "2"},
                                            {"sequence_parallel", "true"}},
                                .body = replicas};

    party_run(&party);
}

/* The mean of the same 8 losses on 1, 2 and 4 ranks. */
static void evaluation(struct guest *guest)
{
    float values[8] = {6, 7, 8, 7, 6, 8, 7, 6.84F};
    float masks[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const int32_t ranks = *(const int32_t *)guest->self;
    const int64_t count = 8 / ranks;

    expect_mean(guest, local_of(values + guest->rank * count, masks, count), 6.98, 8);
}

static void check_evaluation(void)
{
    for (int32_t ranks = 1; ranks <= 4; ranks *= 2) {
        int32_t self = ranks;
        const struct party party = {.ranks = ranks,
                                    .options = {{"context_parallel_size", ranks == 4   ? "4"
                                                                          : ranks == 2 ? "2"
                                                                                       : "1"}},
                                    .body = evaluation,
                                    .self = &self};

        party_run(&party);
    }
}

/* Of [1, 8] a rank sees 4 tokens, of [2, 8] 4 of each sample. */
static void cut_at_all(struct guest *guest)
{
    static const struct party_batch batch = {.fields = {{"tokens", rows, 2, {1, 8}}}};
    int64_t values[PARTY_ROWS_MOST];

    if (guest_batch_made(guest, &batch)) {
        CHECK(guest_view(guest, "zigzag", "tokens", values) == 4, "not cut");
    }
}

static void check_cut_at_all(void)
{
    run(2, "sbhd", cut_at_all);
}

/* Two samples of one call are both samples one after the other. */
static void check_samples(void)
{
    float both[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    float masks[8] = {1, 1, 1, 0, 1, 0, 0, 0};
    const struct cplayout_loss loss = local_of(both, masks, 8);
    const struct cplayout_loss first = local_of(both, masks, 4);
    const struct cplayout_loss second = local_of(both + 4, masks + 4, 4);

    CHECK(fabs(loss.sum - first.sum - second.sum) <= 0 &&
              loss.count == first.count + second.count && loss.count == 4,
          "%g of %d", loss.sum, (int)loss.count);
}

/* 16 rows, 8 real: ranks 2 and 3 have none. */
static void half(struct guest *guest)
{
    float values[4] = {2, 2, 2, 2};
    float masks[2][4] = {{1, 1, 1, 1}, {0, 0, 0, 0}};

    expect_mean(guest, local_of(values, masks[guest->rank / 2], 4), 2, 8);
}

static void check_half(void)
{
    run(4, "sbhd", half);
}

/* ---- The table --------------------------------------------------------------------------------- */

static const struct known table[] = {
    {"M-E 67", "shifts by real offsets", KNOWN_TARGETS, "zigzag", 2, .by = 1, .cu = {0, 3, 8},
     .cu_padded = {0, 4, 12}, .answer = "1 - 5 6 - - | 2 - 7 8 - -"},
    {"M-E 69", "zigzag's shift of contiguous rows", KNOWN_TARGETS, "contiguous", 2, .by = 1,
     .sequence = 8, .answer = "1 2 3 4 | 5 6 7 -"},
    {"M-E 71", "a mask shifted twice", .check = check_mask_once},
    {"M-E 73", "labels shifted after the cut", .check = check_labels},
    {"M-E 75", "a shift inside each shard", KNOWN_TARGETS, "zigzag", 4, .by = 1, .sequence = 16,
     .answer = "1 2 15 - | 3 4 13 14 | 5 6 11 12 | 7 8 9 10"},
    {"M-E 77", "no token counts anywhere", .check = check_nowhere},
    {"M-E 79", "a label out of the next document", KNOWN_TARGETS, "zigzag", 2, .by = 1,
     .cu = {0, 4, 8}, .answer = "1 - 5 - | 2 3 6 7"},
    {"M-D 65", "positions that do not move with the tokens", .check = check_positions},
    {"M-F 81", "local counts of MTP losses", .check = check_counts},
    {"M-F 83", "a mean of ratios", .check = check_ratios},
    {"M-F 85", "all tokens of a rank are masked", .check = check_none},
    {"M-F 87", "NaN times 0", .check = check_selection},
    {"M-F 89", "router counts over a wrong group", .elsewhere = "the host's router"},
    {"M-F 91", "replicas added up", .check = check_replicas},
    {"M-F 93", "a masked sample in the denominator", .check = check_denominator},
    {"M-F 95", "an evaluation loss times P", .check = check_evaluation},
    {"M-F 97", "token counts that depend on P", .check = check_counts},
    {"M-F 99", "several samples and P above 1", .check = check_samples},
    {"M-F 101", "a batch that is not cut", .check = check_cut_at_all},
    {"M-J 137", "a long shift over short runs", KNOWN_TARGETS, "zigzag", 4, .by = 3, .sequence = 8,
     .answer = "3 - | 4 - | 5 - | 6 7"},
    {"P-C 13", "half of the ranks are padding", .check = check_half},
    {"P-E 31", "a label out of the next document", KNOWN_TARGETS, "contiguous", 1, .by = 1,
     .cu = {0, 3, 5}, .answer = "1 2 - 4 -"},
};

int main(void)
{
    known_test(table, sizeof(table) / sizeof(table[0]));
    return tap_end();
}
