// placement.h - the pools together: which places of the address space are handed out.
//
// The heap pool is a break that moves; the anonymous and the file pool hand out the lowest range that fits (first
// fit, as in MICRO'20 section V). Which offsets a program gets depends on its calls only, never on the windows.
//
// Callers hold the lock. Results are the kernel's: an address or 0, or -errno.
#pragma once

#include "core/free_list.h"
#include "core/layout.h"
#include "core/pool.h"
#include "core/sys.h"

namespace mosalloc {

class Placement {
public:
    /// Creates the pools at these addresses, which are reserved already. Writes every change to `map`. False without memory.
    bool init(const uint64_t (&bases)[kPools], const Layout& layout, const Policy& policy, mosalloc_pool_map* map);
    Pool& pool(uint64_t kind) { return pools_[kind]; }
    /// A forked child keeps its own counts in its own map.
    void set_map(mosalloc_pool_map* map) { map_ = map; }
    /// Shows the pools' counters in the map.
    void publish();

    bool overlaps(Range addresses) const;
    /// The pool that holds all of `addresses`, or null.
    Pool* holder(Range addresses);
    bool is_heap(const Pool* pool) const { return pool == &pools_[MOSALLOC_POOL_HEAP]; }
    /// Offset behind the highest byte of the pool that was ever handed out.
    uint64_t used_bytes(const Pool* pool) { return out(kind_of(pool)).used_bytes; }
    /// Calls inside(pool, offsets) and outside(addresses) for the parts of `addresses`, ascending; stops at an error.
    template <class Inside, class Outside>
    long for_each_area(Range addresses, Inside inside, Outside outside);
    /// The same for one call of the program, which is counted.
    template <class Inside, class Outside>
    long over(Range addresses, Inside inside, Outside outside);

    /// Whether the anonymous pool has a free range of this size.
    bool fits(uint64_t bytes) const { return free_[MOSALLOC_POOL_ANON].fits(bytes); }
    /// Whether nothing in `addresses` is handed out: MAP_FIXED_NOREPLACE may have it.
    bool vacant(Range addresses);
    bool is_free(const Pool* pool, Range offsets) const { return !is_heap(pool) && free_[kind_of(pool)].is_free(offsets); }
    /// Whether one more hole can be kept.
    bool has_room(const Pool* pool) const { return is_heap(pool) || free_[kind_of(pool)].has_room(); }
    /// True if the program may place a mapping here. The heap ends at the break, and the next brk may extend it.
    bool may_place(const Pool* pool, Range offsets) const;

    /// Hands out the lowest range of the anonymous pool that fits, as private anonymous memory. Returns its address.
    long place(uint64_t bytes, int prot, bool no_reserve);
    /// The same in the file pool, for a mapping of the program's own (a file, shared memory) that kernel(address) makes.
    template <class Kernel>
    long place_foreign(uint64_t bytes, int prot, Kernel kernel);
    /// MAP_FIXED of such a mapping inside one pool, which kernel() makes; over a window it splits huge pages.
    template <class Kernel>
    long put_foreign(Range addresses, int prot, Kernel kernel);
    /// `offsets` are handed out now.
    void take(const Pool* pool, Range offsets);
    /// Releases `offsets`, which then are free.
    long give(Pool* pool, Range offsets);
    /// Takes a place back where the kernel may have left a hole, or the mapping of another. If it cannot be reserved again,
    /// nobody gets it any more.
    void restore(Pool* pool, Range offsets, int more_flags);
    /// Reserves the parts of `offsets` again where the kernel has no mapping any more, and gives them back. If another thread
    /// got such a part from the kernel meanwhile, it keeps it, and the pool does not hand it out.
    void reclaim(Pool* pool, Range offsets);
    /// In a forked child: memory with MADV_DONTFORK is a hole there, which is reserved again and free.
    void adopt_child();

    uint64_t current_break() const { return pools_[MOSALLOC_POOL_HEAP].base() + break_; }
    /// 0, or -ENOMEM when the break is outside the heap pool.
    long set_break(uint64_t address);

