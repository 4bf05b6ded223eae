/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several contexts in one process: groups side by side on different transports, two copies of the
 * plugin at work at once, and contexts whose calls come from ever other threads.
 */
#include <cplayout/loader.h>
#include <stdlib.h>
#include <unistd.h>

#include "threads/chunk.h"

enum { WORLDS = 3, ROUNDS = 4 };

/* A group with something to do. */
struct troupe {
    struct world world;
    struct deal deal;
    struct chunk chunk;
};

static void troupe_open(struct troupe *troupe, const struct host_config *config, int32_t form)
{
    struct host_config used = *config;

    troupe->chunk = (struct chunk){
        .linear = 0,
        .attention = 2,
        .boundary = 1,
        .pattern = "M*-",
        .deal = &troupe->deal,
        .first_form = form,
        .form_count = 4,
    };
    used.linear = deal_names[0];
    used.attention = deal_names[2];
    used.boundary = deal_names[1];
    used.pattern = troupe->chunk.pattern;
    used.timeout = "20";
    if (used.packed) {
        deal_pack(&troupe->deal, (struct packed_ranks){used.cp, used.tp}, DEAL_MIXED, form);
    } else {
        deal_dense(&troupe->deal, (struct packed_ranks){used.cp, used.tp}, 2);
    }
    world_open(&troupe->world, &used);
    troupe->world.self = troupe;
}

static void troupe_close(struct troupe *troupe)
{
    world_close(&troupe->world);
    deal_fini(&troupe->deal);
}

static void run_chunk(struct world *world, struct seat *seat)
{
    const struct troupe *const troupe = world->self;

    for (int32_t round = 0; round < ROUNDS; round++) {
        chunk_run(&troupe->chunk, seat);
    }
}

static void run_troupe(void *self, int32_t which)
{
    struct troupe *const troupes = self;

    world_run(&troupes[which].world, run_chunk);
}

/* ---- Side by side ---------------------------------------------------------------------------- */

static void test_side_by_side(void)
{
    static const struct host_config configs[WORLDS] = {
        {.cp = 3, .tp = 1, .transport = LOCAL},
        {.cp = 2, .tp = 2, .packed = true, .transport = COMMUNICATOR},
        {.cp = 2, .tp = 1, .packed = true, .transport = LOCAL},
    };
    static struct troupe troupes[WORLDS];

    tap_test("%d groups at work at once", WORLDS);
    for (int32_t i = 0; i < WORLDS; i++) {
        troupe_open(&troupes[i], &configs[i], 3 * i);
    }
    tap_ranks(WORLDS, run_troupe, troupes);
    for (int32_t i = 0; i < WORLDS; i++) {
        troupe_close(&troupes[i]);
    }
}

/* One thread calls for two contexts in turn: what one of them does is no matter of the other. */
static void run_both(void *self, int32_t rank)
{
    struct troupe *const troupes = self;

    for (int32_t round = 0; round < ROUNDS; round++) {
        for (int32_t i = 0; i < 2; i++) {
            chunk_run(&troupes[i].chunk, &troupes[i].world.seats[rank]);
        }
    }
}

static void test_two_each(void)
{
    static const struct host_config configs[2] = {
        {.cp = 4, .tp = 1, .packed = true, .transport = LOCAL},
        {.cp = 2, .tp = 2, .transport = COMMUNICATOR},
    };
    static struct troupe troupes[2];

    tap_test("threads with two contexts each");
    troupe_open(&troupes[0], &configs[0], 1);
    troupe_open(&troupes[1], &configs[1], 7);
    tap_ranks(4, run_both, troupes);
    troupe_close(&troupes[0]);
    troupe_close(&troupes[1]);
}

/* ---- Ever other threads ---------------------------------------------------------------------- */

/* world_run starts new threads each time, and contexts end on this one. */
static void test_wandering(enum transport transport)
{
    const struct host_config config = {.cp = 3, .tp = 1, .packed = true, .transport = transport};
    static struct troupe troupe;

    tap_test("calls from ever other threads, %s", transport_names[transport]);
    troupe_open(&troupe, &config, 2);
    for (int32_t i = 0; i < ROUNDS; i++) {
        world_run(&troupe.world, run_chunk);
    }
    troupe_close(&troupe);
}

/* ---- Two copies of the plugin ---------------------------------------------------------------- */

static void copy_bytes(FILE *from, FILE *to)
{
    char bytes[4096];
    size_t count;

    while ((count = fread(bytes, 1, sizeof(bytes), from)) > 0) {
        tap_require(fwrite(bytes, 1, count, to) == count, "no room for a copy");
    }
}

/* Writes a copy of the plugin into a file whose name is `path`, a template for mkstemp. */
static void copy_plugin(char *path)
{
    FILE *const from = fopen(getenv("TEST_PLUGIN"), "rb");
    const int descriptor = mkstemp(path);
    FILE *const to = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;

    tap_require(from != NULL && to != NULL, "the plugin cannot be copied to %s", path);
    copy_bytes(from, to);
    (void)fclose(from);
    tap_require(fclose(to) == 0, "no room for a copy");
}

static void load_copy(struct cplayout_library *library)
{
    const struct cplayout_host record = host_record();
    struct cplayout_error error = {.size = sizeof(error)};
    char path[] = "/tmp/cplayout-copy-XXXXXX";

    copy_plugin(path);
    tap_require(cplayout_load(library, path, &record, &error) == CPLAYOUT_OK, "%s", error.message);
    (void)unlink(path);
    CHECK(library->core != host_core(), "the copy is the same plugin");
}

static void test_copies(void)
{
    struct host_config configs[WORLDS] = {
        {.cp = 3, .tp = 1, .packed = true, .transport = LOCAL},
        {.cp = 3, .tp = 1, .packed = true, .transport = LOCAL},
        {.cp = 2, .tp = 1, .transport = COMMUNICATOR},
    };
    static struct troupe troupes[WORLDS];
    struct cplayout_library copy;

    tap_test("two copies of the plugin at work at once");
    load_copy(&copy);
    configs[1].core = copy.core;
    configs[2].core = copy.core;
    for (int32_t i = 0; i < WORLDS; i++) {
        troupe_open(&troupes[i], &configs[i], 4 * i);
    }
    tap_ranks(WORLDS, run_troupe, troupes);
    for (int32_t i = 0; i < WORLDS; i++) {
        troupe_close(&troupes[i]);
    }
    cplayout_unload(&copy);
}

int main(void)
{
    test_side_by_side();
    test_two_each();
    test_wandering(LOCAL);
    test_wandering(COMMUNICATOR);
    test_copies();
    return tap_end();
}
