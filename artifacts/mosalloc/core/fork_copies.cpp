// fork_copies.cpp - copies of windows in 4KB pages for a forked child.
//
// The parent keeps its huge pages and their frames: other threads go on, and what is pinned stays where it is. The
// copies are made beside the windows before the fork, while the gate blocks writers. The kernel leaves the windows out
// of the child (MADV_DONTFORK), and the child moves the copies into their place.
//
// Cost: one copy of the used memory, and that memory as 4KB pages for the child. Writers to windows wait that long.
#include <cerrno>

#include "core/pool.h"
#include "core/sys.h"
#include "core/write_gate.h"

namespace mosalloc {
namespace {

/// Untouched parts cost nothing, and the child's memory is not charged in advance, like a hugetlb mapping.
long map_copy(uint64_t bytes) {
    const long at = sys::mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    if (!sys::failed(at)) sys::madvise(static_cast<uint64_t>(at), bytes, MADV_NOHUGEPAGE);
    return at;
}

}  // namespace

long Pool::copy_for_child(WriteGate* gate) {
    for (size_t i = 0; i < windows_.count(); ++i) {
        const WindowList::Window& w = windows_.at(i);
        const long kept_out = sys::madvise(base_ + w.range.start, w.range.bytes(), MADV_DONTFORK);
        if (sys::failed(kept_out)) return kept_out;
        if (w.copy != 0 || !any_used(w.range)) continue;
        if (gate != nullptr && !gate->close(addresses(w.range))) return -EAGAIN;
        const long made = map_copy(w.range.bytes());
        if (sys::failed(made)) return made;
        windows_.set_copy(i, static_cast<uint64_t>(made));
        for (uint64_t at = w.range.start; at < w.range.end; at += w.page_bytes) {
            const Range page{at, at + w.page_bytes};
            if (hardware(at) == kAbsent || !any_used(page) || any(page, kUnforked)) continue;
            const long copied = copy_used(page, static_cast<uint64_t>(made) + (at - w.range.start));
            if (sys::failed(copied)) return copied;
        }
    }
    return 0;
}

void Pool::drop_copies(WriteGate* gate) {
    for (size_t i = 0; i < windows_.count(); ++i) {
        const WindowList::Window& w = windows_.at(i);
        sys::madvise(base_ + w.range.start, w.range.bytes(), MADV_DOFORK);
        for_each_run_with(w.range, kUnforked, [&](Range run) { return sys::madvise(base_ + run.start, run.bytes(), MADV_DONTFORK); });
        gate->open(addresses(w.range));
        if (w.copy != 0) sys::munmap(w.copy, w.range.bytes());
        windows_.set_copy(i, 0);
    }
}

long Pool::take_copies() {
    for (size_t i = 0; i < windows_.count(); ++i) {
        const WindowList::Window& w = windows_.at(i);
        const uint64_t at = base_ + w.range.start, bytes = w.range.bytes();
        const long result = w.copy == 0 ? reserve_span(at, bytes) : sys::mremap(w.copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at);
        if (sys::failed(result)) return result;
        for (uint64_t p = w.range.start; p < w.range.end; p += kPage4K)
            if ((*states(p) & kUsed) == 0) *states(p) = 0;
        if (w.copy != 0) settle_small(w.range, PROT_READ | PROT_WRITE);
        for_each_run_with(w.range, kUnforked, [&](Range run) { return sys::munmap(base_ + run.start, run.bytes()); });
    }
    windows_.clear();
    return 0;
}

}  // namespace mosalloc
