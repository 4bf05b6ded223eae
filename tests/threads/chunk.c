/* SPDX-License-Identifier: Apache-2.0 */
#include "threads/chunk.h"

#include <inttypes.h>
#include <string.h>

enum { SALT_FORWARD = 17, SALT_BACKWARD = 91 };

/* What a layer leaves in rows that are padding: it must not come back. */
static const unsigned char garbage[64] = {0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79};

/* One form through the whole chunk, on one rank. */
struct pass {
    const struct chunk *chunk;
    struct seat *seat;
    struct block blocks[2];
    struct block *now; /* where the rows are */
    struct block *other;
    enum packing packings[2];
    uint32_t salt;
};

static int32_t layout_of(const struct chunk *chunk, int32_t layer)
{
    return chunk->pattern[layer] == '*' ? chunk->attention : chunk->linear;
}

static int32_t layer_count(const struct chunk *chunk)
{
    return (int32_t)strlen(chunk->pattern);
}

/* Layouts before and after a hook. */
struct change {
    int32_t before;
    int32_t after;
};

static struct change forward_change(const struct chunk *chunk, const struct hook_step *step)
{
    const bool first = step->layer == 0;
    const bool last = step->layer == layer_count(chunk) - 1;
    const int32_t here = layout_of(chunk, step->layer);

    if (step->hook == PREPARE) {
        return (struct change){first ? chunk->boundary : layout_of(chunk, step->layer - 1), here};
    }
    return (struct change){here, last ? chunk->boundary : here};
}

static struct change change_of(const struct chunk *chunk, const struct hook_step *step)
{
    const struct change change = forward_change(chunk, step);

    return step->direction == CPLAYOUT_FORWARD ? change
                                               : (struct change){change.after, change.before};
}

static struct content rows_of(const struct pass *pass, int32_t layout)
{
    const struct deal *const deal = pass->chunk->deal;

    return (struct content){deal_rows(deal, layout, pass->seat->rank), pass->salt, NULL};
}

/* The same as a layer leaves it. */
static struct content used_rows(const struct pass *pass, int32_t layout)
{
    struct content content = rows_of(pass, layout);

    content.padding = garbage;
    return content;
}

static void swap(struct pass *pass)
{
    struct block *const now = pass->now;

    pass->now = pass->other;
    pass->other = now;
}

/* The rows are in the other block now, and their source is as it was. */
static bool check_converted(struct pass *pass, const struct change *change,
                            const struct cplayout_tensor *out)
{
    const struct content was = used_rows(pass, change->before);
    const struct content is = rows_of(pass, change->after);
    const struct content left = used_rows(pass, change->after);
    const bool same = memcmp(out, &pass->other->tensor, sizeof(*out)) == 0;
    bool good = CHECK(same, "a conversion is due, but 'out' was changed");

    good = good && block_holds(pass->other, &is, "output") && block_holds(pass->now, &was, "input");
    swap(pass);
    block_fill(pass->now, &left);
    return good;
}

/* Nothing happened but that `out` has data and offset of the input. */
static bool check_passed_on(const struct pass *pass, int32_t layout,
                            const struct cplayout_tensor *out)
{
    const struct content was = used_rows(pass, layout);
    struct cplayout_tensor expected = pass->other->tensor;

    expected.data = pass->now->tensor.data;
    expected.byte_offset = pass->now->tensor.byte_offset;
    return CHECK(memcmp(out, &expected, sizeof(*out)) == 0,
                 "nothing is due, but 'out' is not the input under its own shape") &&
           block_holds(pass->now, &was, "input where nothing is due") &&
           block_is_clear(pass->other, "output where nothing is due");
}

static int32_t ask(const struct pass *pass, const struct hook_step *step,
                   struct cplayout_conversion *told, struct cplayout_error *error)
{
    const struct seat *const seat = pass->seat;
    const struct cplayout_call call = seat_call(seat, step, seat->batch, NULL, 0);
    const int32_t hook = step->hook == PREPARE ? CPLAYOUT_HOOK_PREPARE : CPLAYOUT_HOOK_FINALIZE;

    return host_core()->conversion(seat->context, hook, &call, told, error);
}

/* What the plugin tells before the call is what the oracle says. */
static bool check_told(const struct pass *pass, const struct hook_step *step,
                       const struct change *change)
{
    const struct deal *const deal = pass->chunk->deal;
    const int32_t rank = pass->seat->rank;
    const bool due = !deal_same(deal, change->before, change->after);
    struct cplayout_conversion told = {.size = sizeof(told)};
    struct cplayout_error error = {.size = sizeof(error)};

    return CHECK(ask(pass, step, &told, &error) == CPLAYOUT_OK, "rank %d, layer %d: %s", rank,
                 step->layer, error.message) &&
           CHECK(told.due == due && (told.input_identity == told.output_identity) == !due,
                 "layer %d: due is %d", step->layer, told.due) &&
           CHECK(told.input_rows == (uint64_t)deal_count(deal, change->before) &&
                     told.output_rows == (uint64_t)deal_count(deal, change->after),
                 "layer %d: %" PRIu64 " and %" PRIu64 " rows", step->layer, told.input_rows,
                 told.output_rows) &&
           CHECK(told.sent_rows == deal_sent(deal, change->before, change->after, rank) &&
                     told.received_rows == deal_received(deal, change->before, change->after, rank),
                 "layer %d: %" PRIu64 " rows sent, %" PRIu64 " received", step->layer,
                 told.sent_rows, told.received_rows);
}

