/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core table: everything a host needs to train through the plugin.
 *
 * Life of a plugin in a host:
 *   1. load it (loader.h) and get the core table;
 *   2. `create` a context per rank: the configuration is checked, every finding is reported;
 *   3. `schedule` once per model chunk: the layout of every layer;
 *   4. `batch_create` per micro-batch: the routes of all schedules are built and compared;
 *   5. `prepare_layer` before and `finalize_layer` after every layer, forward and backward;
 *   6. `batch_destroy`, and at the end `destroy`.
 *
 * Words. P context-parallel ranks hold one sequence of S tokens, or packed documents back to back. A
 * layout says which rank holds which tokens in which order. With sequence parallelism each of them
 * is T ranks that hold equal consecutive windows of its rows, else T is 1; logical rank = cp_rank * T
 * + tp_rank, 0 ... P * T - 1. A row is one token's slice of a tensor. Rows are counted, never bytes,
 * unless a name says `bytes`.
 *
 * Thread tags. [any-thread]: any thread at any time, but destroying an object excludes every other
 * call on it. [context-serial]: one call at a time per context, from any thread; different contexts
 * are independent. [collective]: every rank of the group makes the same call in the same order. No
 * wait is longer than the option `timeout_seconds`. When it fails on one rank, every rank that waits
 * for that one fails too; a rank that does not may succeed, and fails in its next collective.
 *
 * A failed collective (MISMATCH, TIMEOUT, PEER) fails the context and tells the other ranks. From then
 * on its collective calls return the same error, and only destroying is left. So does any error in the
 * middle of an exchange, MEMORY too, and in batch_create an ARGUMENT or MEMORY that not all ranks have
 * alike. Other errors change nothing: the call can be made again.
 *
 * Fork. What was made before a fork belongs to the parent. In the child calls on a context, a batch
 * or a group return FORKED, and destroying one does nothing. Nothing changes for the parent.
 *
 * Structs that begin with a member `size` grow at their end: the caller sets it to the bytes it
 * owns. The plugin reads and writes no further, and what it does not know must be zero. Structs
 * without one, and entries of arrays, never change. Reserved members are 0. Pointers to structs and
 * strings are borrowed for the call unless stated otherwise. An out argument is written only on
 * success. An argument may be NULL only where it says so.
 */
#ifndef CPLAYOUT_CORE_H
#define CPLAYOUT_CORE_H

#include <stdint.h>

#include <cplayout/communicator.h>
#include <cplayout/host.h>
#include <cplayout/lengths.h>
#include <cplayout/options.h>
#include <cplayout/status.h>
#include <cplayout/tensor.h>
#include <cplayout/version.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cplayout_context;  /* one rank's registered configuration */
struct cplayout_schedule; /* layouts of the layers of one model chunk; belongs to its context */
struct cplayout_batch;    /* one micro-batch in every layout in use; immutable */

/* ---- Local group ------------------------------------------------------------------------------ */

/*
 * Creates a group of `ranks` (>= 1) threads of this process that exchange data with each other. Pass
 * it in the host record of each rank's `create`. The group is counted: every context holds it.
 * A group serves one context per rank; when one of its ranks fails or leaves, the group is used up
 * and later contexts need a new one. `host` gives the allocator and may be NULL; ranks is at most
 * 65536. [any-thread]. Errors: ARGUMENT, MEMORY, VERSION.
 */
typedef int32_t (*cplayout_local_group_create_fn)(const struct cplayout_host *host, int32_t ranks,
                                                  struct cplayout_local_group **group,
                                                  struct cplayout_error *error);

/* Drops the caller's hold of the group. NULL is allowed. [any-thread] */
typedef void (*cplayout_local_group_destroy_fn)(struct cplayout_local_group *group);

/* ---- Without a context ------------------------------------------------------------------------ */

/* Calls `visit` for every option that `create` knows. [any-thread] */
typedef void (*cplayout_options_fn)(cplayout_option_fn visit, void *self);

