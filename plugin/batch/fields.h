/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields a batch may carry: the known names, one table entry each, and those that a host declares
 * for its context. A field is a tensor with a row axis, or metadata that is never cut.
 */
#ifndef CPL_BATCH_FIELDS_H
#define CPL_BATCH_FIELDS_H

#include "batch/fill.h"

enum cpl_field_id {
    CPL_FIELD_TOKENS,
    CPL_FIELD_LABELS,
    CPL_FIELD_MTP_TOKENS,
    CPL_FIELD_MTP_LABELS,
    CPL_FIELD_LOSS_MASK,
    CPL_FIELD_MTP_MASK,
    CPL_FIELD_POSITION_IDS,
    CPL_FIELD_PADDING_MASK,
    CPL_FIELD_DOCUMENT_IDS,
    CPL_FIELD_EMBEDDINGS,
    CPL_FIELD_ATTENTION_MASK,
    CPL_FIELD_CU_SEQLENS,
    CPL_FIELD_CU_SEQLENS_PADDED,
    CPL_FIELD_CU_SEQLENS_ARGMIN,
    CPL_FIELD_MAX_SEQLEN,
    CPL_FIELD_LOCAL_CP_SIZE,
    CPL_FIELD_DATASET_ID,
    CPL_FIELD_KNOWN, /* declared fields have the indices from here on */
};

enum { CPL_DECLARED_MOST = 64, CPL_FIELDS_MOST = CPL_FIELD_KNOWN + CPL_DECLARED_MOST };

/* In which views a field exists. */
enum cpl_field_place {
    CPL_FIELD_EVERYWHERE,
    CPL_FIELD_IN_BOUNDARY,
    CPL_FIELD_IN_ATTENTION,
};

/* What padding of the field holds. */
enum cpl_field_fill {
    CPL_FILL_VALUE, /* `value` */
    CPL_FILL_TOKEN, /* the option pad_token_id */
    CPL_FILL_LABEL, /* the option pad_label */
    CPL_FILL_NONE,  /* it is not filled: such a field has no rows that could be */
};

/* A shape that a field may have. */
struct cpl_field_form {
    const char *dims;   /* "[B, S]"; NULL: there is no such form */
    int32_t ndim;       /* 0: any that has the row axis */
    int32_t row_axis;   /* -1: it is never cut */
    int32_t batch_axis; /* -1: none */
};

struct cpl_field_spec {
    const char *name;
    struct cpl_field_form forms[2];
    enum cpl_field_place place;
    enum cpl_field_fill fill;
    int64_t value;
    bool integers; /* it holds nothing else */
    bool scatter;  /* with sequence parallelism a rank has a window of it */
    bool made;     /* the plugin makes it where the host gives none */
};

/* The fields that a context knows. */
struct cpl_field_table {
    const struct cpl_field_spec *declared; /* [count] */
    size_t count;
};

/* A field of a batch: the input tensor, with arrays of its own. */
struct cpl_field {
    bool given;
    struct cpl_tensor tensor; /* shape and strides point below; strides are never NULL */
    int64_t shape[CPL_MAX_DIMS];
    int64_t strides[CPL_MAX_DIMS];
    struct cpl_rows rows; /* along row_axis; of metadata along axis 0 */
    int32_t row_axis;     /* -1: it is never cut */
    struct cpl_fill fill; /* what padding holds */
};

/* A tensor given for a field. */
struct cpl_given_field {
    size_t id;
    struct cpl_tensor tensor;
};

size_t cpl_fields_count(const struct cpl_field_table *table);
const struct cpl_field_spec *cpl_field_spec(const struct cpl_field_table *table, size_t id);

/* What padding of a field holds. */
int64_t cpl_field_fill_value(const struct cpl_field_spec *spec, int64_t pad_token,
                             int64_t pad_label);

/* Errors: ARGUMENT (unknown name, with the nearest one or the known ones). */
enum cpl_status cpl_field_find(const struct cpl_field_table *table, const char *name, size_t *id,
                               struct cpl_error *error);

/* What the fields of one batch must be like. */
struct cpl_field_rule {
    const struct cpl_field_table *table;
    int64_t rows;            /* of the stream */
    const char *rows_source; /* where that number comes from, for messages */
    int64_t samples;         /* packed: how many the stream is joined of; 0: dense */
    bool sharded;            /* P > 1 */
    int64_t pad_token;
    int64_t pad_label;
    int64_t batch;            /* B of the fields so far; 0: none had one */
    const char *batch_source; /* the field that had it */
};

/*
 * Takes over a tensor, and notes its B in the rule. Packed samples [B, S] become one stream [1, B * S].
 * Errors: ARGUMENT, UNSUPPORTED.
 */
enum cpl_status cpl_field_set(struct cpl_field *field, const struct cpl_given_field *given,
                              struct cpl_field_rule *rule, struct cpl_error *error);

/*
 * Tokens of a dense sequence by the first field that is cut; its id goes to `source`. Without one both
 * stay.
 */
void cpl_fields_length(const struct cpl_field_table *table, const struct cpl_given_field *fields,
                       size_t count, int64_t *tokens, size_t *source);

#endif
