// write_gate.h - blocks all writers while pages are copied.
//
// The contents of a huge page must not change while it is split or copied for a forked child. userfaultfd
// write-protects the range (hugetlb: Linux 5.19): a writer sleeps in its page fault until the gate opens. This includes
// tasks that share the memory and are no threads of this process (clone, vfork), and writes by the kernel, as in read(2).
// A SIGSEGV handler would be visible to the program and would miss the kernel's writes. Devices write past the gate: see
// pins.h.
//
// An ordinary user gets a userfaultfd for faults in user mode only (UFFD_USER_MODE_ONLY): the kernel's writes to the
// range fail with EFAULT while the gate is closed. So it closes only while all other threads sleep in system calls that
// do not concern the range. What remains is a thread that wakes up and makes such a call in that moment.
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
    /// false if that is impossible: an older kernel, a policy against userfaultfd (docker's default), an ordinary user whose
    /// other threads do not sleep, or a program that uses userfaultfd on this memory itself.
    bool close(Range addresses);
    /// Lets the writers of `addresses` go on. They write to what is mapped there then.
    void open(Range addresses);
    /// Gives the descriptor back. Ranges must be open: a child that was forked meanwhile may hold the descriptor, too.
    void leave();

private:
    bool prepare();
    bool protect(Range addresses);
    long fd_ = -1;
    bool user_only_ = false;
};

}  // namespace mosalloc