/*
 * Returns the table of an interface ("plan/1": plan.h, "batch/1": batch.h), or NULL if this plugin
 * does not offer it. The table is static. [any-thread]
 */
typedef const void *(*cplayout_get_interface_fn)(const char *name);

/* ---- Context ---------------------------------------------------------------------------------- */

enum {
    CPLAYOUT_FIELD_SCATTER = 1, /* with sequence parallelism a rank's view is its window of rows */
};

/* A field of batches beside the known ones (cplayout_field). */
struct cplayout_field_declaration {
    const char *name; /* 1 to 63 bytes, none of the known names */
    int64_t fill;     /* what padding holds in a packed batch; must fit the type of the tensor */
    int32_t row_axis; /* axis of the tokens, 0 ... 7; the other dimensions are free */
    uint32_t flags;   /* CPLAYOUT_FIELD_... */
};

struct cplayout_create_args {
    uint64_t size;
    const struct cplayout_host *host;
    const struct cplayout_option *options; /* [option_count]; NULL if there are none */
    uint64_t option_count;
    cplayout_diagnostic_fn diagnose; /* receives every finding; NULL = they are only logged */
    void *diagnose_self;
    /* Further fields that batches may carry, the same on every rank. Copied; 64 at most. */
    const struct cplayout_field_declaration *fields; /* [field_count]; NULL if there are none */
    uint64_t field_count;
};

/*
 * Registers one rank. Checks every rule and reports all findings; an error means no context, and the
 * error record then holds the first finding.
 * [any-thread] [collective]: ranks compare their options, so that one which disagrees or has findings
 * is an error on every rank: MISMATCH, with the option or the first finding. A rank that has findings
 * returns CONFIGURATION. A rank that cannot take its place (an ARGUMENT in the host record) does not
 * take part. After an error a local group is used up.
 * Errors: ARGUMENT (also: no such rank, rank taken), CONFIGURATION, MEMORY, VERSION, MISMATCH, TIMEOUT,
 * PEER.
 */
typedef int32_t (*cplayout_create_fn)(const struct cplayout_create_args *args,
                                      struct cplayout_context **context,
                                      struct cplayout_error *error);

/*
 * Checks options as `create` does, every rule that needs no group, and reports all findings. Makes
 * nothing and asks no other rank. `args->host` may be NULL.
 * [any-thread]. Errors: ARGUMENT, CONFIGURATION (at least one finding is an error), VERSION.
 */
typedef int32_t (*cplayout_check_fn)(const struct cplayout_create_args *args,
                                     struct cplayout_error *error);

/*
 * Destroys a context and its schedules. The rank leaves its local group, where peers that wait for it
 * get PEER; over a communicator nobody is told, and they wait until their time is up.
 * Batches that are still alive may only be destroyed from then on. NULL is allowed. [any-thread],
 * never fails.
 */
typedef void (*cplayout_destroy_fn)(struct cplayout_context *context);

/*
 * Names a layout once: `name` is a name of the layout options ("contiguous", "striped:64"), or "linear",
 * "attention" or "boundary" for the layout in use there. The handle is valid in this context and lies
 * between 0 and 7. Equal layouts have equal handles. A layout that is new is in use from the next batch
 * on: batches have views of it and convert between it and the others, and their length must fit it. All
 * ranks name their layouts in the same order before a batch; else it is refused with MISMATCH.
 * [context-serial]. Errors: ARGUMENT (no layout, or a ninth one), MEMORY.
 */
typedef int32_t (*cplayout_layout_fn)(struct cplayout_context *context, const char *name,
                                      int32_t *layout, struct cplayout_error *error);

/* ---- Schedule --------------------------------------------------------------------------------- */

struct cplayout_schedule_args {
    uint64_t size;
    int32_t chunk;    /* model chunk (pipeline or virtual stage); 0, the only one so far */
    int32_t reserved; /* 0 */
};

/*
 * Makes the schedule of one model chunk from the option `hybrid_layer_pattern`. It belongs to the
 * context and lives as long. Make all schedules before the first batch.
 * [context-serial]. Errors: ARGUMENT (no pattern, unknown chunk, a batch has been made), UNSUPPORTED (a
 * pattern with '|', '/' or brackets), MEMORY.
 */
