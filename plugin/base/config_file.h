/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of settings: lines 'name = value', '#' begins a comment, '-' in names is '_'.
 */
#ifndef CPL_BASE_CONFIG_FILE_H
#define CPL_BASE_CONFIG_FILE_H

#include "base/sources.h"

/*
 * Adds every line's setting. Regular files of at most 1 MiB are read, so that reading ends.
 * Errors: ARGUMENT (naming path and line), MEMORY.
 */
enum cpl_status cpl_config_file_read(struct cpl_sources *sources, const char *path,
                                     struct cpl_error *error);

#endif
