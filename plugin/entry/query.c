/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one exported function.
 */
#include "entry/entry.h"

__attribute__((visibility("default"))) int32_t cplayout_plugin_query_v1(
    const struct cplayout_host *host, const struct cplayout_core **core,
    struct cplayout_error *error);

int32_t cplayout_plugin_query_v1(const struct cplayout_host *host,
                                 const struct cplayout_core **core, struct cplayout_error *error)
{
    struct cpl_caller taken = {.log = cpl_log_default()};
    struct cpl_error problem;
    enum cpl_status status = cpl_require(core, "core", &problem);

    if (status == CPL_OK) {
        status = cpl_require(host, "host", &problem);
    }
    if (status == CPL_OK) {
        status = cpl_caller_in(host, &taken, &problem);
    }
    if (status == CPL_OK) {
        *core = &cpl_core_v1;
    }
    return cpl_leave(status, &problem, host != NULL ? &taken.log : NULL, error);
}
