#include "core/exchange.h"

#include <initializer_list>
#include <linux/mempolicy.h>

#include "core/advice.h"
#include "core/alone.h"
#include "core/aside.h"
#include "core/copy.h"
#include "core/pins.h"
#include "core/sys.h"
#include "core/write_gate.h"

namespace mosalloc {
namespace {

// Reasons against an exchange; errors of the kernel are negative.
constexpr long kNoGate = 1, kPinned = 2;

/// Untouched parts cost nothing, and the child's memory is not charged in advance, like a hugetlb mapping.
long map_copy(uint64_t bytes) {
    const long at = sys::mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    if (!sys::failed(at)) sys::madvise(static_cast<uint64_t>(at), bytes, MADV_NOHUGEPAGE);
    return at;
}

}  // namespace

void Exchange::init(PoolState* pool, SmallParts* small, HugeParts* huge) {
    pool_ = pool;
    small_ = small;
    huge_ = huge;
}

/// What pins pages is looked up after the gate has closed: a closed gate lets nobody pin for writing.
long Exchange::exchange(Range page, bool alone) {
    const long pins = what_pins(!alone);
    if (sys::failed(pins)) return pins;
    pool_->counters.pin_kinds |= static_cast<uint64_t>(pins);
    return pins != 0 ? kPinned : replace_by_small_pages(page);
}

/// In a task of its own. The only task needs no gate.
long Exchange::exchange_gated(Range page, bool alone) {
    WriteGate gate;
    const bool closed = gate.close(pool_->pages.addresses(page));
    const long result = closed || alone ? exchange(page, alone) : kNoGate;
    gate.open(pool_->pages.addresses(page));
    return result;
}

long Exchange::unsplit(uint64_t reason) {
    ++pool_->counters.unsplit_pages;
    ++pool_->counters.unsplit_by[reason];
    return -EBUSY;
}

long Exchange::split(Range range) {
    while (!range.empty()) {
        const Range page = huge_->windows().page_around(range.start);
        if (page.empty()) {
            range.start += kPage4K;
            continue;
        }
        if (!huge_->windows().has_room()) return unsplit(MOSALLOC_UNSPLIT_KERNEL);
        if (huge_->is_present(page)) {
            const bool alone = is_alone();
            Exchange* self = this;
            const long result = run_aside([=]() -> long { return self->exchange_gated(page, alone); });
            if (result == kPinned) return unsplit(MOSALLOC_UNSPLIT_PINNED);
            // No task for the exchange: a policy against threads.
            if (result == kNoGate || result == -EPERM) return unsplit(MOSALLOC_UNSPLIT_NO_GATE);
            if (sys::failed(result)) return unsplit(MOSALLOC_UNSPLIT_KERNEL);
            ++pool_->counters.exchanged_pages;
        }
        if (pool_->counters.split_pages++ == 0) pool_->counters.first_split = page.start;
        huge_->cut(page);
        range.start = page.end < range.end ? page.end : range.end;
    }
    return 0;
}

/// Copies the used parts of a huge page. Used parts without access are copied too: their contents must survive.
long Exchange::copy_used(Range page, uint64_t to) {
    const int granted = huge_->granted(page);
    const bool readable = (granted & PROT_READ) != 0;
    bool opened = false;
    const long result = pool_->pages.for_each_run_with(page, kUsed, [&](Range run) -> long {
        const uint64_t from = pool_->base() + run.start, target = to + (run.start - page.start);
        if (!readable && !opened) {
            // Not from 1GB pages: Linux 6.18 never returns from this read, since it does not see that the page is present.
            if (page.bytes() == kPage2M && !sys::failed(copy_pages_without_access(from, target, run.bytes()))) return 0;
            const long error = huge_->grant(page, granted | PROT_READ);
            if (sys::failed(error)) return error;
            opened = true;
        }
        return copy_pages(from, target, run.bytes());
    });
    if (opened) huge_->grant(page, granted);
    return result;
}

/// Before an exchange: `copy` gets the NUMA policy of `page`, and mremap keeps it.
void Exchange::copy_policy(Range page, uint64_t copy) const {
    if (!pool_->pages.any(page, kOdd)) return;
    constexpr long kNodes = 1024;  // the kernel's largest number
    uint64_t nodes[kNodes / 64] = {};
    int mode = MPOL_DEFAULT;
    const long known = sys::call(SYS_get_mempolicy, reinterpret_cast<long>(&mode), reinterpret_cast<long>(nodes), kNodes,
                                 static_cast<long>(pool_->base() + page.start), MPOL_F_ADDR);
    if (sys::failed(known) || mode == MPOL_DEFAULT) return;
    sys::call(SYS_mbind, static_cast<long>(copy), static_cast<long>(page.bytes()), mode, reinterpret_cast<long>(nodes), kNodes);
}

long Exchange::replace_by_small_pages(Range page) {
    const long aside = sys::mmap(0, page.bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    if (sys::failed(aside)) return aside;
    const uint64_t copy = static_cast<uint64_t>(aside);
    sys::madvise(copy, page.bytes(), MADV_NOHUGEPAGE);
    // Access of the whole of `page` meanwhile: what its used parts ask for together, as a huge page grants it. Less would trap
    // an access that the program may make; more would let another thread pass a guard page.
    const int wanted = pool_->pages.protection_of_used(page), during = wanted < 0 ? PROT_NONE : wanted;
    long result = copy_used(page, copy);
    if (!sys::failed(result) && during != (PROT_READ | PROT_WRITE)) result = sys::mprotect(copy, page.bytes(), during);
    copy_policy(page, copy);
    if (!sys::failed(result))
        result = sys::mremap(copy, page.bytes(), page.bytes(), MREMAP_MAYMOVE | MREMAP_FIXED, pool_->base() + page.start);
    if (sys::failed(result)) {
        sys::munmap(copy, page.bytes());
        return result;
    }
    small_->settle(page, during);
    return 0;
}

/// A whole huge page can have any protection. Only the first and the last page of `range` can be covered in part.
void Exchange::split_edges(Range range, int prot) {
    const uint64_t edges[] = {range.start, range.end - kPage4K};
    for (const uint64_t& edge : edges) {
        const Range page = huge_->windows().page_around(edge);
        const bool again = &edge != edges && page.start <= range.start;  // both edges in one page
        if (page.empty() || again || range.contains(page) || !huge_->is_present(page)) continue;
        if (huge_->must_split(page, range.clip(page), prot)) split(page.clip(range));
    }
}

long Exchange::split_for_mark(Range range) {
    if (!huge_->windows().touches(range)) return 0;
    if (pool_->policy.protections == Protections::soft || sys::failed(split(range))) return pool_->refuse_mark();
    return 0;
}

void Exchange::split_for_advice(Range range, int advice) {
    if (pool_->policy.protections == Protections::soft || huge_->windows().count() == 0) return;
    if (advice::never_huge(advice)) split(range);
    if (!advice::whole_pages(advice)) return;
    for (const uint64_t edge : {range.start, range.end - kPage4K}) {
        const Range page = huge_->windows().page_around(edge);
        if (page.empty() || range.contains(page)) continue;
        if (advice == MADV_DONTFORK || pool_->pages.any(page, kUnforked)) split(page.clip(range));
    }
}

void Exchange::forget_huge_pages(Range range) {
    while (!range.empty()) {
        const Range page = huge_->windows().page_around(range.start);
        if (!page.empty() && huge_->windows().has_room()) huge_->cut(page);
        range.start = page.empty() ? range.start + kPage4K : page.end;
    }
}

long Exchange::copy_for_child(WriteGate* gate) {
    for (size_t i = 0; i < huge_->windows().count(); ++i) {
        const WindowList::Window& w = huge_->windows().at(i);
        const long kept_out = sys::madvise(pool_->base() + w.range.start, w.range.bytes(), MADV_DONTFORK);
        if (sys::failed(kept_out)) return kept_out;
        if (w.copy != 0 || !pool_->pages.any_used(w.range)) continue;
        if (gate != nullptr && !gate->close(pool_->pages.addresses(w.range))) return -EAGAIN;
        const long made = map_copy(w.range.bytes());
        if (sys::failed(made)) return made;
        huge_->set_copy(i, static_cast<uint64_t>(made));
        for (uint64_t at = w.range.start; at < w.range.end; at += w.page_bytes) {
            const Range page{at, at + w.page_bytes};
            if (!huge_->is_present(page) || !pool_->pages.any_used(page) || pool_->pages.any(page, kUnforked)) continue;
            const long copied = copy_used(page, static_cast<uint64_t>(made) + (at - w.range.start));
            if (sys::failed(copied)) return copied;
        }
    }
    return 0;
}

void Exchange::drop_copies(WriteGate* gate) {
    for (size_t i = 0; i < huge_->windows().count(); ++i) {
        const WindowList::Window& w = huge_->windows().at(i);
        sys::madvise(pool_->base() + w.range.start, w.range.bytes(), MADV_DOFORK);
        pool_->pages.for_each_run_with(w.range, kUnforked,
                                       [&](Range run) { return sys::madvise(pool_->base() + run.start, run.bytes(), MADV_DONTFORK); });
        gate->open(pool_->pages.addresses(w.range));
        if (w.copy != 0) sys::munmap(w.copy, w.range.bytes());
        huge_->set_copy(i, 0);
    }
}

long Exchange::take_copies() {
    PageStates& pages = pool_->pages;
    for (size_t i = 0; i < huge_->windows().count(); ++i) {
        const WindowList::Window& w = huge_->windows().at(i);
        const uint64_t at = pool_->base() + w.range.start, bytes = w.range.bytes();
        const long result = w.copy == 0 ? reserve_span(at, bytes) : sys::mremap(w.copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at);
        if (sys::failed(result)) return result;
        pages.for_each_run(
            w.range, [&](uint64_t offset) { return pages.used_at(offset); },
            [&](Range run) -> long {
                if (!pages.used_at(run.start)) pages.set(run, 0);
                return 0;
            });
        if (w.copy != 0) small_->settle(w.range, PROT_READ | PROT_WRITE);
        pool_->pages.for_each_run_with(w.range, kUnforked, [&](Range run) { return sys::munmap(pool_->base() + run.start, run.bytes()); });
    }
    huge_->clear();
    return 0;
}

}  // namespace mosalloc
