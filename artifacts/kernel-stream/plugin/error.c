// SPDX-License-Identifier: GPL-2.0-only
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void stop(const char *asked, const char *remedy, const char *found, ...) {
    va_list arguments;
    fprintf(stderr, "tessera-kernel-stream: %s: ", asked);
    va_start(arguments, found);
    vfprintf(stderr, found, arguments);
    va_end(arguments);
    fprintf(stderr, "\n  what to do: %s\n", remedy);
    exit(2);
}
