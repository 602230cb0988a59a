// forks.h - a child must find a consistent lock, a map of its own, and memory that it may write to.
#pragma once

#include "core/lock.h"

namespace mosalloc {

/// Registers the fork handlers.
void watch_forks();

/// Holds the lock over one call. A process that was forked without fork handlers (_Fork, clone) is noticed here:
/// the thread that held the lock may not exist in it.
class Entry {
public:
    Entry();
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
};

}  // namespace mosalloc
