/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Known failures about cutting, padding, offsets and positions: groups M-A to M-D and M-J, and those of
 * P-C to P-G that are of that kind.
 */
#include <string.h>

#include "threads/known.h"

static int64_t rows[256];

static void number_rows(void)
{
    for (int i = 0; i < 256; i++) {
        rows[i] = i;
    }
}

/* Runs `body` on two ranks of a hybrid model, dense or packed. */
static void run_two(const char *format, void (*body)(struct guest *guest))
{
    const struct party party = {.ranks = 2,
                                .options = {{"context_parallel_size", "2"},
                                            {"linear_cp_layout", "contiguous"},
                                            {"qkv_format", format},
                                            {"timeout_seconds", "20"}},
                                .body = body};

    party_run(&party);
}

/* ---- M-A: cuts ------------------------------------------------------------------------------- */

/* Embeddings [8, 2, 3], T = 2: each rank has [4, 2, 3] of it; the mask [2, 8] stays whole. */
static void scatter(struct guest *guest)
{
    static const struct party_batch batch = {
        .fields = {{"embeddings", rows, 3, {8, 2, 3}}, {"loss_mask", rows, 2, {2, 8}}}};

    if (guest_batch_made(guest, &batch)) {
        guest_expects(guest, "boundary", "embeddings", rows + 24 * guest->rank, 24);
        guest_expects(guest, "boundary", "loss_mask", rows, 16);
    }
}

static void check_scatter(void)
{
    const struct party party = {.ranks = 2,
                                .options = {{"tensor_model_parallel_size", "2"},
                                            {"sequence_parallel", "true"}},
                                .body = scatter};

    party_run(&party);
}

/* A further tensor [B, S] is no field, and never stays whole in silence. */
static void further(struct guest *guest)
{
    static const struct party_batch batch = {
        .fields = {{"tokens", rows, 2, {1, 8}}, {"rewards", rows, 2, {1, 8}}}};

    CHECK(guest_batch(guest, &batch) == CPLAYOUT_ERROR_ARGUMENT &&
              strstr(guest->error.message, "unknown field 'rewards'") != NULL,
          "%s", guest->error.message);
}

static void check_further(void)
{
    run_two("sbhd", further);
}

static void flat_mask(struct guest *guest)
{
    static const struct party_batch batch = {
        .fields = {{"tokens", rows, 2, {1, 8}}, {"attention_mask", rows, 1, {1}}}};

    CHECK(guest_batch(guest, &batch) == CPLAYOUT_ERROR_ARGUMENT &&
              strstr(guest->error.message, "must be [B, 1, S, S], it has 1 dimension") != NULL,
          "%s", guest->error.message);
}

static void check_flat_mask(void)
{
    run_two("sbhd", flat_mask);
}

/* A rotary table [S, 2] is cut along its rows. */
static void rotary(struct guest *guest)
{
    static const struct party_batch batch = {.fields = {{"rotary", rows, 2, {8, 2}}}};
    static const int64_t held[2][8] = {{0, 1, 2, 3, 12, 13, 14, 15}, {4, 5, 6, 7, 8, 9, 10, 11}};

    if (guest_batch_made(guest, &batch)) {
        guest_expects(guest, "attention", "rotary", held[guest->rank], 8);
    }
}

static void check_rotary(void)
{
    static const struct cplayout_field_declaration table = {"rotary", 0, 0, 0};
    const struct party party = {.ranks = 2,
                                .options = {{"context_parallel_size", "2"}},
                                .declared = &table,
                                .declared_count = 1,
                                .body = rotary};

    party_run(&party);
}

/* Of a mask [1, 1, 8, 8] only the local query rows: 4 x 8 entries. */
static void query_rows(struct guest *guest)
{
    static const struct party_batch batch = {.fields = {{"attention_mask", rows, 4, {1, 1, 8, 8}}}};
    int64_t values[PARTY_ROWS_MOST];

    if (guest_batch_made(guest, &batch)) {
        CHECK(guest_view(guest, "attention", "attention_mask", values) == 32 &&
                  values[8] == (guest->rank == 0 ? 8 : 24),
              "rank %d", guest->rank);
    }
}

static void check_query_rows(void)
{
    run_two("sbhd", query_rows);
}

