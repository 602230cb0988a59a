// hooks.h - what runs in place of libc's memory functions.
#pragma once

#include "core/lock.h"
#include "core/space.h"
#include "preload/patch.h"

namespace mosalloc {

/// Set once at start, before the first jump is written.
struct Runtime {
    Space space;
    Lock lock;
    mosalloc_pool_map* map = nullptr;
};
Runtime& runtime();

/// Symbol and replacement of every function that is patched.
const Patch* hooks(size_t* count);

/// Registers the fork handlers: the lock is consistent in the child, and the child keeps its own pool map.
void watch_forks();

}  // namespace mosalloc
