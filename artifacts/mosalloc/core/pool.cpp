// pool.cpp - code for every part of a pool and for parts with 4KB pages. huge_pages.cpp handles huge pages.
#include "core/pool.h"

#include <cerrno>
#include <cstring>

#include "core/advice.h"
#include "core/later.h"
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

void Pool::mark(Range range, uint8_t state) { memset(states(range.start), state, range.bytes() / kPage4K); }

void Pool::mark_odd(Range range) {
    for (uint64_t at = range.start; at < range.end; at += kPage4K) *states(at) |= kOdd;
}

long Pool::commit(Range range, int prot, bool no_reserve) {
    if (policy_.protections == Protections::exact && windows_.count() != 0) split_edges(range, prot);
    const long result = windows_.for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        return page_bytes == kPage4K ? commit_small(part, prot, no_reserve) : commit_huge(part, page_bytes, prot);
    });
    if (sys::failed(result)) release(range);
    return result;
}

long Pool::release(Range range, bool crowded) {
    if (!touches_window(range)) return release_small(range, crowded);
    // First the parts that need a new mapping: if the kernel refuses it, nothing is lost yet.
    const long result = windows_.for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        return page_bytes == kPage4K && any(part, kOdd | kForeign) ? release_small(part, crowded) : 0;
    });
    if (sys::failed(result)) return result;
    return windows_.for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        return page_bytes == kPage4K ? release_small(part, crowded) : release_huge(part, page_bytes);
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

long Pool::advise(Range range, int advice, Later* later) {
    const long known = sys::madvise(base_, 0, advice);  // nothing to do, but an unknown advice is an error
    if (sys::failed(known)) return known;
    if (advice::populates(advice)) {  // stops at the first hole
        const Range present{range.start, first_hole(range)};
        const long result = present.empty() ? 0 : advise_used(present, advice, later);
        return sys::failed(result) || present.end == range.end ? result : -ENOMEM;
    }
    const auto used = [&](uint64_t at) { return (*states(at) & kUsed) != 0; };
    bool holes = false;
    const long result = for_each_run(range, used, [&](Range run) -> long {
        if (used(run.start)) return advise_used(run, advice, later);
        holes = true;
        return 0;
    });
    return sys::failed(result) || !holes ? result : -ENOMEM;
}

long Pool::advise_used(Range range, int advice, Later* later) {
    if (advice::changes_shape(advice)) {
        ++counters_.ignored_advice;
        return 0;
    }
    split_for_advice(range, advice);
    return windows_.for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes != kPage4K) return advise_huge(part, page_bytes, advice, later);
        if (advice::leaves_a_mark(advice)) mark_odd(part);
        mark_unforked(part, advice);
        if (advice::comes_later(advice)) return later->add(SYS_madvise, addresses(part), advice);
        return sys::madvise(base_ + part.start, part.bytes(), advice);
    });
}

long Pool::open_for_copy(Range range, int prot) {
    return windows_.for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes == kPage4K) return sys::mprotect(base_ + part.start, part.bytes(), prot);
        return set_hardware({align_down(part.start, page_bytes), align_up(part.end, page_bytes)}, prot | PROT_READ | PROT_WRITE);
    });
}

void Pool::record(Range range, const Pool& from, Range source) {
    uint64_t offset = source.start;
    for (uint64_t at = range.start; at < range.end; at += kPage4K) {
        const uint8_t keep = *states(at) & kDirty;
        *states(at) = static_cast<uint8_t>(keep | (*from.states(offset) & ~kDirty));
        if (offset + kPage4K < source.end) offset += kPage4K;
    }
    if (any(range, kUnforked)) note_unforked(range);
}

void Pool::close_after_copy(Range range) {
    windows_.for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes != kPage4K) return sync_protection(part, page_bytes), 0;
        const auto prot = [&](uint64_t at) { return protection_at(at); };
        return for_each_run(part, prot, [&](Range run) -> long {
            sys::mprotect(base_ + run.start, run.bytes(), prot(run.start));
            return 0;
        });
    });
}

long Pool::renew(Range range) {
    const auto prot = [&](uint64_t at) { return protection_at(at); };
    return for_each_run(range, prot, [&](Range run) -> long { return replace(run, prot(run.start), false); });
}

void Pool::adopt_foreign(Range range, int prot) { mark(range, static_cast<uint8_t>(kUsed | kForeign | (prot & kProtMask))); }

}  // namespace mosalloc
