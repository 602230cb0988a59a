// faults.h - userfaultfd over the memory of pools.
//
// Registration: only memory that is handed out, in 4KB pages. The kernel lets calls wait for the handler: mlock and
// MADV_POPULATE until it has filled the pages, munmap and MADV_DONTNEED until it has read their events
// (UFFD_FEATURE_EVENT_*). The handler may map memory before, so these callers must not hold the lock: core/later.h for the
// first and madvise, unmap_watched for munmap.
#pragma once

#include <linux/userfaultfd.h>

#include "core/base.h"

namespace mosalloc {

constexpr unsigned long kUserfaultfdCalls = UFFDIO;  ///< _IOC_TYPE of its requests

/// An ioctl of this type; the kernel's result.
long call_userfaultfd(int fd, unsigned long request, void* argument);

/// A userfaultfd with these events exists.
bool events_expected();
/// Before an munmap: without the lock, replaces the marked memory of `pages` in 4KB parts by reserved memory.
void unmap_watched(Range pages);

}  // namespace mosalloc
