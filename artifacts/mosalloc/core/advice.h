// advice.h - madvise's newer advice by name; headers of older systems do not have all of it. The kernel that runs
// decides what it knows: Pool::advise asks it first.
#pragma once

#include <sys/mman.h>

namespace mosalloc::advice {

constexpr int kCold = 20, kPageout = 21;                // Linux 5.4
constexpr int kPopulateRead = 22, kPopulateWrite = 23;  // 5.14
constexpr int kDontneedLocked = 24;                     // 5.18
constexpr int kCollapse = 25;                           // 6.1
constexpr int kGuardInstall = 102, kGuardRemove = 103;  // 6.13

/// Would change the page size; the layout decides that, not the program.
constexpr bool changes_shape(int a) { return a == MADV_HUGEPAGE || a == MADV_NOHUGEPAGE || a == kCollapse; }
/// Prepares for access, in the order of the addresses, and ends at the first page that has no such access.
constexpr bool populates(int a) { return a == kPopulateRead || a == kPopulateWrite; }
/// What is read next is zero.
constexpr bool drops(int a) { return a == MADV_DONTNEED || a == kDontneedLocked; }
/// Takes access away until it is removed; the kernel's answer on huge pages is EINVAL, and callers have another way.
constexpr bool guards(int a) { return a == kGuardInstall || a == kGuardRemove; }
/// Holds for every 4KB page alone, and secrets or the wait for a fault may depend on it: a huge page cannot wipe,
/// leaves out or guards as a whole only.
constexpr bool per_page(int a) {
    return a == MADV_WIPEONFORK || a == MADV_KEEPONFORK || a == MADV_DONTFORK || a == MADV_DOFORK ||
           guards(a);
}
/// May be left undone without a program's notice; hugetlb refuses it.
constexpr bool only_a_hint(int a) { return a == MADV_FREE || a == kCold || a == kPageout; }
/// Changes the mapping itself; a new owner of the memory must not inherit it.
constexpr bool leaves_a_mark(int a) {
    return !(a == MADV_WILLNEED || drops(a) || populates(a) || only_a_hint(a));
}

}  // namespace mosalloc::advice
