// small_pages.cpp - the parts of a pool with 4KB pages: handed out, taken back, replaced.
//
// A hole in a 4KB part costs the kernel two more mappings (accessible, no access, accessible), where plain munmap costs
// one, and the kernel allows 65530 (vm.max_map_count). So past a number of holes (Policy::most_holes), or when the kernel
// refuses to remove the access, a hole stays open: it loses its contents and is marked kOpen, but keeps its access.
//
// A call that fails loses nothing. Dropping contents before removing access is faster, and safe: when the second step
// fails, the hole stays open, and the call succeeds.
#include <cerrno>
#include <cstring>

#include "core/advice.h"
#include "core/pool.h"
#include "core/sys.h"

namespace mosalloc {
namespace {

/// The next read returns zero, also if the memory is locked.
long drop_contents(uint64_t address, uint64_t bytes) {
    const long result = sys::madvise(address, bytes, MADV_DONTNEED);
    return sys::failed(result) ? sys::madvise(address, bytes, advice::kDontneedLocked) : result;
}

}  // namespace

/// `part` is free from now on, with any access.
void Pool::leave_open(Range part) {
    mark(part, kOpen);
    has_open_ = true;
    ++counters_.open_holes;
}

/// Memory of an open hole may have been written after it was freed, so it is dropped again.
long Pool::commit_open(Range part, int prot) {
    const uint64_t at = base_ + part.start, bytes = part.bytes();
    const bool dropped = !policy_.remap_released && !sys::failed(drop_contents(at, bytes));
    if (!dropped) {
        const long opened = sys::mprotect(at, bytes, PROT_READ | PROT_WRITE);
        if (sys::failed(opened)) return opened;
        memset(reinterpret_cast<void*>(at), 0, bytes);
    }
    return sys::mprotect(at, bytes, prot);  // also for PROT_NONE
}

long Pool::commit_small(Range part, int prot, bool no_reserve) {
    const uint64_t at = base_ + part.start, bytes = part.bytes();
    long result = 0;
    if (no_reserve) result = map_small(at, bytes, prot, MAP_NORESERVE);
    else if (has_open_ && any(part, kOpen)) result = commit_open(part, prot);
    else if (prot != PROT_NONE) result = sys::mprotect(at, bytes, prot);
    if (!sys::failed(result)) {
        mark(part, static_cast<uint8_t>(kUsed | (prot & kProtMask) | (no_reserve ? kOdd : 0)));
        return 0;
    }
    // The kernel may have changed the first of several mappings.
    if (sys::failed(sys::mprotect(at, bytes, PROT_NONE))) leave_open(part);
    else mark(part, 0);
    return result;
}

/// If the span's own mapping is still there, drops its contents and access, which is cheaper than a new mapping. If that
/// fails (memory locked by mlockall) or another mapping is there, makes a new mapping. If the kernel refuses that too,
/// memory without marks stays open; otherwise `part` is as before.
long Pool::release_small(Range part, bool crowded) {
    const bool odd = any(part, kOdd | kForeign);
    if (!odd && !any(part, kUsed)) return 0;  // what is open stays open
    const uint64_t at = base_ + part.start, bytes = part.bytes();
    const bool close = odd || !crowded || bytes >= kPage2M;
    long result = -ENOMEM;
    if (close && !odd && !policy_.remap_released) {
        result = sys::madvise(at, bytes, MADV_DONTNEED);
        if (!sys::failed(result)) result = sys::mprotect(at, bytes, PROT_NONE);
    }
    if (close && sys::failed(result)) result = reserve_span(at, bytes);
    if (!sys::failed(result)) {
        counters_.ended_marks += any(part, kOdd) ? 1 : 0;
        mark(part, 0);
        return 0;
    }
    if (odd || sys::failed(drop_contents(at, bytes))) return result;
    leave_open(part);
    return 0;
}

/// As release and commit, but if it fails, `range` is as before: one call of the kernel replaces the contents.
long Pool::replace(Range range, int prot, bool no_reserve) {
    const uint8_t used = static_cast<uint8_t>(kUsed | (prot & kProtMask) | (no_reserve ? kOdd : 0));
    const auto small = [&](Range part) -> long {
        const long result = map_small(base_ + part.start, part.bytes(), prot, no_reserve ? MAP_NORESERVE : 0);
        if (sys::failed(result)) return result;
        counters_.ended_marks += any(part, kOdd) ? 1 : 0;
        mark(part, used);
        return 0;
    };
    if (!touches_window(range)) return small(range);
    // First what can fail: huge pages that are missing, then the kernel's refusals.
    long result = windows_.for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        return page_bytes == kPage4K || !policy_.on_demand ? 0 : keep_present(part, page_bytes);
    });
    if (sys::failed(result)) return result;
    result =
        windows_.for_each_part(range, [&](Range part, uint64_t page_bytes) -> long { return page_bytes == kPage4K ? small(part) : 0; });
    if (sys::failed(result)) return result;
    windows_.for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes != kPage4K) forget_huge(part, page_bytes);
        return 0;
    });
    if (policy_.protections == Protections::exact) split_edges(range, prot);
    return windows_.for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes != kPage4K) return commit_huge(part, page_bytes, prot);
        return all_used(part) ? 0 : commit_small(part, prot, no_reserve);  // a huge page that was split just now
    });
}

}  // namespace mosalloc
