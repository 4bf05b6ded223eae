/* SPDX-License-Identifier: Apache-2.0 */
#include "packs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "mix.h"

/* ---- File ------------------------------------------------------------------------------------- */

enum { LENGTH_MOST = 1000000000, DIGITS_MOST = 10 };

/* The message is one line, whatever the file holds. */
static int fail_line(const char *path, size_t line, char *text, char message[256])
{
    for (char *at = text; *at != '\0'; at++) {
        *at = (unsigned char)*at < ' ' || *at == 127 ? '?' : *at;
    }
    (void)snprintf(message, 256, "%.120s, line %zu: '%.32s' is not a length from 1 to %d", path,
                   line, text, LENGTH_MOST);
    return -1;
}

/* The whole line is one number: digits, and neither a sign nor a zero byte. */
static int read_line(const char *text, size_t bytes, int32_t *length)
{
    const size_t digits = strspn(text, "0123456789");
    long long value;

    if (digits == 0 || digits != bytes || digits > DIGITS_MOST) {
        return -1;
    }
    value = strtoll(text, NULL, 10);
    if (value < 1 || value > LENGTH_MOST) {
        return -1;
    }
    *length = (int32_t)value;
    return 0;
}

/* Cuts the end of a line, of either kind, and returns what is left. */
static size_t cut_end(char *text, size_t bytes)
{
    bytes -= bytes > 0 && text[bytes - 1] == '\n';
    bytes -= bytes > 0 && text[bytes - 1] == '\r';
    text[bytes] = '\0';
    return bytes;
}

static int append(struct packs *packs, int32_t length)
{
    /* Doubles at every power of two. */
    if ((packs->count & (packs->count - 1)) == 0) {
        const size_t room = packs->count > 0 ? 2 * packs->count : 1;
        int32_t *const grown = realloc(packs->lengths, room * sizeof(*grown));

        if (grown == NULL) {
            return -1;
        }
        packs->lengths = grown;
    }
    packs->lengths[packs->count++] = length;
    return 0;
}

/* `text` is getline's; the caller frees it. */
static int read_lines(struct packs *packs, FILE *file, const char *path, char **text,
                      char message[256])
{
    size_t room = 0;
    ssize_t bytes;

    for (size_t line = 1; (bytes = getline(text, &room, file)) >= 0; line++) {
        int32_t length;

        if (read_line(*text, cut_end(*text, (size_t)bytes), &length) != 0) {
            return fail_line(path, line, *text, message);
        }
        if (append(packs, length) != 0) {
            (void)snprintf(message, 256, "out of memory for the lengths of %.160s", path);
            return -1;
        }
    }
    if (!feof(file)) {
        (void)snprintf(message, 256, "cannot read lengths %.160s: %s", path, strerror(errno));
        return -1;
    }
    if (packs->count == 0) {
        (void)snprintf(message, 256, "%.160s holds no lengths", path);
        return -1;
    }
    return 0;
}

int packs_read(struct packs *packs, const char *path, char message[256])
{
    FILE *const file = fopen(path, "r");
    char *text = NULL;
    int code;

    *packs = (struct packs){.lengths = NULL};
    if (file == NULL) {
        (void)snprintf(message, 256, "cannot read lengths %.160s: %s", path, strerror(errno));
        return -1;
    }
    code = read_lines(packs, file, path, &text, message);
    free(text);
    (void)fclose(file);
    if (code != 0) {
        packs_destroy(packs);
    }
    return code;
}

void packs_destroy(struct packs *packs)
{
    free(packs->lengths);
    *packs = (struct packs){.lengths = NULL};
}

/* ---- Distribution ----------------------------------------------------------------------------- */

/* Nine documents in ten come from the body, the tenth from the tail. Lengths are in tokens, short
 * enough that a pack of a thousand holds several. */
static const double tail_share = 0.1;
static const double body_median = 64;
static const double body_deviation = 0.9; /* of the logarithm */
static const double tail_least = 256;
static const double tail_exponent = 1.2;

static double draw_length(uint64_t key)
{
    const double u = mix_unit(key + 1);
    const double v = mix_unit(key + 2);

    if (mix_unit(key) <= tail_share) {
        return tail_least * pow(u, -1 / tail_exponent);
    }
    /* A normal deviate by Box and Muller 1958. */
    return body_median *
           exp(body_deviation * sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v));
}

/* ---- Packs ------------------------------------------------------------------------------------ */

/* The n-th document of a pack, before it is cut. */
static double length_at(const struct packs *packs, uint64_t key, size_t n)
{
    const uint64_t place = mix(key);

    return packs->count > 0 ? packs->lengths[(place % packs->count + n) % packs->count]
                            : draw_length(place + 3 * n);
}

size_t packs_fill(const struct packs *packs, uint64_t key, int64_t rows, int32_t *offsets)
{
    size_t documents = 0;

    offsets[0] = 0;
    while (offsets[documents] < rows) {
        const double left = (double)(rows - offsets[documents]);
        const double wanted = floor(length_at(packs, key, documents));
        const double length = wanted < 1 ? 1 : fmin(wanted, left);

        offsets[documents + 1] = offsets[documents] + (int32_t)length;
        documents++;
    }
    return documents;
}
