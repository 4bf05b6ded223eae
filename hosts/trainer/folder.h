/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a report. A file in it is replaced as a whole or left as it was.
 */
#ifndef TRAINER_FOLDER_H
#define TRAINER_FOLDER_H

#include <stddef.h>

/* Makes the folder, with those above it, and tries whether `name` could be written there. 0, or -1
 * with a message that names the folder. */
int folder_prepare(const char *folder, const char *name, char message[512]);

/* 0, or -1 with a message that names the folder; then no file was left or changed. */
int folder_replace(const char *folder, const char *name, const char *data, size_t size,
                   char message[512]);

#endif
