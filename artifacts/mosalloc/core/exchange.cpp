// exchange.cpp - replaces a huge page by 4KB pages with the same contents, and back.
//
// The new pages are prepared elsewhere and moved into place in one step (mremap), so that readers never find a hole.
// The write gate blocks writers in other threads from the first copied byte until the exchange.
#include <cerrno>
#include <cstring>

#include "core/advice.h"
#include "core/copy.h"
#include "core/pool.h"
#include "core/sys.h"
#include "core/write_gate.h"

namespace mosalloc {

long Pool::split(Range range) {
    while (!range.empty()) {
        const Range page = windows_.page_around(range.start);
        if (page.empty()) {
            range.start += kPage4K;
            continue;
        }
        if (hardware(page.start) != kAbsent) {
            WriteGate gate;
            if (!gate.close(addresses(page))) {
                ++counters_.unsplit_pages;
                return -EBUSY;
            }
            const long result = replace_by_small_pages(page);
            if (sys::failed(result)) return result;
            if (policy_.on_demand && !any_used(page)) idle_bytes_ -= page.bytes();
        }
        if (counters_.split_pages++ == 0) counters_.first_split = page.start;
        if (!windows_.cut(page)) return -ENOMEM;
        range.start = page.end < range.end ? page.end : range.end;
    }
    return 0;
}

/// Access of the whole of `page` while it is exchanged: what its used parts ask for together, as a huge page grants it.
/// Less would trap an access that the program may make; more would let another thread pass a guard page.
int Pool::protection_during_exchange(Range page) const {
    const int wanted = wanted_protection(page);
    return wanted < 0 ? PROT_NONE : wanted;
}

/// Copies the used parts of `page` to `copy` and moves `copy` into the place of `page`, with
/// protection_during_exchange().
long Pool::exchange(Range page, uint64_t copy) {
    const auto used = [&](uint64_t at) { return (*states(at) & kUsed) != 0; };
    // Used pages without access are copied too, because their contents must survive until access returns.
    constexpr int kUnused = -1;
    const auto prot = [&](uint64_t at) { return used(at) ? protection_at(at) : kUnused; };
    const bool huge = hardware(page.start) != kAbsent;
    long result = for_each_run(page, prot, [&](Range run) -> long {
        if (prot(run.start) == kUnused) return 0;
        const int granted = huge ? hardware(page.start) : prot(run.start);
        const uint64_t from = base_ + run.start, to = copy + (run.start - page.start);
        if ((granted & PROT_READ) == 0) {
            // Not from 1GB pages: Linux 6.18 never returns from this read, since it does not see that the page is present.
            const bool readable = !huge || page.bytes() == kPage2M;
            if (readable && !sys::failed(copy_pages_without_access(from, to, run.bytes()))) return 0;
            const long opened = huge ? set_hardware(page, granted | PROT_READ)
                                     : sys::mprotect(from, run.bytes(), granted | PROT_READ);
            if (sys::failed(opened)) return opened;
        }
        return copy_pages(from, to, run.bytes());
    });
    if (sys::failed(result)) return result;
    const int during = protection_during_exchange(page);
    if (during != (PROT_READ | PROT_WRITE)) result = sys::mprotect(copy, page.bytes(), during);
    if (sys::failed(result)) return result;
    return sys::mremap(copy, page.bytes(), page.bytes(), MREMAP_MAYMOVE | MREMAP_FIXED, base_ + page.start);
}

long Pool::replace_by_small_pages(Range page) {
    const long aside = sys::mmap(0, page.bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    if (sys::failed(aside)) return aside;
    const uint64_t copy = static_cast<uint64_t>(aside);
    sys::madvise(copy, page.bytes(), MADV_NOHUGEPAGE);
    const int during = protection_during_exchange(page);
    const long moved = exchange(page, copy);
    if (sys::failed(moved)) {
        sys::munmap(copy, page.bytes());
        return moved;
    }
    memset(&hardware(page.start), kAbsent, page.bytes() / kPage2M);
    for (uint64_t at = page.start; at < page.end; at += kPage4K) *states(at) &= static_cast<uint8_t>(~kDirty);
    const auto state = [&](uint64_t at) { return *states(at); };
    return for_each_run(page, state, [&](Range run) -> long {
        const int prot = (state(run.start) & kUsed) != 0 ? protection_at(run.start) : PROT_NONE;
        return prot == during ? 0 : sys::mprotect(base_ + run.start, run.bytes(), prot);
    });
}

long Pool::replace_by_huge_page(Range page) {
    // Maps twice the size and keeps an aligned part of it.
    const long room = sys::mmap(0, 2 * page.bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    if (sys::failed(room)) return room;
    const uint64_t copy = align_up(static_cast<uint64_t>(room), page.bytes());
    long result = map_huge(copy, page.bytes(), page.bytes(), PROT_READ | PROT_WRITE);
    if (!sys::failed(result)) result = exchange(page, copy);
    sys::munmap(static_cast<uint64_t>(room), 2 * page.bytes());
    if (sys::failed(result)) return result;
    memset(&hardware(page.start), protection_during_exchange(page), page.bytes() / kPage2M);
    for (uint64_t at = page.start; at < page.end; at += kPage4K)
        if ((*states(at) & kUsed) != 0) *states(at) |= kDirty;
    return sync_protection(page, page.bytes());
}

long Pool::lend_small_pages() {
    long result = 0;
    for_each_used_huge_page([&](Range page, uint64_t) {
        WriteGate gate;
        if (!sys::failed(result)) result = gate.close(addresses(page)) ? replace_by_small_pages(page) : -EBUSY;
    });
    return result;
}

/// The gate blocks writers only at 4KB pages that exist, at least as the system's zero page.
void Pool::bring_in(Range page) {
    const auto writable = [&](uint64_t at) { return (*states(at) & kUsed) != 0 && (protection_at(at) & PROT_WRITE) != 0; };
    for_each_run(page, writable, [&](Range run) -> long {
        if (writable(run.start)) sys::madvise(base_ + run.start, run.bytes(), advice::kPopulateRead);
        return 0;
    });
}

void Pool::take_huge_pages_back() {
    for (size_t i = 0; i < windows_.count(); ++i) {
        const WindowList::Window w = windows_.at(i);
        for (uint64_t at = w.range.start; at < w.range.end; at += w.page_bytes) {
            const Range page{at, at + w.page_bytes};
            if (hardware(at) != kAbsent || !any_used(page)) continue;
            WriteGate gate;
            bring_in(page);
            if (gate.close(addresses(page)) && !sys::failed(replace_by_huge_page(page))) continue;
            if (counters_.split_pages++ == 0) counters_.first_split = page.start;
            windows_.cut(page);
            return take_huge_pages_back();  // the list has changed
        }
    }
}

long Pool::leave_huge_pages() {
    for (size_t i = 0; i < windows_.count(); ++i) {
        const WindowList::Window& w = windows_.at(i);
        for (uint64_t at = w.range.start; at < w.range.end; at += w.page_bytes) {
            const Range page{at, at + w.page_bytes};
            if (any_used(page)) continue;
            const long result = reserve_span(base_ + at, w.page_bytes);
            if (sys::failed(result)) return result;
            mark(page, 0);
        }
    }
    windows_.clear();
    return 0;
}

}  // namespace mosalloc