/* Room for the rows of a layout. */
static void make_room(struct pass *pass, int32_t layout)
{
    const enum packing packing = pass->packings[pass->other - pass->blocks];
    const struct form *const form = pass->other->form;

    block_fini(pass->other);
    block_init(pass->other, form, deal_count(pass->chunk->deal, layout), packing);
}

static bool run_step(struct pass *pass, const struct hook_step *step)
{
    const struct change change = change_of(pass->chunk, step);
    struct seat *const seat = pass->seat;
    struct cplayout_tensor out;

    if (!check_told(pass, step, &change)) {
        return false;
    }
    make_room(pass, change.after);
    out = pass->other->tensor;
    (void)seat_hook(seat, step, seat->batch, &pass->now->tensor, pass->now->form->row_axis, &out);
    if (!CHECK(seat->status == CPLAYOUT_OK, "rank %d, %s, layer %d of %s: %s", seat->rank,
               pass->now->form->name, step->layer, deal_text(pass->chunk->deal),
               seat->error.message)) {
        return false;
    }
    if (deal_same(pass->chunk->deal, change.before, change.after)) {
        return check_passed_on(pass, change.before, &out);
    }
    return check_converted(pass, &change, &out);
}

static bool run_forward(struct pass *pass)
{
    bool good = true;

    for (int32_t layer = 0; layer < layer_count(pass->chunk) && good; layer++) {
        const struct hook_step prepare = {PREPARE, layer, CPLAYOUT_FORWARD};
        const struct hook_step finalize = {FINALIZE, layer, CPLAYOUT_FORWARD};

        good = run_step(pass, &prepare) && run_step(pass, &finalize);
    }
    return good;
}

static bool run_backward(struct pass *pass)
{
    bool good = true;

    for (int32_t layer = layer_count(pass->chunk) - 1; layer >= 0 && good; layer--) {
        const struct hook_step finalize = {FINALIZE, layer, CPLAYOUT_BACKWARD};
        const struct hook_step prepare = {PREPARE, layer, CPLAYOUT_BACKWARD};

        good = run_step(pass, &finalize) && run_step(pass, &prepare);
    }
    return good;
}

static void begin(struct pass *pass, uint32_t salt)
{
    struct content content;

    pass->salt = salt;
    content = used_rows(pass, pass->chunk->boundary);
    block_fill(pass->now, &content);
}

static void pass_init(struct pass *pass, const struct chunk *chunk, struct seat *seat, int32_t form)
{
    static const enum packing packings[][2] = {
        {PACKING_PADDED, PACKING_COMPACT},
        {PACKING_COMPACT, PACKING_EXPLICIT},
        {PACKING_INTERLEAVED, PACKING_PADDED},
    };
    const enum packing *const chosen = packings[(form + chunk->deal->ranks) % 3];
    const int64_t rows = deal_count(chunk->deal, chunk->boundary);

    *pass = (struct pass){.chunk = chunk, .seat = seat, .packings = {chosen[0], chosen[1]}};
    pass->now = &pass->blocks[0];
    pass->other = &pass->blocks[1];
    block_init(pass->now, &forms[form], rows, chosen[0]);
    block_init(pass->other, &forms[form], rows, chosen[1]);
}

/* Forward and backward with one form. Packings differ between input and output. */
static bool run_form(const struct chunk *chunk, struct seat *seat, int32_t form)
{
    struct pass pass;
    bool good;

    pass_init(&pass, chunk, seat, form);
    begin(&pass, SALT_FORWARD);
    good = run_forward(&pass);
    if (good) {
        begin(&pass, SALT_BACKWARD);
        good = run_backward(&pass);
    }
    block_fini(&pass.blocks[0]);
    block_fini(&pass.blocks[1]);
    return good;
}

void chunk_run(const struct chunk *chunk, struct seat *seat)
{
    const struct cplayout_batch_args args = deal_args(chunk->deal);
    bool good;

    seat->status = host_core()->batch_create(seat->context, &args, &seat->batch, &seat->error);
    good = CHECK(seat->status == CPLAYOUT_OK, "rank %d: batch %s: %s", seat->rank,
                 deal_text(chunk->deal), seat->error.message);
    for (int32_t i = 0; i < chunk->form_count && good; i++) {
        good = run_form(chunk, seat, (chunk->first_form + i) % FORM_COUNT);
    }
    host_core()->batch_destroy(seat->batch);
    seat->batch = NULL;
}

static void run_chunk(struct world *world, struct seat *seat)
{
    chunk_run(world->self, seat);
}

void chunk_test(const struct chunk *chunk, enum transport transport)
{
    const struct host_config config = {
        .cp = chunk->deal->cp,
        .tp = chunk->deal->tp,
        .packed = chunk->deal->packed,
        .linear = deal_names[chunk->linear],
        .attention = deal_names[chunk->attention],
        .boundary = deal_names[chunk->boundary],
        .pattern = chunk->pattern,
        .timeout = "20",
        .transport = transport,
        .traits = {.mode = chunk->first_form % 2 == 0 ? WIRE_EAGER : WIRE_RENDEZVOUS},
    };
    struct world world;

    world_open(&world, &config);
    world.self = (void *)(uintptr_t)chunk;
    world_run(&world, run_chunk);
    world_close(&world);
}
