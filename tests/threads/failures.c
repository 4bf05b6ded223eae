/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that go missing: they never register, never create the batch, never call the hook, or
 * leave. Every other rank gets TIMEOUT or PEER with the missing rank's number, and keeps it.
 */
#include <unistd.h>

#include "threads/play.h"

static void pause_shortly(void)
{
    (void)usleep(50000);
}

static void others_register(struct world *world, struct seat *seat, bool odd)
{
    if (!odd) {
        play_register(world, seat);
    }
}

static void others_create_batch(struct world *world, struct seat *seat, bool odd)
{
    if (!odd) {
        play_batch(world, seat);
    }
}

static void others_convert(struct world *world, struct seat *seat, bool odd)
{
    (void)world;
    if (!odd) {
        play_hook(seat);
    }
}

static void leave_before_batch(struct world *world, struct seat *seat, bool odd)
{
    if (odd) {
        world_leave(seat);
    }
    world_meet(world);
    others_create_batch(world, seat, odd);
}

static void leave_before_hook(struct world *world, struct seat *seat, bool odd)
{
    if (odd) {
        world_leave(seat);
    }
    world_meet(world);
    others_convert(world, seat, odd);
}

static void leave_during_batch(struct world *world, struct seat *seat, bool odd)
{
    if (odd) {
        pause_shortly();
        world_leave(seat);
    }
    others_create_batch(world, seat, odd);
}

static void leave_during_hook(struct world *world, struct seat *seat, bool odd)
{
    if (odd) {
        pause_shortly();
        world_leave(seat);
    }
    others_convert(world, seat, odd);
}

/* Rank 1 comes first, so its time is up first: it waits for rank 2, which waits for the odd one. */
static void others_convert_late(struct world *world, struct seat *seat, bool odd)
{
    if (seat->rank != 1) {
        (void)usleep(150000);
    }
    others_convert(world, seat, odd);
}

enum { TIMEOUT = CPLAYOUT_ERROR_TIMEOUT, PEER = CPLAYOUT_ERROR_PEER };

static const struct scenario scenarios[] = {
    {"never registers", "0.3", STAGE_EMPTY, others_register, NOT_CALLED, TIMEOUT, false,
     "did not register within 0.3 s", false},
    {"never creates the batch", "0.3", STAGE_CONTEXT, others_create_batch, NOT_CALLED, TIMEOUT,
     false, "did not come within 0.3 s", false},
    {"never calls the hook", "0.3", STAGE_BATCH, others_convert, NOT_CALLED, TIMEOUT, true,
     "did not come within 0.3 s", false},
    {"leaves before the batch", NO_TIMEOUT, STAGE_CONTEXT, leave_before_batch, NOT_CALLED, PEER,
     false, "left the group", false},
    {"leaves during batch_create", NO_TIMEOUT, STAGE_CONTEXT, leave_during_batch, NOT_CALLED, PEER,
     false, "left the group", false},
    {"leaves before the hook", NO_TIMEOUT, STAGE_BATCH, leave_before_hook, NOT_CALLED, PEER, true,
     "left the group", false},
    {"leaves during the hook", NO_TIMEOUT, STAGE_BATCH, leave_during_hook, NOT_CALLED, PEER, true,
     "left the group", false},
};

/*
 * A communicator has no way to say that a rank has left. In a hook, a rank that waits for the odd one
 * keeps others waiting, who may be the first to lose patience.
 */
static const struct scenario remote[] = {
    {"never registers", "0.3", STAGE_EMPTY, others_register, NOT_CALLED, TIMEOUT, false,
     "did not come within 0.3 s", false},
    {"never creates the batch", "0.3", STAGE_CONTEXT, others_create_batch, NOT_CALLED, TIMEOUT,
     false, "did not come within 0.3 s", false},
    {"never calls the hook", "0.3", STAGE_BATCH, others_convert, NOT_CALLED, TIMEOUT, true,
     "did not come within 0.3 s", true},
    {"leaves before the batch", "0.3", STAGE_CONTEXT, leave_before_batch, NOT_CALLED, TIMEOUT,
     false, "did not come within 0.3 s", false},
    {"leaves during batch_create", "0.3", STAGE_CONTEXT, leave_during_batch, NOT_CALLED, TIMEOUT,
     false, "did not come within 0.3 s", false},
    {"leaves before the hook", "0.3", STAGE_BATCH, leave_before_hook, NOT_CALLED, TIMEOUT, true,
     "did not come within 0.3 s", true},
};

/* From contiguous to zigzag, rank 2 of 8 receives from ranks 1 and 6, which do not meet. */
static const struct scenario far = {
    "never calls the hook, and rank 1 does not meet it",
    "0.3",
    STAGE_BATCH,
    others_convert_late,
    NOT_CALLED,
    TIMEOUT,
    true,
    "did not come within 0.3 s",
    false,
};

int main(void)
{
    const struct cast eight = {LOCAL, 8, 6};

    play_all(scenarios, sizeof(scenarios) / sizeof(scenarios[0]), LOCAL);
    play(&far, &eight);
    play_all(remote, sizeof(remote) / sizeof(remote[0]), COMMUNICATOR);
    return tap_end();
}
