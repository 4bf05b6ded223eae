/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `convert` between every two layouts, dense and packed, with and without tensor-parallel windows, on
 * both transports: every byte against the oracles, and so are the numbers of `convert_describe`.
 */
#include <inttypes.h>
#include <string.h>

#include "threads/block.h"
#include "threads/deal.h"

enum { PAIRS = DEAL_LAYOUTS * DEAL_LAYOUTS, DEALS_MOST = DEAL_KINDS + 2 };

/* What somebody left in padding: it is nobody's data. */
static const unsigned char garbage[64] = {0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69};

/* The batches of one world. */
struct plan {
    struct packed_ranks ranks;
    bool packed;
    struct deal deals[DEALS_MOST];
    int32_t deal_count;
    int32_t form_count; /* for each pair */
};

/* One rank's view of a batch. */
struct scene {
    const struct deal *deal;
    struct seat *seat;
    int32_t handles[DEAL_LAYOUTS];
};

/* From one layout to another. */
struct pair {
    int32_t from;
    int32_t to;
};

static struct cplayout_convert_call call_of(const struct scene *scene, const struct pair *pair)
{
    return (struct cplayout_convert_call){
        .size = sizeof(struct cplayout_convert_call),
        .batch = scene->seat->batch,
        .from_layout = scene->handles[pair->from],
        .to_layout = scene->handles[pair->to],
    };
}

static uint64_t identity_of(const struct scene *scene, int32_t layout)
{
    const struct cplayout_partition *partition = NULL;
    struct cplayout_partition_info info = {.size = sizeof(info)};
    struct cplayout_error error = {.size = sizeof(error)};

    if (CHECK(host_views()->view_partition(scene->seat->batch, scene->handles[layout], &partition,
                                           &error) == CPLAYOUT_OK,
              "%s", error.message)) {
        host_plan()->partition_describe(partition, &info);
    }
    CHECK(info.cp == scene->deal->cp && info.tp == scene->deal->tp &&
              info.stream_rows == (uint64_t)scene->deal->stream,
          "the partition has P = %d, T = %d, %" PRIu64 " rows", info.cp, info.tp, info.stream_rows);
    return info.identity;
}

static bool check_rows(const struct scene *scene, const struct pair *pair,
                       const struct cplayout_conversion *told)
{
    const struct deal *const deal = scene->deal;
    const int32_t rank = scene->seat->rank;

    return CHECK(told->input_rows == (uint64_t)deal_count(deal, pair->from) &&
                     told->output_rows == (uint64_t)deal_count(deal, pair->to),
                 "rank %d, %s: %" PRIu64 " rows become %" PRIu64, rank, deal_text(deal),
                 told->input_rows, told->output_rows) &&
           CHECK(told->sent_rows == deal_sent(deal, pair->from, pair->to, rank) &&
                     told->received_rows == deal_received(deal, pair->from, pair->to, rank),
                 "rank %d, %s: %" PRIu64 " rows sent, %" PRIu64 " received", rank, deal_text(deal),
                 told->sent_rows, told->received_rows);
}

static bool check_told(const struct scene *scene, const struct pair *pair)
{
    const struct cplayout_convert_call call = call_of(scene, pair);
    const bool due = !deal_same(scene->deal, pair->from, pair->to);
    struct cplayout_conversion told = {.size = sizeof(told)};
    struct cplayout_error error = {.size = sizeof(error)};

    return CHECK(host_core()->convert_describe(scene->seat->context, &call, &told, &error) ==
                     CPLAYOUT_OK,
                 "rank %d: %s", scene->seat->rank, error.message) &&
           CHECK(told.due == due, "%s, %s to %s: due is %d", deal_text(scene->deal),
                 deal_names[pair->from], deal_names[pair->to], told.due) &&
           CHECK(told.from_layout == call.from_layout && told.to_layout == call.to_layout,
                 "from %d to %d", told.from_layout, told.to_layout) &&
           CHECK(told.input_identity == identity_of(scene, pair->from) &&
                     told.output_identity == identity_of(scene, pair->to) &&
                     (told.input_identity == told.output_identity) == !due,
                 "%s: identities", deal_text(scene->deal)) &&
           check_rows(scene, pair, &told);
}

static struct content rows_of(const struct scene *scene, int32_t layout,
                              const unsigned char *padding)
{
    return (struct content){deal_rows(scene->deal, layout, scene->seat->rank), 40, padding};
}

/* What `out` must be after the call, apart from the rows. */
static struct cplayout_tensor expected_out(const struct scene *scene, const struct pair *pair,
                                           const struct block *input, const struct block *output)
{
    struct cplayout_tensor expected = output->tensor;

    if (deal_same(scene->deal, pair->from, pair->to)) {
        expected.data = input->tensor.data;
        expected.byte_offset = input->tensor.byte_offset;
    }
    return expected;
}

static bool check_result(const struct scene *scene, const struct pair *pair,
                         const struct block *input, const struct block *output)
{
    const struct content was = rows_of(scene, pair->from, garbage);
    const struct content is = rows_of(scene, pair->to, NULL);

    if (!block_holds(input, &was, "input")) {
        return false;
    }
    return deal_same(scene->deal, pair->from, pair->to)
               ? block_is_clear(output, "output where nothing is due")
               : block_holds(output, &is, "output");
}

