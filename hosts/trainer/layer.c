/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How layers name and start their parameters. No state; called while a model is created, by one
 * thread per model.
 */
#include "layer.h"

#include <stdio.h>
#include <string.h>

int layer_slices(struct params *params, int layer, struct slice *slices, int count)
{
    for (int i = 0; i < count; i++) {
        char name[sizeof slices[i].name];
        snprintf(name, sizeof name, "layers.%d.%.24s", layer, slices[i].name);
        memcpy(slices[i].name, name, sizeof name);
        if (params_add(params, slices[i])) {
            return -1;
        }
    }
    return 0;
}

real layer_deviation(int64_t in)
{
    return 1 / real_sqrt((real)in);
}

/* Smaller by the root of the number of layers, so that the sum of all stays of order one. */
real layer_deviation_out(const struct model_config *config, int64_t in)
{
    return layer_deviation(in * (int64_t)strlen(config->pattern));
}
