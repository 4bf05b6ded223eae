/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views: every field in every layout holds the rank's rows in order, as a slice where they are one
 * run and filled otherwise; position ids that nobody gave are made. Any thread may look.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "threads/block.h"
#include "threads/host.h"

enum { LAYOUT_COUNT = 3, FIELD_COUNT = 3, READERS = 4 };

static const char *const layout_names[LAYOUT_COUNT] = {"contiguous", "mirror", "zigzag"};
static const char *const field_names[FIELD_COUNT] = {"tokens", "labels", "position_ids"};

/* Fields [B, S] of several integer types; a scene has one B. */
static const struct form field_forms[] = {
    {"[B, rows] of int64", 2, 1, {0, 0}, {CPLAYOUT_TYPE_INT, 64, 1}},
    {"[B, rows] of int32", 2, 1, {0, 0}, {CPLAYOUT_TYPE_INT, 32, 1}},
    {"[B, rows] of uint8", 2, 1, {0, 0}, {CPLAYOUT_TYPE_UINT, 8, 1}},
    {"[B, rows] of int16", 2, 1, {0, 0}, {CPLAYOUT_TYPE_INT, 16, 1}},
};

enum { FIELD_FORM_COUNT = sizeof(field_forms) / sizeof(field_forms[0]) };

/* One batch. Fields are the same memory on all ranks. */
struct scene {
    int32_t ranks;
    int64_t tokens;
    struct oracle stream; /* all tokens in order */
    struct oracle oracles[LAYOUT_COUNT];
    struct form forms[FIELD_COUNT];
    struct block fields[FIELD_COUNT];
};

static struct content whole(const struct scene *scene, int32_t field)
{
    return content_of(&scene->stream, 0, (uint32_t)(31 * field));
}

static void scene_init(struct scene *scene, int32_t ranks, int32_t variant)
{
    *scene = (struct scene){.ranks = ranks, .tokens = (int64_t)2 * ranks * (1 + variant)};
    oracle_init(&scene->stream, "contiguous", scene->tokens, 1, 1);
    for (int32_t i = 0; i < LAYOUT_COUNT; i++) {
        oracle_init(&scene->oracles[i], layout_names[i], scene->tokens, ranks, 1);
    }
    for (int32_t i = 0; i < FIELD_COUNT; i++) {
        struct form *const form = &scene->forms[i];
        const struct content content = whole(scene, i);

        *form = field_forms[(i + variant) % FIELD_FORM_COUNT];
        form->shape[0] = 1 + variant % 3;
        block_init(&scene->fields[i], form, scene->tokens, (enum packing)((i + variant) % 4));
        block_fill(&scene->fields[i], &content);
    }
}

static void scene_fini(struct scene *scene)
{
    oracle_fini(&scene->stream);
    for (int32_t i = 0; i < LAYOUT_COUNT; i++) {
        oracle_fini(&scene->oracles[i]);
    }
    for (int32_t i = 0; i < FIELD_COUNT; i++) {
        block_fini(&scene->fields[i]);
    }
}

static int64_t run_count(const struct oracle *oracle, int32_t rank)
{
    int64_t runs = 1;

    for (int64_t row = 1; row < oracle->rows; row++) {
        runs += oracle_token(oracle, rank, row) != oracle_token(oracle, rank, row - 1) + 1;
    }
    return runs;
}

/* A slice of the field shows the same bytes as the field itself. */
static void check_slice(const struct scene *scene, const struct oracle *oracle, int32_t rank,
                        int32_t field, const struct cplayout_view *view)
{
    const struct block *const input = &scene->fields[field];
    const size_t element = input->row_bytes;
    const unsigned char *const start =
        (const unsigned char *)view->tensor.data + view->tensor.byte_offset;

    CHECK(view->tensor.data == input->tensor.data, "a slice begins in other memory");
    for (int64_t outer = 0; outer < input->outer; outer++) {
        for (int64_t row = 0; row < oracle->rows; row++) {
            const int64_t at = outer * view->strides[0] + row * view->strides[1];
            const unsigned char *const expected =
                block_row(input, outer, oracle_token(oracle, rank, row));

            CHECK(start + at * (int64_t)element == expected, "rank %d: row %" PRId64 " of a slice",
                  rank, row);
        }
    }
}

