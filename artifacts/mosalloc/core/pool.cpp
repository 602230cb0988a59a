// pool.cpp - code for every part of a pool and for parts with 4KB pages. huge_pages.cpp handles huge pages.
#include "core/pool.h"

#include <cerrno>
#include <cstring>

#include "core/advice.h"
#include "core/sys.h"
#include "core/table.h"

namespace mosalloc {

long map_small(uint64_t address, uint64_t bytes, int prot, int more_flags) {
    if (bytes == 0) return 0;
    const long at = sys::mmap(address, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | more_flags);
    if (sys::failed(at)) return at;
    // EINVAL: a kernel without transparent huge pages, where 4KB is 4KB anyway.
    const long advised = sys::madvise(address, bytes, MADV_NOHUGEPAGE);
    return advised == -EINVAL ? 0 : advised;
}

/// Does not use MAP_NORESERVE: memory without access is not charged, and when the program gets access, the kernel's rules
/// (vm.overcommit_memory) must apply as they do without the library.
long reserve_span(uint64_t base, uint64_t bytes) { return map_small(base, bytes, PROT_NONE, 0); }

bool Pool::init(uint64_t base, uint64_t bytes, const Policy& policy) {
    base_ = base;
    bytes_ = bytes;
    policy_ = policy;
    idle_bytes_ = 0;
    unforked_ = {};
    states_ = static_cast<uint8_t*>(make_table(bytes / kPage4K));
    hardware_ = static_cast<uint8_t*>(make_table(bytes / kPage2M + 1));
    return states_ != nullptr && hardware_ != nullptr && windows_.init();
}

uint64_t Pool::first_hole(Range range) const {
    for (uint64_t at = range.start; at < range.end; at += kPage4K)
        if ((*states(at) & kUsed) == 0) return at;
    return range.end;
}

bool Pool::any(Range range, uint8_t flags) const {
    uint8_t all = 0;
    const uint8_t* s = states(range.start);
    const size_t count = range.bytes() / kPage4K;
    for (size_t i = 0; i < count; ++i) all |= s[i];
    return (all & flags) != 0;
}

void Pool::mark(Range range, uint8_t state) {
    memset(states(range.start), state, range.bytes() / kPage4K);
}

void Pool::mark_odd(Range range) {
    for (uint64_t at = range.start; at < range.end; at += kPage4K) *states(at) |= kOdd;
}

long Pool::commit(Range range, int prot, bool no_reserve) {
    if (policy_.protections == Protections::exact && windows_.count() != 0) split_edges(range, prot);
    const uint8_t used = static_cast<uint8_t>(kUsed | (prot & kProtMask));
    const long result = windows_.for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes != kPage4K) return commit_huge(part, page_bytes, prot);
        long r = 0;
        if (no_reserve) r = map_small(base_ + part.start, part.bytes(), prot, MAP_NORESERVE);
        else if (prot != PROT_NONE) r = sys::mprotect(base_ + part.start, part.bytes(), prot);
        if (!sys::failed(r)) mark(part, used | (no_reserve ? kOdd : 0));
        return r;
    });
    if (sys::failed(result)) release(range);
    return result;
}

/// If the span's own mapping is still there, drops its contents and access, which is cheaper than a new mapping. If that
/// fails (memory locked by mlockall) or another mapping is there, makes a new mapping.
long Pool::release_small(Range part) {
    const bool odd = policy_.remap_released || any(part, kOdd | kForeign);
    const bool marked = odd && any(part, kOdd);
    const bool untouched = !odd && !any(part, kUsed);
    mark(part, 0);
    if (untouched) return 0;
    counters_.ended_marks += marked ? 1 : 0;
    const uint64_t at = base_ + part.start, bytes = part.bytes();
    if (!odd && !sys::failed(sys::madvise(at, bytes, MADV_DONTNEED)) &&
        !sys::failed(sys::mprotect(at, bytes, PROT_NONE)))
        return 0;
    return reserve_span(at, bytes);
}

long Pool::release(Range range) {
    return windows_.for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        return page_bytes == kPage4K ? release_small(part) : release_huge(part, page_bytes);
    });
}

long Pool::protect(Range range, int prot) {
    const Range used{range.start, first_hole(range)};
    const long result = used.empty() ? 0 : protect_used(used, prot);
    return sys::failed(result) || used.end == range.end ? result : -ENOMEM;
}

long Pool::protect_used(Range range, int prot) {
    if (windows_.count() != 0) split_edges(range, prot);
    return windows_.for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes == kPage4K) {
            const long r = sys::mprotect(base_ + part.start, part.bytes(), prot);
            if (sys::failed(r)) return r;
        }
        for (uint64_t at = part.start; at < part.end; at += kPage4K)
            *states(at) = static_cast<uint8_t>((*states(at) & ~kProtMask) | (prot & kProtMask));
        return page_bytes == kPage4K ? 0 : sync_protection(part, page_bytes);
    });
}

long Pool::advise(Range range, int advice) {
    const long known = sys::madvise(base_, 0, advice);  // nothing to do, but an unknown advice is an error
    if (sys::failed(known)) return known;
    if (advice::populates(advice)) {  // stops at the first hole
        const Range present{range.start, first_hole(range)};
        const long result = present.empty() ? 0 : advise_used(present, advice);
        return sys::failed(result) || present.end == range.end ? result : -ENOMEM;
    }
    const auto used = [&](uint64_t at) { return (*states(at) & kUsed) != 0; };
    bool holes = false;
    const long result = for_each_run(range, used, [&](Range run) -> long {
        if (used(run.start)) return advise_used(run, advice);
        holes = true;
        return 0;
    });
    return sys::failed(result) || !holes ? result : -ENOMEM;
}

long Pool::advise_used(Range range, int advice) {
    if (advice::changes_shape(advice)) {
        ++counters_.ignored_advice;
        return 0;
    }
    split_for_advice(range, advice);
    return windows_.for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes != kPage4K) return advise_huge(part, page_bytes, advice);
        if (advice::leaves_a_mark(advice)) mark_odd(part);
        mark_unforked(part, advice);
        return sys::madvise(base_ + part.start, part.bytes(), advice);
    });
}

long Pool::open_for_copy(Range range, int prot) {
    return windows_.for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes == kPage4K) return sys::mprotect(base_ + part.start, part.bytes(), prot);
        return set_hardware({align_down(part.start, page_bytes), align_up(part.end, page_bytes)},
                            prot | PROT_READ | PROT_WRITE);
    });
}

void Pool::record(Range range, const Pool& from, Range source) {
    uint64_t offset = source.start;
    for (uint64_t at = range.start; at < range.end; at += kPage4K) {
        const uint8_t keep = *states(at) & kDirty;
        *states(at) = static_cast<uint8_t>(keep | (*from.states(offset) & ~kDirty));
        if (offset + kPage4K < source.end) offset += kPage4K;
    }
}

long Pool::renew(Range range) {
    const auto prot = [&](uint64_t at) { return protection_at(at); };
    return for_each_run(range, prot, [&](Range run) -> long {
        const int recorded = prot(run.start);
        const long released = release(run);
        return sys::failed(released) ? released : commit(run, recorded);
    });
}

void Pool::adopt_foreign(Range range, int prot) {
    mark(range, static_cast<uint8_t>(kUsed | kForeign | (prot & kProtMask)));
}

}  // namespace mosalloc
