/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding of `cplayout check` as people read it, the way compilers show theirs: where it is from, what is
 * wrong, the setting with its faulty part underlined, and what to do.
 */
#ifndef CPLAYOUT_TOOLS_FINDING_H
#define CPLAYOUT_TOOLS_FINDING_H

#include <cplayout/options.h>

#include "terminal.h"

/* Texts may hold any bytes; they are printed so that a terminal can take them. */
bool finding_print(const struct terminal *terminal, const struct cplayout_diagnostic *finding);

#endif
