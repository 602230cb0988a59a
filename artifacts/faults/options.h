// options.h - the command line.
#pragma once

#include <stddef.h>

#include "kinds.h"

struct options {
    const struct kind *kind;
    size_t bytes;       // of a pass; a multiple of 2MB
    unsigned passes;    // that are printed, warm-up passes included
    unsigned processor; // that the program is bound to
    const char *folder; // of the file
    const char *out;    // CSV of the latencies
};

/// Reads the command line. Ends the program if it is wrong.
struct options options_read(int count, char **arguments);