    /// Counts a call and publishes what it changed.
    void served(uint64_t kind);
    void served(const Pool* pool) { served(kind_of(pool)); }
    /// Counts a call that a window makes impossible; returns `error`.
    long refused(long error);

private:
    /// The lowest range of a pool that fits, after prepare(offsets) has made it usable. After an error of prepare,
    /// undo(offsets) says what becomes of the range. `wanted`: see full().
    template <class Prepare, class Undo>
    long place_lowest(uint64_t kind, uint64_t bytes, bool wanted, Prepare prepare, Undo undo);
    uint64_t kind_of(const Pool* pool) const { return static_cast<uint64_t>(pool - pools_); }
    mosalloc_pool& out(uint64_t kind) { return kind < MOSALLOC_POOL_COUNT ? map_->pools[kind] : map_->file_pool; }
    /// Counts a request that does not fit; the launcher prints the pool size that would have been enough. `wanted`: without the
    /// library the kernel would have given it, however large it is.
    long full(uint64_t kind, uint64_t bytes, bool wanted = false);

    Pool pools_[kPools];
    FreeList free_[kPools];               ///< the heap's is not used
    uint64_t break_ = 0;                  ///< offset
    uint64_t most_bytes_ = ~uint64_t{0};  ///< a larger request is no wish for a larger pool
    uint64_t most_holes_ = 0;             ///< of all pools together; further ones stay open
    mosalloc_pool_map* map_ = nullptr;
};

template <class Inside, class Outside>
long Placement::for_each_area(Range addresses, Inside inside, Outside outside) {
    while (!addresses.empty()) {
        Range part = addresses;
        Pool* holder = nullptr;
        for (Pool& pool : pools_) {
            const Range span = pool.span();
            if (span.start <= part.start && part.start < span.end) {
                holder = &pool;
                part = part.clip(span);
            } else if (part.start < span.start && span.start < part.end && !span.empty()) {
                part.end = span.start;
            }
        }
        const long result = holder != nullptr ? inside(holder, holder->offsets(part)) : outside(part);
        if (sys::failed(result)) return result;
        addresses.start = part.end;
    }
    return 0;
}

template <class Inside, class Outside>
long Placement::over(Range addresses, Inside inside, Outside outside) {
    const auto counted = [&](Pool* pool, Range offsets) -> long {
        const long result = inside(pool, offsets);
        served(pool);
        return result;
    };
    return for_each_area(addresses, counted, outside);
}

template <class Prepare, class Undo>
long Placement::place_lowest(uint64_t kind, uint64_t bytes, bool wanted, Prepare prepare, Undo undo) {
    uint64_t start;
    if (!free_[kind].take_first_fit(bytes, &start)) return full(kind, bytes, wanted);
    const Range range{start, start + bytes};
    const long result = prepare(range);
    if (sys::failed(result)) {
        undo(range);
        return result;
    }
    take(&pools_[kind], range);
    return static_cast<long>(pools_[kind].base() + start);
}

template <class Kernel>
long Placement::place_foreign(uint64_t bytes, int prot, Kernel kernel) {
    Pool& pool = pools_[MOSALLOC_POOL_FILE];
    const auto prepare = [&](Range range) {
        const long result = kernel(pool.base() + range.start);
        if (!sys::failed(result)) pool.adopt_foreign(range, prot);
        return result;
    };
    // The kernel may have unmapped the span before it returned the error.
    return place_lowest(MOSALLOC_POOL_FILE, bytes, false, prepare, [&](Range range) { restore(&pool, range, MAP_FIXED); });
}

template <class Kernel>
long Placement::put_foreign(Range addresses, int prot, Kernel kernel) {
    Pool* pool = holder(addresses);
    if (pool == nullptr) return refused(-EINVAL);
    const Range range = pool->offsets(addresses);
    if (!may_place(pool, range)) return refused(-ENOMEM);
    if (pool->touches_window(range) && sys::failed(pool->exchange().split(range))) return refused(-EINVAL);
    const long result = kernel();
    if (sys::failed(result)) {
        reclaim(pool, range);  // the kernel may have unmapped it: mmap before Linux 6.12, mremap before 6.17
        return result;
    }
    pool->adopt_foreign(range, prot);
    take(pool, range);
    return result;
}

}  // namespace mosalloc
