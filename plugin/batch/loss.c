/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/loss.h"

#include <inttypes.h>
#include <string.h>

#include "batch/fill.h"

/* ---- Elements -------------------------------------------------------------------------------- */

static double read_single(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* A binary16 by the binary32 of the same value. */
static double read_half(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
    const uint32_t exponent = (bits >> 10) & 31;
    const uint32_t fraction = bits & 1023;

    if (exponent == 0) {
        return (sign != 0 ? -0x1p-24 : 0x1p-24) * fraction;
    }
    return read_single(sign | (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13);
}

/* A floating-point element; the type has been checked. */
static double read_float(const unsigned char *from, const struct cpl_tensor *type)
{
    uint16_t half;
    uint32_t single;
    double wide;

    switch (type->type_bits) {
    case 16:
        memcpy(&half, from, sizeof(half));
        return type->type_code == CPL_TYPE_CODE_BFLOAT ? read_single((uint32_t)half << 16)
                                                       : read_half(half);
    case 32:
        memcpy(&single, from, sizeof(single));
        return read_single(single);
    default:
        memcpy(&wide, from, sizeof(wide));
        return wide;
    }
}

static bool is_float(const struct cpl_tensor *type)
{
    const unsigned bits = type->type_bits;

    return type->type_lanes == 1 &&
           (type->type_code == CPL_TYPE_CODE_BFLOAT ? bits == 16
                                                    : type->type_code == CPL_TYPE_CODE_FLOAT &&
                                                          (bits == 16 || bits == 32 || bits == 64));
}

static bool is_mask(const struct cpl_tensor *type)
{
    const bool whole = type->type_code == CPL_TYPE_CODE_INT ||
                       type->type_code == CPL_TYPE_CODE_UINT ||
                       type->type_code == CPL_TYPE_CODE_BOOL;

    return is_float(type) || (whole && type->type_lanes == 1);
}

/* Whether a mask's element lets a token count: it is not 0, of either sign. */
static bool counts(const unsigned char *from, const struct cpl_tensor *type)
{
    if (is_float(type)) {
        const double value = read_float(from, type);

        return !(value >= 0 && value <= 0);
    }
    for (uint64_t i = 0; i < cpl_element_bytes(type); i++) {
        if (from[i] != 0) {
            return true;
        }
    }
    return false;
}

/* ---- Local sums ------------------------------------------------------------------------------- */

/* A tensor with its elements as rows along the last axis. */
struct elements {
    const struct cpl_tensor *tensor;
    struct cpl_rows rows;
};

static enum cpl_status elements_of(struct elements *elements, const struct cpl_tensor *tensor,
                                   const char *name, struct cpl_error *error)
{
    elements->tensor = tensor;
    return cpl_rows_from_tensor(tensor, tensor->ndim - 1, name, &elements->rows, error);
}

static enum cpl_status check_values(const struct cpl_tensor *values, struct cpl_error *error)
{
    return is_float(values)
               ? CPL_OK
               : cpl_fail_field(error, CPL_ERROR_ARGUMENT, "values",
                                "losses are fp16, bf16, fp32 or fp64, not type code %u with %u "
                                "bits x %u",
                                (unsigned)values->type_code, (unsigned)values->type_bits,
                                (unsigned)values->type_lanes);
}

/* A mask is of any type, and of the shape of the losses. */
static enum cpl_status check_mask(const struct cpl_tensor *mask, const struct cpl_tensor *values,
                                  struct cpl_error *error)
{
    struct cpl_tensor expected = *values;

    if (!is_mask(mask)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "mask",
                              "a mask is of booleans, integers or floats, not of type code %u with "
                              "%u bits x %u",
                              (unsigned)mask->type_code, (unsigned)mask->type_bits,
                              (unsigned)mask->type_lanes);
    }
    expected.type_code = mask->type_code;
    expected.type_bits = mask->type_bits;
    expected.type_lanes = mask->type_lanes;
    return cpl_tensor_match(mask, &expected, -1, "mask", error);
}

static const unsigned char *element_at(const struct elements *elements, uint64_t outer, int64_t row)
{
    return elements->rows.data + outer * elements->rows.outer_stride +
           (uint64_t)row * elements->rows.row_stride;
}

static void sum_up(const struct elements *values, const struct elements *mask,
                   struct cpl_loss *loss)
{
    *loss = (struct cpl_loss){.sum = 0};
    for (uint64_t outer = 0; outer < values->rows.outer; outer++) {
        for (int64_t row = 0; row < values->rows.rows; row++) {
            if (mask == NULL || counts(element_at(mask, outer, row), mask->tensor)) {
                loss->sum += read_float(element_at(values, outer, row), values->tensor);
                loss->count++;
            }
        }
    }
}

enum cpl_status cpl_loss_sum(const struct cpl_tensor *values, const struct cpl_tensor *mask,
                             struct cpl_loss *loss, struct cpl_error *error)
{
    struct elements losses;
    struct elements masks;
    enum cpl_status status = elements_of(&losses, values, "values", error);

    if (status == CPL_OK) {
        status = check_values(values, error);
    }
    if (status == CPL_OK && mask != NULL) {
        status = elements_of(&masks, mask, "mask", error);
    }
    if (status == CPL_OK && mask != NULL) {
        status = check_mask(mask, values, error);
    }
    if (status == CPL_OK) {
        sum_up(&losses, mask != NULL ? &masks : NULL, loss);
    }
    return status;
}

/* ---- Global means ----------------------------------------------------------------------------- */

static const int64_t count_most = INT64_C(1) << 53; /* a double holds all counts up to here */

static enum cpl_status check_args(const struct cpl_context *context,
                                  const struct cpl_loss_args *args, struct cpl_error *error)
{
    if (args->problem != NULL) {
        *error = *args->problem;
        return error->status;
    }
    if (args->terms < 1 || args->terms > CPL_LOSS_TERMS_MOST) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "terms",
                              "a call is about 1 to %d losses, not %zu", CPL_LOSS_TERMS_MOST,
                              args->terms);
    }
    for (size_t i = 0; i < args->terms; i++) {
        if (args->local[i].count > (uint64_t)count_most) {
            return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "local",
                                  "local[%zu] counts %" PRIu64 " tokens, above 2^53", i,
                                  args->local[i].count);
        }
    }
    if (context->transport != NULL && !context->transport->gathers) {
        return cpl_fail_field(error, CPL_ERROR_UNSUPPORTED, "allgather",
                              "a mean over ranks needs a control channel: give the communicator an "
                              "allgather, or add the sums up in the host");
    }
    return CPL_OK;
}

