/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields that a host declares for a context, beside the known ones.
 */
#ifndef CPL_BATCH_DECLARED_H
#define CPL_BATCH_DECLARED_H

#include "base/arena.h"
#include "batch/fields.h"

/* A field as a host declares it. */
struct cpl_declaration {
    const char *name;
    int64_t fill; /* what padding holds */
    int32_t row_axis;
    uint32_t flags; /* CPL_DECLARED_... */
};

enum { CPL_DECLARED_SCATTER = 1 };

struct cpl_declarations {
    const struct cpl_declaration *list; /* [count] */
    size_t count;
};

/*
 * Copies declarations into a table whose memory is the arena's. Errors: ARGUMENT (too many, a name that is
 * NULL, empty, long, known or there twice, a row axis or flags out of range), MEMORY.
 */
enum cpl_status cpl_fields_declare(struct cpl_field_table *table,
                                   const struct cpl_declarations *declarations,
                                   struct cpl_arena *arena, struct cpl_error *error);

/* Hash of all declarations, in their order. */
uint64_t cpl_fields_digest(const struct cpl_field_table *table);

#endif
