#include "preload/drain.h"

#include <cstdlib>

#include "core/sys.h"
#include "preload/other_libc.h"

namespace mosalloc {
namespace {

/// Allocates blocks of one size until one lies outside the kernel's heap, and frees that one.
void drain(size_t bytes, uint64_t heap_end) {
    for (;;) {
        void* volatile block = malloc(bytes);  // volatile: the compiler may drop a malloc that is only freed
        if (block == nullptr) return;
        const uint64_t at = reinterpret_cast<uint64_t>(block);
        constexpr uint64_t kNear = uint64_t{1} << 30;  // the heap is small before the program starts
        if (at >= heap_end || at + kNear < heap_end) {
            free(block);
            return;
        }
    }
}

}  // namespace

void drain_kernel_heap() {
    if (__curbrk == nullptr) return;
    const uint64_t heap_end = static_cast<uint64_t>(sys::brk(0));
    constexpr size_t kSmallest = 24, kLargestCached = 1032, kStep = 16;  // malloc's size classes with a cache
    for (size_t bytes = 64 << 10; bytes > kLargestCached; bytes /= 2) drain(bytes, heap_end);
    for (size_t bytes = kLargestCached; bytes >= kSmallest; bytes -= kStep) drain(bytes, heap_end);
}

}  // namespace mosalloc
