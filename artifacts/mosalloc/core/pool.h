// pool.h - one pool: a span of reserved address space of which ranges are handed out, with a mosaic of page sizes.
//
// Encoding: ranges are byte offsets from `base`, multiples of 4KB. One state byte per 4KB page (pages.h). Outside
// windows the span is reserved PROT_NONE and marked MADV_NOHUGEPAGE; a window is a MAP_HUGETLB mapping that stays
// for the life of the process.
// Invariants: a page is `used` exactly when the caller owns it; a handed-out page reads zero; the hardware
// protection of a huge page is the union of what its used 4KB pages asked for, because mprotect cannot split it.
// Not modelled: which ranges are handed out (that is FreeList for the anonymous pool, the break for the heap).
//
// Callers hold the lock. Functions return 0 or -errno, like system calls.
#pragma once

#include "core/base.h"
#include "core/layout.h"

namespace mosalloc {

/// What the pool counts beyond its calls; the report prints them.
struct PoolCounters {
    uint64_t softened_protections = 0;  ///< a huge page grants more than one of its 4KB pages asked for
    uint64_t ignored_advice = 0;        ///< madvise that would have changed the mosaic, or that hugetlb refuses
    uint64_t zeroed_bytes = 0;          ///< cleared by hand in windows, on reuse
};

class Pool {
public:
    /// Adopts [base, base + bytes), already reserved with `reserve_span`. False when the state table can't be had.
    bool init(uint64_t base, uint64_t bytes);
    /// Declares that `range` is backed with pages of `page_bytes` from now on. Windows come in ascending order.
    void add_window(Range range, uint64_t page_bytes);

    /// Hands out `range`: zero-filled, with protection `prot`. On failure nothing is handed out.
    long commit(Range range, int prot);
    /// Takes `range` back: 4KB parts lose their memory at once, window parts are cleared when reused.
    long release(Range range);
    long protect(Range range, int prot);
    long advise(Range range, int advice);
    /// 4KB parts only: `range` now holds a mapping that the program placed there itself (a file, shared memory).
    void adopt_foreign(Range range, int prot);
    /// Raises the protection of `range` so that it can be copied; protections as recorded stay as they are.
    long open_for_copy(Range range, int prot);
    /// Puts the recorded protections of `range` (again) in force.
    long enforce(Range range);
    /// Records protections without telling the kernel, which already has them (after mremap).
    void record(Range range, const Pool& from, uint64_t from_offset);

    Range span() const { return {base_, base_ + bytes_}; }
    Range offsets(Range addresses) const { return {addresses.start - base_, addresses.end - base_}; }
    uint64_t base() const { return base_; }
    uint64_t bytes() const { return bytes_; }
    bool touches_window(Range range) const;
    bool all_used(Range range) const;
    bool any_foreign(Range range) const;
    int protection_at(uint64_t offset) const;
    const PoolCounters& counters() const { return counters_; }

private:
    struct Backed {
        Range range;
        uint64_t page_bytes;
    };
    /// Calls f(Range, page_bytes) for the parts of `range` in ascending order, 4096 outside windows; stops at an
    /// error.
    template <class F>
    long for_each_part(Range range, F f);
    size_t first_window_after(uint64_t offset) const;
    void mark(Range range, uint8_t state);
    void clear_dirty(Range range, uint64_t page_bytes);
    int wanted_protection(Range page) const;
    long sync_protection(Range range, uint64_t page_bytes);
    long set_hardware(Range pages, int prot);
    uint8_t* states(uint64_t offset) const { return states_ + offset / kPage4K; }

    uint64_t base_ = 0;
    uint64_t bytes_ = 0;
    uint8_t* states_ = nullptr;    ///< per 4KB page
    uint8_t* hardware_ = nullptr;  ///< per 2MB: protection of the huge page that starts there
    Backed* windows_ = nullptr;
    size_t window_count_ = 0;
    PoolCounters counters_;
};

/// Reserves [base, base + bytes): no access, no memory, 4KB pages only. MAP_FIXED over what is there.
long reserve_span(uint64_t base, uint64_t bytes);

}  // namespace mosalloc
