// lock.h - the one lock of the allocator.
//
// Signal handlers may call mmap, so the holder blocks all signals: a handler could otherwise wait for the thread that it
// interrupted. fork holds the lock across the copy. The lock is recursive, because a later fork handler of the program
// may map memory during that time.
//
// The owner is the kernel's number of the task, not a thread-local variable: tasks of clone(CLONE_VM) may share one
// thread-local storage. It is no pthread mutex either: those need an initialised libc, and the order of constructors
// is not guaranteed. Cost without contention: three system calls (gettid, and sigprocmask twice).
#pragma once

#include "core/base.h"

namespace mosalloc {

class Lock {
public:
    void acquire();
    void release();
    /// In a forked child: its thread is a copy of the owner under another number.
    void adopt();
    /// In a forked child whose parent held it in another thread.
    void reset();
    /// Whether the calling task holds it.
    bool is_mine() const;
    /// How often the owner was killed in here and another task took over; the tables may then be incomplete.
    uint64_t stolen() const { return stolen_; }

private:
    void wait(uint32_t seen);

    uint32_t word_ = 0;  ///< 0 free; else the owner's number, and kWaiters if others wait
    int depth_ = 0;
    uint64_t signals_ = 0;  ///< the owner's mask from before
    uint64_t stolen_ = 0;
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
