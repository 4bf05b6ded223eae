/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry room: the only one that sees ABI structs. Helpers that bring structs in, check their
 * sizes, and take results and errors out. One file per interface uses them.
 */
#ifndef CPL_ENTRY_ENTRY_H
#define CPL_ENTRY_ENTRY_H

#include <cplayout/batch.h>
#include <cplayout/core.h>
#include <cplayout/plan.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/tensor.h"

/* What the plugin keeps of a host record. */
struct cpl_caller {
    struct cpl_allocator allocator;
    struct cpl_log log;
    struct cpl_group *group;
    const struct cplayout_communicator *communicator;
    const int32_t *communicator_ranks;
    int32_t rank;
    int32_t ranks;
};

struct cpl_lengths;

/*
 * A size-first struct on its way in. Refuses structs smaller than the first release, which is what
 * `known` bytes are as long as nothing has been appended, and members we do not know unless they
 * are zero.
 */
struct cpl_incoming {
    const char *name;
    void *to;
    size_t known;
};

enum cpl_status cpl_copy_in_other(const struct cpl_incoming *incoming, const void *from,
                                  struct cpl_error *error);

/* A struct of just the size that is known is copied on the spot: hooks are called often. */
static inline enum cpl_status cpl_copy_in(const struct cpl_incoming *incoming, const void *from,
                                          struct cpl_error *error)
{
    uint64_t size = 0;

    if (from != NULL) {
        memcpy(&size, from, sizeof(size));
    }
    if (size != incoming->known) {
        return cpl_copy_in_other(incoming, from, error);
    }
    memcpy(incoming->to, from, incoming->known);
    return CPL_OK;
}

/* ARGUMENT if a result struct is NULL or smaller than `least`, its first release. */
enum cpl_status cpl_check_out(const void *to, size_t least, const char *name,
                              struct cpl_error *error);

/* ARGUMENT if a reserved member is set. */
static inline enum cpl_status cpl_check_reserved(int32_t reserved, const char *name,
                                                 struct cpl_error *error)
{
    return reserved == 0 ? CPL_OK
                         : cpl_fail_field(error, CPL_ERROR_ARGUMENT, name, "%s must be 0, not %d",
                                          name, reserved);
}

/* Writes a size-first result as far as the caller's struct reaches; its size member stays. */
void cpl_copy_out(void *to, const void *from, size_t known);

/* NULL gives the defaults. Errors: ARGUMENT, VERSION. */
enum cpl_status cpl_caller_in(const struct cplayout_host *record, struct cpl_caller *host,
                              struct cpl_error *error);

/* NULL is an error that names the argument. */
enum cpl_status cpl_tensor_in(const struct cplayout_tensor *from, const char *name,
                              struct cpl_tensor *to, struct cpl_error *error);

/* Packed samples, borrowed. Errors: ARGUMENT (only one of array and count is given). */
enum cpl_status cpl_samples_in(const struct cplayout_lengths *samples, uint64_t count,
                               const struct cpl_lengths **lengths, struct cpl_error *error);

/* ARGUMENT if a mandatory pointer is NULL. */
static inline enum cpl_status cpl_require(const void *pointer, const char *name,
                                          struct cpl_error *error)
{
    return pointer != NULL
               ? CPL_OK
               : cpl_fail_field(error, CPL_ERROR_ARGUMENT, name, "%s must not be NULL", name);
}

int32_t cpl_leave_failed(enum cpl_status status, const struct cpl_error *error,
                         const struct cpl_log *log, struct cplayout_error *record);

/*
 * The end of every fallible call: fills the caller's record, logs, returns the status. `log` may be
 * NULL where the host's is not known; a failure that asks for more room is not logged.
 */
static inline int32_t cpl_leave(enum cpl_status status, const struct cpl_error *error,
                                const struct cpl_log *log, struct cplayout_error *record)
{
    return status == CPL_OK ? CPLAYOUT_OK : cpl_leave_failed(status, error, log, record);
}

/* Fills a table from the functions cpl_<table>_<slot>. */
#define CPL_FILL_SLOT(table, slot) .slot = cpl_##table##_##slot,

extern const struct cplayout_core cpl_core_v1;
extern const struct cplayout_plan_interface cpl_plan_v1;
extern const struct cplayout_batch_interface cpl_batch_v1;

#endif
