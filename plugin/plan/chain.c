/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/chain.h"

struct cpl_chain_reader cpl_chain_reader(const struct cpl_table *table)
{
    return (struct cpl_chain_reader){.table = table};
}

bool cpl_chain_next(struct cpl_chain_reader *reader, struct cpl_part *part)
{
    const struct cpl_pieces *const rows = &reader->table->rows;

    while (reader->cutter.piece == NULL || !cpl_cutter_next(&reader->cutter, part)) {
        if (reader->piece == rows->count) {
            return false;
        }
        reader->cutter = cpl_cutter(&reader->table->stream, &rows->list[reader->piece++]);
    }
    return true;
}

size_t cpl_chain_parts(const struct cpl_table *table)
{
    struct cpl_chain_reader reader = cpl_chain_reader(table);
    struct cpl_part part;
    size_t count = 0;

    while (cpl_chain_next(&reader, &part)) {
        count++;
    }
    return count;
}
