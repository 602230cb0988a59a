// replay.h - a file of events, run on a memory (`tessera-phys --help` has the format).
//
// Contract: the file is read and run line by line; an impossible event stops the run with an error, after the events above it ran. The
// same memory and file give the same output bytes.
#pragma once

#include "phys/phys.h"

enum { REPLAY_MOST_IDS = 1 << 26 };

struct replay_counts {
    uint64_t allocs, refused, frees;
    uint64_t skipped;      // frees and lru lines of an ID whose alloc got nothing
};

/// Prints outcomes to `out`, and with `decisions` each event and what it decided. `name` is for messages.
bool replay_run(struct phys *p, const char *text, size_t bytes, const char *name, bool decisions, FILE *out, struct replay_counts *counts,
                struct error *error);
