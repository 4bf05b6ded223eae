/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/distance.h"

#include <math.h>

/* NaN counts as far. */
static double larger(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

double loss_distance(const struct run_result *a, const struct run_result *b)
{
    double distance = 0;

    for (int64_t step = 0; step < b->steps; step++) {
        distance = larger(fabs(a->loss[step] - b->loss[step]) / fabs(b->loss[step]), distance);
    }
    return distance;
}

double gradient_distance(const struct run_result *a, const struct run_result *b)
{
    double distance = 0;
    double largest = 0;

    for (int64_t i = 0; i < b->parameters; i++) {
        distance = larger(fabs((double)(a->gradient[i] - b->gradient[i])), distance);
        largest = larger(fabs((double)b->gradient[i]), largest);
    }
    return distance / largest;
}
