/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views of packed batches and of tensor-parallel windows: every field in every layout, with the
 * field's fill value in padding of both kinds; a slice of the input exactly where there is one run of
 * rows without padding. With windows, embeddings are the rank's, all other fields the rows of its
 * context-parallel rank.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "threads/block.h"
#include "threads/deal.h"

enum { TOKENS, LABELS, MASK, EMBEDDINGS, POSITIONS, FIELD_COUNT, VARIANTS = 4 };

#define BOUNDARY  "mirror"
#define PAD_TOKEN "77"
#define PAD_LABEL "-100"

static const char *const field_names[FIELD_COUNT] = {"tokens", "labels", "loss_mask", "embeddings",
                                                     "position_ids"};

#define TYPE(code, bits)              \
    {                                 \
        CPLAYOUT_TYPE_##code, bits, 1 \
    }

static const struct form field_forms[VARIANTS][FIELD_COUNT] = {
    {{"[1, S] int64", 2, 1, {1, 0}, TYPE(INT, 64)},
     {"[1, S] int64", 2, 1, {1, 0}, TYPE(INT, 64)},
     {"[1, S] float32", 2, 1, {1, 0}, TYPE(FLOAT, 32)},
     {"[S, 1, 6] bfloat16", 3, 0, {0, 1, 6}, TYPE(BFLOAT, 16)},
     {"[1, S] int64", 2, 1, {1, 0}, TYPE(INT, 64)}},
    {{"[2, S] int32", 2, 1, {2, 0}, TYPE(INT, 32)},
     {"[2, S] int16", 2, 1, {2, 0}, TYPE(INT, 16)},
     {"[2, S] uint8", 2, 1, {2, 0}, TYPE(UINT, 8)},
     {"[S, 2, 3] float64", 3, 0, {0, 2, 3}, TYPE(FLOAT, 64)},
     {"[2, S] int32", 2, 1, {2, 0}, TYPE(INT, 32)}},
    {{"[3, S] uint8", 2, 1, {3, 0}, TYPE(UINT, 8)},
     {"[3, S] int8", 2, 1, {3, 0}, TYPE(INT, 8)},
     {"[3, S] float64", 2, 1, {3, 0}, TYPE(FLOAT, 64)},
     {"[S, 3, 1] uint8", 3, 0, {0, 3, 1}, TYPE(UINT, 8)},
     {"[3, S] int16", 2, 1, {3, 0}, TYPE(INT, 16)}},
    {{"[1, S] uint16", 2, 1, {1, 0}, TYPE(UINT, 16)},
     {"[1, S] int32", 2, 1, {1, 0}, TYPE(INT, 32)},
     {"[1, S] float16", 2, 1, {1, 0}, TYPE(FLOAT, 16)},
     {"[S, 1, 5] float32", 3, 0, {0, 1, 5}, TYPE(FLOAT, 32)},
     {"[1, S] uint64", 2, 1, {1, 0}, TYPE(UINT, 64)}},
};

/* One batch. Fields are the same memory on all ranks. */
struct scene {
    struct deal deal;
    int64_t *stream; /* row numbers in order */
    struct block fields[FIELD_COUNT];
    unsigned char padding[FIELD_COUNT][64]; /* fill values as bytes of a row */
};

static void write_fill(unsigned char *to, const struct cplayout_type *type, int64_t value)
{
    const int8_t byte = (int8_t)value;
    const int16_t half = (int16_t)value;
    const int32_t word = (int32_t)value;

    memcpy(to, &value, type->bits == 64 ? sizeof(value) : 0);
    memcpy(to, &word, type->bits == 32 ? sizeof(word) : 0);
    memcpy(to, &half, type->bits == 16 ? sizeof(half) : 0);
    memcpy(to, &byte, type->bits == 8 ? sizeof(byte) : 0);
}

static struct content whole(const struct scene *scene, int32_t field)
{
    return (struct content){scene->stream, (uint32_t)(37 * field), NULL};
}

static void scene_init(struct scene *scene, int32_t variant)
{
    scene->stream = malloc(((size_t)scene->deal.stream + 1) * sizeof(*scene->stream));
    tap_require(scene->stream != NULL, "no memory");
    for (int64_t row = 0; row < scene->deal.stream; row++) {
        scene->stream[row] = row;
    }
    for (int32_t field = 0; field < FIELD_COUNT; field++) {
        const struct form *const form = &field_forms[variant % VARIANTS][field];
        const struct content content = whole(scene, field);

        block_init(&scene->fields[field], form, scene->deal.stream,
                   (enum packing)((field + variant) % 4));
        block_fill(&scene->fields[field], &content);
        memset(scene->padding[field], 0, sizeof(scene->padding[field]));
    }
    write_fill(scene->padding[TOKENS], &field_forms[variant % VARIANTS][TOKENS].type, 77);
    write_fill(scene->padding[LABELS], &field_forms[variant % VARIANTS][LABELS].type, -100);
}

