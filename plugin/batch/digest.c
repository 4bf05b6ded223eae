/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/digest.h"

#include "base/hash.h"

enum topic {
    TOPIC_CONFIGURATION,
    TOPIC_SERIAL,
    TOPIC_LENGTHS,
    TOPIC_FIELDS,
    TOPIC_LAYOUTS,
    TOPIC_SCHEDULES,
    TOPIC_COUNT,
};

const char *cpl_batch_topic(size_t word)
{
    static const char *const names[TOPIC_COUNT] = {
        [TOPIC_CONFIGURATION] = "configuration",
        [TOPIC_SERIAL] = "number of batches",
        [TOPIC_LENGTHS] = "sequence length or documents",
        [TOPIC_FIELDS] = "fields",
        [TOPIC_LAYOUTS] = "layouts",
        [TOPIC_SCHEDULES] = "schedules",
    };

    return names[word];
}

/* Identities cover the documents as well as the rows; the length stands for itself in messages. */
static uint64_t digest_lengths(const struct cpl_stream *stream)
{
    uint64_t hash = cpl_hash_word(CPL_HASH_SEED, (uint64_t)stream->rows);

    for (size_t i = 0; i < stream->count; i++) {
        hash = cpl_hash_word(hash, (uint64_t)stream->documents[i].length);
        hash = cpl_hash_word(hash, (uint64_t)stream->documents[i].valid);
    }
    return hash;
}

static uint64_t digest_fields(const struct cpl_batch *batch)
{
    uint64_t hash = CPL_HASH_SEED;

    for (size_t id = 0; id < cpl_fields_count(&batch->context->fields); id++) {
        hash = cpl_hash_word(hash, batch->fields[id].given);
    }
    return hash;
}

static uint64_t digest_layouts(const struct cpl_batch *batch)
{
    uint64_t hash = CPL_HASH_SEED;

    for (int32_t i = 0; i < batch->layout_count; i++) {
        hash = cpl_hash_word(hash, batch->tables[i].identity);
    }
    return hash;
}

/* Schedules follow from the configuration: their lengths tell how many there are. */
static uint64_t digest_schedules(const struct cpl_batch *batch)
{
    uint64_t hash = CPL_HASH_SEED;

    for (const struct cpl_chunk *chunk = batch->context->chunks; chunk != NULL;
         chunk = chunk->next) {
        hash = cpl_hash_word(hash, (uint64_t)chunk->schedule.layers);
    }
    return hash;
}

void cpl_batch_digest(const struct cpl_batch *batch, struct cpl_digest *digest)
{
    digest->words[TOPIC_CONFIGURATION] = batch->context->configuration;
    digest->words[TOPIC_SERIAL] = batch->serial;
    digest->words[TOPIC_LENGTHS] = digest_lengths(&batch->stream);
    digest->words[TOPIC_FIELDS] = digest_fields(batch);
    digest->words[TOPIC_LAYOUTS] = digest_layouts(batch);
    digest->words[TOPIC_SCHEDULES] = digest_schedules(batch);
}