/* Ranks that loaded different packs of equal rows. */
static void different(struct guest *guest)
{
    const int32_t cu[2][3] = {{0, 4, 8}, {0, 5, 8}};
    const struct cplayout_lengths sample = {cu[guest->rank], NULL, 3};
    const struct party_batch batch = {.samples = &sample, .sample_count = 1};

    CHECK(guest_batch(guest, &batch) == CPLAYOUT_ERROR_MISMATCH &&
              strstr(guest->error.message, "sequence length or documents") != NULL,
          "%s", guest->error.message);
}

static void check_different(void)
{
    run_two("thd", different);
}

/* ---- M-B: registration ------------------------------------------------------------------------ */

static void check_registration(const struct cplayout_option *options, uint64_t count,
                               const char *text)
{
    const struct cplayout_host record = host_record();
    const struct cplayout_create_args args = {.size = sizeof(args),
                                              .host = &record,
                                              .options = options,
                                              .option_count = count};
    struct cplayout_error error = {.size = sizeof(error)};

    CHECK(host_core()->check(&args, &error) == CPLAYOUT_ERROR_CONFIGURATION &&
              strstr(error.message, text) != NULL,
          "%s", error.message);
}

static void check_length_of_18(void)
{
    static const struct cplayout_option options[] = {{"context_parallel_size", "2"},
                                                     {"seq_length", "18"}};

    check_registration(options, 2, "18 is not a multiple of 4");
}

static void check_headwise(void)
{
    static const struct cplayout_option options[] = {{"context_parallel_size", "2"},
                                                     {"linear_cp_layout", "mirror"},
                                                     {"linear_chain", "table"},
                                                     {"linear_cp_mode", "headwise"}};

    check_registration(options, 4, "linear.headwise_layout");
}

/* 32 rows per rank: sequences of multiples of 64. */
static void row_unit(struct guest *guest)
{
    static const int32_t cu[] = {0, 3, 40};
    static const struct cplayout_lengths sample = {cu, NULL, 3};
    static const struct party_batch batch = {.samples = &sample, .sample_count = 1};
    struct cplayout_view_metadata metadata = {.size = sizeof(metadata)};

    if (guest_batch_made(guest, &batch) &&
        CHECK(host_views()->view_metadata(guest->batch, guest_layout(guest, "zigzag"), &metadata,
                                          NULL) == CPLAYOUT_OK,
              "no metadata")) {
        CHECK(metadata.rows == 64 && metadata.cp_rows == 32, "%d rows", (int)metadata.rows);
    }
}

static void check_row_unit(void)
{
    const struct party party = {.ranks = 2,
                                .options = {{"context_parallel_size", "2"},
                                            {"qkv_format", "thd"},
                                            {"row_unit", "32"}},
                                .body = row_unit};

    party_run(&party);
}

/* ---- M-C: offsets ----------------------------------------------------------------------------- */

/* Offsets of this rank's batch in zigzag, real and padded. */
static bool offsets_of(struct guest *guest, const int32_t *cu, const int32_t *cu_padded,
                       uint64_t entries, struct cplayout_view_metadata *metadata)
{
    const struct cplayout_lengths sample = {cu, cu_padded, entries};
    const struct party_batch batch = {.samples = &sample, .sample_count = 1};

    *metadata = (struct cplayout_view_metadata){.size = sizeof(*metadata)};
    return guest_batch_made(guest, &batch) &&
           CHECK(host_views()->view_metadata(guest->batch, guest_layout(guest, "zigzag"), metadata,
                                             NULL) == CPLAYOUT_OK,
                 "no metadata");
}

/* Equal offsets in two arrays are no padding; the last document's padding is some. */
static void flag(struct guest *guest)
{
    static const int32_t cu[] = {0, 4, 12};
    static const int32_t same[] = {0, 4, 12};
    static const int32_t tail[] = {0, 4, 16};
    static const int32_t short_tail[] = {0, 4, 10};
    struct cplayout_view_metadata metadata;

    if (offsets_of(guest, cu, same, 3, &metadata)) {
        CHECK(metadata.padding_between == 0, "equal arrays count as padding");
    }
    if (offsets_of(guest, cu, tail, 3, &metadata)) {
        CHECK(metadata.padding_between == 1, "padding of the source's last document");
    }
    if (offsets_of(guest, short_tail, NULL, 3, &metadata)) {
        CHECK(metadata.padding_between == 1 && metadata.cu_seqlens_padded[2] == 12,
              "padding that zigzag adds to the last document");
    }
}

