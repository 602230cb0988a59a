// write_gate.h - holds writers of other threads back while pages are copied.
//
// A huge page that is split, or that a forked child needs a copy of, must not change during the copy. Where the
// process has one thread, nothing is needed. Else userfaultfd write-protects the range (hugetlb: Linux 5.19): a
// writer sleeps inside its page fault, the system's own writes (read(2) into the range) included, and goes on
// when the gate opens. Catching SIGSEGV instead would show through to the program and miss the system's writes.
#pragma once

#include "core/base.h"

namespace mosalloc {

class WriteGate {
public:
    WriteGate() = default;
    ~WriteGate() { open(); }
    WriteGate(const WriteGate&) = delete;
    WriteGate& operator=(const WriteGate&) = delete;

    /// Nobody but the caller's copy touches `addresses` until `open`; may be called for several ranges. False where
    /// other threads run and cannot be held: an older kernel, or a policy against userfaultfd (docker's default).
    bool close(Range addresses);
    /// Lets the writers go on. They write to what is mapped there then.
    void open();

private:
    bool prepare();
    bool alone_ = false;
    long fd_ = -1;
};

/// Threads of this process, as the system counts them; 0 if it does not say.
uint64_t thread_count();

}  // namespace mosalloc
