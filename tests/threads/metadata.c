/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packed metadata of a batch in every layout, against values that are counted here, and the
 * partition that a batch lends. Wrong arguments of view_metadata.
 */
#include <inttypes.h>
#include <string.h>

#include "threads/deal.h"

enum { ARGUMENT = CPLAYOUT_ERROR_ARGUMENT };

/* The same counted from the documents and from the rows that the oracle deals. */
static struct cplayout_view_metadata expected_counts(const struct deal *deal, int32_t layout)
{
    const struct packed *const packed = &deal->packs[layout];
    struct cplayout_view_metadata counts = {.entries = (uint64_t)deal->documents + 1};

    for (int64_t i = 0; i < deal->documents; i++) {
        const int32_t tokens = (int32_t)deal->list[i].tokens;
        const int32_t rows = (int32_t)(packed->padded[i + 1] - packed->padded[i]);

        counts.tokens += (uint64_t)tokens;
        counts.rows += (uint64_t)rows;
        counts.max_seqlen = tokens > counts.max_seqlen ? tokens : counts.max_seqlen;
        counts.max_seqlen_padded =
            rows > counts.max_seqlen_padded ? rows : counts.max_seqlen_padded;
    }
    counts.local_rows = counts.rows / (uint64_t)deal->ranks;
    return counts;
}

static void check_counts(const struct cplayout_view_metadata *told, const struct deal *deal,
                         int32_t layout)
{
    const struct cplayout_view_metadata counts = expected_counts(deal, layout);

    CHECK(told->entries == counts.entries && told->tokens == counts.tokens &&
              told->rows == counts.rows && told->local_rows == counts.local_rows,
          "%s: %" PRIu64 " entries, %" PRIu64 " tokens, %" PRIu64 " rows, %" PRIu64 " here",
          deal->packs[layout].text, told->entries, told->tokens, told->rows, told->local_rows);
    CHECK(told->max_seqlen == counts.max_seqlen &&
              told->max_seqlen_padded == counts.max_seqlen_padded,
          "%s: longest %d, %d with padding", deal->packs[layout].text, told->max_seqlen,
          told->max_seqlen_padded);
}

static void check_offsets(const struct cplayout_view_metadata *told, const struct deal *deal,
                          int32_t layout)
{
    int64_t tokens = 0;

    for (int64_t i = 0; i <= deal->documents; i++) {
        CHECK(told->cu_seqlens[i] == tokens, "%s: cu_seqlens[%" PRId64 "] = %d",
              deal->packs[layout].text, i, told->cu_seqlens[i]);
        CHECK(told->cu_seqlens_padded[i] == deal->packs[layout].padded[i],
              "%s: cu_seqlens_padded[%" PRId64 "] = %d", deal->packs[layout].text, i,
              told->cu_seqlens_padded[i]);
        tokens += i < deal->documents ? deal->list[i].tokens : 0;
    }
}

static void check_partition(const struct seat *seat, const struct deal *deal, int32_t layout,
                            uint64_t identity)
{
    const struct cplayout_partition *partition = NULL;
    struct cplayout_partition_info info = {.size = sizeof(info)};
    struct cplayout_rank_info here = {.size = sizeof(here)};
    const struct packed *const packed = &deal->packs[layout];

    if (!CHECK(host_views()->view_partition(seat->batch, seat_layout(seat, deal_names[layout]),
                                            &partition, NULL) == CPLAYOUT_OK,
               "no partition")) {
        return;
    }
    host_plan()->partition_describe(partition, &info);
    CHECK(info.identity == identity && identity != 0, "the identity is another one");
    CHECK(info.tokens == (uint64_t)packed->tokens && info.stream_rows == (uint64_t)packed->rows &&
              info.documents == (uint64_t)packed->documents && info.cp == deal->cp &&
              info.tp == deal->tp,
          "%s: %" PRIu64 " tokens in %" PRIu64 " rows", packed->text, info.tokens,
          info.stream_rows);
    CHECK(host_plan()->rank_describe(partition, seat->rank, &here, NULL) == CPLAYOUT_OK &&
              here.valid_rows == (uint64_t)packed_valid(packed, &packed->held, seat->rank) &&
              here.attention_pairs == (uint64_t)packed_pairs(packed, &packed->held, seat->rank),
          "%s: rank %d has %" PRIu64 " tokens", packed->text, seat->rank, here.valid_rows);
}