static void check_flag(void)
{
    run_two("thd", flag);
}

static void totals(struct guest *guest)
{
    static const int32_t cu[] = {0, 3, 8};
    static const int32_t cu_padded[] = {0, 4, 12};
    struct cplayout_view_metadata metadata;

    if (offsets_of(guest, cu, cu_padded, 3, &metadata)) {
        CHECK(metadata.rows == 12 && metadata.tokens == 8 && metadata.max_seqlen == 5 &&
                  metadata.max_seqlen_padded == 8,
              "%d rows, longest %d and %d", (int)metadata.rows, metadata.max_seqlen,
              metadata.max_seqlen_padded);
    }
}

static void check_totals(void)
{
    run_two("thd", totals);
}

/* Fill values of a real NaN-prone pack: every length is there, no row is lost. */
static void check_lengths(void)
{
    static const int32_t packs[][8] = {{0, 9, 16, 24, 36, 44, 56}, {0, 3, 12, 32, 33, 46, 58, 64}};

    for (int i = 0; i < 2; i++) {
        const struct cplayout_lengths sample = {packs[i], NULL, 7 + (uint64_t)i};
        const struct cplayout_partition_args args = {.size = sizeof(args),
                                                     .layout = "zigzag",
                                                     .cp = 2,
                                                     .tp = 1,
                                                     .samples = &sample,
                                                     .sample_count = 1};
        struct cplayout_partition *partition = NULL;
        uint64_t valid = 0;

        CHECK(host_plan()->partition_create(NULL, &args, &partition, NULL) == CPLAYOUT_OK,
              "pack %d", i);
        for (int32_t rank = 0; rank < 2 && partition != NULL; rank++) {
            struct cplayout_rank_info info = {.size = sizeof(info)};

            CHECK(host_plan()->rank_describe(partition, rank, &info, NULL) == CPLAYOUT_OK, "rank");
            valid += info.valid_rows;
        }
        CHECK(valid == (uint64_t)packs[i][6 + i], "pack %d: %d tokens", i, (int)valid);
        host_plan()->partition_destroy(partition);
    }
}

/* ---- M-D: positions --------------------------------------------------------------------------- */

/* Positions that the host gives are cut as the tokens are, once; of three axes the last one. */
static void positions(struct guest *guest)
{
    static const struct party_batch batch = {
        .fields = {{"tokens", rows, 2, {1, 8}}, {"position_ids", rows, 3, {3, 1, 8}}}};
    static const int64_t held[2][12] = {{0, 1, 6, 7, 8, 9, 14, 15, 16, 17, 22, 23},
                                        {2, 3, 4, 5, 10, 11, 12, 13, 18, 19, 20, 21}};

    if (guest_batch_made(guest, &batch)) {
        guest_expects(guest, "attention", "tokens", held[guest->rank], 4);
        guest_expects(guest, "attention", "position_ids", held[guest->rank], 12);
    }
}

static void check_positions(void)
{
    run_two("sbhd", positions);
}

/* ---- M-J -------------------------------------------------------------------------------------- */

/* Tokens [1, 16], but the documents end at 8. */
static void longer(struct guest *guest)
{
    static const int32_t cu[] = {0, 8};
    static const struct cplayout_lengths sample = {cu, NULL, 2};
    static const struct party_batch batch = {.samples = &sample,
                                             .sample_count = 1,
                                             .fields = {{"tokens", rows, 2, {1, 16}}}};

    CHECK(guest_batch(guest, &batch) == CPLAYOUT_ERROR_ARGUMENT &&
              strstr(guest->error.message, "16 entries along axis 1, the sequence has 8") != NULL,
          "%s", guest->error.message);
}

static void check_longer(void)
{
    run_two("thd", longer);
}

