/* SPDX-License-Identifier: Apache-2.0 */
#include "entry/entry.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/report.h"
#include "plan/stream.h"

/* The inner rooms have codes of their own; they must not drift from the contract. */
_Static_assert((int)CPL_ERROR_ARGUMENT == (int)CPLAYOUT_ERROR_ARGUMENT, "status");
_Static_assert((int)CPL_ERROR_CONFIGURATION == (int)CPLAYOUT_ERROR_CONFIGURATION, "status");
_Static_assert((int)CPL_ERROR_UNSUPPORTED == (int)CPLAYOUT_ERROR_UNSUPPORTED, "status");
_Static_assert((int)CPL_ERROR_MEMORY == (int)CPLAYOUT_ERROR_MEMORY, "status");
_Static_assert((int)CPL_ERROR_CAPACITY == (int)CPLAYOUT_ERROR_CAPACITY, "status");
_Static_assert((int)CPL_ERROR_TIMEOUT == (int)CPLAYOUT_ERROR_TIMEOUT, "status");
_Static_assert((int)CPL_ERROR_PEER == (int)CPLAYOUT_ERROR_PEER, "status");
_Static_assert((int)CPL_ERROR_MISMATCH == (int)CPLAYOUT_ERROR_MISMATCH, "status");
_Static_assert((int)CPL_ERROR_VERSION == (int)CPLAYOUT_ERROR_VERSION, "status");
_Static_assert((int)CPL_ERROR_FORKED == (int)CPLAYOUT_ERROR_FORKED, "status");
_Static_assert((int)CPL_LOG_ERROR == (int)CPLAYOUT_LOG_ERROR, "log level");
_Static_assert((int)CPL_LOG_WARNING == (int)CPLAYOUT_LOG_WARNING, "log level");
_Static_assert((int)CPL_LOG_INFO == (int)CPLAYOUT_LOG_INFO, "log level");
_Static_assert((int)CPL_WARNING == (int)CPLAYOUT_SEVERITY_WARNING, "severity");
_Static_assert((int)CPL_ERROR == (int)CPLAYOUT_SEVERITY_ERROR, "severity");
_Static_assert((int)CPL_DEVICE_CPU == (int)CPLAYOUT_DEVICE_CPU, "device");
_Static_assert((int)CPL_MAX_DIMS == CPLAYOUT_MAX_DIMS, "dimensions");
_Static_assert((int)CPL_FIELD_BYTES == CPLAYOUT_FIELD_BYTES, "field");
_Static_assert((int)CPL_MESSAGE_BYTES == CPLAYOUT_MESSAGE_BYTES, "message");

static bool is_zero(const unsigned char *bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

/* No struct of ours comes near: the size was never set. */
enum { SIZE_MOST = 4096 };

static enum cpl_status check_size(uint64_t size, size_t least, const char *name,
                                  struct cpl_error *error)
{
    if (size < least || size > SIZE_MOST) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, name,
                              "%s.size is %" PRIu64 "; set it to the struct's size, %zu here", name,
                              size, least);
    }
    return CPL_OK;
}

static uint64_t size_of(const void *record)
{
    uint64_t size;

    memcpy(&size, record, sizeof(size));
    return size;
}

enum cpl_status cpl_copy_in_other(const struct cpl_incoming *incoming, const void *from,
                                  struct cpl_error *error)
{
    enum cpl_status status = cpl_require(from, incoming->name, error);
    uint64_t size;

    if (status == CPL_OK) {
        status = check_size(size_of(from), incoming->known, incoming->name, error);
    }
    if (status != CPL_OK) {
        return status;
    }
    size = size_of(from);
    if (!is_zero((const unsigned char *)from + incoming->known, size - incoming->known)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, incoming->name,
                              "%s has members that this plugin does not know and that are not zero "
                              "(%" PRIu64 " bytes, %zu are known)",
                              incoming->name, size, incoming->known);
    }
    memcpy(incoming->to, from, incoming->known);
    return CPL_OK;
}

enum cpl_status cpl_check_out(const void *to, size_t least, const char *name,
                              struct cpl_error *error)
{
    const enum cpl_status status = cpl_require(to, name, error);

    return status == CPL_OK ? check_size(size_of(to), least, name, error) : status;
}

void cpl_copy_out(void *to, const void *from, size_t known)
{
    const uint64_t size = size_of(to);
    const uint64_t given = size < known ? size : known;

    if (given > sizeof(size)) {
        memcpy((unsigned char *)to + sizeof(size), (const unsigned char *)from + sizeof(size),
               given - sizeof(size));
    }
}

static enum cpl_status take_allocator(const struct cplayout_host *record, struct cpl_caller *host,
                                      struct cpl_error *error)
{
    if ((record->allocate == NULL) != (record->release == NULL)) {
        return cpl_fail(error, CPL_ERROR_ARGUMENT,
                        "host.allocate and host.release must both be given or both be NULL");
    }
    if (record->allocate != NULL) {
        host->allocator = (struct cpl_allocator){
            .allocate = record->allocate,
            .release = record->release,
            .self = record->allocator_self,
        };
    }
    return CPL_OK;
}

