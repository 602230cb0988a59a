// faults.h - userfaultfd over the memory of pools.
//
// Registration: only memory that is handed out, in 4KB pages. Events (UFFD_FEATURE_EVENT_*): the kernel lets munmap and
// madvise wait until the handler has read the event. The handler may map memory before it reads, so the caller must not hold
// the lock then.
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
/// madvise that drops contents, without the lock. False if the caller must do it: other memory than marked 4KB parts.
bool drop_watched(Range pages, int advice, long* result);

}  // namespace mosalloc
