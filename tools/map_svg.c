/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The picture of `cplayout map`: one lane per rank over the sequence, with the borders of documents.
 * It goes into what the path names, a link or a device too; half a plain file is removed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "map.h"

enum {
    LEFT = 64,   /* of the lanes, in pixels */
    WIDTH = 720, /* of the lanes */
    RIGHT = 150, /* for what is said beside them */
    TOP = 56,
    LANES_MOST = 640, /* height of all lanes */
    LANE_MOST = 22,
    LANE_LEAST = 2,
    LABELS_LEAST = 12, /* height of a lane that has room for text */
};

struct picture {
    const struct map *map;
    const struct args *args;
    FILE *file;
    int lane; /* height */
    int height;
};

/* Place of a row of the stream from left to right. */
static double place(const struct picture *picture, int64_t row)
{
    const uint64_t rows = picture->map->info.stream_rows;

    return LEFT + (rows > 0 ? (double)row * WIDTH / (double)rows : 0);
}

/* Text that may hold any character of a command line. */
static void write_text(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            (void)fputs("&amp;", file);
            break;
        case '<':
            (void)fputs("&lt;", file);
            break;
        case '>':
            (void)fputs("&gt;", file);
            break;
        default:
            (void)fputc((unsigned char)*text < ' ' ? '?' : *text, file);
            break;
        }
    }
}

/* Colours go round; neighbours differ in lightness too, and every lane has a place of its own. */
static void write_head(const struct picture *picture)
{
    const struct map *const map = picture->map;
    FILE *const file = picture->file;

    (void)fprintf(file,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" "
                  "font-family=\"sans-serif\" font-size=\"12\">\n<title>",
                  LEFT + WIDTH + RIGHT, picture->height);
    write_text(file, map->layout);
    (void)fprintf(file,
                  ": which of %" PRId32 " ranks holds which of %" PRIu64 " rows</title>\n<style>\n"
                  "svg{background:#fff;color:#1c2430}\n"
                  "text{fill:currentColor}.n{opacity:.7}\n"
                  ".l{fill:#e9edf2}.d{stroke:#1c2430;stroke-opacity:.55;stroke-dasharray:2 2}\n"
                  ".c0{fill:#3b3a9e}.c1{fill:#2479a8}.c2{fill:#54b37a}.c3{fill:#c9a21d}\n"
                  ".c4{fill:#8a3f8f}.c5{fill:#d0643c}.c6{fill:#5b6b7a}.c7{fill:#7fa82b}\n"
                  "@media (prefers-color-scheme:dark){svg{background:#151a21;color:#e6eaf0}"
                  ".l{fill:#242c37}.d{stroke:#e6eaf0}.c0{fill:#8280f0}.c6{fill:#9fb0c0}}\n"
                  "</style>\n",
                  map_ranks(map), map->info.stream_rows);
}

static void write_heading(const struct picture *picture)
{
    const struct cplayout_partition_info *const info = &picture->map->info;

    (void)fprintf(picture->file, "<text x=\"%d\" y=\"22\" font-size=\"16\">", LEFT);
    write_text(picture->file, picture->map->layout);
    (void)fprintf(picture->file,
                  ", P = %" PRId32 ", T = %" PRId32 "</text>\n<text x=\"%d\" y=\"42\" class=\"n\">"
                  "%" PRIu64 " tokens in %" PRIu64 " rows",
                  info->cp, info->tp, LEFT, info->tokens, info->stream_rows);
    if (picture->map->packed) {
        (void)fprintf(picture->file, " of %" PRIu64 " documents, dashed borders", info->documents);
    }
    if (info->rows > info->stream_rows) {
        (void)fprintf(picture->file, "; the layout adds %" PRIu64 " rows of padding",
                      info->rows - info->stream_rows);
    }
    (void)fputs("</text>\n", picture->file);
}

/* Fragments that are narrower than a tenth of a pixel only where the lane is still empty. */
static int64_t write_fragments(const struct picture *picture, const struct holding *holding, int y)
{
    const struct fragments *const fragments = &holding->fragments;
    double drawn = -1; /* where the last one that was drawn ends */
    double seen = -1;  /* where the last one begins: local order may go back */
    int64_t padding = 0;

    for (uint64_t i = 0; i < fragments->count; i++) {
        const struct cplayout_fragment *const fragment = &fragments->list[i];
        const double x = place(picture, fragment->start);
        const double end = place(picture, fragment->start + fragment->length);

        if (fragment->start < 0) {
            padding += fragment->length;
            continue;
        }
        if (end - x >= 0.1 || x >= drawn || x < seen) {
            drawn = end - x >= 0.1 ? end : x + 0.1;
            (void)fprintf(picture->file,
                          "<rect class=\"c%" PRId32 "\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" "
                          "height=\"%d\"/>\n",
                          holding->rank % 8, x, y, drawn - x, picture->lane - 1);
        }
        seen = x;
    }
    return padding;
}

