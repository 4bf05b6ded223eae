/* SPDX-License-Identifier: Apache-2.0 */
#include "dtypes.h"

#include <string.h>

const char dtype_names[] = "fp64, fp32, bf16, fp16, fp8, int64, int32, int8";

size_t dtype_bytes(const char *name)
{
    static const struct {
        const char *name;
        size_t bytes;
    } types[] = {
        {"fp64", 8}, {"fp32", 4},  {"bf16", 2},  {"fp16", 2},
        {"fp8", 1},  {"int64", 8}, {"int32", 4}, {"int8", 1},
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(types[i].name, name) == 0) {
            return types[i].bytes;
        }
    }
    return 0;
}
