// lock.h - the one lock of the allocator.
//
// Signal handlers may call mmap, so the holder blocks all signals: a handler could otherwise wait for the thread that it
// interrupted. fork holds the lock across the copy. The lock is recursive, because a later fork handler of the program
// may map memory during that time. It does not use pthread mutexes: they need an initialised libc, and the order of
// constructors is not guaranteed.
#pragma once

#include "core/base.h"

namespace mosalloc {

class Lock {
public:
    void acquire();
    void release();
    /// In a forked child whose parent held it in another thread.
    void reset() { word_ = 0; }
    /// Whether the calling thread holds it.
    static bool is_mine();

private:
    int word_ = 0;  ///< 0 free, 1 held, 2 held and others wait
};

class Guard {
public:
    explicit Guard(Lock& lock) : lock_(lock) { lock_.acquire(); }
    ~Guard() { lock_.release(); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

private:
    Lock& lock_;
};

}  // namespace mosalloc