typedef int32_t (*cplayout_schedule_fn)(struct cplayout_context *context,
                                        const struct cplayout_schedule_args *args,
                                        struct cplayout_schedule **schedule,
                                        struct cplayout_error *error);

struct cplayout_schedule_info {
    uint64_t size;
    int32_t layers;        /* number of layers; hooks count them from 0 */
    int32_t input_layout;  /* handle of the layout in which the chunk receives hidden states */
    int32_t output_layout; /* and in which it hands them on */
    int32_t reserved;
};

/* [any-thread] */
typedef void (*cplayout_schedule_describe_fn)(const struct cplayout_schedule *schedule,
                                              struct cplayout_schedule_info *info);

/* The symbol of a layer in the pattern and the handle of its layout. */
struct cplayout_layer_info {
    uint64_t size;
    int32_t layout;
    char symbol;
    char reserved[3];
};

/* [any-thread]. Errors: ARGUMENT if `layer` is not below the schedule's number of layers. */
typedef int32_t (*cplayout_layer_describe_fn)(const struct cplayout_schedule *schedule,
                                              int32_t layer, struct cplayout_layer_info *info,
                                              struct cplayout_error *error);

/* ---- Batch ------------------------------------------------------------------------------------ */

/*
 * One named input tensor of a batch: the whole sequence, the same on every rank, or metadata. For packed
 * input S is the rows of the stream, source padding included; samples that lie below each other, [B, S'],
 * are taken as one stream [1, B * S'] in place. Known names, and what padding holds in a view:
 *   tokens, mtp_tokens     [B, S]                     any integer type     option pad_token_id
 *   labels, mtp_labels     [B, S]                     any integer type     option pad_label
 *   loss_mask, mtp_mask    [B, S]                     any type             0
 *   padding_mask           [B, S]                     any type             1
 *   position_ids           [B, S] or [axes, B, S]     any integer type     0
 *   document_ids           [B, S]                     any integer type     -1
 *   embeddings             [S, B, H]                  any type             0
 *   attention_mask         [B, 1, S, S], [1, 1, S, S] any type             (dense input, or P = 1)
 * Tokens are along S, of the attention mask the query rows; its key axis stays whole. The fields mtp_*
 * and the attention mask exist in the attention view alone, embeddings in the boundary view alone.
 * Metadata, of any shape, never cut: cu_seqlens, cu_seqlens_padded, cu_seqlens_argmin, max_seqlen,
 * local_cp_size, dataset_id. What a batch is made of are its samples (below), not these.
 * Other names have to be declared (cplayout_create_args); a name that is neither is an error.
 * All fields of a batch have one S and one B. In packed batches the type must be able to hold the fill
 * value exactly.
 */
struct cplayout_field {
    const char *name;
    const struct cplayout_tensor *tensor; /* copied; its memory is borrowed until batch_destroy */
};

struct cplayout_batch_args {
    uint64_t size;
    uint64_t
        sequence_length; /* S; 0 = the option seq_length, else as the first field has it, or with
                               * samples */
    const struct cplayout_field *fields; /* [field_count]; may be NULL if there are none */
    uint64_t field_count;
    /* Packed documents, with the option qkv_format=thd and only then: samples one after the other,
     * joined by their physical offsets into one stream of 2^31 - 1 rows at most. Copied. */
    const struct cplayout_lengths *samples; /* [sample_count] */
    uint64_t sample_count;
};

/*
 * Creates a batch. Cost follows documents, ranks and layouts, not tokens; no row is copied here.
 * [context-serial] [collective]: ranks compare configuration, lengths, layouts and schedules, so that
 * a rank that disagrees is an error on every rank and never a hang in a hook. A rank whose arguments
 * are wrong takes part with that: the others get MISMATCH with its reason, and all contexts have
 * failed. Where all ranks fail alike, the contexts live on. Several batches may be alive.
 * Errors: ARGUMENT, UNSUPPORTED (device memory), MEMORY, MISMATCH, TIMEOUT, PEER, FORKED.
 */
