#include "core/pool.h"

#include <cerrno>
#include <cstring>

#include "core/page_state.h"
#include "core/sys.h"

namespace mosalloc {

long reserve_span(uint64_t base, uint64_t bytes) {
    if (bytes == 0) return 0;
    const long at = sys::mmap(base, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED);
    if (sys::failed(at)) return at;
    // EINVAL: a kernel without transparent huge pages, where 4KB is 4KB anyway.
    const long advised = sys::madvise(base, bytes, MADV_NOHUGEPAGE);
    return advised == -EINVAL ? 0 : advised;
}

bool Pool::init(uint64_t base, uint64_t bytes) {
    base_ = base;
    bytes_ = bytes;
    window_count_ = 0;
    states_ = static_cast<uint8_t*>(sys::table(bytes / kPage4K));
    hardware_ = static_cast<uint8_t*>(sys::table(bytes / kPage2M + 1));
    windows_ = static_cast<Backed*>(sys::table(MOSALLOC_MAX_WINDOWS * sizeof(Backed)));
    return states_ != nullptr && hardware_ != nullptr && windows_ != nullptr;
}

void Pool::add_window(Range range, uint64_t page_bytes) {
    windows_[window_count_++] = {range, page_bytes};
    memset(hardware_ + range.start / kPage2M, PROT_READ | PROT_WRITE, range.bytes() / kPage2M);
}

size_t Pool::first_window_after(uint64_t offset) const {
    size_t low = 0, high = window_count_;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (windows_[middle].range.end > offset) high = middle;
        else low = middle + 1;
    }
    return low;
}

template <class F>
long Pool::for_each_part(Range range, F f) {
    size_t next = first_window_after(range.start);
    while (!range.empty()) {
        Range part = range;
        uint64_t page_bytes = kPage4K;
        if (next < window_count_ && windows_[next].range.start <= range.start) {
            part = range.clip(windows_[next].range);
            page_bytes = windows_[next++].page_bytes;
        } else if (next < window_count_ && windows_[next].range.start < range.end) {
            part.end = windows_[next].range.start;
        }
        const long result = f(part, page_bytes);
        if (sys::failed(result)) return result;
        range.start = part.end;
    }
    return 0;
}

bool Pool::touches_window(Range range) const {
    const size_t next = first_window_after(range.start);
    return next < window_count_ && windows_[next].range.start < range.end;
}

bool Pool::all_used(Range range) const {
    for (uint64_t at = range.start; at < range.end; at += kPage4K)
        if ((*states(at) & kUsed) == 0) return false;
    return true;
}

bool Pool::any_foreign(Range range) const {
    for (uint64_t at = range.start; at < range.end; at += kPage4K)
        if ((*states(at) & kForeign) != 0) return true;
    return false;
}

int Pool::protection_at(uint64_t offset) const { return *states(offset) & kProtMask; }

void Pool::mark(Range range, uint8_t state) {
    memset(states(range.start), state, range.bytes() / kPage4K);
}

/// Union over used pages; -1 when none is used (then the hardware stays as it is, to save system calls).
int Pool::wanted_protection(Range page) const {
    uint8_t all = 0;
    const uint8_t* s = states(page.start);
    const size_t count = page.bytes() / kPage4K;
    for (size_t i = 0; i < count; ++i) all |= (s[i] & kUsed) != 0 ? s[i] : 0;
    return (all & kUsed) != 0 ? all & kProtMask : -1;
}

long Pool::set_hardware(Range pages, int prot) {
    if (pages.empty()) return 0;
    const long result = sys::mprotect(base_ + pages.start, pages.bytes(), prot);
    if (!sys::failed(result)) memset(hardware_ + pages.start / kPage2M, prot, pages.bytes() / kPage2M);
    return result;
}

/// Gives the huge pages around `range` the union of their pages' protections; one system call per run.
long Pool::sync_protection(Range range, uint64_t page_bytes) {
    Range run;
    int run_prot = -1;
    bool softened = false;
    for (uint64_t at = align_down(range.start, page_bytes); at < range.end; at += page_bytes) {
        const Range page{at, at + page_bytes};
        const int want = wanted_protection(page);
        const bool change = want >= 0 && want != hardware_[at / kPage2M];
        const Range asked = page.clip(range);
        softened |= want >= 0 && want != protection_at(asked.start);
        if (change && want == run_prot && run.end == at) {
            run.end = page.end;
            continue;
        }
        const long result = set_hardware(run, run_prot);
        if (sys::failed(result)) return result;
        run = change ? page : Range{};
        run_prot = change ? want : -1;
    }
    counters_.softened_protections += softened ? 1 : 0;
    return set_hardware(run, run_prot);
}

