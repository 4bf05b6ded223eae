/* SPDX-License-Identifier: Apache-2.0 */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The reason is errno. */
static int fail(const char *folder, char message[512])
{
    const int reason = errno;

    (void)snprintf(message, 512, "cannot write the report in '%.380s': %s", folder,
                   strerror(reason));
    return -1;
}

/* "folder/name"; NULL with errno set. */
static char *join(const char *folder, const char *name)
{
    char *path;

    return asprintf(&path, "%s/%s", folder, name) >= 0 ? path : NULL;
}

/* What is there already is fine: opening a file in it will tell whether it is a folder. */
static int make(const char *folder)
{
    return mkdir(folder, 0777) == 0 || errno == EEXIST || errno == EISDIR ? 0 : -1;
}

static int make_all(const char *folder)
{
    char *const path = strdup(folder);
    int code = path != NULL ? 0 : -1;

    for (char *slash = path; code == 0 && (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        code = make(path);
        *slash = '/';
    }
    code = code == 0 ? make(folder) : -1;
    free(path);
    return code;
}

/* An empty file of this process, whatever an earlier one has left. */
static int open_fresh(const char *path)
{
    return unlink(path) == 0 || errno == ENOENT
               ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
               : -1;
}

/* Beside the file, for rename to work; hidden. */
static char *temporary(const char *folder, const char *name)
{
    char hidden[80];

    (void)snprintf(hidden, sizeof(hidden), ".%.50s.%ld", name, (long)getpid());
    return join(folder, hidden);
}

static int write_all(int file, const char *data, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(file, data, size);

        if (written < 0 && errno != EINTR) {
            return -1;
        }
        data += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return fsync(file);
}

/* Writes a file that was not there; errno tells why not. */
static int write_fresh(const char *path, const char *data, size_t size)
{
    const int file = open_fresh(path);
    int code;

    if (file < 0) {
        return -1;
    }
    code = write_all(file, data, size);
    if (close(file) != 0) {
        code = -1;
    }
    return code;
}

/* A folder of the name of the file would stop rename later. */
static int check_target(const char *path)
{
    struct stat status;

    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    return 0;
}

/* Removes what could not be finished and keeps the reason. */
static void discard(const char *path)
{
    const int reason = errno;

    (void)unlink(path);
    errno = reason;
}

int folder_prepare(const char *folder, const char *name, char message[512])
{
    char *const probe = temporary(folder, name);
    char *const path = join(folder, name);
    int code = probe != NULL && path != NULL ? make_all(folder) : -1;

    if (code == 0) {
        code = write_fresh(probe, "", 0) == 0 && check_target(path) == 0 ? 0 : -1;
        discard(probe);
    }
    if (code != 0) {
        (void)fail(folder, message);
    }
    free(probe);
    free(path);
    return code;
}

int folder_replace(const char *folder, const char *name, const char *data, size_t size,
                   char message[512])
{
    char *const fresh = temporary(folder, name);
    char *const path = join(folder, name);
    int code = fresh != NULL && path != NULL ? 0 : -1;

    if (code == 0 && (write_fresh(fresh, data, size) != 0 || rename(fresh, path) != 0)) {
        discard(fresh);
        code = -1;
    }
    if (code != 0) {
        (void)fail(folder, message);
    }
    free(fresh);
    free(path);
    return code;
}