static void check_description(const struct scene *scene, const struct oracle *oracle,
                              const struct cplayout_view *view, int32_t field)
{
    const struct form *const form = scene->fields[field].form;
    const struct cplayout_tensor *const tensor = &view->tensor;

    CHECK(tensor->ndim == 2 && view->row_axis == 1 && tensor->shape == view->shape &&
              tensor->strides == view->strides,
          "%s: not a tensor [B, rows] over the arrays of the view", field_names[field]);
    CHECK(view->shape[0] == form->shape[0] && view->shape[1] == oracle->rows,
          "%s: shape [%" PRId64 ", %" PRId64 "]", field_names[field], view->shape[0],
          view->shape[1]);
    CHECK(memcmp(&tensor->dtype, &form->type, sizeof(form->type)) == 0, "%s: data type",
          field_names[field]);
    CHECK(tensor->device.device_type == CPLAYOUT_DEVICE_CPU, "%s: device", field_names[field]);
}

/* Fills a view into padded memory of the host, also where it is a slice. */
static void check_filled(const struct scene *scene, const struct seat *seat, int32_t layout,
                         const struct oracle *oracle, int32_t field)
{
    const struct form *const form = scene->fields[field].form;
    const struct content content = content_of(oracle, seat->rank, whole(scene, field).salt);
    struct cplayout_error error = {.size = sizeof(error)};

    for (int32_t packing = PACKING_COMPACT; packing <= PACKING_INTERLEAVED; packing++) {
        struct block out;

        block_init(&out, form, oracle->rows, (enum packing)packing);
        if (CHECK(host_views()->view_fill(seat->batch, layout, field_names[field], &out.tensor,
                                          &error) == CPLAYOUT_OK,
                  "rank %d: %s: %s", seat->rank, field_names[field], error.message)) {
            (void)block_holds(&out, &content, field_names[field]);
        }
        block_fini(&out);
    }
}

static uint64_t identity_of(const struct seat *seat, int32_t layout)
{
    const struct cplayout_partition *partition = NULL;
    struct cplayout_partition_info info = {.size = sizeof(info)};

    if (CHECK(host_views()->view_partition(seat->batch, layout, &partition, NULL) == CPLAYOUT_OK,
              "no partition for layout %d", layout)) {
        host_plan()->partition_describe(partition, &info);
    }
    return info.identity;
}

static void check_view(const struct scene *scene, const struct seat *seat, int32_t layout,
                       const struct oracle *oracle, int32_t field)
{
    struct cplayout_view view = {.size = sizeof(view)};
    struct cplayout_error error = {.size = sizeof(error)};

    if (!CHECK(host_views()->view_describe(seat->batch, layout, field_names[field], &view,
                                           &error) == CPLAYOUT_OK,
               "rank %d: %s", seat->rank, error.message)) {
        return;
    }
    check_description(scene, oracle, &view, field);
    CHECK(view.identity != 0 && view.identity == identity_of(seat, layout), "identity of a view");
    if (run_count(oracle, seat->rank) == 1) {
        check_slice(scene, oracle, seat->rank, field, &view);
    } else {
        CHECK(view.tensor.data == NULL && view.tensor.byte_offset == 0 && view.strides[1] == 1 &&
                  view.strides[0] == view.shape[1],
              "rank %d: a view of several runs is not described as compact and to be filled",
              seat->rank);
    }
    check_filled(scene, seat, layout, oracle, field);
}

/* ---- Position ids that the plugin makes ----------------------------------------------------- */

static int64_t read_integer(const unsigned char *from, size_t bytes)
{
    int32_t narrow = 0;
    int64_t wide = 0;

    memcpy(&wide, from, bytes == sizeof(wide) ? sizeof(wide) : 0);
    memcpy(&narrow, from, bytes == sizeof(narrow) ? sizeof(narrow) : 0);
    return bytes == sizeof(wide) ? wide : narrow;
}

static void check_generated(const struct seat *seat, int32_t layout, const struct oracle *oracle,
                            uint8_t bits)
{
    const struct form form = {"positions", 2, 1, {1, 0}, {CPLAYOUT_TYPE_INT, bits, 1}};
    struct cplayout_error error = {.size = sizeof(error)};
    struct block out;

    block_init(&out, &form, oracle->rows, PACKING_PADDED);
    CHECK(host_views()->view_fill(seat->batch, layout, "position_ids", &out.tensor, &error) ==
              CPLAYOUT_OK,
          "rank %d: int%d positions: %s", seat->rank, bits, error.message);
    for (int64_t row = 0; row < oracle->rows; row++) {
        unsigned char *const at = block_row(&out, 0, row);
        const int64_t position = read_integer(at, out.row_bytes);

        CHECK(position == oracle_token(oracle, seat->rank, row),
              "rank %d: row %" PRId64 " is at position %" PRId64, seat->rank, row, position);
        memset(at, 0xee, out.row_bytes);
    }
    (void)block_is_clear(&out, "memory around positions");
    block_fini(&out);
}

