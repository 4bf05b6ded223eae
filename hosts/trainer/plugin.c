/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin.h"

/* The trainer prints errors itself. */
static void ignore_log(void *self, int32_t level, const char *message)
{
    (void)self;
    (void)level;
    (void)message;
}

struct cplayout_host plugin_host(void)
{
    return (struct cplayout_host){
        .size = sizeof(struct cplayout_host),
        .abi_minor = CPLAYOUT_ABI_MINOR,
        .draft = CPLAYOUT_ABI_DRAFT,
        .name = "cplayout-trainer",
        .log = ignore_log,
        .log_level = CPLAYOUT_LOG_NONE,
    };
}

int plugin_load(struct plugin *plugin, const char *path, char message[512])
{
    const struct cplayout_host host = plugin_host();
    struct cplayout_error error = {.size = sizeof(error)};

    *plugin = (struct plugin){0};
    if (cplayout_load(&plugin->library, path, &host, &error) != CPLAYOUT_OK) {
        (void)snprintf(message, 512, "%s", error.message);
        return -1;
    }
    plugin->core = plugin->library.core;
    plugin->plan = plugin->core->get_interface(CPLAYOUT_PLAN_INTERFACE);
    plugin->batch = plugin->core->get_interface(CPLAYOUT_BATCH_INTERFACE);
    if (plugin->plan == NULL || plugin->batch == NULL) {
        (void)snprintf(message, 512, "the plugin does not offer %s and %s", CPLAYOUT_PLAN_INTERFACE,
                       CPLAYOUT_BATCH_INTERFACE);
        plugin_unload(plugin);
        return -1;
    }
    return 0;
}

void plugin_unload(struct plugin *plugin)
{
    cplayout_unload(&plugin->library);
}
