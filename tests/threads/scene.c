/* SPDX-License-Identifier: Apache-2.0 */
#include "threads/scene.h"

#include <stdio.h>
#include <string.h>

/* SplitMix64, from 0 to `most`. */
int64_t scene_draw(uint64_t *seed, int64_t most)
{
    uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (int64_t)((x ^ (x >> 31)) % (uint64_t)(most + 1));
}

static void fill_stream(struct scene *scene)
{
    for (int64_t i = 0; i < scene->documents; i++) {
        for (int64_t row = scene->padded[i]; row < scene->padded[i + 1]; row++) {
            scene->stream[row] = (struct row){i, row - scene->padded[i], scene->padded[i],
                                              scene->cu_seqlens[i + 1] - scene->cu_seqlens[i]};
        }
    }
}

bool scene_is_token(const struct scene *scene, int64_t row)
{
    return row >= 0 && scene->stream[row].position < scene->stream[row].tokens;
}

void scene_read(const struct cplayout_partition *partition, int32_t ranks,
                int64_t held[RANKS_MOST][ROWS_MOST], uint64_t rows[RANKS_MOST])
{
    static struct cplayout_fragment list[LIST_MOST];
    struct cplayout_error error = {.size = sizeof(error)};

    for (int32_t rank = 0; rank < ranks; rank++) {
        uint64_t count = 0;

        tap_require(host_plan()->fragments(partition, rank, list, LIST_MOST, &count, &error) ==
                        CPLAYOUT_OK,
                    "%s", error.message);
        rows[rank] = 0;
        for (uint64_t i = 0; i < count; i++) {
            for (int64_t k = 0; k < list[i].length; k++) {
                held[rank][rows[rank]++] = list[i].start < 0 ? -1 : list[i].start + k;
            }
        }
    }
}

bool scene_open(struct scene *scene, const char *layout)
{
    const struct cplayout_lengths sample = {scene->cu_seqlens, scene->padded,
                                            (uint64_t)scene->documents + 1};
    const struct cplayout_host record = host_record();
    const struct cplayout_partition_args args = {.size = sizeof(args),
                                                 .layout = layout,
                                                 .cp = scene->cp,
                                                 .tp = scene->tp,
                                                 .samples = &sample,
                                                 .sample_count = 1};

    scene->error = (struct cplayout_error){.size = sizeof(scene->error)};
    if (host_plan()->partition_create(&record, &args, &scene->partition, &scene->error) !=
        CPLAYOUT_OK) {
        return false;
    }
    (void)snprintf(scene->text, sizeof(scene->text), "%s P=%d T=%d documents=%lld rows=%lld",
                   layout, scene->cp, scene->tp, (long long)scene->documents,
                   (long long)scene->rows);
    fill_stream(scene);
    scene_read(scene->partition, scene->cp * scene->tp, scene->held, scene->held_rows);
    return true;
}

void scene_close(struct scene *scene)
{
    host_plan()->partition_destroy(scene->partition);
    scene->partition = NULL;
}

void scene_init(struct scene *scene, uint64_t *seed)
{
    int64_t unit;

    memset(scene, 0, sizeof(*scene));
    scene->cp = (int32_t)(1 + scene_draw(seed, 4));
    scene->tp = (int32_t)(1 + scene_draw(seed, 2));
    unit = 2 * scene->cp * scene->tp;
    scene->documents = 1 + scene_draw(seed, DOCUMENTS_MOST - 1);
    for (int64_t i = 0; i < scene->documents; i++) {
        const int64_t tokens = scene_draw(seed, 2) == 0 ? 0 : scene_draw(seed, 12);
        int64_t rows = tokens + scene_draw(seed, scene_draw(seed, 1) * 3);

        if (i + 1 == scene->documents) {
            rows += (unit - (scene->padded[i] + rows) % unit) % unit;
        }
        scene->cu_seqlens[i + 1] = scene->cu_seqlens[i] + (int32_t)tokens;
        scene->padded[i + 1] = scene->padded[i] + (int32_t)rows;
    }
    scene->rows = scene->padded[scene->documents];
}
