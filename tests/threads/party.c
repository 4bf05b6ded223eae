/* SPDX-License-Identifier: Apache-2.0 */
#include "threads/party.h"

#include <inttypes.h>
#include <string.h>

struct hall {
    const struct party *party;
    struct cplayout_local_group *group;
};

static void run_guest(void *self, int32_t rank)
{
    const struct hall *const hall = self;
    struct cplayout_host record = host_record();
    struct cplayout_create_args args = {
        .size = sizeof(args),
        .host = &record,
        .options = hall->party->options,
        .fields = hall->party->declared,
        .field_count = hall->party->declared_count,
    };
    struct guest guest = {.rank = rank, .self = hall->party->self};

    while (args.option_count < PARTY_OPTIONS_MOST && args.options[args.option_count].name != NULL) {
        args.option_count++;
    }
    record.local_group = hall->group;
    record.rank = rank;
    guest.error = (struct cplayout_error){.size = sizeof(guest.error)};
    if (CHECK(host_core()->create(&args, &guest.context, &guest.error) == CPLAYOUT_OK,
              "rank %d: %s", rank, guest.error.message)) {
        hall->party->body(&guest);
    }
    host_core()->batch_destroy(guest.batch);
    host_core()->destroy(guest.context);
}

void party_run(const struct party *party)
{
    struct hall hall = {.party = party};

    if (party->ranks > 1) {
        tap_require(host_core()->local_group_create(NULL, party->ranks, &hall.group, NULL) ==
                        CPLAYOUT_OK,
                    "no group");
    }
    tap_ranks(party->ranks, run_guest, &hall);
    host_core()->local_group_destroy(hall.group);
}

/* ---- Batches --------------------------------------------------------------------------------- */

int32_t guest_batch(struct guest *guest, const struct party_batch *wanted)
{
    struct cplayout_tensor tensors[PARTY_FIELDS_MOST];
    int64_t shapes[PARTY_FIELDS_MOST][4];
    struct cplayout_field fields[PARTY_FIELDS_MOST];
    struct cplayout_batch_args args = {
        .size = sizeof(args),
        .sequence_length = wanted->sequence_length,
        .fields = fields,
        .samples = wanted->samples,
        .sample_count = wanted->sample_count,
    };

    for (int32_t i = 0; i < PARTY_FIELDS_MOST && wanted->fields[i].name != NULL; i++) {
        const struct party_field *const field = &wanted->fields[i];

        memcpy(shapes[i], field->shape, sizeof(shapes[i]));
        tensors[i] = (struct cplayout_tensor){
            .data = field->memory,
            .device = {CPLAYOUT_DEVICE_CPU, 0},
            .ndim = field->ndim,
            .dtype = {CPLAYOUT_TYPE_INT, 64, 1},
            .shape = shapes[i],
        };
        fields[i] = (struct cplayout_field){field->name, &tensors[i]};
        args.field_count++;
    }
    host_core()->batch_destroy(guest->batch);
    guest->batch = NULL;
    return host_core()->batch_create(guest->context, &args, &guest->batch, &guest->error);
}

bool guest_batch_made(struct guest *guest, const struct party_batch *wanted)
{
    return CHECK(guest_batch(guest, wanted) == CPLAYOUT_OK, "rank %d: %s", guest->rank,
                 guest->error.message);
}

int32_t guest_layout(struct guest *guest, const char *name)
{
    int32_t layout = -1;

    CHECK(host_core()->layout(guest->context, name, &layout, &guest->error) == CPLAYOUT_OK,
          "rank %d: %s", guest->rank, guest->error.message);
    return layout;
}

/* ---- Views ----------------------------------------------------------------------------------- */

static int64_t entries_of(const struct cplayout_view *view)
{
    int64_t entries = 1;

    for (int32_t axis = 0; axis < view->tensor.ndim; axis++) {
        entries *= view->shape[axis];
    }
    return entries;
}

int64_t guest_view(struct guest *guest, const char *layout, const char *field,
                   int64_t values[PARTY_ROWS_MOST])
{
    const int32_t handle = guest_layout(guest, layout);
    struct cplayout_view view = {.size = sizeof(view)};
    int64_t entries;

    if (!CHECK(host_views()->view_describe(guest->batch, handle, field, &view, &guest->error) ==
                   CPLAYOUT_OK,
               "rank %d, %s in %s: %s", guest->rank, field, layout, guest->error.message)) {
        return -1;
    }
    entries = entries_of(&view);
    tap_require(entries <= PARTY_ROWS_MOST, "%s is too large", field);
    view.tensor.data = values;
    view.tensor.byte_offset = 0;
    view.tensor.strides = NULL;
    view.tensor.dtype = (struct cplayout_type){CPLAYOUT_TYPE_INT, 64, 1};
    return CHECK(host_views()->view_fill(guest->batch, handle, field, &view.tensor,
                                         &guest->error) == CPLAYOUT_OK,
                 "rank %d, %s in %s: %s", guest->rank, field, layout, guest->error.message)
               ? entries
               : -1;
}

void guest_expects(struct guest *guest, const char *layout, const char *field,
                   const int64_t *values, int64_t count)
{
    int64_t got[PARTY_ROWS_MOST];
    const int64_t entries = guest_view(guest, layout, field, got);

    CHECK(entries == count, "rank %d, %s in %s: %" PRId64 " numbers, not %" PRId64, guest->rank,
          field, layout, entries, count);
    for (int64_t i = 0; i < count && i < entries; i++) {
        CHECK(got[i] == values[i],
              "rank %d, %s in %s: number %" PRId64 " is %" PRId64 ", not %" PRId64, guest->rank,
              field, layout, i, got[i], values[i]);
    }
}

void guest_refused(struct guest *guest, const char *layout, const char *field, const char *text)
{
    struct cplayout_view view = {.size = sizeof(view)};
    const int32_t status = host_views()->view_describe(guest->batch, guest_layout(guest, layout),
                                                       field, &view, &guest->error);

    CHECK(status == CPLAYOUT_ERROR_ARGUMENT && strstr(guest->error.message, text) != NULL,
          "rank %d, %s in %s: status %d: %s", guest->rank, field, layout, status,
          guest->error.message);
}
