// pass.h - one pass: map new memory, touch each of its pages in order with the clock around, unmap it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kinds.h"

struct pass {
    uint64_t minor_faults; // of the process during the touches (getrusage)
    uint64_t major_faults;
    uint64_t huge_bytes; // of the mapping at its end (AnonHugePages in /proc/self/smaps)
};

/// Number of touches of `bytes` of this kind.
size_t pass_touches(const struct kind *kind, size_t bytes);

/// Runs a pass over `bytes`, which start at a multiple of 2MB. `cycles` takes the latency of each touch in TSC cycles.
/// `file` is the file of kinds that map one.
struct pass pass_run(const struct kind *kind, int file, size_t bytes, uint32_t *cycles);