/* The padding mask is cut as the tokens are: [1, 6] beside [1, 6]. */
static void mask_of_view(struct guest *guest)
{
    static const int32_t cu[] = {0, 3, 8};
    static const struct cplayout_lengths sample = {cu, NULL, 3};
    static const struct party_batch batch = {.samples = &sample,
                                             .sample_count = 1,
                                             .fields = {{"padding_mask", rows, 2, {1, 8}}}};
    static const int64_t held[2][6] = {{0, 1, 3, 4, 1, 1}, {1, 2, 5, 6, 7, 1}};

    if (guest_batch_made(guest, &batch)) {
        guest_expects(guest, "zigzag", "padding_mask", held[guest->rank], 6);
    }
}

static void check_mask_of_view(void)
{
    run_two("thd", mask_of_view);
}

/* A route of 2 ranks of one pack to 2 ranks of another. */
static void check_other_plan(void)
{
    static const int32_t cu[2][3] = {{0, 4, 8}, {0, 5, 8}};
    struct cplayout_partition *partitions[2] = {NULL, NULL};
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_route *route = NULL;

    for (int i = 0; i < 2; i++) {
        const struct cplayout_lengths sample = {cu[i], NULL, 3};
        const struct cplayout_partition_args args = {.size = sizeof(args),
                                                     .layout = i == 0 ? "contiguous" : "zigzag",
                                                     .cp = 2,
                                                     .tp = 1,
                                                     .samples = &sample,
                                                     .sample_count = 1};

        CHECK(host_plan()->partition_create(NULL, &args, &partitions[i], NULL) == CPLAYOUT_OK,
              "no partition");
    }
    CHECK(host_plan()->route_create(NULL, partitions[0], partitions[1], &route, &error) ==
                  CPLAYOUT_ERROR_ARGUMENT &&
              strstr(error.message, "different documents") != NULL,
          "%s", error.message);
    host_plan()->partition_destroy(partitions[0]);
    host_plan()->partition_destroy(partitions[1]);
}

/* ---- P-E, P-G ---------------------------------------------------------------------------------- */

/* The mask of 2048 tokens on 4 ranks has 512 rows each, none of padding. */
static void short_mask(struct guest *guest)
{
    static const struct party_batch batch = {.sequence_length = 2048};
    struct cplayout_view view = {.size = sizeof(view)};

    if (guest_batch_made(guest, &batch)) {
        CHECK(host_views()->view_describe(guest->batch, 0, "padding_mask", &view, NULL) ==
                      CPLAYOUT_OK &&
                  view.shape[1] == 512,
              "%d rows", (int)view.shape[1]);
    }
}

static void check_short_mask(void)
{
    const struct party party = {.ranks = 4,
                                .options = {{"context_parallel_size", "4"}},
                                .body = short_mask};

    party_run(&party);
}

/* Offsets are those of the whole stream, the same on every rank. */
static void whole_offsets(struct guest *guest)
{
    static const int32_t cu[] = {0, 3, 8};
    static const int32_t zigzag[] = {0, 4, 12};
    struct cplayout_view_metadata metadata;

    if (offsets_of(guest, cu, NULL, 3, &metadata)) {
        CHECK(memcmp(metadata.cu_seqlens, cu, sizeof(cu)) == 0 &&
                  memcmp(metadata.cu_seqlens_padded, zigzag, sizeof(zigzag)) == 0,
              "rank %d: offsets of its own", guest->rank);
    }
}

static void check_whole_offsets(void)
{
    run_two("thd", whole_offsets);
}

/* Positions are made where the host gives none. */
static void made_positions(struct guest *guest)
{
    static const int32_t cu[] = {0, 4, 8};
    static const struct cplayout_lengths sample = {cu, NULL, 3};
    static const struct party_batch batch = {.samples = &sample, .sample_count = 1};
    static const int64_t held[2][4] = {{0, 3, 0, 3}, {1, 2, 1, 2}};

    if (guest_batch_made(guest, &batch)) {
        guest_expects(guest, "zigzag", "position_ids", held[guest->rank], 4);
    }
}

static void check_made_positions(void)
{
    run_two("thd", made_positions);
}

/* ---- The table --------------------------------------------------------------------------------- */