static void scene_fini(struct scene *scene)
{
    for (int32_t field = 0; field < FIELD_COUNT; field++) {
        const struct content content = whole(scene, field);

        (void)block_holds(&scene->fields[field], &content, "field of the host");
        block_fini(&scene->fields[field]);
    }
    free(scene->stream);
    deal_fini(&scene->deal);
}

static bool is_token(const struct deal *deal, int64_t row)
{
    return row >= 0 && (!deal->packed || deal->packs[0].valid[row]);
}

/* Rows of some ranks in a layout, one after the other; -1: padding of either kind. */
static int64_t *tokens_of(const struct deal *deal, int32_t layout, int32_t first, int32_t ranks)
{
    const int64_t count = deal_count(deal, layout);
    int64_t *const tokens = malloc(((size_t)(count * ranks) + 1) * sizeof(*tokens));

    tap_require(tokens != NULL, "no memory");
    for (int64_t i = 0; i < count * ranks; i++) {
        const int64_t row = deal_rows(deal, layout, first + (int32_t)(i / count))[i % count];

        tokens[i] = is_token(deal, row) ? row : -1;
    }
    return tokens;
}

/* Whether the rows are one run of tokens. */
static bool is_run(const int64_t *tokens, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (tokens[i] < 0 || tokens[i] != tokens[0] + i) {
            return false;
        }
    }
    return count > 0;
}

/* ---- One view ------------------------------------------------------------------------------- */

/* A field on one rank in one layout. */
struct look {
    const struct scene *scene;
    const struct seat *seat;
    int32_t layout;
    int32_t handle;
    int32_t field;
    const int64_t *tokens;
    int64_t count;
};

static void check_slice(const struct look *look, const struct cplayout_view *view)
{
    const struct block *const input = &look->scene->fields[look->field];
    const int64_t element = input->form->type.bits / 8;
    const unsigned char *const start =
        (const unsigned char *)view->tensor.data + view->tensor.byte_offset;
    const int64_t outer_stride = view->row_axis > 0 ? view->strides[0] : 0;

    CHECK(view->tensor.data == input->tensor.data, "rank %d: a slice of other memory",
          look->seat->rank);
    for (int64_t outer = 0; outer < input->outer; outer++) {
        for (int64_t i = 0; i < look->count; i++) {
            const int64_t at = outer * outer_stride + i * view->strides[view->row_axis];

            CHECK(start + at * element == block_row(input, outer, look->tokens[i]),
                  "rank %d: row %" PRId64 " of a slice", look->seat->rank, i);
        }
    }
}

static void check_compact(const struct look *look, const struct cplayout_view *view)
{
    int64_t stride = 1;

    CHECK(view->tensor.data == NULL && view->tensor.byte_offset == 0,
          "rank %d: %s in %s is a slice, but there is padding or more than one run",
          look->seat->rank, field_names[look->field], deal_names[look->layout]);
    for (int32_t axis = view->tensor.ndim - 1; axis >= 0; axis--) {
        CHECK(view->strides[axis] == stride, "axis %d has stride %" PRId64, axis,
              view->strides[axis]);
        stride *= view->shape[axis];
    }
}

static void check_shape(const struct look *look, const struct cplayout_view *view)
{
    const struct form *const form = look->scene->fields[look->field].form;

    CHECK(view->tensor.ndim == form->ndim && view->row_axis == form->row_axis &&
              view->tensor.shape == view->shape && view->tensor.strides == view->strides,
          "%s: %d dimensions, row axis %d", field_names[look->field], view->tensor.ndim,
          view->row_axis);
    for (int32_t axis = 0; axis < form->ndim; axis++) {
        const int64_t entries = axis == form->row_axis ? look->count : form->shape[axis];

        CHECK(view->shape[axis] == entries, "%s: %" PRId64 " entries along axis %d, not %" PRId64,
              field_names[look->field], view->shape[axis], axis, entries);
    }
    CHECK(memcmp(&view->tensor.dtype, &form->type, sizeof(form->type)) == 0, "%s: data type",
          field_names[look->field]);
}