typedef int32_t (*cplayout_batch_create_fn)(struct cplayout_context *context,
                                            const struct cplayout_batch_args *args,
                                            struct cplayout_batch **batch,
                                            struct cplayout_error *error);

/* Ends a batch; its memory is reused by later ones. NULL is allowed. [any-thread], never fails. */
typedef void (*cplayout_batch_destroy_fn)(struct cplayout_batch *batch);

/* ---- Hooks ------------------------------------------------------------------------------------ */

enum {
    CPLAYOUT_FORWARD = 0,
    CPLAYOUT_BACKWARD = 1,
};

struct cplayout_call {
    uint64_t size;
    const struct cplayout_batch *batch;
    const struct cplayout_schedule *schedule;
    int32_t layer;     /* 0 ... layers - 1 */
    int32_t direction; /* CPLAYOUT_FORWARD or CPLAYOUT_BACKWARD */
    /* Hidden states (forward) or their gradient (backward) in the layout before the call:
     * this rank's rows along row_axis, any data type. */
    const struct cplayout_tensor *input;
    uint64_t identity; /* identity of the input's partition (plan.h) to be checked; 0 = unchecked */
    int32_t row_axis;
    int32_t reserved; /* 0 */
    void *stream;     /* NULL: tensors are in host memory */
};

/*
 * prepare_layer, forward:  converts from the layout of layer i - 1 (the input layout for i = 0) to
 *                          that of layer i.
 * finalize_layer, forward: after the last layer, converts to the output layout; otherwise nothing.
 * Backward, each is the adjoint of the same call: it converts the gradient the other way. So a
 * chunk's backward begins with finalize_layer of the last layer and ends with prepare_layer of 0.
 *
 * `out` has the row count of the layout after the call, and otherwise the shape and type of the
 * input; its shape and strides are the host's. Where a conversion is due every row of it is written,
 * padding that the layout adds with zeros, and it must not overlap the memory between the input's
 * first and last byte. After an error its content is undefined. Where none is due,
 * `data` and `byte_offset` of the input are stored in `out`, to be read with the input's strides, and
 * nothing else happens or is checked; `conversion` says which it is.
 * Bytes are only moved, so results are exact for every data type, and they depend on the arguments
 * alone: calls may be repeated (recompute) and interleaved. Where rows travel as messages, memory for
 * them grows to the largest conversion and is kept.
 *
 * [context-serial]; [collective] where a conversion is due.
 * Errors: ARGUMENT (layer, direction, row axis, row count, shapes, identity, foreign batch or
 * schedule), UNSUPPORTED (device memory), MEMORY, MISMATCH (also rows of other sizes on two ranks),
 * TIMEOUT, PEER, FORKED. Once its call is known to be right, a rank that fails lets its peers know.
 */
typedef int32_t (*cplayout_prepare_layer_fn)(struct cplayout_context *context,
                                             const struct cplayout_call *call,
                                             struct cplayout_tensor *out,
                                             struct cplayout_error *error);
typedef int32_t (*cplayout_finalize_layer_fn)(struct cplayout_context *context,
                                              const struct cplayout_call *call,
                                              struct cplayout_tensor *out,
                                              struct cplayout_error *error);

enum {
    CPLAYOUT_HOOK_PREPARE = 0,
    CPLAYOUT_HOOK_FINALIZE = 1,
};

/* What a hook call does on this rank. */
struct cplayout_conversion {
    uint64_t size;
    int32_t due; /* 1: rows move and every rank must call; 0: nothing happens */
    int32_t reserved;
    int32_t from_layout; /* handles */
    int32_t to_layout;
    uint64_t input_rows; /* rows of `input` and of `out` on this rank */
    uint64_t output_rows;
    uint64_t sent_rows;      /* of the input, rows that go to other ranks */
    uint64_t received_rows;  /* of `out`, rows that come from other ranks */
    uint64_t input_identity; /* identities of the partitions before and after (plan.h) */
    uint64_t output_identity;
};

