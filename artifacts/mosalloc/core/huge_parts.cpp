#include "core/huge_parts.h"

#include <cstring>
#include <initializer_list>
#include <linux/mempolicy.h>
#include <linux/prctl.h>

#include "core/advice.h"
#include "core/later.h"
#include "core/sys.h"
#include "core/table.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

namespace mosalloc {

long map_huge(uint64_t address, uint64_t bytes, uint64_t page_bytes, int prot) {
    const int shift = page_bytes == kPage1G ? 30 : 21;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_HUGETLB | (shift << MAP_HUGE_SHIFT);
    const long at = sys::mmap(address, bytes, prot, flags);
    return sys::failed(at) ? at : 0;
}

bool HugeParts::init(PoolState* pool) {
    pool_ = pool;
    idle_bytes_ = 0;
    hardware_ = static_cast<uint8_t*>(make_table(pool->pages.bytes() / kPage2M + 1));
    return hardware_ != nullptr && windows_.init();
}

void HugeParts::set_hardware(Range pages, int value) { memset(&hardware(pages.start), value, pages.bytes() / kPage2M); }

void HugeParts::add_window(Range range, uint64_t page_bytes) {
    windows_.add(range, page_bytes);
    set_hardware(range, pool_->policy.on_demand ? int{kAbsent} : PROT_READ | PROT_WRITE);
}

void HugeParts::cut(Range page) {
    if (pool_->policy.on_demand && is_present(page) && idle(page)) idle_bytes_ -= page.bytes();
    set_hardware(page, kAbsent);
    windows_.cut(page);
}

bool HugeParts::whole_pages(Range range) const {
    return windows_.for_each_part(range, [](Range part, uint64_t page_bytes) -> long {
        return part.start % page_bytes == 0 && part.end % page_bytes == 0 ? 0 : -EINVAL;
    }) == 0;
}

/// Memory that was never writable while it was handed out reads zero, and needs no clearing: reservations without access.
long HugeParts::grant(Range pages, int prot) {
    if (pages.empty()) return 0;
    const long result = sys::mprotect(pool_->base() + pages.start, pages.bytes(), prot);
    if (sys::failed(result)) return result;
    set_hardware(pages, prot);
    if ((prot & PROT_WRITE) != 0) pool_->pages.mark_dirty(pages);
    return 0;
}

long HugeParts::sync_protection(Range part, uint64_t page_bytes) {
    const PageStates& pages = pool_->pages;
    Range run;
    int run_prot = -1;
    bool softened = false;
    for (uint64_t at = align_down(part.start, page_bytes); at < part.end; at += page_bytes) {
        const Range page{at, at + page_bytes};
        const int want = pages.protection_of_used(page);  // -1: the hardware stays as it is, to save system calls
        const bool change = want >= 0 && want != hardware(at);
        const Range asked = page.clip(part);
        softened |= want >= 0 && pages.used_at(asked.start) && want != pages.protection_at(asked.start);
        if (change && want == run_prot && run.end == at) {
            run.end = page.end;
            continue;
        }
        const long result = grant(run, run_prot);
        if (sys::failed(result)) return result;
        run = change ? page : Range{};
        run_prot = change ? want : -1;
    }
    pool_->counters.softened_protections += softened ? 1 : 0;
    return grant(run, run_prot);
}

/// Zeroes memory by software. MADV_DONTNEED would return the page to the system, which loses the reservation of a private
/// mapping before Linux 6.10; the next access could then raise SIGBUS.
long HugeParts::clear_dirty(Range part, uint64_t page_bytes) {
    const Range pages = pages_around(part, page_bytes);
    bool writable = false;
    if (!pool_->pages.any(part, kDirty)) return 0;
    return pool_->pages.for_each_run_with(part, kDirty, [&](Range run) -> long {
        for (uint64_t p = pages.start; p < pages.end && !writable; p += page_bytes) {
            if ((hardware(p) & PROT_WRITE) != 0) continue;
            const long result = grant({p, p + page_bytes}, hardware(p) | PROT_READ | PROT_WRITE);
            if (sys::failed(result)) return result;
        }
        writable = true;
        memset(reinterpret_cast<void*>(pool_->base() + run.start), 0, run.bytes());
        pool_->counters.zeroed_bytes += run.bytes();
        return 0;
    });
}

/// Pages of `pages` without used memory are idle.
void HugeParts::count_idle(Range pages, uint64_t page_bytes) {
    for_each_page(pages, page_bytes, [&](Range page) { idle_bytes_ += idle(page) ? page_bytes : 0; });
}

/// On demand: maps the missing huge pages of `part`, which is about to be used. Returns -ENOMEM if the system has too few;
/// the pages mapped so far stay as idle pages.
long HugeParts::make_present(Range part, uint64_t page_bytes) {
    const Range pages = pages_around(part, page_bytes);
    const auto absent = [&](uint64_t at) { return hardware(at) == kAbsent; };
    for (uint64_t at = pages.start, end = at; at < pages.end; at = end) {
        end = at + page_bytes;
        if (!absent(at)) {
            if (idle({at, end})) idle_bytes_ -= page_bytes;
            continue;
        }
        while (end < pages.end && absent(end)) end += page_bytes;
        const uint64_t address = pool_->base() + at;
        long result = map_huge(address, end - at, page_bytes, PROT_READ | PROT_WRITE);
        if (!sys::failed(result) && pool_->policy.touch_present) {
            const long touched = sys::madvise(address, end - at, advice::kPopulateWrite);
            // EFAULT: what would be SIGBUS later. EINVAL: before Linux 5.14.
            if (sys::failed(touched) && touched != -EINVAL) result = -ENOMEM;
        }
        if (sys::failed(result)) {
            pool_->counters.missing_pages += (end - at) / page_bytes;
            reserve_span(address, end - at);
            count_idle({pages.start, at}, page_bytes);  // present and still unused
            return result;
        }
        set_hardware({at, end}, PROT_READ | PROT_WRITE);
    }
    return 0;
}

long HugeParts::keep_present(Range part, uint64_t page_bytes) {
    if (!pool_->policy.on_demand) return 0;
    const long result = make_present(part, page_bytes);
    if (!sys::failed(result)) count_idle(part, page_bytes);
    return result;
}

/// `freed`, a part of `page`, is not handed out any more. Marks stay until the whole page is unused.
void HugeParts::free_states(Range page, Range freed) {
    pool_->pages.change(freed, kDirty | kMarks, 0);
    if (pool_->pages.any(page, kMarks) && idle(page)) end_marks(page);
}

void HugeParts::forget(Range part, uint64_t page_bytes) {
    for_each_page(part, page_bytes, [&](Range page) {
        const bool was_idle = idle(page);
        free_states(page, page.clip(part));
        if (pool_->policy.on_demand && !was_idle && idle(page)) idle_bytes_ += page_bytes;
    });
}

/// On demand: returns `page` to the system if it is unused and more than `keep_bytes` are idle. Without the threshold, a
/// program that frees and allocates in turn would wait for 1GB of zeroing each time.
void HugeParts::shrink(Range page) {
    if (!is_present(page) || !idle(page)) return;
    const bool keep = idle_bytes_ + page.bytes() <= pool_->policy.keep_bytes;
    if (keep || sys::failed(reserve_span(pool_->base() + page.start, page.bytes()))) {  // too many mappings: it stays mapped
        idle_bytes_ += page.bytes();
        return;
    }
    set_hardware(page, kAbsent);
    pool_->pages.set(page, 0);
}

long HugeParts::commit(Range part, uint64_t page_bytes, int prot) {
    if (pool_->policy.on_demand) {
        const long result = make_present(part, page_bytes);
        if (sys::failed(result)) return result;
    }
    const long cleared = clear_dirty(part, page_bytes);
    if (sys::failed(cleared)) return cleared;
    // Marks of a huge page stay until it is unused.
    pool_->pages.change(part, kMarks, static_cast<uint8_t>(kUsed | (prot & kProtMask)));
    const long result = sync_protection(part, page_bytes);
    for_each_page(part, page_bytes, [&](Range page) {
        if ((granted(page) & PROT_WRITE) != 0) pool_->pages.mark_dirty(part.clip(page));
    });
    return result;
}

void HugeParts::release(Range part, uint64_t page_bytes) {
    for_each_page(part, page_bytes, [&](Range page) {
        const Range freed = page.clip(part);
        if (idle(freed)) return;  // idle pages are counted already
        free_states(page, freed);
        if (pool_->policy.on_demand) shrink(page);
        if (is_present(page)) sync_protection(freed, page_bytes);  // refused: other memory keeps more access
    });
}

/// Populating needs the access that the program has (else EINVAL), not the access that the huge page grants.
long HugeParts::populate(Range part, uint64_t page_bytes, int advice, Later* later) {
    const int access = advice == advice::kPopulateRead ? PROT_READ : PROT_WRITE;
    for (uint64_t at = part.start; at < part.end; at += kPage4K)
        if ((pool_->pages.protection_at(at) & access) == 0) return -EINVAL;
    // Not of the whole page: another thread may split it before the call is made, and then its other parts can refuse.
    return later->add(SYS_madvise, pool_->pages.addresses(part), advice);
}

long HugeParts::advise(Range part, uint64_t page_bytes, int advice, Later* later) {
    if (advice::drops(advice)) {
        const long result = clear_dirty(part, page_bytes);
        return sys::failed(result) ? result : sync_protection(part, page_bytes);
    }
    if (advice::populates(advice)) return populate(part, page_bytes, advice, later);
    if (advice == MADV_REMOVE) return -EINVAL;  // private memory
    if (advice::undoes_never_huge(advice)) return 0;
    if (advice::never_huge(advice)) return pool_->refuse_mark();
    if (advice::whole_pages(advice)) return advise_whole_pages(part, page_bytes, advice);
    const bool whole = part.start % page_bytes == 0 && part.end % page_bytes == 0;
    if (!whole || advice::only_a_hint(advice)) return pool_->ignore_advice();
    if (advice::leaves_a_mark(advice)) pool_->pages.mark_odd(part);
    return sys::madvise(pool_->base() + part.start, part.bytes(), advice);
}

/// MADV_DONTFORK and MADV_DOFORK: the kernel takes them for whole huge pages.
long HugeParts::advise_whole_pages(Range part, uint64_t page_bytes, int advice) {
    if (advice == MADV_DOFORK && !pool_->pages.any(part, kUnforked)) return 0;
    if (part.start % page_bytes != 0 || part.end % page_bytes != 0) return pool_->refuse_mark();
    const long result = sys::madvise(pool_->base() + part.start, part.bytes(), advice);
    if (!sys::failed(result)) pool_->pages.mark_unforked(part, advice == MADV_DONTFORK);
    return result;
}

/// `page` is unused, and keeps its mapping; the next owner must not inherit marks. The kernel does not lock huge pages, and
/// keys and registrations exist only after a split. README.md lists all marks.
void HugeParts::end_marks(Range page) {
    const uint64_t at = pool_->base() + page.start;
    if (is_present(page)) {
        const long start = static_cast<long>(at), bytes = static_cast<long>(page.bytes());
        sys::call(SYS_mbind, start, bytes, MPOL_DEFAULT);
        for (const int advice : {MADV_DOFORK, MADV_DODUMP, MADV_NORMAL}) sys::madvise(at, page.bytes(), advice);
        sys::call(SYS_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME, start, bytes);
    }
    pool_->pages.change(page, static_cast<uint8_t>(~kMarks), 0);
    ++pool_->counters.ended_marks;
}

bool HugeParts::must_split(Range page, Range asked, int prot) const {
    const PageStates& pages = pool_->pages;
    const auto any_page = [&](Range range, auto wanted) {
        for (uint64_t at = range.start; at < range.end; at += kPage4K)
            if (pages.used_at(at) && wanted(pages.protection_at(at))) return true;
        return false;
    };
    const auto others = [&](auto wanted) { return any_page({page.start, asked.start}, wanted) || any_page({asked.end, page.end}, wanted); };
    // clear_dirty() would open the whole page to writers, while another thread relies on a fault in its part.
    const auto clearing_opens = [&] {
        if ((granted(page) & PROT_WRITE) != 0 || !others([](int) { return true; })) return false;
        for (uint64_t at = asked.start; at < asked.end; at += kPage4K)
            if ((pages.at(at) & (kUsed | kDirty)) == kDirty) return true;
        return false;
    };
    switch (pool_->policy.protections) {
        case Protections::soft: return false;
        case Protections::exact: return others([=](int has) { return has != prot; }) || clearing_opens();
        case Protections::guards: break;
    }
    const auto more = [=](int has) { return (has & ~prot) != 0; };
    return any_page(asked, more) && others(more);
}

}  // namespace mosalloc