static bool convert(const struct scene *scene, const struct pair *pair, const struct block *input,
                    struct block *output)
{
    struct cplayout_convert_call call = call_of(scene, pair);
    const struct cplayout_tensor expected = expected_out(scene, pair, input, output);
    struct cplayout_tensor out = output->tensor;

    call.input = &input->tensor;
    call.row_axis = input->form->row_axis;
    call.identity = pair->from == 1 ? identity_of(scene, pair->from) : 0;
    return CHECK(seat_convert(scene->seat, &call, &out) == CPLAYOUT_OK, "rank %d, %s: %s",
                 scene->seat->rank, deal_text(scene->deal), scene->seat->error.message) &&
           CHECK(memcmp(&out, &expected, sizeof(out)) == 0, "%s: 'out' is another tensor",
                 deal_text(scene->deal)) &&
           check_result(scene, pair, input, output);
}

/* Packings change from form to form, so that they all meet. */
static bool run_form(const struct scene *scene, const struct pair *pair, int32_t form)
{
    const struct content content = rows_of(scene, pair->from, garbage);
    const enum packing in = (enum packing)((form + pair->to) % 4);
    const enum packing out = (enum packing)((form / 4 + pair->from) % 4);
    struct block input;
    struct block output;
    bool good;

    block_init(&input, &forms[form], deal_count(scene->deal, pair->from), in);
    block_init(&output, &forms[form], deal_count(scene->deal, pair->to), out);
    block_fill(&input, &content);
    good = convert(scene, pair, &input, &output);
    block_fini(&input);
    block_fini(&output);
    return good;
}

static bool run_pairs(const struct scene *scene, int32_t form_count, int32_t first)
{
    bool good = true;

    for (int32_t i = 0; i < PAIRS && good; i++) {
        const struct pair pair = {i / DEAL_LAYOUTS, i % DEAL_LAYOUTS};

        good = check_told(scene, &pair);
        for (int32_t k = 0; k < form_count && good; k++) {
            good = run_form(scene, &pair, (first + i * form_count + k) % FORM_COUNT);
        }
    }
    return good;
}

static bool run_deal(const struct plan *plan, struct seat *seat, int32_t index)
{
    const struct deal *const deal = &plan->deals[index];
    const struct cplayout_batch_args args = deal_args(deal);
    struct scene scene = {deal, seat, {0}};
    bool good;

    seat->status = host_core()->batch_create(seat->context, &args, &seat->batch, &seat->error);
    good = CHECK(seat->status == CPLAYOUT_OK, "rank %d: %s: %s", seat->rank, deal_text(deal),
                 seat->error.message);
    for (int32_t i = 0; i < DEAL_LAYOUTS; i++) {
        scene.handles[i] = seat_layout(seat, deal_names[i]);
    }
    good = good && run_pairs(&scene, plan->form_count, 7 * index + deal->ranks);
    host_core()->batch_destroy(seat->batch);
    seat->batch = NULL;
    return good;
}

static void run_plan(struct world *world, struct seat *seat)
{
    const struct plan *const plan = world->self;

    for (int32_t i = 0; i < plan->deal_count; i++) {
        if (!run_deal(plan, seat, i)) {
            return;
        }
    }
}

static void plan_init(struct plan *plan, int32_t size)
{
    plan->deal_count = plan->packed ? DEALS_MOST : 2;
    plan->form_count = plan->ranks.cp * plan->ranks.tp > 12 ? 1 : 3;
    for (int32_t i = 0; i < plan->deal_count; i++) {
        if (plan->packed) {
            deal_pack(&plan->deals[i], plan->ranks, (enum deal_kind)(i % DEAL_KINDS), i + 3 * size);
        } else {
            deal_dense(&plan->deals[i], plan->ranks, 1 + i);
        }
    }
}

static void test_plan(struct plan *plan, const struct host_config *config)
{
    struct world world;

    world_open(&world, config);
    world.self = plan;
    world_run(&world, run_plan);
    world_close(&world);
    for (int32_t i = 0; i < plan->deal_count; i++) {
        deal_fini(&plan->deals[i]);
    }
}

static void test_size(struct packed_ranks ranks, bool packed, enum transport transport,
                      int32_t size)
{
    const struct host_config config = {
        .cp = ranks.cp,
        .tp = ranks.tp,
        .packed = packed,
        .linear = "contiguous",
        .attention = "zigzag",
        .boundary = "mirror",
        .timeout = "20",
        .transport = transport,
        .traits = {.mode = size % 2 == 0 ? WIRE_EAGER : WIRE_RENDEZVOUS,
                   .plain_map = size % 3 == 0},
    };
    struct plan plan = {.ranks = ranks, .packed = packed};

    tap_test("%s between all layouts, P = %d, T = %d, %s", packed ? "packs" : "dense sequences",
             ranks.cp, ranks.tp, transport_names[transport]);
    plan_init(&plan, size);
    test_plan(&plan, &config);
}

int main(void)
{
    static const int32_t cps[] = {1, 2, 3, 4, 5, 6, 7, 8, 11, 16};
    const int32_t count = sizeof(cps) / sizeof(cps[0]);

    for (int32_t i = 0; i < 3 * count; i++) {
        const struct packed_ranks ranks = {cps[i / 3], 1 + i % 3};

        test_size(ranks, false, LOCAL, i);
        test_size(ranks, false, COMMUNICATOR, i);
        test_size(ranks, true, LOCAL, i);
        test_size(ranks, true, COMMUNICATOR, i);
    }
    return tap_end();
}
