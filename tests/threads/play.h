/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays a failure: all ranks come to a stage together, then one of them, the odd one, does
 * something else than the others. Every rank must get an error that names the odd rank, in time,
 * and must keep getting it; destroying must work.
 */
#ifndef TESTS_THREADS_PLAY_H
#define TESTS_THREADS_PLAY_H

#include "threads/block.h"
#include "threads/host.h"

/* The length of sequences, and a status for a call that is not made. */
enum { TOKENS_PER_RANK = 4, NOT_CALLED = -1 };

/* So long that a wait that ends by it would be noticed. */
#define NO_TIMEOUT "5"

/* How far ranks have come before they part. */
enum stage { STAGE_EMPTY, STAGE_CONTEXT, STAGE_BATCH };

struct scenario {
    const char *name;
    const char *timeout;
    enum stage stage;
    void (*act)(struct world *world, struct seat *seat, bool odd);
    int32_t odd_status;   /* of the odd rank; PEER will do where MISMATCH is expected */
    int32_t status;       /* of the others; those who hear of it from them get PEER */
    bool others_may_pass; /* ranks that do not meet the odd one in this call */
    const char *word;     /* in the messages of the others, beside the odd rank's number */
    bool vague;           /* who is odd cannot always be told, but then the message says so */
};

/* Who plays: so many ranks on a transport, and which of them is the odd one. */
struct cast {
    enum transport transport;
    int32_t ranks;
    int32_t odd;
};

/* Plays it once, as a test of its own. */
void play(const struct scenario *scenario, const struct cast *cast);

/* Plays each with different numbers of ranks and different odd ranks. */
void play_all(const struct scenario *scenarios, size_t count, enum transport transport);

/* Layouts contiguous and zigzag, pattern M*M; ranks, timeout and transport are not set. */
extern const struct host_config play_config;

/* The hooks before the attention layer and behind it, and the first one's adjoint. */
extern const struct hook_step play_to_attention;
extern const struct hook_step play_to_linear;
extern const struct hook_step play_attention_back;

/* Calls as all ranks make them at the stages. Results go to the seat. */
uint64_t play_tokens(const struct world *world);
void play_create_batch(struct seat *seat, const struct cplayout_batch_args *args);
void play_register(struct world *world, struct seat *seat);
void play_batch(struct world *world, struct seat *seat);
void play_hook(struct seat *seat);

/* A hook on a tensor of the form with the rows of one rank. */
void play_hook_with(struct seat *seat, const struct hook_step *step,
                    const struct cplayout_batch *batch, const struct form *form);

#endif
