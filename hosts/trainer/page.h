/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as one HTML page that needs nothing else. page.html.in is its skeleton; every {{name}}
 * in it is filled by one function.
 */
#ifndef TRAINER_PAGE_H
#define TRAINER_PAGE_H

#include "report.h"

/* Its file in the folder that settings name. */
#define PAGE_NAME "index.html"

/* Before training: 0, or -1 with a message if the page could not be written. */
int page_prepare(const char *folder, char message[512]);

/* Replaces the page. 0, or -1 with a message; then the folder is as it was. */
int page_save(const struct report *report, char message[512]);

#endif
