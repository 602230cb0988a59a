#include "core/small_parts.h"

#include <cstring>

#include "core/advice.h"
#include "core/sys.h"

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

namespace {

/// The next read returns zero, also if the memory is locked.
long drop_contents(uint64_t address, uint64_t bytes) {
    const long result = sys::madvise(address, bytes, MADV_DONTNEED);
    return sys::failed(result) ? sys::madvise(address, bytes, advice::kDontneedLocked) : result;
}

uint8_t used(int prot, bool no_reserve) { return static_cast<uint8_t>(kUsed | (prot & kProtMask) | (no_reserve ? kOdd : 0)); }

}  // namespace

/// `part` is free from now on, with any access.
void SmallParts::leave_open(Range part) {
    pool_->pages.set(part, kOpen);
    has_open_ = true;
    ++pool_->counters.open_holes;
}

/// Memory of an open hole may have been written after it was freed, so it is dropped again.
long SmallParts::commit_open(Range part, int prot) {
    const uint64_t at = pool_->base() + part.start, bytes = part.bytes();
    const bool dropped = !pool_->policy.remap_released && !sys::failed(drop_contents(at, bytes));
    if (!dropped) {
        const long opened = sys::mprotect(at, bytes, PROT_READ | PROT_WRITE);
        if (sys::failed(opened)) return opened;
        memset(reinterpret_cast<void*>(at), 0, bytes);
    }
    return sys::mprotect(at, bytes, prot);  // also for PROT_NONE
}

long SmallParts::commit(Range part, int prot, bool no_reserve) {
    const uint64_t at = pool_->base() + part.start, bytes = part.bytes();
    long result = 0;
    if (no_reserve) result = map_small(at, bytes, prot, MAP_NORESERVE);
    else if (any_open(part)) result = commit_open(part, prot);
    else if (prot != PROT_NONE) result = sys::mprotect(at, bytes, prot);
    if (!sys::failed(result)) {
        pool_->pages.set(part, used(prot, no_reserve));
        return 0;
    }
    // The kernel may have changed the first of several mappings.
    if (sys::failed(sys::mprotect(at, bytes, PROT_NONE))) leave_open(part);
    else pool_->pages.set(part, 0);
    return result;
}

/// If the span's own mapping is still there, drops its contents and access, which is cheaper than a new mapping. If that
/// fails (memory locked by mlockall) or another mapping is there, makes a new mapping. If the kernel refuses that too,
/// memory without marks stays open; otherwise `part` is as before.
long SmallParts::release(Range part, bool crowded) {
    PageStates& pages = pool_->pages;
    const bool odd = pages.any(part, kOdd | kForeign);
    if (!odd && !pages.any_used(part)) return 0;  // what is open stays open
    const uint64_t at = pool_->base() + part.start, bytes = part.bytes();
    const bool close = odd || !crowded || bytes >= kPage2M;
    long result = -ENOMEM;
    if (close && !odd && !pool_->policy.remap_released) {
        result = sys::madvise(at, bytes, MADV_DONTNEED);
        if (!sys::failed(result)) result = sys::mprotect(at, bytes, PROT_NONE);
    }
    if (close && sys::failed(result)) result = reserve_span(at, bytes);
    if (!sys::failed(result)) {
        pool_->counters.ended_marks += pages.any(part, kOdd) ? 1 : 0;
        pages.set(part, 0);
        return 0;
    }
    if (odd || sys::failed(drop_contents(at, bytes))) return result;
    leave_open(part);
    return 0;
}

long SmallParts::replace(Range part, int prot, bool no_reserve) {
    const long result = map_small(pool_->base() + part.start, part.bytes(), prot, no_reserve ? MAP_NORESERVE : 0);
    if (sys::failed(result)) return result;
    pool_->counters.ended_marks += pool_->pages.any(part, kOdd) ? 1 : 0;
    pool_->pages.set(part, used(prot, no_reserve));
    return 0;
}

/// The mappings are new, so the kernel has lost the marks.
void SmallParts::restore_marks(Range part) {
    PageStates& pages = pool_->pages;
    pages.for_each_run_with(part, kUsed | kUnforked, [&](Range run) -> long {
        sys::madvise(pool_->base() + run.start, run.bytes(), MADV_DONTFORK);
        return 0;
    });
    const auto lost = [&](uint64_t at) { return !pages.used_at(at) && (pages.at(at) & kMarks) != 0; };
    pages.for_each_run(part, lost, [&](Range run) -> long {
        if (lost(run.start) && !sys::failed(reserve_span(pool_->base() + run.start, run.bytes()))) pages.set(run, 0);
        return 0;
    });
}

void SmallParts::settle(Range part, int during) {
    PageStates& pages = pool_->pages;
    pages.change(part, static_cast<uint8_t>(~kDirty), 0);
    restore_marks(part);
    const auto state = [&](uint64_t at) { return pages.at(at); };
    pages.for_each_run(part, state, [&](Range run) -> long {
        const bool in_use = pages.used_at(run.start);
        const int prot = in_use ? pages.protection_at(run.start) : PROT_NONE;
        if (prot == during || !sys::failed(sys::mprotect(pool_->base() + run.start, run.bytes(), prot))) return 0;
        if (in_use) ++pool_->counters.softened_protections;
        else leave_open(run);
        return 0;
    });
}

}  // namespace mosalloc
