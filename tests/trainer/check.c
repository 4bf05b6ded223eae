/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int tests, failures;

bool check(bool good, const char *format, ...)
{
    va_list arguments;

    tests++;
    failures += !good;
    printf("%sok %d - ", good ? "" : "not ", tests);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    return good;
}

void require(bool good, const char *what)
{
    if (!good) {
        printf("Bail out! %s\n", what);
        exit(1);
    }
}

int check_end(void)
{
    printf("1..%d\n", tests);
    return failures ? 1 : 0;
}
