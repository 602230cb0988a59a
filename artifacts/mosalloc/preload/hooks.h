// hooks.h - the replacements of libc's memory functions.
#pragma once

#include "core/lock.h"
#include "core/space.h"
#include "preload/outside.h"
#include "preload/patch.h"
#include "preload/reservations.h"

namespace mosalloc {

/// Set once at start, before the first jump is written.
struct Runtime {
    Space space;
    Lock lock;
    Outside outside;
    Reservations reservations;
    mosalloc_pool_map* map = nullptr;
    bool hints_in_pool = false;   ///< an address hint does not keep memory out of the anonymous pool
    bool stacks_in_pool = false;  ///< MAP_STACK neither
};
Runtime& runtime();

/// The range as pages, if it begins at a page and a part of it is in a pool; else empty, and the kernel handles the call.
Range pages_in_pools(uint64_t start, uint64_t bytes);

/// Symbol and replacement of every function that is patched.
const Patch* hooks(size_t* count);

}  // namespace mosalloc
