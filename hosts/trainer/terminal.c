/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_coloured(int descriptor)
{
    const char *const term = getenv("TERM");
    const char *const no_color = getenv("NO_COLOR");

    return isatty(descriptor) == 1 && term != NULL && strcmp(term, "dumb") != 0 &&
           (no_color == NULL || no_color[0] == '\0');
}

int terminal_columns(int descriptor)
{
    struct winsize size;

    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}
