/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch/1: one batch seen in several layouts.
 *
 * A view is a field of a batch cut for this rank in one layout. Views of one batch never disagree
 * about a row. The host allocates, the plugin writes. With sequence parallelism a view holds all rows of
 * the context-parallel rank, the same on its T ranks; only embeddings, and fields declared with
 * CPLAYOUT_FIELD_SCATTER, hold the rows of this rank's window. Only this rank's rows are ever copied.
 */
#ifndef CPLAYOUT_BATCH_H
#define CPLAYOUT_BATCH_H

#include <stdint.h>

#include <cplayout/core.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cplayout_partition;

#define CPLAYOUT_BATCH_INTERFACE "batch/1"

struct cplayout_view {
    uint64_t size;
    /* The view as a tensor: shape and strides point to the arrays below. If data is not NULL, it is
     * a slice of the input tensor and nothing has to be copied. Otherwise strides are compact and
     * the host provides the memory and calls view_fill. */
    struct cplayout_tensor tensor;
    int64_t shape[CPLAYOUT_MAX_DIMS];
    int64_t strides[CPLAYOUT_MAX_DIMS];
    uint64_t identity; /* of the partition that orders its rows; see plan.h. 0: metadata */
    int32_t row_axis;  /* -1: metadata */
    int32_t reserved;
};

/*
 * Describes the view of `field` in `layout` (a handle from cplayout_layout_fn) for this rank. A field
 * whose rank has one run of consecutive rows, none of them padding, is described as a slice of the
 * input: contiguous views of batches without padding, and every view at P = 1. (Padding of the source is
 * filled at P = 1, too, and so needs a copy.) Metadata is described as the input itself, with row axis
 * -1 and identity 0.
 *
 * Some fields are made where the host gave none, as [1, rows]:
 *   position_ids   int64   position of each token in its document; 0 for padding
 *   padding_mask   bool    1 for padding of either kind, else 0
 *   document_ids   int32   index of the row's document, of padding that of the document it belongs to;
 *                          -1 for padding of none
 * [any-thread]. Errors: ARGUMENT (also: a field that exists in another view only; see core.h).
 */
typedef int32_t (*cplayout_view_describe_fn)(const struct cplayout_batch *batch, int32_t layout,
                                             const char *field, struct cplayout_view *view,
                                             struct cplayout_error *error);

/*
 * Writes every row of the view into `out`, whose shape and type must be those described; its row and
 * outer strides are free, and it must not overlap the input. Padding of either kind, of the source and
 * added by the layout, gets the field's fill value (core.h), in every view. Made position and document
 * ids may be asked for as int32 or int64, where they fit, and a made padding mask as uint8.
 * [any-thread]. Errors: ARGUMENT, UNSUPPORTED (device memory).
 */
typedef int32_t (*cplayout_view_fill_fn)(const struct cplayout_batch *batch, int32_t layout,
                                         const char *field, const struct cplayout_tensor *out,
                                         struct cplayout_error *error);

/*
 * The partition that `layout` makes of this batch, for the queries of plan.h: fragments, chain,
 * positions. Borrowed: valid until the batch is destroyed; never pass it to partition_destroy.
 * [any-thread]. Errors: ARGUMENT.
 */
typedef int32_t (*cplayout_view_partition_fn)(const struct cplayout_batch *batch, int32_t layout,
                                              const struct cplayout_partition **partition,
                                              struct cplayout_error *error);

/*
 * Packed metadata of a batch in one layout, as attention kernels take it: offsets over the whole
 * stream, equal on all ranks. The arrays are the batch's: valid until it is destroyed.
 */
struct cplayout_view_metadata {
    uint64_t size;
    uint64_t identity;                /* of the partition; see plan.h */
    const int32_t *cu_seqlens;        /* [entries] of real tokens */
    const int32_t *cu_seqlens_padded; /* [entries] of rows, with the padding that the layout adds */
    uint64_t entries;                 /* documents + 1 */
    uint64_t tokens;                  /* real tokens */
    uint64_t rows;             /* with padding of both kinds; all ranks together hold so many */
    uint64_t local_rows;       /* of activations on this rank */
    int32_t max_seqlen;        /* of the longest document, real tokens */
    int32_t max_seqlen_padded; /* of the longest document, rows */
    /* What attention takes as query offsets: cu_seqlens for contiguous and for zigzag that pads documents,
     * with P > 1; else cu_seqlens_padded. One of the two pointers. */
    const int32_t *cu_seqlens_q; /* [entries] */
    uint64_t cp_rows;            /* of the context-parallel rank, its T windows together */
    int32_t padding_between; /* 1: some document has padding of either kind, the last one included:
                                  * cu_seqlens and cu_seqlens_padded differ in value */
    int32_t layout;          /* handle */
};

/* [any-thread]. Errors: ARGUMENT (also: the batch is dense). */
typedef int32_t (*cplayout_view_metadata_fn)(const struct cplayout_batch *batch, int32_t layout,
                                             struct cplayout_view_metadata *metadata,
                                             struct cplayout_error *error);

