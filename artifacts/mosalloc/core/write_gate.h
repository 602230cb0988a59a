// write_gate.h - blocks writers in other threads while pages are copied.
//
// The contents of a huge page must not change while it is split or copied for a forked child. A process with one thread
// needs nothing for this. Otherwise userfaultfd write-protects the range (hugetlb: Linux 5.19): a writer sleeps in its
// page fault until the gate opens. This includes writes by the kernel, as in read(2). A SIGSEGV handler would be visible
// to the program and would miss the kernel's writes.
#pragma once

#include "core/base.h"

namespace mosalloc {

class WriteGate {
public:
    WriteGate() = default;
    ~WriteGate() { open(); }
    WriteGate(const WriteGate&) = delete;
    WriteGate& operator=(const WriteGate&) = delete;

    /// Blocks all other writers of `addresses` until `open`; may be called for several ranges. Returns false if other
    /// threads run and cannot be blocked: an older kernel, or a policy against userfaultfd (docker's default).
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
