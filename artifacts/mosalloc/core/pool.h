// pool.h - one pool: a span of reserved address space with a mosaic of page sizes, from which ranges are handed out.
//
// Encoding: ranges are byte offsets from `base`, multiples of 4KB. One state byte per 4KB page (page_state.h). Outside
// windows the span is reserved PROT_NONE and marked MADV_NOHUGEPAGE; a window is a MAP_HUGETLB mapping.
// Invariants: a page is `used` exactly when the caller owns it; a handed-out page reads zero; the hardware
// protection of a huge page is the union of what its used 4KB pages asked for, because mprotect cannot split it.
// If the policy does not accept this, the huge page is split into 4KB pages (huge_pages.cpp).
// FreeList, or the break for the heap, decides which ranges are handed out.
//
// Callers hold the lock. Functions return 0 or -errno, like system calls.
#pragma once

#include "core/base.h"
#include "core/layout.h"
#include "core/page_state.h"
#include "core/policy.h"
#include "core/window_list.h"
#include "mosalloc/pool_map.h"

namespace mosalloc {

class Later;
class WriteGate;

/// The pool's counters besides its calls; the report prints them.
struct PoolCounters {
    uint64_t softened_protections = 0;  ///< a huge page grants more than one of its 4KB pages asked for
    uint64_t ignored_advice = 0;        ///< madvise that would have changed the mosaic, or that hugetlb refuses
    uint64_t zeroed_bytes = 0;          ///< bytes of windows zeroed by software on reuse
    uint64_t split_pages = 0;
    uint64_t exchanged_pages = 0;       ///< of these, pages that were mapped
    uint64_t unsplit_pages = 0;         ///< splits that were impossible
    uint64_t unsplit_by[MOSALLOC_UNSPLIT_COUNT] = {};
    uint64_t pin_kinds = 0;             ///< bits of enum mosalloc_pin
    uint64_t first_split = 0;           ///< offset
    uint64_t missing_pages = 0;         ///< on demand: missing huge pages
    uint64_t ended_marks = 0;           ///< releases that ended marks of the mapping
    uint64_t refused_marks = 0;         ///< marks that huge pages cannot keep; the program saw EINVAL
    uint64_t open_holes = 0;            ///< ranges that stay accessible after their release
};

class Pool {
public:
    /// Adopts [base, base + bytes), already reserved with `reserve_span`. False if there is no memory for the tables.
    bool init(uint64_t base, uint64_t bytes, const Policy& policy);
    /// Declares that `range` is backed with pages of `page_bytes` from now on; on demand, that it will be. Windows
    /// come in ascending order.
    void add_window(Range range, uint64_t page_bytes);

    /// Hands out `range`: zero-filled, with protection `prot`. On failure nothing is handed out.
    long commit(Range range, int prot, bool no_reserve = false);
    /// Takes `range` back: 4KB parts lose their memory at once, window parts are cleared when reused. `crowded`: there are
    /// many holes already. On failure, each 4KB part is as before or free.
    long release(Range range, bool crowded = false);
    /// Hands out `range`, whatever is there now. On failure it is as before.
    long replace(Range range, int prot, bool no_reserve);
    /// Like the kernel, changes memory up to the first hole and then returns -ENOMEM.
    long protect(Range range, int prot);
    /// Like the kernel, changes all memory except the holes and then returns -ENOMEM.
    long advise(Range range, int advice, Later* later);
    /// `range` now holds a mapping that the program placed there itself (a file, shared memory). Not over windows.
    void adopt_foreign(Range range, int prot);
    /// The mapping under `range` now has marks of its own (locked, a protection key, a policy).
    void mark_odd(Range range);
    /// Splits the huge pages around `range`, because they cannot keep a mark. If that is impossible, or the policy never
    /// splits, counts it and returns -EINVAL.
    long split_for_mark(Range range);
    long refuse_mark();
    /// A mark that is only a hint, on a part of a huge page.
    void ignore_mark() { ++counters_.ignored_advice; }
    /// True if `range` contains no huge page in part only.
    bool whole_pages(Range range) const;
    bool any_mark(Range range) const { return any(range, kMarks); }
    /// In a forked child: the kernel has nothing at `range`, because of MADV_DONTFORK. Its huge pages are no windows now.
    void forget_huge_pages(Range range);
    /// Bounds of the memory that a forked child does not get.
    Range unforked() const { return unforked_; }
    /// Splits the huge pages around `range` into 4KB pages. Returns 0, or -EBUSY if a page must stay: the counters say
    /// why. Pages before it are split then.
    long split(Range range);

    /// Raises the protection of `range` so that it can be copied; protections as recorded stay as they are.
    long open_for_copy(Range range, int prot);
    /// Undoes it.
    void close_after_copy(Range range);
    /// Records protections without telling the kernel, which already has them (after mremap). A range longer than its
    /// source goes on as the source's last page.
    void record(Range range, const Pool& from, Range source);
    /// Makes `range` read zero again, protections as they are.
    long renew(Range range);

    /// Calls f(Range) for each run of pages in `range` that have all of `flags`; stops at an error.
    template <class F>
    long for_each_run_with(Range range, uint8_t flags, F f) const;
    /// Calls f(huge page as offsets, page_bytes) for each mapped huge page with memory that is handed out.
    template <class F>
    void for_each_used_huge_page(F f) const;
    /// Before a fork: copies all used memory of windows to 4KB pages, and keeps the windows out of the child. Writers
    /// are blocked from then on until `drop_copies`; without `gate`, this is the only task. Returns -EAGAIN if they cannot be
    /// blocked. After any result, `drop_copies` undoes it in the parent.
    long copy_for_child(WriteGate* gate);
    void drop_copies(WriteGate* gate);
    /// In the child: the copies take the place of the windows.
    long take_copies();