/*
 * Describes, without a copy, a view whose rank has two runs of equally many rows, which may touch, and no
 * padding, such as zigzag's of a dense batch: the row axis S becomes two axes [2, h], so that [B, S] is seen as [B, 2, h].
 * The view's row_axis is that of the runs; rows lie along the one behind it. [any-thread].
 * Errors: ARGUMENT (also: other runs, padding, metadata, a made field, 8 dimensions).
 */
typedef int32_t (*cplayout_view_chunks_fn)(const struct cplayout_batch *batch, int32_t layout,
                                           const char *field, struct cplayout_view *view,
                                           struct cplayout_error *error);

struct cplayout_view_shift {
    uint64_t size;
    const char *field;
    int64_t by; /* tokens later in the document; earlier if it is negative */
    /* What a row gets whose document has no such token, and padding; NULL: the field's fill value. */
    const int64_t *fill;
    int32_t layout;   /* handle */
    int32_t reserved; /* 0 */
};

/*
 * Writes a view of the field shifted along its documents: the row of the token at position p gets what
 * the field holds for position p + by of the same document. It equals shifting the whole stream and
 * cutting then; documents do not leak. `out` is as for view_fill. [any-thread].
 * Errors: ARGUMENT (also: a fill value that the type cannot hold, metadata, attention_mask), UNSUPPORTED.
 */
typedef int32_t (*cplayout_view_shift_fn)(const struct cplayout_batch *batch,
                                          const struct cplayout_view_shift *args,
                                          const struct cplayout_tensor *out,
                                          struct cplayout_error *error);

/* ---- Losses ------------------------------------------------------------------------------------ */

/* Losses of some tokens. */
struct cplayout_loss {
    double sum;
    uint64_t count; /* of the tokens that count */
};

struct cplayout_loss_sum_args {
    uint64_t size;
    const struct cplayout_tensor *values; /* one loss per token: fp16, bf16, fp32 or fp64 */
    /* Of the same shape, booleans, integers or floats: what is not 0 counts. NULL: all tokens count. */
    const struct cplayout_tensor *mask;
};

/*
 * Adds up the losses that count, in order, in double precision. They are selected, not multiplied: a NaN
 * at a token that does not count changes nothing. Strides are free. Local: asks no other rank.
 * [any-thread]. Errors: ARGUMENT, UNSUPPORTED (device memory).
 */
typedef int32_t (*cplayout_loss_sum_fn)(const struct cplayout_loss_sum_args *args,
                                        struct cplayout_loss *loss, struct cplayout_error *error);

/* Adds values up over data-parallel ranks, in place, to the same result on all; 0 on success. */
typedef int32_t (*cplayout_reduce_fn)(void *self, double *values, uint64_t count);

#define CPLAYOUT_LOSS_TERMS_MOST 8

struct cplayout_loss_mean_args {
    uint64_t size;
    /* This rank's losses: the model's, and those of multi-token prediction, of which each has its own
     * count. Counts are at most 2^53. */
    const struct cplayout_loss *local; /* [terms] */
    uint64_t terms;                    /* 1 ... CPLAYOUT_LOSS_TERMS_MOST */
    cplayout_reduce_fn reduce;         /* NULL: there is one data-parallel rank */
    void *reduce_self;
    int32_t
        averaging_ranks; /* ranks over whose gradients the framework takes the mean later; 0: 1 */
    int32_t reserved;    /* 0 */
};

struct cplayout_loss_mean {
    double mean; /* sum / count; 0 if no token counts */
    /* What to multiply the local sum with before its backward pass: averaging_ranks / count, so that the
     * framework's mean over that many ranks is the gradient of `mean`; 0 if no token counts. */
    double factor;
    double sum; /* over all context-parallel and data-parallel ranks */
    uint64_t count;
};

/*
 * The mean over all tokens of all ranks, equal on all of them bit for bit: sums are added in the order of
 * the ranks, then over data-parallel ranks by `reduce`, with 2 * terms values. A mean of means would weigh
 * ranks with few tokens too much. A rank without a token that counts adds 0, never NaN. With sequence
 * parallelism the T ranks of a context-parallel rank hold the same tokens; those of the first count.
 * [context-serial] [collective], over the control channel. `means` has `terms` entries.
 * Errors: ARGUMENT, UNSUPPORTED (the communicator has no allgather), MISMATCH (also: another number of
 * terms or averaging_ranks), TIMEOUT, PEER (also: reduce failed), FORKED.
 */
typedef int32_t (*cplayout_loss_mean_fn)(struct cplayout_context *context,
                                         const struct cplayout_loss_mean_args *args,
                                         struct cplayout_loss_mean *means,
                                         struct cplayout_error *error);

/* Every slot of the batch/1 table, in order; slots are only ever appended. */
#define CPLAYOUT_BATCH_SLOTS(SLOT) \
    SLOT(batch, view_describe)     \
    SLOT(batch, view_fill)         \
    SLOT(batch, view_partition)    \
    SLOT(batch, view_metadata)     \
    SLOT(batch, view_chunks)       \
    SLOT(batch, view_shift)        \
    SLOT(batch, loss_sum)          \
    SLOT(batch, loss_mean)

struct cplayout_batch_interface {
    uint64_t size;
    CPLAYOUT_BATCH_SLOTS(CPLAYOUT_DECLARE_SLOT)
};

#ifdef __cplusplus
}
#endif

#endif
