// marking.h - calls that leave marks on the kernel's mappings: locks, policies, registrations, names; and shared memory at
// an address. README.md lists all marks.
//
// Free memory of a pool is mapped for the kernel (reserved, without access), but must not get a mark: its next owner would
// inherit it. So each call reaches only memory that is handed out, and holes give the kernel's results for holes.
#pragma once

#include "core/placement.h"

namespace mosalloc {

/// A system call that marks the kernel's mappings of a range; `rest` is its other arguments.
struct Marking {
    long (*call)(Range addresses, void* rest);
    void* rest;
    long operator()(Range addresses) const { return call(addresses, rest); }
};

/// mlock2; run `later` after the lock of the pools is released.
long lock_pages(Placement& places, Range addresses, int flags, Later* later);
long unlock_pages(Placement& places, Range addresses);
/// After mlockall(MCL_CURRENT): free memory is not the program's, so its next owner gets it unlocked.
void unlock_free(Placement& places);
/// userfaultfd: memory that is handed out, in 4KB pages; a window splits, or -EINVAL.
long watch_faults(Placement& places, Range addresses, const Marking& kernel);
/// Before mbind, which may take long and needs no lock: an error, or 0 and the memory is marked. `resets`: the default
/// policy, to which holes are no error. In windows only whole huge pages.
long allow_policy(Placement& places, Range addresses, bool resets);
/// Before set_mempolicy_home_node, which leaves memory without a policy as it is.
long allow_home_node(Placement& places, Range addresses);
/// A name in /proc/PID/maps.
long set_name(Placement& places, Range addresses, const Marking& kernel);
/// System V shared memory at an address of the program's choice.
long attach(Placement& places, uint64_t address, int id, int flags);
long detach(Placement& places, uint64_t address);
/// Addresses of the first marked memory in `addresses` that is handed out and has 4KB pages; empty if there is none.
Range marked_run(Placement& places, Range addresses);

}  // namespace mosalloc
