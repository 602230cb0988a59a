// advice.h - names of madvise's newer advice values, which headers of older systems lack. Pool::advise first asks the
// running kernel whether it knows a value.
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
/// Populates pages in the order of addresses, and stops at the first page that does not allow the access.
constexpr bool populates(int a) { return a == kPopulateRead || a == kPopulateWrite; }
/// The next read returns zero.
constexpr bool drops(int a) { return a == MADV_DONTNEED || a == kDontneedLocked; }
/// Removes access until the guard is removed. The kernel returns EINVAL for huge pages; callers can use mprotect there.
constexpr bool guards(int a) { return a == kGuardInstall || a == kGuardRemove; }
/// Programs rely on it for secrets or for faults, and the kernel returns EINVAL for huge pages, even for whole ones.
constexpr bool never_huge(int a) { return a == MADV_WIPEONFORK || a == kGuardInstall; }
/// Ends one of those: nothing to do for a huge page.
constexpr bool undoes_never_huge(int a) { return a == MADV_KEEPONFORK || a == kGuardRemove; }
/// Huge pages take it as a whole, and programs rely on it.
constexpr bool whole_pages(int a) { return a == MADV_DONTFORK || a == MADV_DOFORK; }
/// Can be ignored without an effect that a program can see; hugetlb rejects it.
constexpr bool only_a_hint(int a) { return a == MADV_FREE || a == kCold || a == kPageout; }
/// Changes the mapping itself; a new owner of the memory must not inherit it.
constexpr bool leaves_a_mark(int a) { return !(a == MADV_WILLNEED || drops(a) || populates(a) || only_a_hint(a)); }

/// Concerns the contents only, so that it may come after the lock is released; it can block.
constexpr bool comes_later(int a) { return !leaves_a_mark(a) || a == MADV_REMOVE; }

}  // namespace mosalloc::advice