/*
 * Tells what a hook call would do, so that the host can allocate `out`. Of the call, batch, schedule,
 * layer, direction and identity are read; input and row_axis are not.
 * [context-serial]. Errors: ARGUMENT, and the failure of a failed context.
 */
typedef int32_t (*cplayout_conversion_fn)(struct cplayout_context *context, int32_t hook,
                                          const struct cplayout_call *call,
                                          struct cplayout_conversion *conversion,
                                          struct cplayout_error *error);

/* ---- Conversion without a layer --------------------------------------------------------------- */

/* From one layout to another, both by handles. The gradient goes from `to_layout` to `from_layout`. */
struct cplayout_convert_call {
    uint64_t size;
    const struct cplayout_batch *batch;
    const struct cplayout_tensor *input; /* in from_layout; otherwise as in cplayout_call */
    uint64_t identity;
    void *stream;
    int32_t from_layout;
    int32_t to_layout;
    int32_t row_axis;
    int32_t reserved; /* 0 */
};

/* Does what a hook does, with the same rules for `out`, the same tags and errors. */
typedef int32_t (*cplayout_convert_fn)(struct cplayout_context *context,
                                       const struct cplayout_convert_call *call,
                                       struct cplayout_tensor *out, struct cplayout_error *error);

/*
 * Tells what `convert` would do, as cplayout_conversion_fn does for a hook; input and row_axis are
 * not read. [context-serial]. Errors: as there.
 */
typedef int32_t (*cplayout_convert_describe_fn)(struct cplayout_context *context,
                                                const struct cplayout_convert_call *call,
                                                struct cplayout_conversion *conversion,
                                                struct cplayout_error *error);

/* ---- The table -------------------------------------------------------------------------------- */

/* Every slot of the core table, in order; slots are only ever appended. All are mandatory. */
#define CPLAYOUT_CORE_SLOTS(SLOT)   \
    SLOT(core, local_group_create)  \
    SLOT(core, local_group_destroy) \
    SLOT(core, options)             \
    SLOT(core, get_interface)       \
    SLOT(core, check)               \
    SLOT(core, create)              \
    SLOT(core, destroy)             \
    SLOT(core, layout)              \
    SLOT(core, schedule)            \
    SLOT(core, schedule_describe)   \
    SLOT(core, layer_describe)      \
    SLOT(core, batch_create)        \
    SLOT(core, batch_destroy)       \
    SLOT(core, conversion)          \
    SLOT(core, prepare_layer)       \
    SLOT(core, finalize_layer)      \
    SLOT(core, convert)             \
    SLOT(core, convert_describe)

#define CPLAYOUT_DECLARE_SLOT(table, slot) cplayout_##slot##_fn slot;

struct cplayout_core {
    uint64_t size;          /* of the plugin's table: a slot beyond it does not exist */
    uint32_t abi_major;     /* CPLAYOUT_ABI_MAJOR of the plugin */
    uint32_t abi_minor;     /* CPLAYOUT_ABI_MINOR of the plugin */
    uint32_t abi_minor_min; /* oldest host minor it serves */
    uint32_t draft;         /* CPLAYOUT_ABI_DRAFT of the plugin; must equal the host's */
    uint64_t features;      /* none defined yet: 0 */
    const char *name;       /* "cplayout" */
    const char *version;    /* release, such as "0.1.0" */
    const char *build;      /* compiler and switches, for bug reports */
    CPLAYOUT_CORE_SLOTS(CPLAYOUT_DECLARE_SLOT)
};

/*
 * The exported function, CPLAYOUT_QUERY_SYMBOL. Stores the plugin's table, which is static and never
 * changes, or refuses with a reason. [any-thread]. Errors: VERSION (unequal drafts), ARGUMENT.
 */
typedef int32_t (*cplayout_plugin_query_fn)(const struct cplayout_host *host,
                                            const struct cplayout_core **core,
                                            struct cplayout_error *error);

#ifdef __cplusplus
}
#endif

#endif