static void check_metadata(const struct seat *seat, const struct deal *deal, int32_t layout)
{
    struct cplayout_view_metadata told = {.size = sizeof(told)};
    struct cplayout_error error = {.size = sizeof(error)};
    const int32_t handle = seat_layout(seat, deal_names[layout]);

    if (CHECK(host_views()->view_metadata(seat->batch, handle, &told, &error) == CPLAYOUT_OK,
              "rank %d: %s", seat->rank, error.message)) {
        check_counts(&told, deal, layout);
        check_offsets(&told, deal, layout);
        check_partition(seat, deal, layout, told.identity);
    }
}

static void run_metadata(struct world *world, struct seat *seat)
{
    const struct deal *const deal = world->self;
    const struct cplayout_batch_args args = deal_args(deal);

    if (!CHECK(host_core()->batch_create(seat->context, &args, &seat->batch, &seat->error) ==
                   CPLAYOUT_OK,
               "rank %d: %s", seat->rank, seat->error.message)) {
        return;
    }
    for (int32_t layout = 0; layout < DEAL_LAYOUTS; layout++) {
        check_metadata(seat, deal, layout);
    }
}

static const struct host_config usual = {
    .cp = 1,
    .packed = true,
    .linear = "contiguous",
    .attention = "zigzag",
    .boundary = "mirror",
    .timeout = "20",
};

static void test_metadata(struct packed_ranks ranks, enum deal_kind kind)
{
    struct host_config config = usual;
    struct deal deal;
    struct world world;

    tap_test("metadata, P = %d, T = %d, %s", ranks.cp, ranks.tp, deal_kind_names[kind]);
    config.cp = ranks.cp;
    config.tp = ranks.tp;
    deal_pack(&deal, ranks, kind, ranks.cp + (int64_t)kind);
    world_open(&world, &config);
    world.self = &deal;
    world_run(&world, run_metadata);
    world_close(&world);
    deal_fini(&deal);
}

/* ---- Wrong arguments ------------------------------------------------------------------------ */

static void refuse(const struct cplayout_batch *batch, int32_t layout,
                   struct cplayout_view_metadata *told, const char *text)
{
    struct cplayout_error error = {.size = sizeof(error)};

    CHECK(host_views()->view_metadata(batch, layout, told, &error) == ARGUMENT &&
              strstr(error.message, text) != NULL,
          "'%s' is not in '%s'", text, error.message);
}

static void test_refused(void)
{
    struct host_config config = usual;
    struct cplayout_view_metadata told = {.size = sizeof(told)};
    struct cplayout_view_metadata small = {.size = sizeof(small) - 8};
    struct deal deal;
    struct world world;

    tap_test("wrong arguments of view_metadata");
    deal_pack(&deal, (struct packed_ranks){1, 1}, DEAL_MIXED, 1);
    world_open(&world, &config);
    world.self = &deal;
    world_run(&world, run_metadata);
    refuse(NULL, 0, &told, "batch");
    refuse(world.seats[0].batch, 0, NULL, "metadata");
    refuse(world.seats[0].batch, 0, &small, "size is");
    refuse(world.seats[0].batch, 3, &told, "3 is no");
    refuse(world.seats[0].batch, -1, &told, "-1 is no");
    CHECK(told.entries == 0, "a failed call wrote a result");
    world_close(&world);
    deal_fini(&deal);
    config.packed = false;
    world_open(&world, &config);
    CHECK(seat_batch(&world.seats[0], 8, &world.seats[0].batch) == CPLAYOUT_OK, "no batch");
    refuse(world.seats[0].batch, 0, &told, "dense");
    world_close(&world);
}

int main(void)
{
    static const struct packed_ranks sizes[] = {{1, 1}, {1, 3}, {2, 1}, {2, 3}, {3, 2}, {8, 1}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (int32_t kind = 0; kind < DEAL_KINDS; kind++) {
            test_metadata(sizes[i], (enum deal_kind)kind);
        }
    }
    test_refused();
    return tap_end();
}
