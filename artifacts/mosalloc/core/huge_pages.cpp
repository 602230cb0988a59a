// huge_pages.cpp - the parts of a pool with 2MB or 1GB pages: protections that the hardware does not support, zeroing
// by software, pages on demand. exchange.cpp replaces huge pages by 4KB pages and back.
#include <cerrno>
#include <cstring>

#include "core/advice.h"
#include "core/later.h"
#include "core/pool.h"
#include "core/sys.h"

namespace mosalloc {

long map_huge(uint64_t address, uint64_t bytes, uint64_t page_bytes, int prot) {
    const int shift = page_bytes == kPage1G ? 30 : 21;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_HUGETLB | (shift << MAP_HUGE_SHIFT);
    const long at = sys::mmap(address, bytes, prot, flags);
    return sys::failed(at) ? at : 0;
}

void Pool::add_window(Range range, uint64_t page_bytes) {
    windows_.add(range, page_bytes);
    const int state = policy_.on_demand ? int{kAbsent} : PROT_READ | PROT_WRITE;
    memset(&hardware(range.start), state, range.bytes() / kPage2M);
}

/// Union over used pages; -1 when none is used (then the hardware stays as it is, to save system calls).
int Pool::wanted_protection(Range page) const {
    uint8_t all = 0;
    const uint8_t* s = states(page.start);
    const size_t count = page.bytes() / kPage4K;
    for (size_t i = 0; i < count; ++i) all |= (s[i] & kUsed) != 0 ? s[i] : 0;
    return (all & kUsed) != 0 ? all & kProtMask : -1;
}

/// Memory that was never writable while it was handed out reads zero, and needs no clearing: reservations without access.
void Pool::mark_dirty(Range range) {
    static_assert(kDirty == kUsed << 1, "one operation for all states");
    uint8_t* s = states(range.start);
    const size_t count = range.bytes() / kPage4K;
    for (size_t i = 0; i < count; ++i) s[i] = static_cast<uint8_t>(s[i] | (s[i] & kUsed) << 1);
}

long Pool::set_hardware(Range pages, int prot) {
    if (pages.empty()) return 0;
    const long result = sys::mprotect(base_ + pages.start, pages.bytes(), prot);
    if (sys::failed(result)) return result;
    memset(&hardware(pages.start), prot, pages.bytes() / kPage2M);
    if ((prot & PROT_WRITE) != 0) mark_dirty(pages);
    return 0;
}

/// Gives the huge pages around `range` the union of their pages' protections; one system call per run.
long Pool::sync_protection(Range range, uint64_t page_bytes) {
    Range run;
    int run_prot = -1;
    bool softened = false;
    for (uint64_t at = align_down(range.start, page_bytes); at < range.end; at += page_bytes) {
        const Range page{at, at + page_bytes};
        const int want = wanted_protection(page);
        const bool change = want >= 0 && want != hardware(at);
        const Range asked = page.clip(range);
        softened |= want >= 0 && (*states(asked.start) & kUsed) != 0 && want != protection_at(asked.start);
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

/// Zeroes memory by software. MADV_DONTNEED would return the page to the system, which loses the reservation of a private
/// mapping before Linux 6.10; the next access could then raise SIGBUS.
long Pool::clear_dirty(Range range, uint64_t page_bytes) {
    const Range pages{align_down(range.start, page_bytes), align_up(range.end, page_bytes)};
    bool writable = false;
    if (!any(range, kDirty)) return 0;
    for (uint64_t at = range.start; at < range.end;) {
        uint64_t end = at;
        while (end < range.end && (*states(end) & kDirty) != 0) end += kPage4K;
        if (end == at) {
            at += kPage4K;
            continue;
        }
        if (!writable) {
            for (uint64_t p = pages.start; p < pages.end; p += page_bytes) {
                if ((hardware(p) & PROT_WRITE) != 0) continue;
                const long result = set_hardware({p, p + page_bytes}, hardware(p) | PROT_READ | PROT_WRITE);
                if (sys::failed(result)) return result;
            }
            writable = true;
        }
        memset(reinterpret_cast<void*>(base_ + at), 0, end - at);
        counters_.zeroed_bytes += end - at;
        at = end;
    }
    return 0;
}

/// On demand: maps the missing huge pages of `part`. Returns -ENOMEM if the system has too few; the pages mapped so far
/// stay as idle pages.
long Pool::make_present(Range part, uint64_t page_bytes) {
    const Range pages{align_down(part.start, page_bytes), align_up(part.end, page_bytes)};
    const auto absent = [&](uint64_t at) { return hardware(at) == kAbsent; };
    for (uint64_t at = pages.start, end = at; at < pages.end; at = end) {
        end = at + page_bytes;
        if (!absent(at)) {
            if (!any_used({at, end})) idle_bytes_ -= page_bytes;
            continue;
        }
        while (end < pages.end && absent(end)) end += page_bytes;
        long result = map_huge(base_ + at, end - at, page_bytes, PROT_READ | PROT_WRITE);
        if (!sys::failed(result) && policy_.touch_present) {
            const long touched = sys::madvise(base_ + at, end - at, advice::kPopulateWrite);
            // EFAULT: what would be SIGBUS later. EINVAL: before Linux 5.14.
            if (sys::failed(touched) && touched != -EINVAL) result = -ENOMEM;
        }
        if (sys::failed(result)) {
            counters_.missing_pages += (end - at) / page_bytes;
            reserve_span(base_ + at, end - at);
            // Pages before `at` are present and still unused: they count as idle again.
            for (uint64_t p = pages.start; p < at; p += page_bytes)
                if (!any_used({p, p + page_bytes})) idle_bytes_ += page_bytes;
            return result;
        }
        memset(&hardware(at), PROT_READ | PROT_WRITE, (end - at) / kPage2M);
    }
    return 0;
}

/// On demand: as make_present, but the memory is not handed out yet: pages without used memory count as idle.
long Pool::keep_present(Range part, uint64_t page_bytes) {
    const long result = make_present(part, page_bytes);
    for (uint64_t at = align_down(part.start, page_bytes); at < part.end && !sys::failed(result); at += page_bytes)
        if (!any_used({at, at + page_bytes})) idle_bytes_ += page_bytes;
    return result;
}

/// `part` is not handed out any more; its huge pages stay.
void Pool::forget_huge(Range part, uint64_t page_bytes) {
    for (uint64_t at = align_down(part.start, page_bytes); at < part.end; at += page_bytes) {
        const Range page{at, at + page_bytes};
        const bool used = any_used(page);
        const Range freed = page.clip(part);
        for (uint64_t p = freed.start; p < freed.end; p += kPage4K) *states(p) &= kDirty | kMarks;
        if (any(page, kMarks) && !any_used(page)) end_marks(page);
        if (policy_.on_demand && used && !any_used(page)) idle_bytes_ += page_bytes;
    }
}

/// On demand: returns unused huge pages around `part` to the system when more than `keep_bytes` of them are idle. Without
/// the threshold, a program that frees and allocates in turn would wait for 1GB of zeroing each time.
void Pool::shrink(Range part, uint64_t page_bytes) {
    const Range pages{align_down(part.start, page_bytes), align_up(part.end, page_bytes)};
    for (uint64_t at = pages.start; at < pages.end; at += page_bytes) {
        const Range page{at, at + page_bytes};
        if (hardware(at) == kAbsent || any_used(page)) continue;
        if (idle_bytes_ + page_bytes <= policy_.keep_bytes) {
            idle_bytes_ += page_bytes;
            continue;
        }
        if (sys::failed(reserve_span(base_ + at, page_bytes))) {  // too many mappings: it stays mapped
            idle_bytes_ += page_bytes;
            continue;
        }
        memset(&hardware(at), kAbsent, page_bytes / kPage2M);
        mark(page, 0);
    }
}

long Pool::commit_huge(Range part, uint64_t page_bytes, int prot) {
    if (policy_.on_demand) {
        const long result = make_present(part, page_bytes);
        if (sys::failed(result)) return result;
    }
    const long cleared = clear_dirty(part, page_bytes);
    if (sys::failed(cleared)) return cleared;
    // Marks of a huge page stay until it is unused.
    const auto state = static_cast<uint8_t>(kUsed | (prot & kProtMask));
    for (uint64_t at = part.start; at < part.end; at += kPage4K) *states(at) = static_cast<uint8_t>((*states(at) & kMarks) | state);
    const long result = sync_protection(part, page_bytes);
    for (uint64_t at = align_down(part.start, page_bytes); at < part.end; at += page_bytes)
        if ((hardware(at) & PROT_WRITE) != 0) mark_dirty(part.clip({at, at + page_bytes}));
    return result;
}

long Pool::release_huge(Range part, uint64_t page_bytes) {
    for (uint64_t at = align_down(part.start, page_bytes); at < part.end; at += page_bytes) {
        const Range page{at, at + page_bytes};
        const Range freed = page.clip(part);
        if (!any_used(freed)) continue;  // idle pages are counted already
        for (uint64_t p = freed.start; p < freed.end; p += kPage4K) *states(p) &= kDirty | kMarks;
        if (any(page, kMarks) && !any_used(page)) end_marks(page);
        if (policy_.on_demand) shrink(page, page_bytes);
        if (hardware(at) != kAbsent) sync_protection(freed, page_bytes);  // refused: other memory keeps more access
    }
    return 0;
}

/// Populating needs the access that the program has (else EINVAL), not the access that the huge page grants.
long Pool::populate_huge(Range part, uint64_t page_bytes, int advice, Later* later) {
    const int access = advice == advice::kPopulateRead ? PROT_READ : PROT_WRITE;
    for (uint64_t at = part.start; at < part.end; at += kPage4K)
        if ((protection_at(at) & access) == 0) return -EINVAL;
    const Range pages{align_down(part.start, page_bytes), align_up(part.end, page_bytes)};
    return later->add(SYS_madvise, addresses(pages), advice);
}

long Pool::advise_huge(Range part, uint64_t page_bytes, int advice, Later* later) {
    if (advice::drops(advice)) {
        const long result = clear_dirty(part, page_bytes);
        return sys::failed(result) ? result : sync_protection(part, page_bytes);
    }
    if (advice::populates(advice)) return populate_huge(part, page_bytes, advice, later);
    if (advice == MADV_REMOVE) return -EINVAL;  // private memory
    if (advice::undoes_never_huge(advice)) return 0;
    if (advice::never_huge(advice)) return refuse_mark();
    if (advice::whole_pages(advice)) return advise_whole_pages(part, page_bytes, advice);
    const bool whole = part.start % page_bytes == 0 && part.end % page_bytes == 0;
    if (!whole || advice::only_a_hint(advice)) {
        ++counters_.ignored_advice;
        return 0;
    }
    if (advice::leaves_a_mark(advice)) mark_odd(part);
    return sys::madvise(base_ + part.start, part.bytes(), advice);
}

/// True if the policy does not allow to soften `prot` on `asked`, a part of `page`.
bool Pool::must_split(Range page, Range asked, int prot) const {
    const auto any_page = [&](Range range, auto wanted) {
        for (uint64_t at = range.start; at < range.end; at += kPage4K)
            if ((*states(at) & kUsed) != 0 && wanted(protection_at(at))) return true;
        return false;
    };
    const auto others = [&](auto wanted) { return any_page({page.start, asked.start}, wanted) || any_page({asked.end, page.end}, wanted); };
    // clear_dirty() would open the whole page to writers, while another thread relies on a fault in its part.
    const auto clearing_opens = [&] {
        if ((hardware(page.start) & PROT_WRITE) != 0 || !others([](int) { return true; })) return false;
        for (uint64_t at = asked.start; at < asked.end; at += kPage4K)
            if ((*states(at) & (kUsed | kDirty)) == kDirty) return true;
        return false;
    };
    switch (policy_.protections) {
        case Protections::soft: return false;
        case Protections::exact: return others([=](int has) { return has != prot; }) || clearing_opens();
        case Protections::guards: break;
    }
    const auto more = [=](int has) { return (has & ~prot) != 0; };
    return any_page(asked, more) && others(more);
}

/// A whole huge page can have any protection. Only the first and the last page of `range` can be covered in part. If a
/// split is impossible, the page is softened, and sync_protection counts it.
long Pool::split_edges(Range range, int prot) {
    const uint64_t edges[] = {range.start, range.end - kPage4K};
    for (const uint64_t& edge : edges) {
        const Range page = windows_.page_around(edge);
        const bool again = &edge != edges && page.start <= range.start;  // both edges in one page
        if (page.empty() || again || range.contains(page) || hardware(page.start) == kAbsent) continue;
        if (must_split(page, range.clip(page), prot)) split(page.clip(range));
    }
    return 0;
}

}  // namespace mosalloc
