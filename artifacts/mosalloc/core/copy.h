// copy.h - copies the contents of pages.
#pragma once

#include "core/base.h"

namespace mosalloc {

/// Copies `from` to `to`, which reads zero; pages that are all zero are skipped, so sparse memory stays sparse.
/// Returns 0.
long copy_pages(uint64_t from, uint64_t to, uint64_t bytes);

/// As copy_pages, for memory without access: reads it through /proc/self/mem, so that no other thread gets access
/// meanwhile. Not for 1GB pages. Uses one static buffer: the caller holds the lock of the pools. Returns the kernel's
/// error if it does not allow this (a strict proc_mem.force_override, no /proc).
long copy_pages_without_access(uint64_t from, uint64_t to, uint64_t bytes);

}  // namespace mosalloc
