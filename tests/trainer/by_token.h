/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracle of the numerics: a forward of the tiny model that knows nothing of chunks, ranks or
 * packs. One thread.
 */
#ifndef TESTS_TRAINER_BY_TOKEN_H
#define TESTS_TRAINER_BY_TOKEN_H

#include "trainer/tiny.h"

/* The mean loss over all counted tokens, every document run as a sequence of its own. */
double oracle_loss(const struct params *params, const struct pack *pack);

#endif
