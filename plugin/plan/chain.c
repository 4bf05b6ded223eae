/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/chain.h"

size_t cpl_chain(const struct cpl_table *table, struct cpl_part *parts, size_t capacity)
{
    size_t count = 0;

    for (size_t i = 0; i < table->rows.count; i++) {
        struct cpl_cutter cutter = cpl_cutter(&table->stream, &table->rows.list[i]);
        struct cpl_part part;

        while (cpl_cutter_next(&cutter, &part)) {
            if (count < capacity) {
                parts[count] = part;
            }
            count++;
        }
    }
    return count;
}
