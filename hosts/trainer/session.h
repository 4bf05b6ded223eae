/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One rank's dealings with the plugin: context, schedule, batches and conversions. A session belongs
 * to one thread; the plugin is shared.
 */
#ifndef TRAINER_SESSION_H
#define TRAINER_SESSION_H

#include "model.h"
#include "plugin.h"
#include "sample.h"
#include "settings.h"

struct session;

struct session_args {
    const struct plugin *plugin;
    struct cplayout_local_group *group;
    const struct settings *settings;
    const struct arrangement *arrangement;
    int32_t rank;
    int32_t ranks;
    int width; /* reals in a row of hidden states */
};

/* NULL with a message. Collective: ranks that fail wake those that do not. */
struct session *session_create(const struct session_args *args, char message[512]);
void session_destroy(struct session *session);

/*
 * Shows the plugin one sample, all of it on every rank, and fills in what the model needs of this
 * rank: shards, tokens and labels. Valid until session_end. 0, or -1 with session_error.
 */
int session_begin(struct session *session, const struct sample *sample, struct step_input *input);
void session_end(struct session *session);

/* Calls the layer hooks. */
struct converter session_converter(struct session *session);

/* Why the last call failed. */
const char *session_error(const struct session *session);

/* Bytes of hidden states that conversions have sent from this rank so far. */
int64_t session_conversion_bytes(const struct session *session);

/* The layouts of the batch that was begun last, as the session's own. */
const struct shard *session_linear(const struct session *session);
const struct shard *session_attention(const struct session *session);

/* [ranks] its attention work, in causal (query, key) pairs inside documents. */
const int64_t *session_attention_pairs(const struct session *session);

#endif
