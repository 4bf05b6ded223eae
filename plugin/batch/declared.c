/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/declared.h"

#include <string.h>

#include "base/hash.h"

enum { NAME_BYTES = 64 };

static enum cpl_status check_name(const struct cpl_field_table *table, size_t index,
                                  const char *name, struct cpl_error *error)
{
    if (name == NULL || name[0] == '\0' || strlen(name) >= NAME_BYTES) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "fields",
                              "fields[%zu] has %s; names have 1 to %d bytes", index,
                              name == NULL ? "no name" : "a name that is empty or too long",
                              NAME_BYTES - 1);
    }
    for (size_t i = 0; i < cpl_fields_count(table); i++) {
        if (strcmp(cpl_field_spec(table, i)->name, name) == 0) {
            return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                                  "fields[%zu]: '%s' is %s and cannot be declared", index, name,
                                  i < CPL_FIELD_KNOWN ? "a known field" : "declared already");
        }
    }
    return CPL_OK;
}

static enum cpl_status check_rest(const struct cpl_declaration *declaration, size_t index,
                                  struct cpl_error *error)
{
    if (declaration->row_axis < 0 || declaration->row_axis >= CPL_MAX_DIMS) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, declaration->name,
                              "fields[%zu] '%s': row axis %d is not 0 ... %d", index,
                              declaration->name, declaration->row_axis, CPL_MAX_DIMS - 1);
    }
    if ((declaration->flags & ~(uint32_t)CPL_DECLARED_SCATTER) != 0) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, declaration->name,
                              "fields[%zu] '%s': unknown flags 0x%x", index, declaration->name,
                              (unsigned)declaration->flags);
    }
    return CPL_OK;
}

static enum cpl_status declare(struct cpl_field_spec *spec,
                               const struct cpl_declaration *declaration, struct cpl_arena *arena,
                               struct cpl_error *error)
{
    const size_t bytes = strlen(declaration->name) + 1;
    char *const name = cpl_arena_take(arena, bytes, 1);

    if (name == NULL) {
        return cpl_fail_memory(error);
    }
    memcpy(name, declaration->name, bytes);
    *spec = (struct cpl_field_spec){
        .name = name,
        .forms = {{"as declared, with its row axis", 0, declaration->row_axis, -1}},
        .place = CPL_FIELD_EVERYWHERE,
        .fill = CPL_FILL_VALUE,
        .value = declaration->fill,
        .scatter = (declaration->flags & CPL_DECLARED_SCATTER) != 0,
    };
    return CPL_OK;
}

enum cpl_status cpl_fields_declare(struct cpl_field_table *table,
                                   const struct cpl_declarations *declarations,
                                   struct cpl_arena *arena, struct cpl_error *error)
{
    struct cpl_field_spec *specs;
    enum cpl_status status = CPL_OK;

    *table = (struct cpl_field_table){.declared = NULL};
    if (declarations->count > CPL_DECLARED_MOST) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "fields",
                              "%zu fields are declared, %d at most", declarations->count,
                              CPL_DECLARED_MOST);
    }
    specs = cpl_arena_take(arena, declarations->count, sizeof(*specs));
    if (specs == NULL) {
        return cpl_fail_memory(error);
    }
    table->declared = specs;
    for (size_t i = 0; i < declarations->count && status == CPL_OK; i++) {
        status = check_name(table, i, declarations->list[i].name, error);
        if (status == CPL_OK) {
            status = check_rest(&declarations->list[i], i, error);
        }
        if (status == CPL_OK) {
            status = declare(&specs[i], &declarations->list[i], arena, error);
        }
        table->count += status == CPL_OK;
    }
    return status;
}

uint64_t cpl_fields_digest(const struct cpl_field_table *table)
{
    uint64_t hash = CPL_HASH_SEED;

    for (size_t i = 0; i < table->count; i++) {
        hash = cpl_hash_text(hash, table->declared[i].name);
        hash = cpl_hash_word(hash, (uint64_t)table->declared[i].value);
        hash = cpl_hash_word(hash, (uint64_t)table->declared[i].forms[0].row_axis);
        hash = cpl_hash_word(hash, table->declared[i].scatter);
    }
    return hash;
}