static void write_lane(const struct picture *picture, const struct holding *holding)
{
    const int y = TOP + holding->rank * picture->lane;
    const bool labels = picture->lane >= LABELS_LEAST;
    const int base = y + picture->lane / 2 + 4;
    int64_t padding;

    (void)fprintf(picture->file,
                  "<rect class=\"l\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", LEFT, y,
                  WIDTH, picture->lane - 1);
    if (labels) {
        (void)fprintf(picture->file,
                      "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">rank %" PRId32 "</text>\n",
                      LEFT - 8, base, holding->rank);
    }
    padding = write_fragments(picture, holding, y);
    if (labels) {
        (void)fprintf(picture->file, "<text x=\"%d\" y=\"%d\" class=\"n\">%" PRIu64 " rows",
                      LEFT + WIDTH + 8, base, holding->info.rows);
        if (padding > 0) {
            (void)fprintf(picture->file, ", %" PRId64 " padding", padding);
        }
        (void)fputs("</text>\n", picture->file);
    }
}

static bool write_lanes(const struct picture *picture)
{
    struct holding holding = {.rank = 0};
    bool fine = true;

    for (int32_t rank = 0; fine && rank < map_ranks(picture->map); rank++) {
        fine = map_load(picture->map, rank, &holding);
        if (fine) {
            write_lane(picture, &holding);
        }
    }
    free(holding.fragments.list);
    return fine;
}

/* Where documents begin, by their rows. */
static void write_documents(const struct picture *picture)
{
    const struct list *const padded = &picture->args->list[OPTION_CU_SEQLENS_PADDED];
    const struct list *const offsets =
        padded->values != NULL ? padded : &picture->args->list[OPTION_CU_SEQLENS];
    const int bottom = picture->height - 28;

    for (uint64_t i = 0; offsets->values != NULL && i < offsets->count; i++) {
        (void)fprintf(picture->file,
                      "<line class=\"d\" x1=\"%.2f\" x2=\"%.2f\" y1=\"%d\" y2=\"%d\"/>\n",
                      place(picture, offsets->values[i]), place(picture, offsets->values[i]),
                      TOP - 4, bottom);
    }
}

static void write_foot(const struct picture *picture)
{
    (void)fprintf(picture->file,
                  "<text x=\"%d\" y=\"%d\" class=\"n\">0</text>\n"
                  "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" class=\"n\">%" PRIu64 "</text>\n"
                  "</svg>\n",
                  LEFT, picture->height - 12, LEFT + WIDTH, picture->height - 12,
                  picture->map->info.stream_rows);
}

static int lane_height(int32_t ranks)
{
    const int share = LANES_MOST / ranks;

    if (share > LANE_MOST) {
        return LANE_MOST;
    }
    return share > LANE_LEAST ? share : LANE_LEAST;
}

static bool write_picture(const struct map *map, const struct args *args, FILE *file)
{
    struct picture picture = {.map = map, .args = args, .file = file};

    picture.lane = lane_height(map_ranks(map));
    picture.height = TOP + map_ranks(map) * picture.lane + 32;
    write_head(&picture);
    write_heading(&picture);
    if (!write_lanes(&picture)) {
        return false;
    }
    write_documents(&picture);
    write_foot(&picture);
    return true;
}

static bool fail_file(const struct map *map, const char *path)
{
    const struct problem problem = {.status = EXIT_INVALID,
                                    .code = "svg.write",
                                    .option = option_name(OPTION_SVG)};

    return report_fail(map->report, &problem, "cannot write '%.512s': %s", path, strerror(errno));
}

/* What is left of a plain file that could not be written whole is of no use. */
static void remove_file(const char *path)
{
    struct stat entry;

    if (lstat(path, &entry) == 0 && S_ISREG(entry.st_mode)) {
        (void)unlink(path);
    }
}

/* False with a report. */
static bool write_file(const struct map *map, const char *path, const char *text, size_t bytes)
{
    FILE *const file = fopen(path, "w");
    bool fine;

    if (file == NULL) {
        return fail_file(map, path);
    }
    fine = fwrite(text, 1, bytes, file) == bytes && fflush(file) == 0;
    if (!fine) {
        (void)fail_file(map, path);
    }
    if (fclose(file) != 0 && fine) {
        fine = fail_file(map, path);
    }
    if (!fine) {
        remove_file(path);
    }
    return fine;
}

/* Drawn in memory first: an error of the drawing leaves the file as it was. */
bool map_write_svg(const struct map *map, const struct args *args)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *const memory = open_memstream(&text, &bytes);
    bool fine;
    bool complete;

    if (memory == NULL) {
        return report_memory(map->report);
    }
    fine = write_picture(map, args, memory);
    complete = !ferror(memory);
    complete = fclose(memory) == 0 && complete;
    if (fine && !complete) {
        fine = report_memory(map->report);
    }
    fine = fine && write_file(map, args->text[OPTION_SVG], text, bytes);
    free(text);
    return fine;
}
