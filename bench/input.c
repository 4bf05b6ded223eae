/* SPDX-License-Identifier: Apache-2.0 */
#include "input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "rounds.h"

void input_init(struct input *input, const char *name, int32_t cp,
                const struct cpl_allocator *allocator)
{
    *input = (struct input){.name = name, .tokens = TOKENS, .cp = cp, .tp = 1, .documents = 1};
    cpl_arena_init(&input->arena, allocator);
}

void input_read(struct input *input, const char *path)
{
    FILE *const file = fopen(path, "r");
    int32_t *const offsets = calloc(DOCUMENTS_MOST + 1, sizeof(*offsets));
    size_t count = 0;
    int32_t length;

    if (file == NULL || offsets == NULL) {
        bench_die(path, "cannot be read");
    }
    while (count < DOCUMENTS_MOST && offsets[count] < input->tokens &&
           fscanf(file, "%" SCNd32, &length) == 1) {
        const int32_t room = input->tokens - offsets[count];

        if (length < 1) {
            bench_die(path, "holds a length below 1");
        }
        offsets[count + 1] = offsets[count] + (length < room ? length : room);
        count++;
    }
    (void)fclose(file);
    if (offsets[count] != input->tokens) {
        bench_die(path, "does not fill a pack");
    }
    input->cu_seqlens = offsets;
    input->documents = count;
}

void input_fini(struct input *input)
{
    cpl_arena_fini(&input->arena);
    free(input->cu_seqlens);
}

int32_t input_ranks(const struct input *input)
{
    return input->cp * input->tp;
}