/* Unequal drafts may differ in anything behind the head of the record, so this comes first. */
static enum cpl_status check_draft(const struct cplayout_host *record, struct cpl_error *error)
{
    const enum cpl_status status =
        check_size(record->size, offsetof(struct cplayout_host, name), "host", error);

    if (status == CPL_OK && record->draft != CPLAYOUT_ABI_DRAFT) {
        return cpl_fail_field(
            error, CPL_ERROR_VERSION, "host.draft",
            "the host was compiled for draft %u of the ABI, this plugin has draft "
            "%d; rebuild one of them",
            (unsigned)record->draft, CPLAYOUT_ABI_DRAFT);
    }
    return status;
}

enum cpl_status cpl_caller_in(const struct cplayout_host *record, struct cpl_caller *host,
                              struct cpl_error *error)
{
    struct cplayout_host copy;
    const struct cpl_incoming incoming = {"host", &copy, sizeof(copy)};
    enum cpl_status status;

    *host = (struct cpl_caller){.allocator = cpl_allocator_default(), .log = cpl_log_default()};
    if (record == NULL) {
        return CPL_OK;
    }
    status = check_draft(record, error);
    if (status == CPL_OK) {
        status = cpl_copy_in(&incoming, record, error);
    }
    if (status == CPL_OK) {
        status = cpl_check_reserved(copy.reserved, "host.reserved", error);
    }
    if (status != CPL_OK) {
        return status;
    }
    if (copy.log != NULL) {
        host->log = (struct cpl_log){copy.log, copy.log_self, copy.log_level};
    }
    host->group = (struct cpl_group *)copy.local_group;
    host->communicator = copy.communicator;
    host->communicator_ranks = copy.communicator_ranks;
    host->rank = copy.rank;
    host->ranks = copy.ranks;
    return take_allocator(&copy, host, error);
}

enum cpl_status cpl_tensor_in(const struct cplayout_tensor *from, const char *name,
                              struct cpl_tensor *to, struct cpl_error *error)
{
    if (cpl_require(from, name, error) != CPL_OK) {
        return error->status;
    }
    *to = (struct cpl_tensor){
        .data = from->data,
        .byte_offset = from->byte_offset,
        .shape = from->shape,
        .strides = from->strides,
        .ndim = from->ndim,
        .device_type = from->device.device_type,
        .type_code = from->dtype.code,
        .type_bits = from->dtype.bits,
        .type_lanes = from->dtype.lanes,
    };
    return CPL_OK;
}

/* Equal on both sides of the boundary. */
_Static_assert(sizeof(struct cpl_lengths) == sizeof(struct cplayout_lengths), "lengths");
_Static_assert(offsetof(struct cpl_lengths, cu_seqlens_padded) ==
                   offsetof(struct cplayout_lengths, cu_seqlens_padded),
               "lengths");
_Static_assert(offsetof(struct cpl_lengths, entries) == offsetof(struct cplayout_lengths, entries),
               "lengths");

enum cpl_status cpl_samples_in(const struct cplayout_lengths *samples, uint64_t count,
                               const struct cpl_lengths **lengths, struct cpl_error *error)
{
    if ((samples == NULL) != (count == 0)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "samples",
                              "samples and sample_count must both be given or both be zero");
    }
    *lengths = (const struct cpl_lengths *)samples;
    return CPL_OK;
}

static void fill_record(enum cpl_status status, const struct cpl_error *error,
                        struct cplayout_error *record)
{
    struct cplayout_error filled = {
        .status = (int32_t)status,
        .origin = CPLAYOUT_ORIGIN_PLUGIN,
    };
    const size_t field = offsetof(struct cplayout_error, field);
    const size_t message = offsetof(struct cplayout_error, message);

    memcpy(filled.field, error->field, sizeof(filled.field));
    memcpy(filled.message, error->message, sizeof(filled.message));
    cpl_copy_out(record, &filled, sizeof(filled));
    /* A text that was cut by the caller's size still ends. */
    if (record->size > field && record->size < message) {
        record->field[record->size - field - 1] = '\0';
    }
    if (record->size > message && record->size < sizeof(filled)) {
        record->message[record->size - message - 1] = '\0';
    }
}

int32_t cpl_leave_failed(enum cpl_status status, const struct cpl_error *error,
                         const struct cpl_log *log, struct cplayout_error *record)
{
    if (log != NULL && status != CPL_ERROR_CAPACITY) {
        /* A wrong argument concerns the caller, who has the record; the rest concerns everybody. */
        cpl_log_write(log, status == CPL_ERROR_ARGUMENT ? CPL_LOG_INFO : CPL_LOG_ERROR, "%s",
                      error->message);
    }
    if (record != NULL) {
        fill_record(status, error, record);
    }
    return (int32_t)status;
}
