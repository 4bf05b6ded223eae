/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/inverse.h"

/* Rows of all ranks before this one. */
static int64_t rows_before(const struct cpl_table *partition, int32_t rank)
{
    if (partition->wanted != NULL) {
        return partition->rows_before[rank];
    }
    return rank * cpl_table_rows(partition, 0); /* all windows are alike */
}

size_t cpl_inverse(const struct cpl_table *partition, struct cpl_run *runs, size_t capacity)
{
    struct cpl_run last = {.rows = 0};
    size_t count = 0;

    for (size_t i = 0; i < partition->rows.count; i++) {
        const struct cpl_piece *const piece = &partition->rows.list[i];
        const int64_t at = rows_before(partition, piece->rank) + piece->local;

        if (count > 0 && last.at + last.rows == at) {
            last.rows += piece->length;
        } else {
            last = (struct cpl_run){piece->start, at, piece->length};
            count++;
        }
        if (count <= capacity) {
            runs[count - 1] = last;
        }
    }
    return count;
}
