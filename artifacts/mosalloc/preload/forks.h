// forks.h - fork handlers: a child needs a consistent lock, its own pool map, and memory that it may write to.
#pragma once

#include "core/lock.h"

namespace mosalloc {

/// Registers the fork handlers.
void watch_forks();

/// True in a process that was forked without fork handlers, before its first Entry.
bool is_new_process();

/// Holds the lock during one call. Detects a process that was forked without fork handlers (_Fork, clone): the thread
/// that held the lock may not exist in it.
class Entry {
public:
    Entry();
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
};

}  // namespace mosalloc
