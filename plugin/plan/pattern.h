/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layer pattern, as in Megatron-LM's hybrid_layer_pattern: one symbol per layer; '|' separates
 * pipeline stages, '/' stands before each MTP part, '[...]' is one logical layer.
 */
#ifndef CPL_PLAN_PATTERN_H
#define CPL_PLAN_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum cpl_layer_kind {
    CPL_LAYER_UNKNOWN = 0,
    CPL_LAYER_LINEAR, /* M Mamba-2, G gated delta, K KDA, L lightning and other linear attention */
    CPL_LAYER_ATTENTION, /* * plain, + latent, D sparse, C H W DSv4 */
    CPL_LAYER_LOCAL,     /* - MLP, E mixture of experts: any layout will do */
};

/* Kind of a symbol; unknown if it is none. */
enum cpl_layer_kind cpl_layer_kind(char symbol);

/* What a pattern holds. */
struct cpl_pattern {
    size_t linear_layers; /* of the main part */
    size_t experts;       /* E, of all parts */
    size_t mtp_parts;
    bool mtp_alike; /* all MTP parts are equal and hold layers alone */
};

/*
 * Reads a pattern. Errors: ARGUMENT (an unknown or misplaced symbol; `index` receives where it is).
 */
enum cpl_status cpl_pattern_parse(const char *text, struct cpl_pattern *pattern, size_t *index,
                                  struct cpl_error *error);

#endif
