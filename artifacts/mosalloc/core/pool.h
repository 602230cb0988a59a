// pool.h - one pool: a span of reserved address space with a mosaic of page sizes, from which ranges are handed out.
//
// Ranges are byte offsets from the span's start, multiples of 4KB. Outside windows the span is reserved PROT_NONE and
// marked MADV_NOHUGEPAGE; a window is a MAP_HUGETLB mapping. This class divides each range into parts of one page size:
//   page_states.h  a state byte for each 4KB page: who owns it, with which protection
//   small_parts.h  the parts with 4KB pages
//   huge_parts.h   the parts with huge pages
//   exchange.h     huge pages become 4KB pages
// Invariants: a page is `used` exactly when the caller owns it; a handed-out page reads zero; the hardware
// protection of a huge page is the union of what its used 4KB pages asked for. If the policy does not accept this, the
// huge page is split into 4KB pages. FreeList, or the break for the heap, decides which ranges are handed out.
//
// Callers hold the lock. Functions return 0 or -errno, like system calls.
#pragma once

#include "core/exchange.h"

namespace mosalloc {

class Pool {
public:
    Pool() = default;
    Pool(const Pool&) = delete;  // its parts point to each other
    Pool& operator=(const Pool&) = delete;
    /// Adopts [base, base + bytes), already reserved with `reserve_span`. False if there is no memory for the tables.
    bool init(uint64_t base, uint64_t bytes, const Policy& policy);
    /// Declares that `range` is backed with pages of `page_bytes` from now on; on demand, that it will be. Windows
    /// come in ascending order.
    void add_window(Range range, uint64_t page_bytes) { huge_.add_window(range, page_bytes); }

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
    void mark_odd(Range range) { state_.pages.mark_odd(range); }
    long refuse_mark() { return state_.refuse_mark(); }
    long ignore_mark() { return state_.ignore_advice(); }

    /// Raises the protection of `range` so that it can be copied; protections as recorded stay as they are.
    long open_for_copy(Range range, int prot);
    /// Undoes it.
    void close_after_copy(Range range);
    /// Records protections without telling the kernel, which already has them (after mremap). A range longer than its
    /// source goes on as the source's last page.
    void record(Range range, const Pool& from, Range source) { state_.pages.copy(range, from.pages(), source); }
    /// Makes `range` read zero again, protections as they are.
    long renew(Range range);

    Range span() const { return pages().span(); }
    Range offsets(Range addresses) const { return pages().offsets(addresses); }
    Range addresses(Range offsets) const { return pages().addresses(offsets); }
    uint64_t base() const { return pages().base(); }
    uint64_t bytes() const { return pages().bytes(); }
    const PageStates& pages() const { return state_.pages; }
    const PoolCounters& counters() const { return state_.counters; }
    const HugeParts& huge() const { return huge_; }
    const WindowList& windows() const { return huge_.windows(); }
    bool touches_window(Range range) const { return windows().touches(range); }
    bool any_open(Range range) const { return small_.any_open(range); }
    Exchange& exchange() { return exchange_; }

private:
    long protect_used(Range range, int prot);
    long advise_used(Range range, int advice, Later* later);

    PoolState state_;
    SmallParts small_;
    HugeParts huge_;
    Exchange exchange_;
};

}  // namespace mosalloc
