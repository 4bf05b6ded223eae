/* SPDX-License-Identifier: Apache-2.0 */
#include "base/forkmark.h"

#include <sys/mman.h>
#include <unistd.h>

void cpl_forkmark_init(struct cpl_forkmark *mark)
{
    const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *const page =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    *mark = (struct cpl_forkmark){.page = NULL};
    if (page == MAP_FAILED) {
        return;
    }
    if (madvise(page, bytes, MADV_WIPEONFORK) != 0) {
        (void)munmap(page, bytes);
        return;
    }
    *page = 1;
    *mark = (struct cpl_forkmark){.page = page, .bytes = bytes};
}

void cpl_forkmark_fini(struct cpl_forkmark *mark)
{
    if (mark->page != NULL) {
        (void)munmap((void *)(uintptr_t)mark->page, mark->bytes);
    }
    *mark = (struct cpl_forkmark){.page = NULL};
}

enum cpl_status cpl_forkmark_check(const struct cpl_forkmark *mark, const char *what,
                                   struct cpl_error *error)
{
    return cpl_forkmark_wiped(mark)
               ? cpl_fail(error, CPL_ERROR_FORKED,
                          "the %s belongs to the parent of this process; make one after the fork",
                          what)
               : CPL_OK;
}
