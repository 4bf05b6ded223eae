/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host as somebody else would write it, compiled by installed.sh with the options of pkg-config
 * alone. It loads the plugin by its default path, or from the file that it is given, uses plan/1
 * and prints the file that was loaded.
 */
#define _GNU_SOURCE /* dladdr */
#include <stdio.h>

#include <cplayout/loader.h>
#include <cplayout/plan.h>

static int fail(const char *what, const struct cplayout_error *error)
{
    (void)fprintf(stderr, "%s: %s\n", what, error->message);
    return 1;
}

/* Rank 0 of 2 in zigzag holds 8 of 16 tokens: the first four and the last four. */
static int use_plan(const struct cplayout_plan_interface *plan)
{
    const struct cplayout_host host = {.size = sizeof(host),
                                       .abi_minor = CPLAYOUT_ABI_MINOR,
                                       .draft = CPLAYOUT_ABI_DRAFT};
    const struct cplayout_partition_args args = {.size = sizeof(args),
                                                 .layout = "zigzag",
                                                 .sequence = 16,
                                                 .cp = 2,
                                                 .tp = 1};
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_partition *partition = NULL;
    struct cplayout_fragment fragments[2];
    uint64_t count = 0;
    int32_t status = plan->partition_create(&host, &args, &partition, &error);

    if (status != CPLAYOUT_OK) {
        return fail("partition_create", &error);
    }
    status = plan->fragments(partition, 0, fragments, 2, &count, &error);
    plan->partition_destroy(partition);
    if (status != CPLAYOUT_OK) {
        return fail("fragments", &error);
    }
    if (count != 2 || fragments[0].start != 0 || fragments[0].length != 4 ||
        fragments[1].start != 12 || fragments[1].length != 4) {
        (void)fprintf(stderr, "rank 0 holds something else than tokens 0-3 and 12-15\n");
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_library library;
    const struct cplayout_plan_interface *plan;
    Dl_info found;

    if (cplayout_load(&library, argc > 1 ? argv[1] : NULL, NULL, &error) != CPLAYOUT_OK) {
        return fail("cplayout_load", &error);
    }
    plan = library.core->get_interface(CPLAYOUT_PLAN_INTERFACE);
    if (plan == NULL) {
        (void)fprintf(stderr, "the plugin does not offer %s\n", CPLAYOUT_PLAN_INTERFACE);
        return 1;
    }
    if (dladdr(library.core, &found) == 0) {
        (void)fprintf(stderr, "the core table lies in no file\n");
        return 1;
    }
    (void)puts(found.dli_fname);
    return use_plan(plan);
}
