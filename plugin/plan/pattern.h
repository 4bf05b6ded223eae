/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layer pattern: one symbol per layer, as in Megatron-LM's hybrid_layer_pattern.
 */
#ifndef CPL_PLAN_PATTERN_H
#define CPL_PLAN_PATTERN_H

#include "base/error.h"

enum cpl_layer_kind {
    CPL_LAYER_UNKNOWN = 0,
    CPL_LAYER_LINEAR, /* M Mamba-2, G gated delta, K KDA, L lightning and other linear attention */
    CPL_LAYER_ATTENTION, /* * plain, + latent, D sparse, C H W DSv4 */
    CPL_LAYER_LOCAL,     /* - MLP, E mixture of experts: any layout will do */
};

/* Kind of a symbol; unknown if it is none. */
enum cpl_layer_kind cpl_layer_kind(char symbol);

/*
 * Checks every symbol of a pattern. The message names the first bad one and its index. The symbols
 * | (pipeline stage), / (MTP part) and [ ] (logical layer) are unsupported so far.
 */
enum cpl_status cpl_pattern_check(const char *pattern, struct cpl_error *error);

#endif
