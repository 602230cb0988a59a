// own_memory.h - memory of the program outside the pools that the layout does not have or does not reach: huge pages that
// it maps itself, and parts of reservations. The hooks tell of mappings that the kernel made.
#pragma once

#include "core/base.h"

namespace mosalloc {

/// Whether a mapping has huge pages: MAP_HUGETLB, or a file of hugetlbfs. Asked only where it may: it costs a system call.
bool asks_huge_pages(int flags, int fd);
void count_own_huge_pages(uint64_t bytes, int flags, int fd);

/// A part of a reservation was replaced by a file.
constexpr int kReplaced = -1;
/// After a call of the kernel's with this result: a part of a reservation has a new protection, or is gone. Returns it.
long change_reservation(long result, uint64_t addr, uint64_t bytes, int prot);
/// munmap by the kernel. Reservations learn of it before: then no other thread can have the addresses again.
long unmap_reservation(uint64_t addr, uint64_t bytes);

}  // namespace mosalloc
