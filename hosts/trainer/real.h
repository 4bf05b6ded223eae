/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trainer's number type and its few scalar functions. `real` is float; a build with
 * TRAINER_DOUBLE makes it double, which the gradient test uses so that finite differences are
 * sharp. Stateless, so safe from any thread.
 */
#ifndef TRAINER_REAL_H
#define TRAINER_REAL_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef TRAINER_DOUBLE
typedef double real;
#else
typedef float real;
#endif

static inline size_t real_bytes(int64_t count)
{
    return (size_t)count * sizeof(real);
}

static inline real real_exp(real x)
{
#ifdef TRAINER_DOUBLE
    return exp(x);
#else
    return expf(x);
#endif
}

static inline real real_log1p(real x)
{
#ifdef TRAINER_DOUBLE
    return log1p(x);
#else
    return log1pf(x);
#endif
}

static inline real real_sqrt(real x)
{
#ifdef TRAINER_DOUBLE
    return sqrt(x);
#else
    return sqrtf(x);
#endif
}

/* The logistic function; exp(-x) may overflow to infinity, which gives the right limit 0. */
static inline real real_sigmoid(real x)
{
    return 1 / (1 + real_exp(-x));
}

/* log(1 + exp(x)), without overflow for large x. */
static inline real real_softplus(real x)
{
    const real positive = x > 0 ? x : 0;

    return positive + real_log1p(real_exp(x > 0 ? -x : x));
}

#endif