static void check_described(const struct look *look)
{
    struct cplayout_view view = {.size = sizeof(view)};
    struct cplayout_error error = {.size = sizeof(error)};

    if (!CHECK(host_views()->view_describe(look->seat->batch, look->handle,
                                           field_names[look->field], &view, &error) == CPLAYOUT_OK,
               "rank %d: %s", look->seat->rank, error.message)) {
        return;
    }
    check_shape(look, &view);
    CHECK(view.identity != 0, "a view without identity");
    if (is_run(look->tokens, look->count)) {
        check_slice(look, &view);
    } else {
        check_compact(look, &view);
    }
}

static void check_filled(const struct look *look, enum packing packing)
{
    const struct scene *const scene = look->scene;
    const struct content content = {look->tokens, whole(scene, look->field).salt,
                                    scene->padding[look->field]};
    struct cplayout_error error = {.size = sizeof(error)};
    struct block out;

    block_init(&out, scene->fields[look->field].form, look->count, packing);
    if (CHECK(host_views()->view_fill(look->seat->batch, look->handle, field_names[look->field],
                                      &out.tensor, &error) == CPLAYOUT_OK,
              "rank %d: %s: %s", look->seat->rank, field_names[look->field], error.message)) {
        (void)block_holds(&out, &content, field_names[look->field]);
    }
    block_fini(&out);
}

/* ---- Fields that nobody gave ---------------------------------------------------------------- */

/* A made field in a type that it may be asked for in; the first one of a name is the described one. */
struct made {
    const char *name;
    struct cplayout_type type;
    int64_t (*expected)(const struct look *look, int64_t i);
};

static int64_t position_of(const struct look *look, int64_t i)
{
    const struct deal *const deal = &look->scene->deal;
    const int64_t row = look->tokens[i];

    if (row < 0) {
        return 0;
    }
    return deal->packed ? deal->packs[0].position[row] : row;
}

static int64_t padding_of(const struct look *look, int64_t i)
{
    return look->tokens[i] < 0;
}

/* Row i of the context-parallel rank; zigzag's padding belongs to the document whose rows it is among. */
static int64_t document_of(const struct look *look, int64_t i)
{
    const struct deal *const deal = &look->scene->deal;
    const int64_t count = deal_count(deal, look->layout);
    const int32_t first = look->seat->rank / deal->tp * deal->tp;
    const int64_t row = deal_rows(deal, look->layout, first + (int32_t)(i / count))[i % count];
    int64_t document = 0;

    if (!deal->packed) {
        return 0;
    }
    if (row >= 0) {
        return deal->packs[0].document[row];
    }
    while (deal->packs[look->layout].padded[document + 1] / deal->cp <= i) {
        document++;
    }
    return document;
}

static const struct made mades[] = {
    {"position_ids", TYPE(INT, 64), position_of}, {"position_ids", TYPE(INT, 32), position_of},
    {"padding_mask", TYPE(BOOL, 8), padding_of},  {"padding_mask", TYPE(UINT, 8), padding_of},
    {"document_ids", TYPE(INT, 32), document_of}, {"document_ids", TYPE(INT, 64), document_of},
};

enum { MADES = sizeof(mades) / sizeof(mades[0]) };

static void check_made_rows(const struct look *look, const struct made *made)
{
    const struct form form = {made->name, 2, 1, {1, 0}, made->type};
    struct cplayout_error error = {.size = sizeof(error)};
    unsigned char expected[8];
    struct block out;

    block_init(&out, &form, look->count, PACKING_PADDED);
    CHECK(host_views()->view_fill(look->seat->batch, look->handle, made->name, &out.tensor,
                                  &error) == CPLAYOUT_OK,
          "rank %d: %s", look->seat->rank, error.message);
    for (int64_t i = 0; i < look->count; i++) {
        unsigned char *const at = block_row(&out, 0, i);

        write_fill(expected, &form.type, made->expected(look, i));
        CHECK(memcmp(at, expected, out.row_bytes) == 0,
              "rank %d, %s in %s: row %" PRId64 " of %s is not %" PRId64, look->seat->rank,
              deal_text(&look->scene->deal), deal_names[look->layout], i, made->name,
              made->expected(look, i));
        memset(at, 0xee, out.row_bytes);
    }
    (void)block_is_clear(&out, "memory around made rows");
    block_fini(&out);
}

