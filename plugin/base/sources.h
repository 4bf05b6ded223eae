/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where settings come from: the host, the environment (CPLAYOUT_<NAME>) and the file that the
 * variable CPLAYOUT_CONF names. Owns the texts of the last two. Both are ignored in set-id processes.
 */
#ifndef CPL_BASE_SOURCES_H
#define CPL_BASE_SOURCES_H

#include "base/arena.h"
#include "base/error.h"

/* Strongest first. */
enum cpl_source {
    CPL_SOURCE_HOST,
    CPL_SOURCE_ENVIRONMENT,
    CPL_SOURCE_FILE,
    CPL_SOURCE_DEFAULT,
};

/* An option as the host gives it. */
struct cpl_setting {
    const char *name;
    const char *value;
};

struct cpl_host_settings {
    struct cpl_allocator allocator;
    const struct cpl_setting *list; /* [count] */
    size_t count;
};

struct cpl_entry {
    const char *name; /* of the environment, as an option would be written: "seq_length" */
    const char *value;
    const char *origin; /* "host", "CPLAYOUT_SEQ_LENGTH" or "run.conf:4" */
    enum cpl_source source;
};

struct cpl_sources {
    struct cpl_entry *list; /* [count], by source, in the order in which they were given */
    size_t count;
    struct cpl_arena arena;
};

/* How names of variables begin, and the variable that names the file. */
#define CPL_SOURCES_PREFIX "CPLAYOUT_"
#define CPL_SOURCES_FILE   "CPLAYOUT_CONF"

/*
 * Variables that are set but empty count as not set. On success cpl_sources_fini gives memory back.
 * Errors: ARGUMENT (a NULL string, a file that cannot be read, a line that is no setting), MEMORY.
 */
enum cpl_status cpl_sources_init(struct cpl_sources *sources, const struct cpl_host_settings *host,
                                 struct cpl_error *error);
void cpl_sources_fini(struct cpl_sources *sources);

/* Takes one entry in; texts must outlive the sources. Errors: MEMORY. */
enum cpl_status cpl_sources_add(struct cpl_sources *sources, const struct cpl_entry *entry,
                                struct cpl_error *error);

#endif
