/* SPDX-License-Identifier: Apache-2.0 */
#include "threads/tap.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TEST_SECONDS_MOST = 60 };

/* Everything below is guarded by the mutex. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static pthread_t watchdog;
static bool watching;
static struct timespec deadline; /* of the running test */
static char title[160];
static char failure[720];
static int tests;
static int failures;

static void set_deadline(void)
{
    (void)clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += TEST_SECONDS_MOST;
}

static bool is_past_deadline(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > deadline.tv_sec;
}

static void *watch(void *unused)
{
    (void)pthread_mutex_lock(&mutex);
    while (watching) {
        const int code = pthread_cond_timedwait(&changed, &mutex, &deadline);

        if (code == ETIMEDOUT && watching && is_past_deadline()) {
            printf("not ok %d - %s\nBail out! it hangs\n", tests, title);
            (void)fflush(stdout);
            _exit(1);
        }
    }
    (void)pthread_mutex_unlock(&mutex);
    return unused;
}

static void start_watchdog(void)
{
    pthread_condattr_t attributes;

    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    watching = true;
    tap_require(pthread_create(&watchdog, NULL, watch, NULL) == 0, "no thread for the watchdog");
}

/* Prints the result of the running test, if there is one. The mutex is held. */
static void finish(void)
{
    if (tests == 0) {
        return;
    }
    printf("%sok %d - %s\n", failure[0] != '\0' ? "not " : "", tests, title);
    if (failure[0] != '\0') {
        printf("# %s\n", failure);
        failures++;
        failure[0] = '\0';
    }
    (void)fflush(stdout);
}

void tap_test(const char *format, ...)
{
    va_list args;

    (void)pthread_mutex_lock(&mutex);
    finish();
    set_deadline();
    if (tests++ == 0) {
        start_watchdog();
    }
    va_start(args, format);
    (void)vsnprintf(title, sizeof(title), format, args);
    va_end(args);
    (void)pthread_mutex_unlock(&mutex);
}

static void note_failure(const char *function, int line, const char *format, va_list args)
{
    char text[640];

    (void)vsnprintf(text, sizeof(text), format, args);
    for (char *feed = strchr(text, '\n'); feed != NULL; feed = strchr(feed, '\n')) {
        *feed = ' ';
    }
    (void)pthread_mutex_lock(&mutex);
    if (failure[0] == '\0') {
        (void)snprintf(failure, sizeof(failure), "%s:%d: %s", function, line, text);
    }
    (void)pthread_mutex_unlock(&mutex);
}

bool tap_check(bool good, const char *function, int line, const char *format, ...)
{
    va_list args;

    if (!good) {
        va_start(args, format);
        note_failure(function, line, format, args);
        va_end(args);
    }
    return good;
}

bool tap_failed(void)
{
    bool failed;

    (void)pthread_mutex_lock(&mutex);
    failed = failure[0] != '\0';
    (void)pthread_mutex_unlock(&mutex);
    return failed;
}

void tap_require(bool good, const char *format, ...)
{
    va_list args;

    if (good) {
        return;
    }
    printf("Bail out! ");
    va_start(args, format);
    (void)vprintf(format, args);
    va_end(args);
    printf("\n");
    (void)fflush(stdout);
    _exit(1);
}

struct runner {
    void (*body)(void *self, int32_t rank);
    void *self;
    int32_t rank;
};

static void *run_body(void *self)
{
    const struct runner *const runner = self;

    runner->body(runner->self, runner->rank);
    return NULL;
}

void tap_ranks(int32_t ranks, void (*body)(void *self, int32_t rank), void *self)
{
    struct runner runners[TAP_RANKS_MOST];
    pthread_t threads[TAP_RANKS_MOST];

    tap_require(ranks <= TAP_RANKS_MOST, "%d ranks are more than %d", ranks, TAP_RANKS_MOST);
    for (int32_t rank = 0; rank < ranks; rank++) {
        runners[rank] = (struct runner){body, self, rank};
        tap_require(pthread_create(&threads[rank], NULL, run_body, &runners[rank]) == 0,
                    "no thread for rank %d", rank);
    }
    for (int32_t rank = 0; rank < ranks; rank++) {
        (void)pthread_join(threads[rank], NULL);
    }
}

int tap_end(void)
{
    int failed;

    (void)pthread_mutex_lock(&mutex);
    finish();
    printf("1..%d\n", tests);
    failed = failures;
    watching = false;
    (void)pthread_cond_signal(&changed);
    (void)pthread_mutex_unlock(&mutex);
    if (tests > 0) {
        (void)pthread_join(watchdog, NULL);
        (void)pthread_cond_destroy(&changed);
    }
    (void)fflush(stdout);
    return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