static void check_made(const struct look *look)
{
    for (size_t i = 0; i < MADES; i++) {
        const struct made *const made = &mades[i];
        struct cplayout_view view = {.size = sizeof(view)};

        CHECK(host_views()->view_describe(look->seat->batch, look->handle, made->name, &view,
                                          NULL) == CPLAYOUT_OK &&
                  view.tensor.data == NULL && view.tensor.ndim == 2 && view.shape[0] == 1 &&
                  view.shape[1] == look->count && view.row_axis == 1 &&
                  (i % 2 == 1 || memcmp(&view.tensor.dtype, &made->type, sizeof(made->type)) == 0),
              "%s is described as something else", made->name);
        check_made_rows(look, made);
    }
}

/* ---- Batches -------------------------------------------------------------------------------- */

static void check_layout(const struct scene *scene, const struct seat *seat, int32_t layout,
                         int32_t given)
{
    const int32_t tp = scene->deal.tp;
    const int64_t count = deal_count(&scene->deal, layout);
    int64_t *const window = tokens_of(&scene->deal, layout, seat->rank, 1);
    int64_t *const whole = tokens_of(&scene->deal, layout, seat->rank / tp * tp, tp);
    struct look look = {
        .scene = scene,
        .seat = seat,
        .layout = layout,
        .handle = seat_layout(seat, deal_names[layout]),
    };

    for (look.field = 0; look.field < given; look.field++) {
        look.tokens = look.field == EMBEDDINGS ? window : whole;
        look.count = look.field == EMBEDDINGS ? count : count * tp;
        if (look.field != EMBEDDINGS || strcmp(deal_names[layout], BOUNDARY) == 0) {
            check_described(&look);
            check_filled(&look, PACKING_COMPACT);
            check_filled(&look, look.field % 2 == 0 ? PACKING_PADDED : PACKING_INTERLEAVED);
        }
    }
    if (given <= POSITIONS) {
        look.tokens = whole;
        look.count = count * tp;
        check_made(&look);
    }
    free(whole);
    free(window);
}

static int32_t create_batch(struct seat *seat, const struct scene *scene, int32_t given)
{
    struct cplayout_field fields[FIELD_COUNT];
    struct cplayout_batch_args args = deal_args(&scene->deal);

    for (int32_t i = 0; i < FIELD_COUNT; i++) {
        fields[i] = (struct cplayout_field){field_names[i], &scene->fields[i].tensor};
    }
    args.fields = fields;
    args.field_count = (uint64_t)given;
    seat->status = host_core()->batch_create(seat->context, &args, &seat->batch, &seat->error);
    return seat->status;
}

/* First with all fields, then without position ids. */
static void run_views(struct world *world, struct seat *seat)
{
    const struct scene *const scene = world->self;

    for (int32_t given = FIELD_COUNT; given >= POSITIONS; given--) {
        if (!CHECK(create_batch(seat, scene, given) == CPLAYOUT_OK, "rank %d: %s: %s", seat->rank,
                   deal_text(&scene->deal), seat->error.message)) {
            return;
        }
        for (int32_t layout = 0; layout < DEAL_LAYOUTS; layout++) {
            check_layout(scene, seat, layout, given);
        }
        host_core()->batch_destroy(seat->batch);
        seat->batch = NULL;
    }
}

static void test_scene(struct scene *scene, int32_t variant)
{
    const struct host_config config = {
        .cp = scene->deal.cp,
        .tp = scene->deal.tp,
        .packed = scene->deal.packed,
        .linear = "contiguous",
        .attention = "zigzag",
        .boundary = BOUNDARY,
        .timeout = "20",
        .pad_token = PAD_TOKEN,
        .pad_label = PAD_LABEL,
        .transport = variant % 2 == 0 ? LOCAL : COMMUNICATOR,
    };
    struct world world;

    scene_init(scene, variant);
    world_open(&world, &config);
    world.self = scene;
    world_run(&world, run_views);
    world_close(&world);
    scene_fini(scene);
}

int main(void)
{
    static const struct packed_ranks sizes[] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 3},
                                                {4, 1}, {6, 1}, {8, 3}, {16, 1}};

    for (int32_t i = 0; i < (int32_t)(sizeof(sizes) / sizeof(sizes[0])); i++) {
        struct scene scene;

        for (int32_t kind = 0; kind < DEAL_KINDS; kind++) {
            tap_test("views, P = %d, T = %d, %s", sizes[i].cp, sizes[i].tp, deal_kind_names[kind]);
            deal_pack(&scene.deal, sizes[i], (enum deal_kind)kind, i + kind);
            test_scene(&scene, i + kind);
        }
        tap_test("views, P = %d, T = %d, dense", sizes[i].cp, sizes[i].tp);
        deal_dense(&scene.deal, sizes[i], 2);
        test_scene(&scene, i);
    }
    return tap_end();
}
