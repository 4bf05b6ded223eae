/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core table, and its slots that need no context.
 */
#include "entry/core.h"

#include <string.h>

#include "base/options.h"
#include "move/group.h"
#include "plan/layout.h"

/* ---- Local group ------------------------------------------------------------------------------ */

int32_t cpl_core_local_group_create(const struct cplayout_host *record, int32_t ranks,
                                    struct cplayout_local_group **group,
                                    struct cplayout_error *error)
{
    struct cpl_error problem;
    struct cpl_caller host = {.log = cpl_log_default()};
    struct cpl_group *created = NULL;
    enum cpl_status status = cpl_require(group, "group", &problem);

    if (status == CPL_OK) {
        status = cpl_caller_in(record, &host, &problem);
    }
    if (status == CPL_OK) {
        status = cpl_group_create(&host.allocator, ranks, &created, &problem);
    }
    if (status == CPL_OK) {
        *group = (struct cplayout_local_group *)created;
    }
    return cpl_leave(status, &problem, &host.log, error);
}

void cpl_core_local_group_destroy(struct cplayout_local_group *group)
{
    cpl_group_release((struct cpl_group *)group);
}

/* ---- Without a context ------------------------------------------------------------------------ */

void cpl_core_options(cplayout_option_fn visit, void *self)
{
    char layouts[CPL_LAYOUT_NAMES_BYTES];

    cpl_layout_names(layouts, sizeof(layouts));
    for (enum cpl_option_id id = 0; id < CPL_OPTION_COUNT && visit != NULL; id++) {
        const struct cpl_option_spec *const spec = cpl_option_spec(id);
        char values[CPL_OPTION_VALUES_BYTES];
        const struct cplayout_option_info info = {
            .size = sizeof(info),
            .name = spec->name,
            .type = cpl_option_type_name(spec->type),
            .default_value = spec->default_value,
            .values = spec->type == CPL_TYPE_LAYOUT ? layouts : cpl_option_values(spec, values),
            .help = spec->help,
            .synonyms = spec->synonyms != NULL ? spec->synonyms : "",
            .deprecated = spec->deprecated != NULL ? spec->deprecated : "",
        };

        visit(self, &info);
    }
}

const void *cpl_core_get_interface(const char *name)
{
    static const struct {
        const char *name;
        const void *table;
    } interfaces[] = {
        {CPLAYOUT_PLAN_INTERFACE, &cpl_plan_v1},
        {CPLAYOUT_BATCH_INTERFACE, &cpl_batch_v1},
    };

    for (size_t i = 0; i < sizeof(interfaces) / sizeof(interfaces[0]); i++) {
        if (name != NULL && strcmp(interfaces[i].name, name) == 0) {
            return interfaces[i].table;
        }
    }
    return NULL;
}

const struct cplayout_core cpl_core_v1 = {.size = sizeof(struct cplayout_core),
                                          .abi_major = CPLAYOUT_ABI_MAJOR,
                                          .abi_minor = CPLAYOUT_ABI_MINOR,
                                          .abi_minor_min = 0,
                                          .draft = CPLAYOUT_ABI_DRAFT,
                                          .name = "cplayout",
                                          .version = PACKAGE_VERSION,
                                          .build = "C compiler " __VERSION__,
                                          CPLAYOUT_CORE_SLOTS(CPL_FILL_SLOT)};
