/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fork mark: tells an object whether it still lives in the process that made it. A child has a copy
 * of the object, whose locks may be held by threads that the child does not have, and whose peers
 * do not know it. The mark is a page that the kernel wipes in a child, so asking costs one load.
 */
#ifndef CPL_BASE_FORKMARK_H
#define CPL_BASE_FORKMARK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct cpl_forkmark {
    volatile unsigned char *page; /* NULL: the kernel cannot wipe pages; forks go unnoticed */
    size_t bytes;
};

void cpl_forkmark_init(struct cpl_forkmark *mark);
void cpl_forkmark_fini(struct cpl_forkmark *mark);

static inline bool cpl_forkmark_wiped(const struct cpl_forkmark *mark)
{
    return mark->page != NULL && *mark->page == 0;
}

/* FORKED in a child. `what` is the object's kind, for the message. */
enum cpl_status cpl_forkmark_check(const struct cpl_forkmark *mark, const char *what,
                                   struct cpl_error *error);

#endif
