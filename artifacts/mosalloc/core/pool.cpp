#include "core/pool.h"

#include "core/advice.h"
#include "core/later.h"
#include "core/sys.h"

namespace mosalloc {

bool Pool::init(uint64_t base, uint64_t bytes, const Policy& policy) {
    state_.policy = policy;
    small_.init(&state_);
    exchange_.init(&state_, &small_, &huge_);
    return state_.pages.init(base, bytes) && huge_.init(&state_);
}

long Pool::commit(Range range, int prot, bool no_reserve) {
    if (state_.policy.protections == Protections::exact) exchange_.split_edges(range, prot);
    const long result = windows().for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        return page_bytes == kPage4K ? small_.commit(part, prot, no_reserve) : huge_.commit(part, page_bytes, prot);
    });
    if (sys::failed(result)) release(range);
    return result;
}

long Pool::release(Range range, bool crowded) {
    if (!touches_window(range)) return small_.release(range, crowded);
    // First the parts that need a new mapping: if the kernel refuses it, nothing is lost yet.
    const long result = windows().for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        return page_bytes == kPage4K && pages().any(part, kOdd | kForeign) ? small_.release(part, crowded) : 0;
    });
    if (sys::failed(result)) return result;
    return windows().for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes == kPage4K) return small_.release(part, crowded);
        huge_.release(part, page_bytes);
        return 0;
    });
}

/// As release and commit, but one call of the kernel replaces the contents of a 4KB part.
long Pool::replace(Range range, int prot, bool no_reserve) {
    if (!touches_window(range)) return small_.replace(range, prot, no_reserve);
    // First what can fail: huge pages that are missing, then the kernel's refusals.
    long result = windows().for_each_part(
        range, [&](Range part, uint64_t page_bytes) -> long { return page_bytes == kPage4K ? 0 : huge_.keep_present(part, page_bytes); });
    if (sys::failed(result)) return result;
    result = windows().for_each_part(
        range, [&](Range part, uint64_t page_bytes) -> long { return page_bytes == kPage4K ? small_.replace(part, prot, no_reserve) : 0; });
    if (sys::failed(result)) return result;
    windows().for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes != kPage4K) huge_.forget(part, page_bytes);
        return 0;
    });
    if (state_.policy.protections == Protections::exact) exchange_.split_edges(range, prot);
    return windows().for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes != kPage4K) return huge_.commit(part, page_bytes, prot);
        return pages().all_used(part) ? 0 : small_.commit(part, prot, no_reserve);  // a huge page that was split just now
    });
}

long Pool::protect(Range range, int prot) {
    const Range used{range.start, pages().first_hole(range)};
    const long result = used.empty() ? 0 : protect_used(used, prot);
    return sys::failed(result) || used.end == range.end ? result : -ENOMEM;
}

long Pool::protect_used(Range range, int prot) {
    exchange_.split_edges(range, prot);
    return windows().for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes == kPage4K) {
            const long r = sys::mprotect(base() + part.start, part.bytes(), prot);
            if (sys::failed(r)) return r;
        }
        state_.pages.change(part, static_cast<uint8_t>(~kProtMask), static_cast<uint8_t>(prot & kProtMask));
        return page_bytes == kPage4K ? 0 : huge_.sync_protection(part, page_bytes);
    });
}

long Pool::advise(Range range, int advice, Later* later) {
    const long known = sys::madvise(base(), 0, advice);  // nothing to do, but an unknown advice is an error
    if (sys::failed(known)) return known;
    if (advice::populates(advice)) {  // stops at the first hole
        const Range present{range.start, pages().first_hole(range)};
        const long result = present.empty() ? 0 : advise_used(present, advice, later);
        return sys::failed(result) || present.end == range.end ? result : -ENOMEM;
    }
    const long result = pages().for_each_run_with(range, kUsed, [&](Range run) { return advise_used(run, advice, later); });
    return sys::failed(result) || pages().all_used(range) ? result : -ENOMEM;
}

long Pool::advise_used(Range range, int advice, Later* later) {
    if (advice::changes_shape(advice)) return state_.ignore_advice();
    exchange_.split_for_advice(range, advice);
    return windows().for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes != kPage4K) return huge_.advise(part, page_bytes, advice, later);
        if (advice::leaves_a_mark(advice)) state_.pages.mark_odd(part);
        if (advice::whole_pages(advice)) state_.pages.mark_unforked(part, advice == MADV_DONTFORK);
        if (advice::comes_later(advice)) return later->add(SYS_madvise, addresses(part), advice);
        return sys::madvise(base() + part.start, part.bytes(), advice);
    });
}

long Pool::open_for_copy(Range range, int prot) {
    return windows().for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes == kPage4K) return sys::mprotect(base() + part.start, part.bytes(), prot);
        return huge_.grant(pages_around(part, page_bytes), prot | PROT_READ | PROT_WRITE);
    });
}

void Pool::close_after_copy(Range range) {
    windows().for_each_part(range, [&](Range part, uint64_t page_bytes) -> long {
        if (page_bytes != kPage4K) return huge_.sync_protection(part, page_bytes), 0;
        const auto prot = [&](uint64_t at) { return pages().protection_at(at); };
        return pages().for_each_run(part, prot, [&](Range run) -> long {
            sys::mprotect(base() + run.start, run.bytes(), prot(run.start));
            return 0;
        });
    });
}

long Pool::renew(Range range) {
    const auto prot = [&](uint64_t at) { return pages().protection_at(at); };
    return pages().for_each_run(range, prot, [&](Range run) { return replace(run, prot(run.start), false); });
}

void Pool::adopt_foreign(Range range, int prot) { state_.pages.set(range, static_cast<uint8_t>(kUsed | kForeign | (prot & kProtMask))); }

}  // namespace mosalloc
