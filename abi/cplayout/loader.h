/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the plugin: header only, needs nothing but dlopen.
 *
 *     struct cplayout_library library;
 *     struct cplayout_error error = {.size = sizeof(error)};
 *     if (cplayout_load(&library, NULL, &host, &error) != CPLAYOUT_OK) {
 *         ... error.message says which file and why ...
 *     }
 *
 * The plugin stays in memory once it is loaded (it is linked with -z nodelete): threads may still
 * hold addresses inside it. cplayout_unload only gives the handle back.
 *
 * Thread rule: [any-thread]; a struct cplayout_library belongs to its caller.
 */
#ifndef CPLAYOUT_LOADER_H
#define CPLAYOUT_LOADER_H

#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cplayout/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Folder of the plugin for hosts that name no file. The options of `pkg-config --cflags cplayout`
 * define it as the folder that the plugin was installed in; by hand, define it when you compile, for
 * instance as "/usr/local/lib/cplayout".
 */
#ifdef CPLAYOUT_PLUGIN_DIR
#define CPLAYOUT_DEFAULT_PLUGIN CPLAYOUT_PLUGIN_DIR "/libcplayout.so"
#else
#define CPLAYOUT_DEFAULT_PLUGIN "libcplayout.so" /* found the way ld.so finds libraries */
#endif

struct cplayout_library {
    void *handle;                     /* of dlopen */
    const struct cplayout_core *core; /* valid until the process ends */
};

/* For loader.h only. Fills the record if it reaches to the message, and returns `status`. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static inline int32_t
cplayout_loader_fail(struct cplayout_error *error, int32_t status, int64_t native_code,
                     const char *format, ...)
{
    va_list args;
    size_t room;

    if (error == NULL || error->size <= offsetof(struct cplayout_error, message)) {
        return status;
    }
    room = (size_t)error->size - offsetof(struct cplayout_error, message);
    error->status = status;
    error->origin = CPLAYOUT_ORIGIN_LOADER;
    error->native_code = native_code;
    error->field[0] = '\0';
    va_start(args, format);
    (void)vsnprintf(error->message, room < sizeof(error->message) ? room : sizeof(error->message),
                    format, args);
    va_end(args);
    return status;
}

/* The first mandatory slot that a table lacks, or NULL. */
static inline const char *cplayout_missing_slot(const struct cplayout_core *core)
{
#define CPLAYOUT_CHECK_SLOT(table, slot)                                          \
    if (core->size < offsetof(struct cplayout_core, slot) + sizeof(core->slot) || \
        core->slot == NULL) {                                                     \
        return #slot;                                                             \
    }
    CPLAYOUT_CORE_SLOTS(CPLAYOUT_CHECK_SLOT)
#undef CPLAYOUT_CHECK_SLOT
    return NULL;
}

/* Checks that a table can be used by a host that was compiled with these headers. */
static inline int32_t cplayout_check_core(const struct cplayout_core *core, const char *path,
                                          struct cplayout_error *error)
{
    const char *slot;

    if (core == NULL) {
        return cplayout_loader_fail(error, CPLAYOUT_ERROR_VERSION, 0, "plugin %s returned no table",
                                    path);
    }
    if (core->abi_major != CPLAYOUT_ABI_MAJOR || core->draft != CPLAYOUT_ABI_DRAFT) {
        return cplayout_loader_fail(
            error, CPLAYOUT_ERROR_VERSION, 0,
            "plugin %s has ABI %u draft %u, this host needs ABI %d draft %d", path,
            (unsigned)core->abi_major, (unsigned)core->draft, CPLAYOUT_ABI_MAJOR,
            CPLAYOUT_ABI_DRAFT);
    }
    if (core->abi_minor_min > CPLAYOUT_ABI_MINOR) {
        return cplayout_loader_fail(error, CPLAYOUT_ERROR_VERSION, 0,
                                    "plugin %s needs a host of ABI %d.%u or newer, this is %d.%d",
                                    path, CPLAYOUT_ABI_MAJOR, (unsigned)core->abi_minor_min,
                                    CPLAYOUT_ABI_MAJOR, CPLAYOUT_ABI_MINOR);
    }
    slot = cplayout_missing_slot(core);
    if (slot != NULL) {
        return cplayout_loader_fail(error, CPLAYOUT_ERROR_VERSION, 0,
                                    "plugin %s does not provide the mandatory function '%s'", path,
                                    slot);
    }
    return CPLAYOUT_OK;
}

/* Gives the handle back. NULL and a library that failed to load are allowed. */
static inline void cplayout_unload(struct cplayout_library *library)
{
    if (library != NULL && library->handle != NULL) {
        (void)dlclose(library->handle);
        library->handle = NULL;
        library->core = NULL;
    }
}

/* For loader.h only. Opens the file and finds its query function. */
static inline int32_t cplayout_open(const char *path, void **handle,
                                    cplayout_plugin_query_fn *query, struct cplayout_error *error)
{
    void *symbol;

    if (path[0] == '\0') { /* to dlopen, the program itself */
        return cplayout_loader_fail(error, CPLAYOUT_ERROR_LOAD, 0, "the plugin's path is empty");
    }
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*handle == NULL) {
        return cplayout_loader_fail(error, CPLAYOUT_ERROR_LOAD, 0, "cannot load plugin: %s",
                                    dlerror());
    }
    symbol = dlsym(*handle, CPLAYOUT_QUERY_SYMBOL);
    if (symbol == NULL) {
        return cplayout_loader_fail(error, CPLAYOUT_ERROR_LOAD, 0,
                                    "%s is no cplayout plugin: it has no symbol %s", path,
                                    CPLAYOUT_QUERY_SYMBOL);
    }
    memcpy(query, &symbol, sizeof(symbol)); /* ISO C has no cast from object to function pointer */
    return CPLAYOUT_OK;
}

/*
 * Loads the plugin from `path` (NULL: the default path), asks it for its table and checks that this
 * host can use it. `host` may be NULL; its versions are filled in here. On failure `library` is zero
 * and there is nothing to unload.
 * Errors: LOAD (with the system's reason), VERSION, and what the plugin's query returns.
 */
static inline int32_t cplayout_load(struct cplayout_library *library, const char *path,
                                    const struct cplayout_host *host, struct cplayout_error *error)
{
    struct cplayout_host record;
    struct cplayout_library opened = {NULL, NULL};
    cplayout_plugin_query_fn query = NULL;
    int32_t status;

    memset(library, 0, sizeof(*library));
    memset(&record, 0, sizeof(record));
    if (host != NULL) {
        memcpy(&record, host, host->size < sizeof(record) ? (size_t)host->size : sizeof(record));
    }
    record.size = sizeof(record);
    record.abi_minor = CPLAYOUT_ABI_MINOR;
    record.draft = CPLAYOUT_ABI_DRAFT;
    path = path != NULL ? path : CPLAYOUT_DEFAULT_PLUGIN;

    status = cplayout_open(path, &opened.handle, &query, error);
    if (status == CPLAYOUT_OK) {
        status = query(&record, &opened.core, error);
    }
    if (status == CPLAYOUT_OK) {
        status = cplayout_check_core(opened.core, path, error);
    }
    if (status != CPLAYOUT_OK) {
        cplayout_unload(&opened);
        return status;
    }
    *library = opened;
    return CPLAYOUT_OK;
}

#ifdef __cplusplus
}
#endif

#endif