/// Window parts are zeroed by hand: MADV_DONTNEED would give the page back to the system, whose reservation for a
/// private mapping is then gone, and the next touch could end in SIGBUS.
void Pool::clear_dirty(Range range, uint64_t page_bytes) {
    const Range pages{align_down(range.start, page_bytes), align_up(range.end, page_bytes)};
    bool writable = false;
    for (uint64_t at = range.start; at < range.end;) {
        uint64_t end = at;
        while (end < range.end && (*states(end) & kDirty) != 0) end += kPage4K;
        if (end == at) {
            at += kPage4K;
            continue;
        }
        if (!writable) {
            for (uint64_t p = pages.start; p < pages.end; p += page_bytes)
                if ((hardware_[p / kPage2M] & PROT_WRITE) == 0)
                    set_hardware({p, p + page_bytes}, hardware_[p / kPage2M] | PROT_READ | PROT_WRITE);
            writable = true;
        }
        memset(reinterpret_cast<void*>(base_ + at), 0, end - at);
        counters_.zeroed_bytes += end - at;
        at = end;
    }
}

long Pool::commit(Range range, int prot) {
    const uint8_t used = static_cast<uint8_t>(kUsed | (prot & kProtMask));
    const long result = for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes == kPage4K) {
            const long r = prot == PROT_NONE ? 0 : sys::mprotect(base_ + part.start, part.bytes(), prot);
            if (!sys::failed(r)) mark(part, used);
            return r;
        }
        clear_dirty(part, page_bytes);
        mark(part, used | kDirty);
        return sync_protection(part, page_bytes);
    });
    if (sys::failed(result)) release(range);
    return result;
}

long Pool::release(Range range) {
    return for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes == kPage4K) {
            mark(part, 0);
            // A new mapping undoes everything at once: contents, mlock, advice, file mappings of the program.
            return reserve_span(base_ + part.start, part.bytes());
        }
        for (uint64_t at = part.start; at < part.end; at += kPage4K) *states(at) &= kDirty;
        return sync_protection(part, page_bytes);
    });
}

long Pool::protect(Range range, int prot) {
    if (!all_used(range)) return -ENOMEM;  // what the kernel says of a hole
    return for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
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
    return for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        const bool shape = advice == MADV_HUGEPAGE || advice == MADV_NOHUGEPAGE || advice == 25 /* COLLAPSE */;
        if (shape) {  // the layout decides, not the program
            ++counters_.ignored_advice;
            return 0;
        }
        if (page_bytes == kPage4K) return sys::madvise(base_ + part.start, part.bytes(), advice);
        if (advice == MADV_DONTNEED) {  // promises zeros
            clear_dirty(part, page_bytes);
            return sync_protection(part, page_bytes);
        }
        const bool whole = part.start % page_bytes == 0 && part.end % page_bytes == 0;
        const bool drops = advice == MADV_FREE || advice == MADV_REMOVE;
        if (whole && !drops) return sys::madvise(base_ + part.start, part.bytes(), advice);
        ++counters_.ignored_advice;
        return 0;
    });
}

long Pool::open_for_copy(Range range, int prot) {
    return for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes == kPage4K) return sys::mprotect(base_ + part.start, part.bytes(), prot);
        return set_hardware({align_down(part.start, page_bytes), align_up(part.end, page_bytes)},
                            prot | PROT_READ | PROT_WRITE);
    });
}

long Pool::enforce(Range range) {
    return for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes != kPage4K) return sync_protection(part, page_bytes);
        for (uint64_t at = part.start, end = at; at < part.end; at = end) {
            const int prot = protection_at(at);
            while (end < part.end && protection_at(end) == prot) end += kPage4K;
            const long result = sys::mprotect(base_ + at, end - at, prot);
            if (sys::failed(result)) return result;
        }
        return 0;
    });
}

void Pool::record(Range range, const Pool& from, uint64_t from_offset) {
    for (uint64_t at = range.start; at < range.end; at += kPage4K, from_offset += kPage4K) {
        const uint8_t keep = *states(at) & kDirty;
        *states(at) = static_cast<uint8_t>(keep | (*from.states(from_offset) & ~kDirty));
    }
}

void Pool::adopt_foreign(Range range, int prot) {
    mark(range, static_cast<uint8_t>(kUsed | kForeign | (prot & kProtMask)));
}

}  // namespace mosalloc
