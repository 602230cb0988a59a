// host.h - memory of the machine that runs the imitation, for tables whose number is known only while it runs.
//
// Contract: zeroed memory, never NULL. If the machine has none left, the process prints this and ends with status 3: the
// imitation's state would be half changed. Tables whose size comes from the user (phys.h) are allocated elsewhere and reported
// as errors.
#pragma once

#include <stddef.h>

void *host_alloc(size_t bytes);

/// Grows an array of `*room` elements of `bytes` each to at least `needed`, by doubling. Returns the array, maybe at a new place.
void *host_grow(void *array, size_t *room, size_t needed, size_t bytes);
