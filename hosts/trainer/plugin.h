/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loaded plugin. This file, views.c and session.c are all of the trainer that knows the plugin,
 * and they know it through its ABI alone. Loaded once, used by all threads.
 */
#ifndef TRAINER_PLUGIN_H
#define TRAINER_PLUGIN_H

#include <cplayout/batch.h>
#include <cplayout/core.h>
#include <cplayout/loader.h>
#include <cplayout/plan.h>

struct plugin {
    struct cplayout_library library;
    const struct cplayout_core *core;
    const struct cplayout_plan_interface *plan;
    const struct cplayout_batch_interface *batch;
};

/* `path` NULL: the default. 0, or -1 with a message. */
int plugin_load(struct plugin *plugin, const char *path, char message[512]);
void plugin_unload(struct plugin *plugin);

/* The part of a host record that does not depend on the rank. */
struct cplayout_host plugin_host(void);

#endif
