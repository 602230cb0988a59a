// SPDX-License-Identifier: GPL-2.0-only
// runs.h - accesses of a repeated string instruction, merged: its stores to consecutive bytes are one run, its loads another.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct access {
    uint64_t virtual_address, physical_address;
    uint32_t bytes;
    bool store;
};

struct runs {
    struct access open[2]; // of loads, of stores; bytes 0: none
};

/// Adds an access. If it does not continue its run, the run that ends is copied to `ended`, and true is returned.
bool runs_add(struct runs *runs, const struct access *access, struct access *ended);

/// Takes a run out: first that of loads, then that of stores. False if none is left.
bool runs_take(struct runs *runs, struct access *ended);