static void write_payload(struct cpl_digest *digest, const struct cpl_loss_args *args)
{
    for (size_t i = 0; i < args->terms; i++) {
        memcpy(&digest->payload[2 * i], &args->local[i].sum, sizeof(args->local[i].sum));
        digest->payload[2 * i + 1] = args->local[i].count;
    }
}

/* [sum, count] of every loss, over the context-parallel ranks in their order. */
static void add_ranks(const struct cpl_context *context, const struct cpl_loss_args *args,
                      double *totals)
{
    for (int32_t rank = 0; rank < context->ranks; rank += context->tp) {
        const struct cpl_digest *const digest =
            cpl_digest_of(context->digests, context->ranks, rank);

        for (size_t i = 0; i < args->terms; i++) {
            double sum;

            memcpy(&sum, &digest->payload[2 * i], sizeof(sum));
            totals[2 * i] += sum;
            totals[2 * i + 1] += (double)digest->payload[2 * i + 1];
        }
    }
}

static void add_alone(const struct cpl_loss_args *args, double *totals)
{
    for (size_t i = 0; i < args->terms; i++) {
        totals[2 * i] = args->local[i].sum;
        totals[2 * i + 1] = (double)args->local[i].count;
    }
}

/* The host's sum over data-parallel ranks. Peers do not take part in it, but must not wait for us. */
static enum cpl_status reduce(struct cpl_context *context, const struct cpl_loss_args *args,
                              double *totals, struct cpl_error *error)
{
    int32_t status = 0;

    if (args->reduce.sum != NULL) {
        status = args->reduce.sum(args->reduce.self, totals, 2 * args->terms);
    }
    if (status == 0) {
        return CPL_OK;
    }
    (void)cpl_fail_field(error, CPL_ERROR_PEER, "reduce",
                         "the host's sum over data-parallel ranks failed with status %d", status);
    if (context->transport != NULL) {
        context->transport->ops->fail(context->transport, error);
    }
    cpl_context_fail(context, error);
    return CPL_ERROR_PEER;
}

static void write_means(const struct cpl_loss_args *args, const double *totals,
                        struct cpl_loss_mean *means)
{
    for (size_t i = 0; i < args->terms; i++) {
        const double sum = totals[2 * i];
        const double count = totals[2 * i + 1];

        means[i] = (struct cpl_loss_mean){
            .mean = count > 0 ? sum / count : 0,
            .factor = count > 0 ? (double)args->averaging_ranks / count : 0,
            .sum = sum,
            .count = (uint64_t)count,
        };
    }
}

static const char *topic_name(size_t word)
{
    return word == 0 ? "number of losses" : "averaging_ranks";
}

enum cpl_status cpl_loss_mean(struct cpl_context *context, const struct cpl_loss_args *args,
                              struct cpl_loss_mean *means, struct cpl_error *error)
{
    const struct cpl_topics topics = {
        .meeting = CPL_MEETING_LOSS,
        .deed = "average losses",
        .kind = "the ",
        .name = topic_name,
    };
    double totals[CPL_PAYLOAD_WORDS] = {0};
    struct cpl_digest digest = {.words = {args->terms, (uint64_t)args->averaging_ranks}};
    enum cpl_status status = cpl_context_check(context, error);

    if (status != CPL_OK) {
        return status;
    }
    status = check_args(context, args, error);
    if (status == CPL_OK) {
        write_payload(&digest, args);
    }
    status = cpl_context_agree(context, &topics, &digest, status, error);
    if (status != CPL_OK) {
        return status;
    }
    if (context->transport != NULL) {
        add_ranks(context, args, totals);
    } else {
        add_alone(args, totals);
    }
    status = reduce(context, args, totals, error);
    if (status == CPL_OK) {
        write_means(args, totals, means);
    }
    return status;
}
