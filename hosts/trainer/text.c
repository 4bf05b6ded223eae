/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mix.h"

#ifndef TRAINER_DOCUMENTS
#define TRAINER_DOCUMENTS "."
#endif

static int file_bytes(FILE *file, size_t *bytes)
{
    long end;

    if (fseek(file, 0, SEEK_END) != 0 || (end = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0) {
        return -1;
    }
    *bytes = (size_t)end;
    return 0;
}

static int append_stream(struct text *text, FILE *file)
{
    size_t bytes;
    unsigned char *grown;

    if (file_bytes(file, &bytes) != 0) {
        return -1;
    }
    grown = realloc(text->bytes, text->length + bytes + 1);
    if (grown == NULL) {
        return -1;
    }
    text->bytes = grown;
    if (fread(grown + text->length, 1, bytes, file) != bytes) {
        errno = errno != 0 ? errno : EIO;
        return -1;
    }
    text->length += bytes;
    text->files++;
    return 0;
}

static int append_file(struct text *text, const char *path, char message[256])
{
    struct stat info;
    FILE *file = NULL;
    int code = -1;

    errno = 0;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        errno = EISDIR;
    } else {
        file = fopen(path, "rb");
        code = file != NULL ? append_stream(text, file) : -1;
    }
    if (code != 0) {
        (void)snprintf(message, 256, "cannot read text %.160s: %s", path, strerror(errno));
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return code;
}

/* Regular files with this ending; links only repeat what is there already. */
static int is_wanted(const char *folder, const char *name, const char *ending)
{
    const size_t length = strlen(name);
    const size_t tail = strlen(ending);
    char path[512];
    struct stat info;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return length >= tail && strcmp(name + length - tail, ending) == 0 && lstat(path, &info) == 0 &&
           S_ISREG(info.st_mode);
}

/* Adds the files of a folder in the order of their names. A folder that is missing adds none. */
static int append_folder(struct text *text, const char *folder, const char *ending,
                         char message[256])
{
    struct dirent **entries;
    const int count = scandir(folder, &entries, NULL, alphasort);
    int code = 0;

    if (count < 0) {
        return 0;
    }
    for (int i = 0; i < count; i++) {
        char path[512];

        (void)snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        if (code == 0 && is_wanted(folder, entries[i]->d_name, ending)) {
            code = append_file(text, path, message);
        }
        free(entries[i]);
    }
    free(entries);
    return code;
}

static int append_default(struct text *text, char message[256])
{
    int code = append_folder(text, "/usr/share/common-licenses", "", message);

    if (code == 0 && text->files == 0) {
        code = append_folder(text, TRAINER_DOCUMENTS, ".md", message);
    }
    if (code == 0 && text->files == 0) {
        (void)snprintf(message, 256, "found no text to train on; name one with --text FILE");
        code = -1;
    }
    return code;
}

int text_read(struct text *text, char *const *paths, size_t count, int64_t sequence,
              char message[256])
{
    int code = 0;

    *text = (struct text){0};
    for (size_t i = 0; i < count && code == 0; i++) {
        code = append_file(text, paths[i], message);
    }
    if (count == 0) {
        code = append_default(text, message);
    }
    if (code == 0 && text->length <= (uint64_t)sequence) {
        (void)snprintf(message, 256,
                       "the text has %zu bytes, a sample of --seq %" PRId64
                       " needs at least %" PRId64 "%s%.100s",
                       text->length, sequence, sequence + 1, count > 0 ? ": " : "",
                       count > 0 ? paths[0] : "");
        code = -1;
    }
    if (code != 0) {
        text_destroy(text);
    }
    return code;
}

void text_destroy(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}

void text_span(const struct text *text, uint64_t key, int64_t length, int32_t *tokens,
               int32_t *labels)
{
    const uint64_t places = text->length - (uint64_t)length;
    const unsigned char *const from = text->bytes + mix(key) % places;

    for (int64_t i = 0; i < length; i++) {
        tokens[i] = from[i];
        labels[i] = from[i + 1];
    }
}
