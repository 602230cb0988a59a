// marks.cpp - what calls leave on the kernel's mappings besides contents and protection, as far as one pool is concerned:
// NUMA policies, registrations, advice. In 4KB parts a new mapping ends them all (Pool::release_small). A huge page keeps
// its mapping when its memory is freed, so here they are undone one by one. README.md lists all marks.
#include <cerrno>
#include <cstring>
#include <linux/mempolicy.h>
#include <linux/prctl.h>

#include "core/advice.h"
#include "core/pool.h"
#include "core/sys.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

namespace mosalloc {

bool Pool::whole_pages(Range range) const {
    return windows_.for_each_part(range, [](Range part, uint64_t page_bytes) -> long {
        return part.start % page_bytes == 0 && part.end % page_bytes == 0 ? 0 : -EINVAL;
    }) == 0;
}

long Pool::refuse_mark() {
    ++counters_.refused_marks;
    return -EINVAL;
}

long Pool::split_for_mark(Range range) {
    if (!windows_.touches(range)) return 0;
    if (policy_.protections == Protections::soft || sys::failed(split(range))) return refuse_mark();
    return 0;
}

/// Before advice is given: splits the huge pages that cannot take it. Those that remain return an error in advise_huge().
void Pool::split_for_advice(Range range, int advice) {
    if (policy_.protections == Protections::soft || windows_.count() == 0) return;
    if (advice::never_huge(advice)) split(range);
    if (!advice::whole_pages(advice)) return;
    for (const uint64_t edge : {range.start, range.end - kPage4K}) {
        const Range page = windows_.page_around(edge);
        if (page.empty() || range.contains(page)) continue;
        if (advice == MADV_DONTFORK || any(page, kUnforked)) split(page.clip(range));
    }
}

void Pool::mark_unforked(Range range, int advice) {
    if (!advice::whole_pages(advice)) return;
    const bool set = advice == MADV_DONTFORK;
    for (uint64_t at = range.start; at < range.end; at += kPage4K)
        *states(at) = static_cast<uint8_t>((*states(at) & ~kUnforked) | (set ? kUnforked | kOdd : 0));
    if (set) note_unforked(range);
}

void Pool::note_unforked(Range range) {
    if (unforked_.empty()) unforked_ = range;
    if (range.start < unforked_.start) unforked_.start = range.start;
    if (range.end > unforked_.end) unforked_.end = range.end;
}

/// MADV_DONTFORK and MADV_DOFORK: the kernel takes them for whole huge pages.
long Pool::advise_whole_pages(Range part, uint64_t page_bytes, int advice) {
    if (advice == MADV_DOFORK && !any(part, kUnforked)) return 0;
    if (part.start % page_bytes != 0 || part.end % page_bytes != 0) return refuse_mark();
    const long result = sys::madvise(base_ + part.start, part.bytes(), advice);
    if (!sys::failed(result)) mark_unforked(part, advice);
    return result;
}

/// `page` is unused. The kernel does not lock huge pages, and keys and registrations exist only after a split.
void Pool::end_marks(Range page) {
    const uint64_t at = base_ + page.start;
    if (hardware(page.start) != kAbsent) {
        const long start = static_cast<long>(at), bytes = static_cast<long>(page.bytes());
        sys::call(SYS_mbind, start, bytes, MPOL_DEFAULT);
        for (const int advice : {MADV_DOFORK, MADV_DODUMP, MADV_NORMAL}) sys::madvise(at, page.bytes(), advice);
        sys::call(SYS_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME, start, bytes);
    }
    for (uint64_t p = page.start; p < page.end; p += kPage4K) *states(p) &= static_cast<uint8_t>(~kMarks);
    ++counters_.ended_marks;
}

/// Before an exchange: `copy` gets the NUMA policy of `page`, and mremap keeps it.
void Pool::copy_policy(Range page, uint64_t copy) const {
    if (!any(page, kOdd)) return;
    constexpr long kNodes = 1024;  // the kernel's largest number
    uint64_t nodes[kNodes / 64] = {};
    int mode = MPOL_DEFAULT;
    const long known = sys::call(SYS_get_mempolicy, reinterpret_cast<long>(&mode), reinterpret_cast<long>(nodes), kNodes,
                                 static_cast<long>(base_ + page.start), MPOL_F_ADDR);
    if (sys::failed(known) || mode == MPOL_DEFAULT) return;
    sys::call(SYS_mbind, static_cast<long>(copy), static_cast<long>(page.bytes()), mode, reinterpret_cast<long>(nodes), kNodes);
}

/// The parts of `page` have mappings of their own now: a huge page's, after a split or a copied fork.
void Pool::restore_marks(Range page) {
    for_each_run_with(page, kUsed | kUnforked, [&](Range run) -> long {
        sys::madvise(base_ + run.start, run.bytes(), MADV_DONTFORK);
        return 0;
    });
    const auto lost = [&](uint64_t at) { return (*states(at) & kUsed) == 0 && (*states(at) & kMarks) != 0; };
    for_each_run(page, lost, [&](Range run) -> long {
        if (lost(run.start) && !sys::failed(reserve_span(base_ + run.start, run.bytes()))) mark(run, 0);
        return 0;
    });
}

void Pool::forget_huge_pages(Range range) {
    while (!range.empty()) {
        const Range page = windows_.page_around(range.start);
        if (!page.empty() && windows_.has_room()) {
            memset(&hardware(page.start), kAbsent, page.bytes() / kPage2M);
            windows_.cut(page);
        }
        range.start = page.empty() ? range.start + kPage4K : page.end;
    }
}

}  // namespace mosalloc
