/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Element types by the names that trainers use.
 */
#ifndef CPLAYOUT_TOOLS_DTYPES_H
#define CPLAYOUT_TOOLS_DTYPES_H

#include <stddef.h>

/* Bytes of one element; 0 if there is no such type. */
size_t dtype_bytes(const char *name);

/* "fp32, fp16, ...", for messages. */
extern const char dtype_names[];

#endif
