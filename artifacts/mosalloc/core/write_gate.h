// write_gate.h - blocks all writers while pages are copied.
//
// The contents of a huge page must not change while it is split or copied for a forked child. userfaultfd
// write-protects the range (hugetlb: Linux 5.19): a writer sleeps in its page fault until the gate opens. This includes
// tasks that share the memory and are no threads of this process (clone, vfork), and writes by the kernel, as in read(2).
// For this reason a userfaultfd for user-mode faults only (UFFD_USER_MODE_ONLY) is not enough: read(2) would fail with
// EFAULT. A SIGSEGV handler would be visible to the program and would miss the kernel's writes. Devices write past the
// gate: see pins.h.
#pragma once

#include "core/base.h"

namespace mosalloc {

class WriteGate {
public:
    WriteGate() = default;
    ~WriteGate() { leave(); }
    WriteGate(const WriteGate&) = delete;
    WriteGate& operator=(const WriteGate&) = delete;

    /// Blocks all writers of `addresses` until `open`, the caller as well; may be called for several ranges. Returns
    /// false if that is impossible: an older kernel, a policy against userfaultfd (docker's default, or an ordinary user),
    /// or a program that uses userfaultfd on this memory itself.
    bool close(Range addresses);
    /// Lets the writers of `addresses` go on. They write to what is mapped there then.
    void open(Range addresses);
    /// Gives the descriptor back. Ranges must be open: a child that was forked meanwhile may hold the descriptor, too.
    void leave();

private:
    bool prepare();
    long fd_ = -1;
};

/// Threads of this process, as the system counts them; 0 if it does not say.
uint64_t thread_count();

}  // namespace mosalloc
