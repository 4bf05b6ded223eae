/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A turn: one rank's side of one collective in a local group. It offers something to its peers, takes
 * what they offer straight from their memory, and withdraws its offer when all of them are done. Ranks
 * count collectives; two ranks meet at equal counts.
 *
 * Data is copied outside the group's mutex. Waits have a deadline.
 */
#ifndef CPL_MOVE_TURN_H
#define CPL_MOVE_TURN_H

#include <stdint.h>
#include <time.h>

#include "base/error.h"

struct cpl_group;

/* What a collective is for; ranks that meet must agree. */
enum cpl_meeting {
    CPL_MEETING_NONE = 0,
    CPL_MEETING_REGISTER, /* options, at registration */
    CPL_MEETING_COMPARE,  /* digests, at batch creation */
    CPL_MEETING_EXCHANGE, /* rows, in a hook */
    CPL_MEETING_LOSS,     /* sums of losses */
};

/* What a rank shows its peers during one collective. */
struct cpl_offer {
    enum cpl_meeting meeting;
    const void *data; /* read by peers until the offer is withdrawn */
};

struct cpl_turn {
    struct cpl_group *group;
    int32_t rank;
    double timeout_seconds;
    struct timespec deadline; /* set by open */
};

/* Opens the rank's next collective. Errors: PEER (the group has failed). */
enum cpl_status cpl_turn_open(struct cpl_turn *turn, const struct cpl_offer *offer,
                              struct cpl_error *error);

/*
 * Waits for a peer's offer of the same collective. The peer keeps it until cpl_turn_give_back.
 * Errors: TIMEOUT, PEER, MISMATCH (the peer is in another kind of collective).
 */
enum cpl_status cpl_turn_take(const struct cpl_turn *turn, int32_t peer, const void **data,
                              struct cpl_error *error);
void cpl_turn_give_back(const struct cpl_turn *turn);

/* Says that this rank takes nothing more in this collective. */
void cpl_turn_done(const struct cpl_turn *turn);

/* Waits until `peer` has taken all it wants in this collective. Errors: TIMEOUT, PEER. */
enum cpl_status cpl_turn_await(const struct cpl_turn *turn, int32_t peer, struct cpl_error *error);

/* Closes the turn. Returns once no peer reads the offer any more, also after a failure. */
void cpl_turn_close(const struct cpl_turn *turn);

#endif