    Range span() const { return {base_, base_ + bytes_}; }
    Range offsets(Range addresses) const { return {addresses.start - base_, addresses.end - base_}; }
    Range addresses(Range offsets) const { return {base_ + offsets.start, base_ + offsets.end}; }
    uint64_t base() const { return base_; }
    uint64_t bytes() const { return bytes_; }
    bool touches_window(Range range) const { return windows_.touches(range); }
    /// The first page of `range` that is not handed out; its end if all are.
    uint64_t first_hole(Range range) const;
    bool all_used(Range range) const { return first_hole(range) == range.end; }
    bool none_used(Range range) const { return !any(range, kUsed); }
    bool any_open(Range range) const { return has_open_ && any(range, kOpen); }
    bool any_foreign(Range range) const { return any(range, kForeign); }
    int protection_at(uint64_t offset) const { return *states(offset) & kProtMask; }
    const PoolCounters& counters() const { return counters_; }
    const WindowList& windows() const { return windows_; }

private:
    bool any(Range range, uint8_t flags) const;
    void mark(Range range, uint8_t state);
    uint8_t* states(uint64_t offset) const { return states_ + offset / kPage4K; }
    uint8_t& hardware(uint64_t offset) const { return hardware_[offset / kPage2M]; }
    void leave_open(Range part);
    long commit_open(Range part, int prot);
    long commit_small(Range part, int prot, bool no_reserve);
    long release_small(Range part, bool crowded);
    long protect_used(Range range, int prot);
    long advise_used(Range range, int advice, Later* later);
    void mark_unforked(Range range, int advice);
    void note_unforked(Range range);
    /// Calls f(Range) for the runs of equal value of value(offset) in `range`; stops at an error.
    template <class Value, class F>
    long for_each_run(Range range, Value value, F f) const;

    // Huge pages (huge_pages.cpp).
    long commit_huge(Range part, uint64_t page_bytes, int prot);
    long release_huge(Range part, uint64_t page_bytes);
    long advise_huge(Range part, uint64_t page_bytes, int advice, Later* later);
    long populate_huge(Range part, uint64_t page_bytes, int advice, Later* later);
    long advise_whole_pages(Range part, uint64_t page_bytes, int advice);
    void split_for_advice(Range range, int advice);
    void end_marks(Range page);
    void copy_policy(Range page, uint64_t copy) const;
    void restore_marks(Range page);
    void mark_dirty(Range range);
    long clear_dirty(Range range, uint64_t page_bytes);
    int wanted_protection(Range page) const;
    long sync_protection(Range range, uint64_t page_bytes);
    long set_hardware(Range pages, int prot);
    long make_present(Range part, uint64_t page_bytes);
    long keep_present(Range part, uint64_t page_bytes);
    void forget_huge(Range part, uint64_t page_bytes);
    void shrink(Range part, uint64_t page_bytes);
    bool any_used(Range page) const { return any(page, kUsed); }
    bool must_split(Range page, Range asked, int prot) const;
    long split_edges(Range range, int prot);
    long unsplit(uint64_t reason);
    long exchange(Range page, bool alone);
    long exchange_gated(Range page, bool alone);
    long replace_by_small_pages(Range page);
    int protection_during_exchange(Range page) const;
    long copy_used(Range page, uint64_t to);
    void settle_small(Range page, int during);

    Policy policy_;
    uint64_t base_ = 0;
    uint64_t bytes_ = 0;
    Range unforked_;
    bool has_open_ = false;        ///< there was an open hole
    uint64_t idle_bytes_ = 0;      ///< on demand: mapped huge pages without used memory
    uint8_t* states_ = nullptr;    ///< per 4KB page
    uint8_t* hardware_ = nullptr;  ///< per 2MB: protection of the huge page there, or kAbsent
    WindowList windows_;
    PoolCounters counters_;
};

template <class F>
void Pool::for_each_used_huge_page(F f) const {
    for (size_t i = 0; i < windows_.count(); ++i) {
        const WindowList::Window& w = windows_.at(i);
        for (uint64_t at = w.range.start; at < w.range.end; at += w.page_bytes) {
            const Range page{at, at + w.page_bytes};
            if (hardware(at) != kAbsent && any_used(page)) f(page, w.page_bytes);
        }
    }
}

template <class Value, class F>
long Pool::for_each_run(Range range, Value value, F f) const {
    for (uint64_t at = range.start, end = at; at < range.end; at = end) {
        const auto first = value(at);
        while (end < range.end && value(end) == first) end += kPage4K;
        const long result = f(Range{at, end});
        if (result < 0) return result;
    }
    return 0;
}

template <class F>
long Pool::for_each_run_with(Range range, uint8_t flags, F f) const {
    const auto has = [&](uint64_t at) { return (*states(at) & flags) == flags; };
    return for_each_run(range, has, [&](Range run) -> long { return has(run.start) ? f(run) : 0; });
}

/// Reserves [base, base + bytes): no access, no memory, 4KB pages only. MAP_FIXED over what is there.
long reserve_span(uint64_t base, uint64_t bytes);
/// Maps private anonymous memory that can only have 4KB pages over what is there.
long map_small(uint64_t address, uint64_t bytes, int prot, int more_flags);
/// Maps huge pages over what is there; their number is reserved, so touching them does not fail.
long map_huge(uint64_t address, uint64_t bytes, uint64_t page_bytes, int prot);

}  // namespace mosalloc
