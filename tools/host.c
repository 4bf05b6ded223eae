/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cplayout/loader.h>

/* ---- Loading --------------------------------------------------------------------------------- */

#ifdef CPLAYOUT_BUILD_PLUGIN

/* Cuts the last part off a path if it is `name`. */
static bool cut_folder(char *path, const char *name)
{
    char *const slash = strrchr(path, '/');

    if (slash == NULL || strcmp(slash + 1, name) != 0) {
        return false;
    }
    *slash = '\0';
    return true;
}

/* Writes the build tree's root into `root` if the executable is <root>/tools/[.libs/]name. */
static bool find_build_tree(char root[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", root, PATH_MAX - 1);
    char *slash;

    if (length <= 0) {
        return false;
    }
    root[length] = '\0';
    slash = strrchr(root, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    (void)cut_folder(root, ".libs"); /* where libtool hides the executable behind a script */
    return cut_folder(root, "tools");
}

static const char *build_plugin(void)
{
    static const char plugin[] = CPLAYOUT_BUILD_PLUGIN;
    char root[PATH_MAX];
    char real[PATH_MAX];
    size_t length;

    if (!find_build_tree(root) || realpath(plugin, real) == NULL) {
        return NULL;
    }
    length = strlen(root);
    return strncmp(real, root, length) == 0 && real[length] == '/' ? plugin : NULL;
}

#else

static const char *build_plugin(void)
{
    return NULL;
}

#endif

/* Errors come back from the failing call as well, and the report tells them once. */
static void print_warning(void *self, int32_t level, const char *message)
{
    (void)self;
    if (level == CPLAYOUT_LOG_WARNING) {
        (void)fprintf(stderr, "cplayout: warning: %s\n", message);
    }
}

bool host_open(struct host *host, const struct args *args, struct report *report)
{
    const char *const given = args->text[OPTION_PLUGIN];
    struct cplayout_error error = {.size = sizeof(error)};
    struct cplayout_library library;

    if (given != NULL && getauxval(AT_SECURE) != 0) {
        const struct problem problem = {.status = EXIT_INVALID,
                                        .code = "plugin.load",
                                        .option = option_name(OPTION_PLUGIN)};

        return report_fail(report, &problem, "--plugin is ignored in set-id processes");
    }
    *host = (struct host){.record = {.size = sizeof(host->record),
                                     .abi_minor = CPLAYOUT_ABI_MINOR,
                                     .draft = CPLAYOUT_ABI_DRAFT,
                                     .name = "cplayout",
                                     .log = print_warning,
                                     .log_level = CPLAYOUT_LOG_WARNING}};
    error.status =
        cplayout_load(&library, given != NULL ? given : build_plugin(), &host->record, &error);
    if (error.status != CPLAYOUT_OK) {
        return report_plugin(report, option_name(OPTION_PLUGIN), &error);
    }
    host->library = library.handle;
    host->core = library.core;
    return true;
}

void host_close(struct host *host)
{
    struct cplayout_library library = {.handle = host->library};

    cplayout_unload(&library);
    *host = (struct host){.library = NULL};
}

static const char *missing_plan_slot(const struct cplayout_plan_interface *plan)
{
#define CHECK_SLOT(table, slot)                                                             \
    if (plan->size < offsetof(struct cplayout_plan_interface, slot) + sizeof(plan->slot) || \
        plan->slot == NULL) {                                                               \
        return #slot;                                                                       \
    }
    CPLAYOUT_PLAN_SLOTS(CHECK_SLOT)
#undef CHECK_SLOT
    return NULL;
}

bool host_need_plan(struct host *host, struct report *report)
{
    const struct problem problem = {.status = EXIT_INVALID,
                                    .code = "plugin.version",
                                    .option = option_name(OPTION_PLUGIN)};
    const struct cplayout_plan_interface *const plan =
        host->core->get_interface(CPLAYOUT_PLAN_INTERFACE);
    const char *slot;

    if (plan == NULL) {
        return report_fail(report, &problem, "the plugin does not offer the interface '%s'",
                           CPLAYOUT_PLAN_INTERFACE);
    }
    slot = missing_plan_slot(plan);
    if (slot != NULL) {
        return report_fail(report, &problem, "the plugin's interface '%s' has no function '%s'",
                           CPLAYOUT_PLAN_INTERFACE, slot);
    }
    host->plan = plan;
    return true;
}

/* ---- Partitions ------------------------------------------------------------------------------ */

static int32_t create_partition(const struct host *host,
                                const struct cplayout_partition_args *wanted,
                                struct cplayout_partition **partition, struct cplayout_error *error)
{
    *error = (struct cplayout_error){.size = sizeof(*error)};
    error->status = host->plan->partition_create(&host->record, wanted, partition, error);
    return error->status;
}

/* The option behind a field of the partition's arguments; OPTION_COUNT if it is none of them. */
static enum option option_of(const struct args *args, const char *field, enum option layout)
{
    const bool packed = args->text[OPTION_CU_SEQLENS] != NULL;
    const bool padded = args->text[OPTION_CU_SEQLENS_PADDED] != NULL;
    const enum option rows = padded ? OPTION_CU_SEQLENS_PADDED : OPTION_CU_SEQLENS;
    const struct {
        const char *field;
        enum option option;
    } options[] = {
        {"layout", layout},
        {"table", layout},
        {"sequence", packed ? rows : OPTION_SEQ},
        {"cu_seqlens", OPTION_CU_SEQLENS},
        {"cu_seqlens_padded", OPTION_CU_SEQLENS_PADDED},
        {"cp", OPTION_CP},
        {"tp", OPTION_TP},
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (strcmp(options[i].field, field) == 0) {
            return options[i].option;
        }
    }
    return OPTION_COUNT;
}

/* Offsets come in pairs; the plugin has one count for both. */
static bool same_count(const struct args *args, struct report *report)
{
    const struct list *const real = &args->list[OPTION_CU_SEQLENS];
    const struct list *const padded = &args->list[OPTION_CU_SEQLENS_PADDED];
    const struct problem problem = {.status = EXIT_INVALID,
                                    .code = "argument",
                                    .option = option_name(OPTION_CU_SEQLENS_PADDED)};

    if (padded->values == NULL || padded->count == real->count) {
        return true;
    }
    return report_fail(report, &problem,
                       "cu_seqlens_padded has %" PRIu64 " entr%s but cu_seqlens has %" PRIu64
                       "; they need the same documents",
                       padded->count, padded->count == 1 ? "y" : "ies", real->count);
}

bool host_partition(const struct host *host, const struct args *args, enum option layout,
                    struct cplayout_partition **partition, struct report *report)
{
    const struct cplayout_lengths sample = {
        .cu_seqlens = args->list[OPTION_CU_SEQLENS].values,
        .cu_seqlens_padded = args->list[OPTION_CU_SEQLENS_PADDED].values,
        .entries = args->list[OPTION_CU_SEQLENS].count,
    };
    const bool packed = sample.cu_seqlens != NULL;
    const struct cplayout_partition_args wanted = {
        .size = sizeof(wanted),
        .layout = args->text[layout],
        .sequence = (uint64_t)args->number[OPTION_SEQ],
        .cp = (int32_t)args->number[OPTION_CP],
        .tp = (int32_t)args->number[OPTION_TP],
        .samples = packed ? &sample : NULL,
        .sample_count = packed ? 1 : 0,
    };
    struct cplayout_error error;
    enum option culprit;

    if (!same_count(args, report)) {
        return false;
    }
    if (create_partition(host, &wanted, partition, &error) == CPLAYOUT_OK) {
        return true;
    }
    culprit = option_of(args, error.field, layout);
    return report_plugin(report, culprit != OPTION_COUNT ? option_name(culprit) : NULL, &error);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* Makes room for `count` entries of `bytes` each. Their content is not kept. */
static bool make_room(void **list, uint64_t *capacity, uint64_t count, size_t bytes)
{
    void *larger;

    if (count > SIZE_MAX / bytes) {
        return false;
    }
    larger = realloc(*list, (size_t)count * bytes);
    if (larger == NULL) {
        return false;
    }
    *list = larger;
    *capacity = count;
    return true;
}

/* A call with capacity 0 only counts and succeeds; others say CAPACITY. */
static bool is_too_short(int32_t status, uint64_t count, uint64_t capacity)
{
    return (status == CPLAYOUT_OK || status == CPLAYOUT_ERROR_CAPACITY) && count > capacity;
}

static int32_t ask_fragments(const struct host *host, const struct fragments_of *of,
                             struct fragments *fragments, struct cplayout_error *error)
{
    return host->plan->fragments(of->partition, of->rank, fragments->list, fragments->capacity,
                                 &fragments->count, error);
}

bool host_fragments(const struct host *host, const struct fragments_of *of,
                    struct fragments *fragments, struct report *report)
{
    struct cplayout_error error = {.size = sizeof(error)};
    int32_t status = ask_fragments(host, of, fragments, &error);

    if (is_too_short(status, fragments->count, fragments->capacity)) {
        void *list = fragments->list;

        if (!make_room(&list, &fragments->capacity, fragments->count, sizeof(*fragments->list))) {
            return report_memory(report);
        }
        fragments->list = list;
        status = ask_fragments(host, of, fragments, &error);
    }
    return status == CPLAYOUT_OK || report_plugin(report, NULL, &error);
}

static int32_t ask_moves(const struct host *host, const struct moves_of *of, struct moves *moves,
                         struct cplayout_error *error)
{
    const struct cplayout_moves_args args = {.size = sizeof(args),
                                             .rank = of->rank,
                                             .kind = of->kind};

    return host->plan->moves(of->route, &args, moves->list, moves->capacity, &moves->count, error);
}

bool host_offsets(const struct host *host, const struct cplayout_partition *partition,
                  struct offsets *offsets, struct report *report)
{
    struct cplayout_error error = {.size = sizeof(error)};
    int32_t status = host->plan->padded_offsets(partition, NULL, 0, &offsets->count, &error);

    if (status == CPLAYOUT_OK) {
        offsets->list = calloc(offsets->count, sizeof(*offsets->list));
        if (offsets->list == NULL) {
            return report_memory(report);
        }
        status = host->plan->padded_offsets(partition, offsets->list, offsets->count,
                                            &offsets->count, &error);
    }
    return status == CPLAYOUT_OK || report_plugin(report, NULL, &error);
}

bool host_moves(const struct host *host, const struct moves_of *of, struct moves *moves,
                struct report *report)
{
    struct cplayout_error error = {.size = sizeof(error)};
    int32_t status = ask_moves(host, of, moves, &error);

    if (is_too_short(status, moves->count, moves->capacity)) {
        void *list = moves->list;

        if (!make_room(&list, &moves->capacity, moves->count, sizeof(*moves->list))) {
            return report_memory(report);
        }
        moves->list = list;
        status = ask_moves(host, of, moves, &error);
    }
    return status == CPLAYOUT_OK || report_plugin(report, NULL, &error);
}
