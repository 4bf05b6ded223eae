/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#include <stdint.h>
#include <string.h>

static char dashed(char letter)
{
    return letter == '_' ? '-' : letter;
}

bool name_is(const char *known, const char *typed, size_t length)
{
    if (known == NULL || strlen(known) != length) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (known[i] != dashed(typed[i])) {
            return false;
        }
    }
    return true;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Steps from the first i characters of one name to the first j of the other. */
struct steps {
    size_t to[NAME_LONGEST + 1][NAME_LONGEST + 1];
};

static bool swapped(const char *a, const char *b, size_t i, size_t j)
{
    return i > 1 && j > 1 && dashed(a[i - 1]) == dashed(b[j - 2]) &&
           dashed(a[i - 2]) == dashed(b[j - 1]);
}

static size_t fewest(const struct steps *steps, const char *a, const char *b, size_t i, size_t j)
{
    const size_t replaced = steps->to[i - 1][j - 1] + (dashed(a[i - 1]) != dashed(b[j - 1]));
    const size_t moved = least(steps->to[i - 1][j], steps->to[i][j - 1]) + 1;
    const size_t best = least(replaced, moved);

    return swapped(a, b, i, j) ? least(best, steps->to[i - 2][j - 2] + 1) : best;
}

size_t name_distance(const char *known, const char *typed, size_t limit)
{
    const size_t width = strlen(typed);
    struct steps steps = {.to = {{0}}};
    size_t height;

    if (known == NULL || width > NAME_LONGEST || strlen(known) > NAME_LONGEST) {
        return SIZE_MAX;
    }
    height = strlen(known);
    for (size_t i = 0; i <= height; i++) {
        for (size_t j = 0; j <= width; j++) {
            steps.to[i][j] = i == 0 || j == 0 ? i + j : fewest(&steps, known, typed, i, j);
        }
    }
    return steps.to[height][width] <= limit ? steps.to[height][width] : SIZE_MAX;
}

void name_spell(char *to, const char *typed, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        to[i] = typed[i] == '-' ? '_' : typed[i];
    }
}