static void check_positions(const struct seat *seat, int32_t layout, const struct oracle *oracle)
{
    struct cplayout_view view = {.size = sizeof(view)};

    CHECK(host_views()->view_describe(seat->batch, layout, "position_ids", &view, NULL) ==
              CPLAYOUT_OK,
          "positions cannot be described");
    CHECK(view.tensor.data == NULL && view.tensor.ndim == 2 && view.shape[0] == 1 &&
              view.shape[1] == oracle->rows && view.tensor.dtype.code == CPLAYOUT_TYPE_INT &&
              view.tensor.dtype.bits == 64 && view.tensor.dtype.lanes == 1,
          "positions are not described as int64 [1, rows] to be filled");
    check_generated(seat, layout, oracle, 32);
    check_generated(seat, layout, oracle, 64);
}

/* ---- Batches -------------------------------------------------------------------------------- */

static int32_t create_batch(struct seat *seat, const struct scene *scene, uint64_t field_count)
{
    struct cplayout_field fields[FIELD_COUNT];
    const struct cplayout_batch_args args = {
        .size = sizeof(args),
        .sequence_length = (uint64_t)scene->tokens,
        .fields = fields,
        .field_count = field_count,
    };

    for (int32_t i = 0; i < FIELD_COUNT; i++) {
        fields[i] = (struct cplayout_field){field_names[i], &scene->fields[i].tensor};
    }
    return host_core()->batch_create(seat->context, &args, &seat->batch, &seat->error);
}

/* First a batch with all fields, then one without position_ids. */
static void run_views(struct world *world, struct seat *seat)
{
    const struct scene *const scene = world->self;

    for (uint64_t count = FIELD_COUNT; count >= FIELD_COUNT - 1; count--) {
        if (!CHECK(create_batch(seat, scene, count) == CPLAYOUT_OK, "rank %d: %s", seat->rank,
                   seat->error.message)) {
            return;
        }
        for (int32_t i = 0; i < LAYOUT_COUNT; i++) {
            const int32_t layout = seat_layout(seat, layout_names[i]);

            for (int32_t field = 0; field < (int32_t)count; field++) {
                check_view(scene, seat, layout, &scene->oracles[i], field);
            }
            if (count < FIELD_COUNT) {
                check_positions(seat, layout, &scene->oracles[i]);
            }
        }
        host_core()->batch_destroy(seat->batch);
        seat->batch = NULL;
    }
}

static void open_scene(struct world *world, struct scene *scene)
{
    const struct host_config config = {
        .cp = scene->ranks,
        .linear = "contiguous",
        .attention = "zigzag",
        .boundary = "mirror",
        .timeout = "10",
    };

    world_open(world, &config);
    world->self = scene;
}

static void check_inputs(const struct scene *scene)
{
    for (int32_t i = 0; i < FIELD_COUNT; i++) {
        const struct content content = whole(scene, i);

        (void)block_holds(&scene->fields[i], &content, "field of the host");
    }
}

static void test_views(int32_t ranks)
{
    tap_test("views of %d ranks", ranks);
    for (int32_t variant = 0; variant < FIELD_FORM_COUNT; variant++) {
        struct scene scene;
        struct world world;

        scene_init(&scene, ranks, variant);
        open_scene(&world, &scene);
        world_run(&world, run_views);
        world_close(&world);
        check_inputs(&scene);
        scene_fini(&scene);
    }
}

/* ---- Several threads, one batch ------------------------------------------------------------- */

static void run_reader(void *self, int32_t reader)
{
    const struct world *const world = self;
    const struct scene *const scene = world->self;
    const struct seat *const seat = &world->seats[0];

    for (int32_t i = 0; i < 50 * LAYOUT_COUNT; i++) {
        check_view(scene, seat, i % LAYOUT_COUNT, &scene->oracles[i % LAYOUT_COUNT],
                   (reader + i) % FIELD_COUNT);
    }
}

static void test_readers(void)
{
    struct scene scene;
    struct world world;

    tap_test("%d threads look at one batch at once", READERS);
    scene_init(&scene, 1, 3);
    open_scene(&world, &scene);
    CHECK(create_batch(&world.seats[0], &scene, FIELD_COUNT) == CPLAYOUT_OK, "%s",
          world.seats[0].error.message);
    for (int32_t i = 0; i < LAYOUT_COUNT; i++) {
        CHECK(seat_layout(&world.seats[0], layout_names[i]) < LAYOUT_COUNT, "handles");
    }
    tap_ranks(READERS, run_reader, &world);
    world_close(&world);
    scene_fini(&scene);
}

int main(void)
{
    for (int32_t ranks = 1; ranks <= 8; ranks++) {
        test_views(ranks);
    }
    test_views(16);
    test_readers();
    return tap_end();
}
