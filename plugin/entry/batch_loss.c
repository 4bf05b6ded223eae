/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots of batch/1: losses.
 */
#include <stddef.h>

#include "batch/loss.h"
#include "entry/batch.h"
#include "entry/core.h"

/* A loss and its mean are one struct on both sides of the boundary. */
_Static_assert(sizeof(struct cpl_loss) == sizeof(struct cplayout_loss) &&
                   offsetof(struct cpl_loss, count) == offsetof(struct cplayout_loss, count),
               "loss");
_Static_assert(sizeof(struct cpl_loss_mean) == sizeof(struct cplayout_loss_mean) &&
                   offsetof(struct cpl_loss_mean, count) ==
                       offsetof(struct cplayout_loss_mean, count),
               "mean");
_Static_assert((int)CPL_LOSS_TERMS_MOST == CPLAYOUT_LOSS_TERMS_MOST, "terms");

/* ---- Sums ------------------------------------------------------------------------------------ */

static enum cpl_status sum_of(const struct cplayout_loss_sum_args *args, struct cpl_loss *loss,
                              struct cpl_error *error)
{
    struct cpl_tensor values;
    struct cpl_tensor mask;
    enum cpl_status status = cpl_tensor_in(args->values, "values", &values, error);

    if (status == CPL_OK && args->mask != NULL) {
        status = cpl_tensor_in(args->mask, "mask", &mask, error);
    }
    return status == CPL_OK ? cpl_loss_sum(&values, args->mask != NULL ? &mask : NULL, loss, error)
                            : status;
}

int32_t cpl_batch_loss_sum(const struct cplayout_loss_sum_args *args, struct cplayout_loss *loss,
                           struct cplayout_error *error)
{
    struct cplayout_loss_sum_args copy;
    const struct cpl_incoming incoming = {"args", &copy, sizeof(copy)};
    struct cpl_loss sum;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(loss, "loss", &problem);

    if (status == CPL_OK) {
        status = cpl_copy_in(&incoming, args, &problem);
    }
    if (status == CPL_OK) {
        status = sum_of(&copy, &sum, &problem);
    }
    if (status == CPL_OK) {
        *loss = (struct cplayout_loss){.sum = sum.sum, .count = sum.count};
    }
    return cpl_leave(status, &problem, NULL, error);
}

/* ---- Means ----------------------------------------------------------------------------------- */

/* Everything that `args` may be wrong in. */
static enum cpl_status mean_in(const struct cplayout_loss_mean_args *args,
                               const struct cplayout_loss_mean *means, struct cpl_loss_args *inner,
                               struct cpl_error *error)
{
    struct cplayout_loss_mean_args copy;
    const struct cpl_incoming incoming = {"args", &copy, sizeof(copy)};
    enum cpl_status status = cpl_require(means, "means", error);

    if (status == CPL_OK) {
        status = cpl_copy_in(&incoming, args, error);
    }
    if (status == CPL_OK) {
        status = cpl_require(copy.local, "args.local", error);
    }
    if (status == CPL_OK && (copy.averaging_ranks < 0 || copy.reserved != 0)) {
        return cpl_fail_field(error, CPL_ERROR_ARGUMENT, "averaging_ranks",
                              "averaging_ranks is %d, below 0, or args.reserved is not 0",
                              copy.averaging_ranks);
    }
    if (status == CPL_OK) {
        *inner = (struct cpl_loss_args){
            .local = (const struct cpl_loss *)copy.local,
            .terms = (size_t)copy.terms,
            .reduce = {copy.reduce, copy.reduce_self},
            .averaging_ranks = copy.averaging_ranks > 0 ? copy.averaging_ranks : 1,
        };
    }
    return status;
}

int32_t cpl_batch_loss_mean(struct cplayout_context *context,
                            const struct cplayout_loss_mean_args *args,
                            struct cplayout_loss_mean *means, struct cplayout_error *error)
{
    struct cpl_loss_args inner = {0};
    struct cpl_error wrong;
    struct cpl_error problem;
    enum cpl_status status = cpl_require(context, "context", &problem);

    if (status == CPL_OK) {
        if (mean_in(args, means, &inner, &wrong) != CPL_OK) {
            inner.problem = &wrong;
        }
        status =
            cpl_loss_mean(context_of(context), &inner, (struct cpl_loss_mean *)means, &problem);
    }
    return cpl_leave(status, &problem, log_of(context), error);
}
