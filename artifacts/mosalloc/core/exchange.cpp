// exchange.cpp - replaces a huge page by 4KB pages with the same contents.
//
// The new pages are prepared elsewhere and moved into place in one step (mremap), so that readers never find a hole.
// The write gate blocks writers from the first copied byte until then. If something may write past the gate (pins.h), or
// the gate cannot be closed, the huge page stays.
#include <cerrno>
#include <cstring>

#include "core/alone.h"
#include "core/aside.h"
#include "core/copy.h"
#include "core/pins.h"
#include "core/pool.h"
#include "core/sys.h"
#include "core/write_gate.h"
#include "mosalloc/pool_map.h"

namespace mosalloc {

namespace {
// Reasons against an exchange; errors of the kernel are negative.
constexpr long kNoGate = 1, kPinned = 2;
}  // namespace

/// What pins pages is looked up after the gate has closed: a closed gate lets nobody pin for writing.
long Pool::exchange(Range page, bool alone) {
    const long pins = what_pins(!alone);
    if (sys::failed(pins)) return pins;
    counters_.pin_kinds |= static_cast<uint64_t>(pins);
    return pins != 0 ? kPinned : replace_by_small_pages(page);
}

/// In a task of its own. The only task needs no gate.
long Pool::exchange_gated(Range page, bool alone) {
    WriteGate gate;
    const bool closed = gate.close(addresses(page));
    const long result = closed || alone ? exchange(page, alone) : kNoGate;
    gate.open(addresses(page));
    return result;
}

long Pool::unsplit(uint64_t reason) {
    ++counters_.unsplit_pages;
    ++counters_.unsplit_by[reason];
    return -EBUSY;
}

long Pool::split(Range range) {
    while (!range.empty()) {
        const Range page = windows_.page_around(range.start);
        if (page.empty()) {
            range.start += kPage4K;
            continue;
        }
        if (!windows_.has_room()) return unsplit(MOSALLOC_UNSPLIT_KERNEL);
        if (hardware(page.start) != kAbsent) {
            const bool alone = is_alone();
            Pool* self = this;
            const long result = run_aside([=]() -> long { return self->exchange_gated(page, alone); });
            if (result == kPinned) return unsplit(MOSALLOC_UNSPLIT_PINNED);
            // No task for the exchange: a policy against threads.
            if (result == kNoGate || result == -EPERM) return unsplit(MOSALLOC_UNSPLIT_NO_GATE);
            if (sys::failed(result)) return unsplit(MOSALLOC_UNSPLIT_KERNEL);
            ++counters_.exchanged_pages;
            if (policy_.on_demand && !any_used(page)) idle_bytes_ -= page.bytes();
        }
        if (counters_.split_pages++ == 0) counters_.first_split = page.start;
        windows_.cut(page);
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

/// Copies the used parts of a huge page. Used parts without access are copied too: their contents must survive.
long Pool::copy_used(Range page, uint64_t to) {
    const auto used = [&](uint64_t at) { return (*states(at) & kUsed) != 0; };
    const int granted = hardware(page.start);
    const bool readable = (granted & PROT_READ) != 0;
    bool opened = false;
    const long result = for_each_run(page, used, [&](Range run) -> long {
        if (!used(run.start)) return 0;
        const uint64_t from = base_ + run.start, target = to + (run.start - page.start);
        if (!readable && !opened) {
            // Not from 1GB pages: Linux 6.18 never returns from this read, since it does not see that the page is present.
            if (page.bytes() == kPage2M && !sys::failed(copy_pages_without_access(from, target, run.bytes()))) return 0;
            const long error = set_hardware(page, granted | PROT_READ);
            if (sys::failed(error)) return error;
            opened = true;
        }
        return copy_pages(from, target, run.bytes());
    });
    if (opened) set_hardware(page, granted);
    return result;
}

long Pool::replace_by_small_pages(Range page) {
    const long aside = sys::mmap(0, page.bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    if (sys::failed(aside)) return aside;
    const uint64_t copy = static_cast<uint64_t>(aside);
    sys::madvise(copy, page.bytes(), MADV_NOHUGEPAGE);
    const int during = protection_during_exchange(page);
    long result = copy_used(page, copy);
    if (!sys::failed(result) && during != (PROT_READ | PROT_WRITE)) result = sys::mprotect(copy, page.bytes(), during);
    copy_policy(page, copy);
    if (!sys::failed(result)) result = sys::mremap(copy, page.bytes(), page.bytes(), MREMAP_MAYMOVE | MREMAP_FIXED, base_ + page.start);
    if (sys::failed(result)) {
        sys::munmap(copy, page.bytes());
        return result;
    }
    memset(&hardware(page.start), kAbsent, page.bytes() / kPage2M);
    settle_small(page, during);
    return 0;
}

/// After an exchange: each 4KB page gets its own protection instead of `during`. Where the kernel refuses (too many
/// mappings), the page stays softened, as a part of a huge page.
void Pool::settle_small(Range page, int during) {
    for (uint64_t at = page.start; at < page.end; at += kPage4K) *states(at) &= static_cast<uint8_t>(~kDirty);
    restore_marks(page);
    const auto state = [&](uint64_t at) { return *states(at); };
    for_each_run(page, state, [&](Range run) -> long {
        const int prot = (state(run.start) & kUsed) != 0 ? protection_at(run.start) : PROT_NONE;
        if (prot == during || !sys::failed(sys::mprotect(base_ + run.start, run.bytes(), prot))) return 0;
        if ((state(run.start) & kUsed) != 0) ++counters_.softened_protections;
        else leave_open(run);
        return 0;
    });
}

}  // namespace mosalloc
