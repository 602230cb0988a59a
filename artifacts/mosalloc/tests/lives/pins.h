// pins.h - memory whose frames the kernel keeps: the registered buffer of an io_uring.
#pragma once

#include "life.h"
#include "ring.h"

namespace lives {

constexpr unsigned kPinnedPages = 20;

/// One mapping: a page, the buffer, a page. The program protects the outer pages while the buffer is pinned.
struct Pinned {
    Ring ring;
    char* base = nullptr;
    char shadow[kPinnedPages * kPage];  ///< what the buffer must hold; not in the heap
    char* buffer() const { return base + kPage; }
};

/// In a forked child: the ring belongs to the parent, the memory is a copy.
void leave_ring(Self& s);
/// Logs how many bytes of `at` are not as in `expected`.
void compare(Self& s, const char* at, const char* expected, size_t bytes);
/// A descriptor of the data file. `direct` goes past the page cache where the file system can do that.
int data_file(const Options& options, bool direct);

}  // namespace lives