static const struct known table[] = {
    {"M-A 1", "zigzag over the whole pack", KNOWN_ROWS, "zigzag", 2, .cu = {0, 8, 16},
     .answer = "0 1 6 7 8 9 14 15 | 2 3 4 5 10 11 12 13"},
    {"M-A 3", "contiguous inside each document", KNOWN_ROWS, "contiguous", 2, .cu = {0, 4, 12},
     .answer = "0 1 2 3 4 5 | 6 7 8 9 10 11"},
    {"M-A 5", "contiguous shards put in zigzag's order", KNOWN_ORDER, "contiguous", 2,
     .sequence = 8, .answer = "0 1 2 3 4 5 6 7"},
    {"M-A 7", "a layout nobody knows", KNOWN_ERROR, "ring", 2, .sequence = 8,
     .answer = "unknown layout 'ring'"},
    {"M-A 7a", "contiguous needs P x T alone", KNOWN_ROWS, "contiguous", 2, 3, .sequence = 6,
     .answer = "0 1 2 | 3 4 5"},
    {"M-A 9", "sequence parallelism cut the batch axis", .check = check_scatter},
    {"M-A 11", "a further field stays whole", .check = check_further},
    {"M-A 13", "a mask of one dimension", .check = check_flat_mask},
    {"M-A 15", "a rotary table along a wrong axis", .check = check_rotary},
    {"M-A 17", "2 tokens on 3 ranks", KNOWN_ERROR, "contiguous", 3, .sequence = 2,
     .answer = "2 is not a multiple of 3"},
    {"M-A 17a", "10 tokens on 3 ranks lose one", KNOWN_ERROR, "contiguous", 3, .sequence = 10,
     .answer = "10 is not a multiple of 3"},
    {"M-A 19", "a dense mask of all pairs", .check = check_query_rows},
    {"M-A 21", "the order of a gather", KNOWN_ORDER, "zigzag", 2, .sequence = 4,
     .answer = "0 2 3 1"},
    {"M-A 23", "ranks that loaded other batches", .check = check_different},
    {"M-B 25", "real tokens by padded offsets", KNOWN_COUNTS, "zigzag", 4, 16, .cu = {0, 38},
     .cu_padded = {0, 128}, .answer = "16 | 16 | 6 | 0"},
    {"M-B 27", "length 7 on 2 ranks", KNOWN_ERROR, "zigzag", 2, .sequence = 7,
     .answer = "7 is not a multiple of 4"},
    {"M-B 27a", "a document of 7 is padded to 8", KNOWN_OFFSETS, "zigzag", 2, .cu = {0, 7},
     .answer = "0 8"},
    {"M-B 29", "every document to 2P", KNOWN_OFFSETS, "zigzag", 2, .cu = {0, 3, 8, 12},
     .answer = "0 4 12 16"},
    {"M-B 31", "2P is not enough for T = 4", KNOWN_OFFSETS, "zigzag", 2, 4, .cu = {0, 4},
     .answer = "0 8"},
    {"M-B 33", "a longest length that never fits", .check = check_length_of_18},
    {"M-B 35", "blocks of 32 rows per rank", .check = check_row_unit},
    {"M-B 37", "images for some ranks only", .elsewhere = "the bridge between grids"},
    {"M-C 39", "length / P drops the last token", KNOWN_TOKENS, "zigzag", 2, .cu = {0, 7},
     .cu_padded = {0, 8}, .answer = "0 1 6 - | 2 3 4 5"},
    {"M-C 39a", "counts of that", KNOWN_COUNTS, "zigzag", 2, .cu = {0, 7}, .cu_padded = {0, 8},
     .answer = "3 | 4"},
    {"M-C 41", "equal offsets that are not one array", .check = check_flag},
    {"M-C 43", "lengths that made gradients NaN", .check = check_lengths},
    {"M-C 45", "an attention kernel with pads", .elsewhere = "kernels"},
    {"M-C 47", "real offsets on padded rows", KNOWN_POSITIONS, "contiguous", 1, .cu = {0, 3, 8},
     .cu_padded = {0, 4, 12}, .answer = "0 1 2 - 0 1 2 3 4 - - -"},
    {"M-C 49", "total and longest are missing", .check = check_totals},
    {"M-C 51", "offsets that repeat at the end", KNOWN_ROWS, "zigzag", 2, .cu = {0, 4, 8, 8, 8},
     .entries = 5, .answer = "0 3 4 7 | 1 2 5 6"},
    {"M-C 53", "offsets divided by P", KNOWN_COUNTS, "zigzag", 4, .cu = {0, 698},
     .cu_padded = {0, 704}, .answer = "170 | 176 | 176 | 176"},
    {"M-C 55", "offsets after placeholders grow", .elsewhere = "the bridge between grids"},
    {"M-C 57", "padded and real lengths in different places", .check = check_totals},
    {"M-D 59", "a packed rotary table", KNOWN_ROWS, "zigzag", 2, .cu = {0, 4, 8},
     .answer = "0 3 4 7 | 1 2 5 6"},
    {"M-D 59a", "and positions by document", KNOWN_POSITIONS, "zigzag", 2, .cu = {0, 4, 8},
     .answer = "0 3 0 3 | 1 2 1 2"},
    {"M-D 61", "positions cut twice", .check = check_positions},
    {"M-D 63", "positions of three axes", .check = check_positions},
    {"M-J 129", "odd T in a pack", KNOWN_OFFSETS, "zigzag", 2, 3, .cu = {0, 3, 6, 9, 12},
     .answer = "0 4 8 12 24"},
    {"M-J 131", "a batch longer than its documents", .check = check_longer},
    {"M-J 133", "the padding mask of the padded view", .check = check_mask_of_view},
    {"M-J 135", "ranks that form no grid", .elsewhere = "tests/threads/wires.c"},
    {"M-J 139", "a plan for another batch", .check = check_other_plan},
    {"P-C 11", "headwise modules and contiguous input", .check = check_headwise},
    {"P-C 15", "a scheduler's lists", .elsewhere = "the host"},
    {"P-C 17", "empty ranks at the tail", .elsewhere = "the host"},
    {"P-C 19", "a report without a cause", .elsewhere = "nobody"},
    {"P-D 21", "documents not padded to 2P", KNOWN_OFFSETS, "zigzag", 2, .cu = {0, 5, 11, 16},
     .answer = "0 8 16 24"},
    {"P-D 23", "another loss with CP", .elsewhere = "tests/trainer/packed_layouts.c"},
    {"P-D 25", "two rules of padding", KNOWN_OFFSETS, "zigzag", 1, 8, .cu = {0, 502},
     .cu_padded = {0, 504}, .answer = "0 504"},
    {"P-D 27", "a report without a cause", .elsewhere = "nobody"},
    {"P-E 29", "chunks beyond a short sample", KNOWN_COUNTS, "zigzag", 8, 2, .cu = {0, 13},
     .cu_padded = {0, 32}, .answer = "2 | 2 | 2 | 2 | 2 | 2 | 1 | 0"},
    {"P-E 33", "chunks of prompt or response", KNOWN_ROWS, "zigzag", 2, .cu = {0, 10},
     .answer = "0 1 2 9 - - | 3 4 5 6 7 8"},
    {"P-E 35", "rows without a token", KNOWN_DOCUMENTS, "zigzag", 2, .cu = {0, 3, 8},
     .answer = "0 0 1 1 1 1 | 0 0 1 1 1 1"},
    {"P-E 37", "state flows from document to document", KNOWN_DOCUMENTS, "zigzag", 2,
     .cu = {0, 3, 8}, .cu_padded = {0, 4, 12}, .answer = "0 0 1 1 1 1 | 0 0 1 1 1 1"},
    {"P-E 39", "offsets cut with the tokens", .check = check_whole_offsets},
    {"P-F 41", "a gate in a backward kernel", .elsewhere = "kernels"},
    {"P-F 43", "two samples that should be one stream", KNOWN_ROWS, "contiguous", 2,
     .cu = {0, 8, 16}, .answer = "0 1 2 3 4 5 6 7 | 8 9 10 11 12 13 14 15"},
    {"P-G 45", "a ring over the whole pack", KNOWN_COUNTS, "zigzag", 2, .cu = {0, 3, 5, 9, 10, 16},
     .answer = "7 | 9"},
    {"P-G 47", "positions are missing", .check = check_made_positions},
    {"P-G 49", "a metric's boundaries", .elsewhere = "the host, by document_ids"},
    {"P-G 51", "a mask of the global length", .check = check_short_mask},
};

int main(void)
{
    number_rows();
    known_test(table, sizeof(table) / sizeof(table[0]));
    return tap_end();
}
